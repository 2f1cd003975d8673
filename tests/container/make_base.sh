#!/usr/bin/env bash
# Makes a stand-in for the image's base (docker.io/library/python:3.12-slim-bookworm) from Debian's packages, for
# machines that reach a Debian mirror and no image registry. Its Python is Debian's own. Needs podman and debootstrap.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
export CONTAINERS_CONF=${CONTAINERS_CONF:-$here/containers.conf}
name=docker.io/library/python:3.12-slim-bookworm
mirror=$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Codename: bookworm' | grep -v security | head -n 1)
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT

debootstrap --variant=minbase --include=ca-certificates,git,python3,python3-pip,python3-venv \
  bookworm "$place/root" "$mirror" > "$place/log" 2>&1 || { tail "$place/log"; exit 1; }
# As the official image has it: in /usr/local/bin, and pip free to install.
for program in python python3; do ln -s /usr/bin/python3 "$place/root/usr/local/bin/$program"; done
ln -s /usr/bin/pip3 "$place/root/usr/local/bin/pip"
rm -f "$place"/root/usr/lib/python3*/EXTERNALLY-MANAGED
rm -rf "$place"/root/var/{cache/apt/archives/*.deb,lib/apt/lists/*} "$place"/root/usr/share/{doc,man,locale}/*
: > "$place/root/etc/apt/sources.list"
tar -C "$place/root" -c . | podman import --change 'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin' \
  --change 'ENV LANG=C.UTF-8' --change 'CMD ["python3"]' - "$name" > /dev/null
echo "$name"
