"""Gets one commit that a shallow clone lacks, into a store of our own beside the user's repository.

The user's `.git` is neither written (files of another owner would break the next checkout) nor are its settings
read while the network is in use (a remote there may name a command). The store borrows the objects that are
already here, so that only the difference travels.
"""

from __future__ import annotations

import base64
import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from msgspec import Struct

from abs_gate.vcs.git import Git, GitFailed, is_sha

FETCH_TIMEOUT_S = 180.0
"""Seconds one fetch may take."""

_PROTOCOLS = ("https", "http", "file")


class Remote(Struct, frozen=True, kw_only=True):
    """Where commits can be had from. The token never stands in the URL or in an argument."""

    url: str
    token: str | None = None

    def __repr__(self) -> str:
        return f"Remote(url={self.url!r})"

    @property
    def protocol(self) -> str:
        """The one transport git may use for it. Raises GitFailed where the address names another than these."""
        scheme = urlsplit(self.url).scheme
        if scheme not in _PROTOCOLS:
            raise GitFailed(f"commits are fetched over {', '.join(_PROTOCOLS)}, not over `{scheme[:20]}`.")
        return scheme

    def settings(self) -> tuple[tuple[str, str], ...]:
        """Settings for the fetch. An empty header first: a second Authorization header is refused by the server."""
        settings = [("http.followRedirects", "false")]
        if self.token:
            basic = base64.b64encode(f"x-access-token:{self.token}".encode()).decode()
            name = f"http.{self.url}.extraheader"
            settings += [(name, ""), (name, f"AUTHORIZATION: basic {basic}")]
        return tuple(settings)


def fetch_commit(
    git: Git, revision: str, remote: Remote, *, environ: Mapping[str, str] | None = None
) -> tuple[Git, str]:
    """Fetch one commit, its files and nothing of its history.

    Args:
        git: The user's repository, whose objects are borrowed.
        revision: A full hash, or a full ref name such as `refs/heads/main`.
        remote: Where from.
        environ: Environment of git; this process's own by default.

    Returns:
        A repository that has the commit, and the commit's hash. The store is removed with the `Git` object.

    Raises:
        GitFailed: it cannot be had; the message is git's own first line.
    """
    if not is_sha(revision) and not revision.startswith("refs/"):
        raise GitFailed(f"`{revision[:80]}` is neither a commit hash nor a full ref name.")
    store = Path(tempfile.mkdtemp(prefix="abs-gate-git-"))
    private = Git(store, environ=environ)
    weakref.finalize(private, shutil.rmtree, store, ignore_errors=True)
    private.run("init", "--bare", "--quiet", f"--object-format={git.object_format()}", "--template=", str(store))
    _borrow(git, private)
    private.run(
        *("fetch", "--depth=1", "--no-tags", "--no-recurse-submodules", "--quiet", "--end-of-options"),
        *(remote.url, f"+{revision}:refs/abs-gate/base"),
        timeout_s=FETCH_TIMEOUT_S,
        settings=remote.settings(),
        protocol=remote.protocol,
    )
    sha = private.find_commit("refs/abs-gate/base")
    if sha is None:
        raise GitFailed(f"`{revision}` was fetched, yet it is not a commit.")
    return private, sha


def _borrow(git: Git, private: Git) -> None:
    """Let the store see the user's objects, and offer HEAD in the negotiation.

    A partial clone lends nothing: it has holes, which a server would take for objects that are here.
    """
    head = git.head()
    if head is None or git.is_partial():
        return
    alternates = private.git_dir / "objects" / "info" / "alternates"
    alternates.parent.mkdir(parents=True, exist_ok=True)
    alternates.write_bytes(os.fsencode(git.path_of("objects")) + b"\n")
    shallow = git.path_of("shallow")
    if shallow.is_file():
        shutil.copyfile(shallow, private.git_dir / "shallow")
    private.run("update-ref", "refs/abs-gate/head", head)
