# The base is an argument, so that a release can be built from the digest it was tested with:
#   docker build --build-arg BASE=docker.io/library/python:3.12-slim-bookworm@sha256:... .
# and so that a mirror or a stand-in can take its place. Without it the tag's current image is used.
ARG BASE=docker.io/library/python:3.12-slim-bookworm

FROM ${BASE} AS build
ENV PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_CACHE_DIR=1
WORKDIR /build
COPY requirements.lock requirements-build.lock ./
# Wheels only and every one by its hash: no package runs code of its own while it is installed.
RUN python3 -m venv --without-pip /opt/abs-gate \
 && pip --python /opt/abs-gate/bin/python install --require-hashes --only-binary :all: -r requirements.lock \
 && pip install --require-hashes --only-binary :all: -r requirements-build.lock
COPY pyproject.toml README.md LICENSE ./
COPY abs_gate ./abs_gate
RUN pip wheel --no-deps --no-index --no-build-isolation --wheel-dir dist . \
 && pip --python /opt/abs-gate/bin/python install --no-deps --no-index dist/*.whl

FROM ${BASE}
LABEL org.opencontainers.image.title="abs-gate" \
      org.opencontainers.image.description="Gates releases of AI agents: ABS sessions, tool-contract diffs and tool verification." \
      org.opencontainers.image.licenses="Apache-2.0"
RUN apt-get update \
 && apt-get install --yes --no-install-recommends git \
 && rm -rf /var/lib/apt/lists/*
COPY --from=build /opt/abs-gate /opt/abs-gate
COPY entrypoint /opt/abs-gate/entrypoint
RUN ln -s /opt/abs-gate/bin/abs-gate /usr/local/bin/abs-gate
# Nothing is ever imported from the directory a program is started in, which is a pull request's.
ENV PYTHONSAFEPATH=1
# root, because the runner's files (outputs, summary, workspace) are writable for no one else in a container action.
# Exec form: a shell would drop variables such as INPUT_AGENT-URL. -I: PYTHONPATH of a job must not reach in here.
ENTRYPOINT ["/opt/abs-gate/bin/python", "-I", "-u", "-X", "utf8", "/opt/abs-gate/entrypoint"]
