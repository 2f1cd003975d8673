"""One wrapper over the git binary: argument lists, a clean environment, hardened settings, time limits.

The repository belongs to someone else (in a container even to another user) and its `.git/config` may be
hostile, so no hook, monitor, credential helper or `ext::` remote of its own is ever run. A revision that
a person wrote is resolved to a hash once; every other command is given hashes only.
"""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

from abs_gate.errors import CannotVerify

TIMEOUT_S = 60.0
"""Seconds one local git command may take."""

_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?\Z")
_REVISION = re.compile(r"(?!-)(?!.*\.\.)[^\x00-\x20\x7f:?*\[\\{]{1,250}\Z")
_PROMISOR = r"^remote\..*\.promisor$"
_KEPT_VARIABLES = (
    *("PATH", "HOME", "XDG_CONFIG_HOME", "TMPDIR", "TEMP", "TMP", "SYSTEMROOT"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "no_proxy", "all_proxy"),
    *("SSL_CERT_FILE", "SSL_CERT_DIR", "GIT_SSL_CAINFO", "GIT_SSL_CAPATH"),
)
_SETTINGS = {
    "core.fsmonitor": "false",
    "core.hooksPath": "/dev/null",
    "core.askPass": "",
    "credential.helper": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    "protocol.ext.allow": "never",
    "submodule.recurse": "false",
}


class GitFailed(CannotVerify):
    """A git command failed, took too long, or git is not installed."""


def is_sha(text: str) -> bool:
    """Whether the text is a full commit hash (SHA-1 or SHA-256)."""
    return bool(_SHA.match(text))


def is_revision(text: str) -> bool:
    """Whether the text may be handed to git as a revision: never an option, a range or a path in a commit."""
    return bool(_REVISION.match(text))


def directory_in_repository(directory: Path, workspace: Path) -> str:
    """Where a directory lies in the repository around it, POSIX; empty for its root.

    Without a repository (a checkout made over REST) the workflow's workspace is the root.
    """
    git = Git.find(directory)
    top = git.top if git is not None and git.top is not None else Path(os.path.realpath(workspace))
    place = directory.relative_to(top).as_posix() if directory.is_relative_to(top) else "."
    return "" if place == "." else place


class Git:
    """Commands in one repository."""

    def __init__(self, git_dir: Path, *, top: Path | None = None, environ: Mapping[str, str] | None = None) -> None:
        self.git_dir = git_dir
        self.top = top
        self._environ = dict(os.environ if environ is None else environ)

    @classmethod
    def find(cls, directory: str | os.PathLike[str], *, environ: Mapping[str, str] | None = None) -> Git | None:
        """The repository whose work tree holds the directory, or None.

        Only a `.git` in the directory or above counts: git's own search would also take a directory that
        merely looks like a bare repository, which a pull request can contain.
        """
        start = Path(os.path.realpath(directory))
        for candidate in (start, *start.parents):
            if (candidate / ".git").exists():
                return cls(candidate / ".git", top=candidate, environ=environ)
        return None

    def run(
        self,
        *arguments: str,
        timeout_s: float = TIMEOUT_S,
        settings: Sequence[tuple[str, str]] = (),
        protocol: str | None = None,
    ) -> bytes:
        """Run one git command and return its standard output.

        Args:
            arguments: Subcommand and arguments.
            timeout_s: Seconds until it is killed.
            settings: Further settings in order, handed over in the environment because they may be secret.
            protocol: The one transport that may be used; None for no network at all.

        Raises:
            GitFailed: it failed, took too long, or git is missing.
        """
        try:
            done = subprocess.run(
                self.command(*arguments),
                env=self.environment(settings=settings, protocol=protocol),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timeout_s,
                check=False,
            )
        except FileNotFoundError as error:
            raise GitFailed("git is not installed.", hint="Install git, or give `base` a path.") from error
        except subprocess.TimeoutExpired as error:
            raise GitFailed(f"`git {arguments[0]}` took longer than {timeout_s:g} s and was stopped.") from error
        if done.returncode != 0:
            raise GitFailed(f"`git {arguments[0]}` failed: {_first_line(done.stderr)}")
        return done.stdout

    def command(self, *arguments: str) -> list[str]:
        """The argument list of a command, hardened."""
        command = ["git", f"--git-dir={self.git_dir}", "--no-pager", "--no-replace-objects", "--no-optional-locks"]
        for name, value in _SETTINGS.items():
            command += ["-c", f"{name}={value}"]
        if self.top is not None:
            command += ["-c", f"safe.directory={self.top}"]
        return [*command, *arguments]

    def environment(self, *, settings: Sequence[tuple[str, str]] = (), protocol: str | None = None) -> dict[str, str]:
        """The environment of a command: an allow-list of ours, none of the `GIT_*` that were set."""
        kept = {name: self._environ[name] for name in _KEPT_VARIABLES if name in self._environ}
        if "GIT_SSL_CAINFO" not in kept and self._environ.get("REQUESTS_CA_BUNDLE"):
            kept["GIT_SSL_CAINFO"] = self._environ["REQUESTS_CA_BUNDLE"]
        kept |= {
            "GIT_ALLOW_PROTOCOL": protocol or "none",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "LC_ALL": "C",
        }
        if settings:
            kept["GIT_CONFIG_COUNT"] = str(len(settings))
            for index, (name, value) in enumerate(settings):
                kept[f"GIT_CONFIG_KEY_{index}"] = name
                kept[f"GIT_CONFIG_VALUE_{index}"] = value
        return kept

    def find_commit(self, revision: str) -> str | None:
        """The hash of the commit a revision names, or None where it names none that is here."""
        if not is_revision(revision):
            return None
        try:
            output = self.run("rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}")
        except GitFailed:
            return None
        sha = output.decode("ascii", "replace").strip()
        return sha if is_sha(sha) else None

    def head(self) -> str | None:
        """The hash of HEAD; None before the first commit."""
        return self.find_commit("HEAD")

    def has_commit(self, sha: str) -> bool:
        """Whether the commit with everything below it is here, so that its files can be read."""
        if self.find_commit(sha) is None:
            return False
        if not self.is_partial():
            return True
        listed = self.run("rev-list", "--objects", "--no-walk", "--missing=print", "--end-of-options", sha)
        return not any(line.startswith(b"?") for line in listed.splitlines())

    def parents(self, sha: str) -> tuple[str, ...]:
        """The parents a commit names. They need not be here: a shallow clone knows them by name only."""
        text = self.run("cat-file", "commit", _checked(sha)).decode("utf-8", "replace")
        header = text.split("\n\n", 1)[0].splitlines()
        return tuple(line.removeprefix("parent ") for line in header if line.startswith("parent "))

    def merge_base(self, one: str, other: str) -> str | None:
        """The best common ancestor, or None where there is none in what is here."""
        try:
            output = self.run("merge-base", "--end-of-options", _checked(one), _checked(other))
        except GitFailed:
            return None
        sha = output.decode("ascii", "replace").strip()
        return sha if is_sha(sha) else None

    def is_partial(self) -> bool:
        """Whether objects were left out when this repository was cloned (`filter:` of actions/checkout)."""
        return bool(self._setting("--get", "extensions.partialClone") or self._setting("--get-regexp", _PROMISOR))

    def is_shallow(self) -> bool:
        """Whether history was cut off when this repository was cloned (`fetch-depth:` of actions/checkout)."""
        return self.run("rev-parse", "--is-shallow-repository").strip() == b"true"

    def path_of(self, name: str) -> Path:
        """Where git keeps a file or directory of this repository, work trees and alternates considered."""
        output = self.run("rev-parse", "--git-path", name)
        return Path(os.path.abspath(os.fsdecode(output.removesuffix(b"\n"))))  # noqa: PTH100 - links stay as they are

    def object_format(self) -> str:
        """`sha1` or `sha256`."""
        return self._setting("--get", "extensions.objectFormat") or "sha1"

    def _setting(self, how: str, name: str) -> str | None:
        try:
            return self.run("config", how, name).decode("utf-8", "replace").strip()
        except GitFailed:
            return None


def _checked(sha: str) -> str:
    if not is_sha(sha):
        raise GitFailed(f"`{sha[:80]}` is not a commit hash.")
    return sha


def _first_line(data: bytes) -> str:
    lines: Sequence[str] = data.decode("utf-8", "replace").strip().splitlines() or ["no message"]
    return next((line for line in lines if line.startswith(("fatal:", "error:"))), lines[0])[:300]
