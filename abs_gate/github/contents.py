"""Commits and files of a repository over the REST API: for a work tree without git, or a commit that cannot be fetched.

`vcs.base` asks through its `CodeHost` port; what a path means and which files are refused is decided there.
"""

from __future__ import annotations

import base64
import binascii
from urllib.parse import quote

from msgspec import Struct

from abs_gate.errors import BaseUnavailable
from abs_gate.findings import Json
from abs_gate.github.client import JSON_MEDIA_TYPE, RAW_MEDIA_TYPE, Answer, GitHubClient
from abs_gate.github.errors import Forbidden, GitHubError, NotFound, Rejected


class HostedEntry(Struct, frozen=True, kw_only=True):
    """A file or directory of a commit as the API describes it."""

    kind: str
    """`file`, `dir`, `symlink` or `submodule`."""
    name: str
    """Its last path segment."""
    size: int
    content: bytes | None = None
    """What is in it, where the API sent that along; it does so for one file up to 1 MB."""


class HostedRepository:
    """One repository. Every method raises BaseUnavailable where GitHub refuses or cannot be reached."""

    def __init__(self, client: GitHubClient, repository: str) -> None:
        self._client = client
        self._path = f"/repos/{quote(repository, safe='/')}"

    def find_commit(self, name: str) -> str | None:
        """The hash a branch, tag or hash names; None where it names none."""
        path = f"{self._path}/commits/{quote(name, safe='')}"
        try:
            answer = self._get(path, query={"per_page": "1"})
        except Rejected:  # GitHub's answer to a name that is no commit
            return None
        return _sha(answer.json()) if answer else None

    def find_merge_base(self, base: str, head: str) -> str | None:
        """Where two commits parted; None where they have nothing in common."""
        try:
            answer = self._get(f"{self._path}/compare/{base}...{head}", query={"per_page": "1"})
        except Rejected:
            return None
        found = answer.json() if answer else None
        return _sha(found.get("merge_base_commit")) if isinstance(found, dict) else None

    def look_up(self, path: str, sha: str) -> HostedEntry | tuple[HostedEntry, ...] | None:
        """A file, a directory's entries, or None where the commit has nothing there."""
        answer = self._get(f"{self._path}/contents/{quote(path)}", query={"ref": sha})
        if answer is None:
            return None
        found = answer.json()
        return tuple(_entry(item) for item in found) if isinstance(found, list) else _entry(found)

    def read_file(self, path: str, sha: str) -> bytes:
        """A file's bytes, up to the 100 MB that GitHub serves."""
        answer = self._get(f"{self._path}/contents/{quote(path)}", query={"ref": sha}, accept=RAW_MEDIA_TYPE)
        if answer is None:
            raise BaseUnavailable(f"GitHub has no `{path}` at commit {sha[:12]}.")
        return answer.body

    def _get(self, path: str, *, query: dict[str, str], accept: str = JSON_MEDIA_TYPE) -> Answer | None:
        """The answer, or None for a thing that is not there in a repository that the token may read."""
        try:
            return self._client.get(path, query=query, accept=accept)
        except Rejected:
            raise
        except NotFound:
            self._check_readable()
            return None
        except GitHubError as error:
            raise _unavailable(error) from error

    def _check_readable(self) -> None:
        """Tell "no such file" from "no such repository for this token", which GitHub answers alike."""
        try:
            self._client.get(self._path)
        except GitHubError as error:
            raise _unavailable(error) from error


def _entry(item: Json) -> HostedEntry:
    facts = item if isinstance(item, dict) else {}
    kind, name, size = facts.get("type"), facts.get("name"), facts.get("size")
    if not isinstance(kind, str) or not isinstance(name, str):
        raise BaseUnavailable("GitHub's contents API answered with something that is not a file.")
    if kind == "file" and facts.get("download_url", "") is None:
        kind = "submodule"  # a directory's listing calls it a file, for the sake of old clients
    return HostedEntry(kind=kind, name=name, size=size if isinstance(size, int) else 0, content=_content(facts))


def _content(facts: dict[str, Json]) -> bytes | None:
    text = facts.get("content")
    if facts.get("encoding") != "base64" or not isinstance(text, str) or not text:
        return None
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise BaseUnavailable("GitHub's contents API answered with a file that cannot be decoded.") from error


def _sha(commit: Json) -> str | None:
    sha = commit.get("sha") if isinstance(commit, dict) else None
    return sha if isinstance(sha, str) else None


def _unavailable(error: GitHubError) -> BaseUnavailable:
    hint = "The job needs `permissions: contents: read`." if isinstance(error, Forbidden | NotFound) else ""
    return BaseUnavailable(error.message, hint=hint)
