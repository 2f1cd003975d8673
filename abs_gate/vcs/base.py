"""Finds and opens the version of the files that a change is compared with.

Tries, in order: objects that are here, a shallow fetch of the one commit, the REST API of the code host. A base
that cannot be read is an error that says how to mend it; it is never taken for "no changes".
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from abs_gate.errors import BaseUnavailable, ConfigurationError, PathNotThere
from abs_gate.sources.workspace import Workspace
from abs_gate.vcs.committree import CommitTree
from abs_gate.vcs.emptytree import EmptyTree
from abs_gate.vcs.fetch import Remote, fetch_commit
from abs_gate.vcs.git import Git, GitFailed, is_revision, is_sha
from abs_gate.vcs.hosttree import HostedFiles, HostTree
from abs_gate.vcs.plan import BasePlan, EventFacts, plan_base
from abs_gate.vcs.worktree import WorkTree

AUTO = "auto"

_LOCAL_BRANCHES = (
    "refs/remotes/origin/HEAD",
    *(f"{place}/{name}" for place in ("refs/remotes/origin", "refs/heads") for name in ("main", "master")),
)
_PARENT = re.compile(r"(.+?)(?:\^1?|~1?)\Z")
_PLAIN_NAME = re.compile(r"(?!HEAD\b)[\w./+-]+\Z")


class CodeHost(HostedFiles, Protocol):
    """The repository as its host knows it; `github.contents.HostedRepository` is one.

    Every method raises BaseUnavailable where the host refuses or cannot be reached.
    """

    def find_commit(self, name: str) -> str | None:
        """The hash a branch, tag or hash names; None where there is none."""
        ...

    def find_merge_base(self, base: str, head: str) -> str | None: ...


class Base(Struct, frozen=True, kw_only=True):
    """The side compared with."""

    workspace: Workspace
    label: str
    """What it is, in words: `commit 1a2b3c4 (base of pull request #2)`, `files in baseline/`."""
    sha: str | None = None
    paths: tuple[str, ...] | None = None
    """Where its files are when the setting names a place; None: where the head has them."""


class BaseSources(Struct, frozen=True, kw_only=True):
    """Everything a base may be read from."""

    worktree: WorkTree
    git: Git | None = None
    remote: Remote | None = None
    """Where commits are fetched from; None: nothing is fetched, as on a developer's own machine."""
    host: CodeHost | None = None


def resolve_base(setting: str, sources: BaseSources, event: EventFacts | None = None) -> Base:
    """Open the base that a setting names.

    Args:
        setting: `auto`, a git revision, a path in the workspace, or `REVISION:PATH`.
        sources: What it may be read from.
        event: The event that started the workflow; None outside one.

    Raises:
        BaseUnavailable: it cannot be read; the message says why and what to do.
        ConfigurationError: the setting is no such thing, or could mean two things.
    """
    return _Resolver(sources, event).resolve(setting.strip() or AUTO)


class _Resolver:
    def __init__(self, sources: BaseSources, event: EventFacts | None) -> None:
        self._sources = sources
        self._git = sources.git
        self._event = event
        self._tried: list[str] = []

    def resolve(self, setting: str) -> Base:
        if setting == AUTO:
            return self._auto()
        revision, colon, path = setting.partition(":")
        if colon:
            return self._at_revision(revision, path)
        return self._path_or_revision(setting)

    # auto ------------------------------------------------------------------------------------------------

    def _auto(self) -> Base:
        head = self._git.head() if self._git else None
        if self._event is None:
            return self._local(head)
        parents = self._git.parents(head) if self._git and head else ()
        plan = plan_base(self._event, head, parents)
        if plan is None:
            return Base(workspace=EmptyTree(), label="nothing (there is no earlier commit)")
        sha, words = self._follow(plan, head or self._event.sha, parents)
        same = ", the commit under test itself" if sha == head else ""
        return self._open(sha, f"{words}{same}")

    def _follow(self, plan: BasePlan, head: str | None, parents: tuple[str, ...]) -> tuple[str, str]:
        """The commit of a plan, and what it is in words."""
        sha, words = plan.revision, plan.words
        if not is_sha(sha):
            sha = self._branch(sha)
        if plan.from_merge_base and head:
            merge_base = self._merge_base(sha, head)
            words = words if merge_base else f"{words}, its tip: where HEAD left it is not known"
            sha = merge_base or sha
        if plan.else_parent and sha == head and parents:
            return parents[0], "previous commit"
        return sha, words

    def _local(self, head: str | None) -> Base:
        """On a developer's own machine: where this branch left the main one, uncommitted work included in the head."""
        if self._git is None:
            raise BaseUnavailable(
                f"`{self._sources.worktree.root}` is not in a git repository, so there is no base to compare with.",
                hint="Give `base` a path to an earlier version (`--base baseline/`), or run it inside the repository.",
            )
        if head is None:
            return Base(workspace=EmptyTree(), label="nothing (the repository has no commit yet)")
        for branch in _LOCAL_BRANCHES:
            tip = self._git.find_commit(branch)
            if tip is None:
                continue
            name = branch.removeprefix("refs/remotes/").removeprefix("refs/heads/")
            sha = self._git.merge_base(tip, head)
            if sha is None:
                raise self._unavailable(f"this branch and {name} have no common commit in this clone")
            return self._open(sha, f"HEAD, which is on {name}" if sha == head else f"where HEAD left {name}")
        return self._open(head, "HEAD; no main branch was found")

    # named -----------------------------------------------------------------------------------------------

    def _path_or_revision(self, setting: str) -> Base:
        worktree = self._sources.worktree
        is_path = worktree.is_file(setting) or worktree.is_directory(setting)
        local = self._git.find_commit(setting) if self._git else None
        if is_path and local and not setting.startswith("./"):
            raise ConfigurationError(
                f"`base: {setting}` is both a path and a git revision.",
                hint=f"Write `./{setting}` for the path, or the full name (`refs/heads/{setting}`) for the revision.",
            )
        if is_path:
            name = worktree.relative(setting)
            return Base(workspace=worktree, label=f"files in {name}", paths=(name,))
        if not is_revision(setting):
            raise ConfigurationError(
                f"`base: {setting[:80]}` is neither `auto`, a file or directory, nor a git revision."
            )
        return self._open(local or self._revision(setting), setting)

    def _at_revision(self, revision: str, path: str) -> Base:
        if not is_revision(revision) or not path:
            raise ConfigurationError(
                f"`base: {revision[:80]}:{path[:80]}` is not REVISION:PATH.", hint="Example: `main:contracts/`."
            )
        base = self._open(self._revision(revision), revision)
        if not base.workspace.is_file(path) and not base.workspace.is_directory(path):
            raise PathNotThere(f"`{path}` does not exist in {base.label}, so there is nothing to compare with.")
        return Base(workspace=base.workspace, label=f"{path} in {base.label}", sha=base.sha, paths=(path,))

    def _revision(self, revision: str) -> str:
        """The commit a revision names, here or at the host."""
        git = self._git
        if git and (sha := git.find_commit(revision)):
            return sha
        if is_sha(revision):
            return revision
        if git and (parent := _PARENT.match(revision)) and (child := git.find_commit(parent[1])):
            parents = git.parents(child)
            if parents:
                return parents[0]
        if not _PLAIN_NAME.match(revision):
            raise self._unavailable(f"`{revision}` names no commit in this clone")
        return self._branch(revision.removeprefix("origin/"))

    # finding and opening ---------------------------------------------------------------------------------

    def _branch(self, name: str) -> str:
        """The tip of a branch or tag: as the host has it, else as this clone last saw it, else fetched."""
        if self._sources.host:
            try:
                if sha := self._sources.host.find_commit(name):
                    return sha
            except BaseUnavailable as error:
                self._tried.append(f"the REST API: {error}")
        if self._git:
            for ref in (f"refs/remotes/origin/{name}", f"refs/heads/{name}", f"refs/tags/{name}"):
                if sha := self._git.find_commit(ref):
                    return sha
            for ref in (f"refs/heads/{name}", f"refs/tags/{name}"):
                if fetched := self._fetch(ref):
                    return fetched
        raise self._unavailable(f"`{name}` names no commit in this clone")

    def _merge_base(self, base: str, head: str) -> str | None:
        if self._git and (sha := self._git.merge_base(base, head)):
            return sha
        if self._sources.host:
            try:
                return self._sources.host.find_merge_base(base, head)
            except BaseUnavailable:
                return None  # the tip is compared with instead, and named in the label
        return None

    def _open(self, sha: str, words: str) -> Base:
        worktree = self._sources.worktree
        label = f"commit {sha[:7]} ({words})"
        prefix = self._prefix()
        if self._git and not self._git.has_commit(sha):
            self._fetch(sha)
        if self._git and self._git.has_commit(sha):
            tree: Workspace = CommitTree(self._git, sha, prefix=prefix, root=worktree.root)
            return Base(workspace=tree, label=label, sha=sha)
        if self._sources.host:
            try:
                known = self._sources.host.find_commit(sha)
            except BaseUnavailable as error:
                self._tried.append(f"the REST API: {error}")
            else:
                if known:
                    tree = HostTree(self._sources.host, sha, prefix=prefix, root=worktree.root)
                    return Base(workspace=tree, label=label, sha=sha)
                self._tried.append("the REST API does not know it")
        raise self._unavailable(f"{label} is not in this clone")

    def _prefix(self) -> str:
        """Where the workspace lies in the repository, which without git is where the event's workspace is."""
        root = self._sources.worktree.root
        top = self._git.top if self._git else None
        if top is None and self._event:
            top = Path(os.path.realpath(self._event.workspace))
        if top is None or not root.is_relative_to(top):
            return ""
        return "" if root == top else root.relative_to(top).as_posix()

    def _fetch(self, revision: str) -> str | None:
        """Fetch a commit; from then on this resolver reads from the store it was fetched into."""
        if self._git is None or self._sources.remote is None:
            return None
        try:
            store, sha = fetch_commit(self._git, revision, self._sources.remote)
        except GitFailed as error:
            self._tried.append(f"fetching it: {error}")
            return None
        store.top = self._git.top
        self._git = store
        return sha

    def _unavailable(self, what: str) -> BaseUnavailable:
        tried = "".join(f"; {attempt}" for attempt in self._tried)
        if self._event is None and self._git is not None and not self._git.is_shallow():
            hint = (
                "The clone has its whole history: see that the name is right, fetch what is new (`git fetch origin`), "
                "or give `base` a path."
            )
        elif self._event is None:
            hint = "Fetch it (`git fetch --unshallow origin`, or `git fetch origin <commit>`), or give `base` a path."
        else:
            hint = (
                "Set `fetch-depth: 0` under `with:` of actions/checkout, or give the job `permissions: contents: read`."
            )
        return BaseUnavailable(f"The base could not be read: {what}{tried}.", hint=hint)
