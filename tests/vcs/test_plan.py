import pytest
from msgspec import Struct

from abs_gate.vcs.plan import BasePlan, plan_base

BASE, HEAD, MERGE, OTHER, ZERO = "b" * 40, "e" * 40, "d" * 40, "c" * 40, "0" * 40


class Event(Struct, frozen=True, kw_only=True):
    name: str = "push"
    sha: str | None = None
    ref: str = "refs/heads/main"
    workspace: str = "/nonexistent"
    pr_number: int | None = None
    head_sha: str | None = None
    base_sha: str | None = None
    before: str | None = None
    default_branch: str | None = "main"


def pull(**fields):
    given = {"name": "pull_request", "sha": MERGE, "pr_number": 2, "head_sha": HEAD, "base_sha": BASE, **fields}
    return Event(**given)


@pytest.mark.parametrize(
    ("event", "head", "parents", "revision", "from_merge_base"),
    [
        # GitHub's test merge is checked out: its first parent is exactly what it was merged into
        (pull(), MERGE, (OTHER, HEAD), OTHER, False),
        # a later merge than the event's own, of a head pushed since
        (pull(), MERGE, (OTHER, "9" * 40), OTHER, False),
        # the author's commit is checked out: where it left the target branch
        (pull(), HEAD, (OTHER,), BASE, True),
        # the author's commit is itself a merge of main: its first parent is the author's earlier work
        (pull(), HEAD, (OTHER, BASE), BASE, True),
        # something else is checked out
        (pull(), "9" * 40, (OTHER, "8" * 40), BASE, True),
        # no repository
        (pull(), None, (), BASE, True),
        (pull(name="pull_request_target", sha=BASE), HEAD, (OTHER,), BASE, True),
        (Event(name="merge_group", base_sha=BASE, head_sha=HEAD), HEAD, (OTHER,), BASE, False),
        (Event(before=OTHER), HEAD, (BASE,), OTHER, False),
        (Event(before=ZERO, ref="refs/heads/feature"), HEAD, (BASE,), "main", True),
        (Event(before=ZERO, ref="refs/tags/v1"), HEAD, (BASE,), "main", True),
        (Event(before=ZERO, ref="refs/heads/main"), HEAD, (BASE,), BASE, False),
        (Event(before="garbage", ref="refs/heads/main"), HEAD, (BASE,), BASE, False),
        (Event(before=None, default_branch=None), HEAD, (BASE,), BASE, False),
        (Event(name="schedule"), HEAD, (BASE,), "main", True),
        (Event(name="workflow_dispatch", ref="refs/heads/feature"), HEAD, (BASE,), "main", True),
        (Event(name="workflow_dispatch", default_branch=None), HEAD, (BASE,), BASE, False),
        (pull(base_sha=None), HEAD, (OTHER,), "main", True),
    ],
)
def test_truth_table(event, head, parents, revision, from_merge_base):
    plan = plan_base(event, head, parents)
    assert plan is not None
    assert (plan.revision, plan.from_merge_base) == (revision, from_merge_base)
    assert plan.words


def test_a_new_ref_on_the_default_branch_itself_is_compared_with_its_parent():
    plan = plan_base(Event(before=ZERO, ref="refs/tags/v1"), HEAD, (BASE,))
    assert plan.else_parent
    assert not plan_base(Event(name="schedule"), HEAD, (BASE,)).else_parent


def test_the_first_commit_of_all_has_nothing_before_it():
    assert plan_base(Event(before=ZERO), HEAD, ()) is None


def test_words_name_the_pull_request():
    assert plan_base(pull(), MERGE, (OTHER, HEAD)) == BasePlan(revision=OTHER, words="base of pull request #2")
