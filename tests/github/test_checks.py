import pytest

from abs_gate.github.checks import CheckRun, post_check_run
from abs_gate.outcomes import Verdict


def annotations(*sizes):
    item = {"path": "a.yaml", "start_line": 1, "end_line": 1, "annotation_level": "failure", "message": "m"}
    return tuple(tuple(item for _ in range(size)) for size in sizes)


def check(**fields):
    base = {"name": "abs-gate", "head_sha": "a" * 40, "verdict": Verdict.FAILED, "title": "t", "summary": "s"}
    return CheckRun(**{**base, **fields})


@pytest.mark.parametrize(
    ("verdict", "conclusion"),
    [("passed", "success"), ("failed", "failure"), ("unverified", "failure"), ("cancelled", "cancelled")],
)
def test_conclusions_never_let_the_unverified_through(github, client, verdict, conclusion):
    delivery = post_check_run(client, "octo/repo", check(verdict=Verdict(verdict)))
    assert delivery.posted
    assert delivery.url.startswith("https://github.com/octo/repo/runs/")
    (made,) = github.checks.values()
    assert (made["conclusion"], made["status"], made["head_sha"]) == (conclusion, "completed", "a" * 40)


def test_every_annotation_arrives(github, client):
    post_check_run(client, "octo/repo", check(annotations=annotations(50, 50, 7)))
    (made,) = github.checks.values()
    assert len(made["annotations"]) == 107
    assert (github.calls("POST"), github.calls("PATCH")) == (1, 2)


def test_annotations_that_did_not_arrive_are_counted(github, client):
    def fail_from_the_second_on():
        if github.calls("PATCH") == 1:
            github.controls.fail = [500] * 9

    github.before_write = fail_from_the_second_on
    delivery = post_check_run(client, "octo/repo", check(annotations=annotations(50, 50, 7)))
    assert delivery.posted
    assert delivery.notice.startswith("7 annotations are missing")


def test_long_texts_are_cut_to_what_github_takes(github, client):
    summary = "line of the summary ü\n" * 10_000
    assert post_check_run(client, "octo/repo", check(summary=summary, title="t" * 999)).posted


def test_no_permission_names_it(github, client):
    github.controls.read_only = True
    delivery = post_check_run(client, "octo/repo", check())
    assert not delivery.posted
    assert "`checks: write`" in delivery.notice
