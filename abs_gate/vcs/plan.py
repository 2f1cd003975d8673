"""Decides from values alone which revision a change is compared with. Finding and reading it is `vcs.base`."""

from __future__ import annotations

from typing import Protocol

from msgspec import Struct

from abs_gate.vcs.git import is_sha


class EventFacts(Protocol):
    """What this needs to know of the event that started a workflow; `github.event.EventContext` has it."""

    @property
    def name(self) -> str: ...

    @property
    def sha(self) -> str | None:
        """The commit the workflow runs for (`GITHUB_SHA`)."""

    @property
    def ref(self) -> str: ...

    @property
    def workspace(self) -> str:
        """The directory that the repository was checked out in."""

    @property
    def pr_number(self) -> int | None: ...

    @property
    def head_sha(self) -> str | None:
        """Tip of the pull request's own branch, or of the merge group."""

    @property
    def base_sha(self) -> str | None:
        """Tip of the target branch when the event happened."""

    @property
    def before(self) -> str | None:
        """Where a pushed ref stood before."""

    @property
    def default_branch(self) -> str | None: ...


class BasePlan(Struct, frozen=True, kw_only=True):
    """Which revision to compare with."""

    revision: str
    """A full hash, or the name of a branch."""
    words: str
    """What it is, for people."""
    from_merge_base: bool = False
    """Compare with the commit where the head left the revision rather than with the revision itself."""
    else_parent: bool = False
    """Where that is the head itself, compare with the head's first parent."""


def plan_base(event: EventFacts, head: str | None, parents: tuple[str, ...]) -> BasePlan | None:
    """The base of an event's change.

    Args:
        event: The event.
        head: Hash of the commit in the work tree, where there is a repository.
        parents: The head's parents, which a shallow clone knows by name.

    Returns:
        None where there was nothing before: the first commit of a repository.
    """
    if event.pr_number is not None and event.name != "merge_group":
        words = f"base of pull request #{event.pr_number}"
        if _is_test_merge(event, head, parents):
            return BasePlan(revision=parents[0], words=words)
        if event.base_sha:
            return BasePlan(revision=event.base_sha, words=words, from_merge_base=True)
    if event.name == "merge_group" and event.base_sha:
        return BasePlan(revision=event.base_sha, words="base of the merge group")
    if event.name == "push":
        return _plan_push(event, parents)
    if event.default_branch:
        return BasePlan(revision=event.default_branch, words=event.default_branch, from_merge_base=True)
    return _plan_parent(parents)


def _is_test_merge(event: EventFacts, head: str | None, parents: tuple[str, ...]) -> bool:
    """Whether the work tree holds GitHub's merge of the pull request rather than the author's own commit.

    An author's commit can be a merge too, whose first parent is the author's earlier work.
    """
    if len(parents) != 2 or head == event.head_sha:
        return False
    return parents[1] == event.head_sha or head == event.sha


def _plan_push(event: EventFacts, parents: tuple[str, ...]) -> BasePlan | None:
    before = event.before or ""
    if is_sha(before) and before.strip("0"):
        return BasePlan(revision=before, words="commit before the push")
    if event.default_branch and event.ref != f"refs/heads/{event.default_branch}":
        return BasePlan(
            revision=event.default_branch, words=event.default_branch, from_merge_base=True, else_parent=True
        )
    return _plan_parent(parents)


def _plan_parent(parents: tuple[str, ...]) -> BasePlan | None:
    return BasePlan(revision=parents[0], words="previous commit") if parents else None
