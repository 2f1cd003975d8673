import pytest

from abs_gate.github.comments import upsert_comment
from abs_gate.reports.comment import parse_marker, render_marker

from .fake_api import BOT


def body_of(text, *, key="default", sha="a" * 40, run=10, attempt=1, verdict="failed"):
    return f"{render_marker(key, sha, run, attempt, verdict)}\n{text}"


def post(client, text, *, seen=None, **run):
    def render(previous):
        if seen is not None:
            seen.append(previous)
        return body_of(text, **run)

    return upsert_comment(client, repository="octo/repo", number=2, render=render)


def test_first_run_posts_and_second_replaces(github, client):
    first = post(client, "red", run=10)
    second = post(client, "green", run=11, verdict="passed")
    assert (first.posted, second.posted) == (True, True)
    assert first.url == second.url == "https://github.com/octo/repo/pull/2#issuecomment-100"
    assert [body.splitlines()[1] for body in github.bodies()] == ["green"]
    assert second.notice == ""


def test_next_report_is_told_what_it_replaces(github, client):
    post(client, "red", run=10, verdict="failed")
    seen = []
    post(client, "green", run=11, verdict="passed", seen=seen)
    assert seen[-1].verdict == "failed"
    assert seen[-1].run_id == 10


def test_found_on_a_late_page(github, client):
    for number in range(230):
        github.add_comment(f"chatter {number}", author="octocat")
    ours = github.add_comment(body_of("old"))
    for number in range(130):
        github.add_comment(f"more {number}", author="octocat")
    delivery = post(client, "new", run=11)
    assert delivery.url.endswith(str(ours))
    assert github.comments[ours]["body"].endswith("new")
    assert len(github.comments) == 361


def test_links_that_name_another_host_are_followed_on_ours(github, client):
    github.controls.foreign_links = True
    for number in range(120):
        github.add_comment(f"chatter {number}", author="octocat")
    ours = github.add_comment(body_of("old"))
    post(client, "new", run=11)
    assert github.comments[ours]["body"].endswith("new")


@pytest.mark.parametrize("author", ["mallory", "other-app[bot]", "github-actions", None])
def test_a_marker_by_someone_else_is_not_ours(github, client, author):
    theirs = github.add_comment(body_of("forged"), author=author)
    post(client, "real", run=11)
    assert github.comments[theirs]["body"].endswith("forged")
    assert github.bodies()[-1].endswith("real")


def test_a_marker_further_down_is_not_ours(github, client):
    theirs = github.add_comment("> quoting\n" + body_of("x"))
    post(client, "real", run=11)
    assert len(github.comments) == 2
    assert github.comments[theirs]["body"].startswith("> quoting")


def test_keys_have_their_own_comments(github, client):
    post(client, "one", key="api", run=10)
    post(client, "two", key="web", run=10)
    post(client, "one again", key="api", run=11)
    assert sorted(body.splitlines()[1] for body in github.bodies()) == ["one again", "two"]


def test_oldest_wins_and_doubles_are_removed(github, client):
    oldest = github.add_comment(body_of("first", run=7))
    github.add_comment(body_of("second", run=8))
    github.add_comment(body_of("other key", key="web"))
    github.add_comment(body_of("third", run=9))
    seen = []
    delivery = post(client, "now", run=10, seen=seen)
    assert delivery.url.endswith(str(oldest))
    assert [body.splitlines()[1] for body in github.bodies()] == ["now", "other key"]
    assert seen[-1].run_id == 9


@pytest.mark.parametrize(
    ("standing", "mine", "stays"),
    [((12, 1), (11, 1), True), ((11, 2), (11, 1), True), ((11, 1), (11, 2), False), ((10, 5), (11, 1), False)],
)
def test_an_older_run_never_overwrites_a_newer(github, client, standing, mine, stays):
    github.add_comment(body_of("standing", run=standing[0], attempt=standing[1]))
    delivery = post(client, "mine", run=mine[0], attempt=mine[1])
    assert github.bodies()[0].endswith("standing" if stays else "mine")
    assert delivery.posted is not stays
    assert ("newer run" in delivery.notice) is stays


def test_an_older_run_still_joins_doubles_under_the_newest_report(github, client):
    oldest = github.add_comment(body_of("old", run=8))
    github.add_comment(body_of("newest", run=12))
    delivery = post(client, "mine", run=11)
    assert not delivery.posted
    assert [body.splitlines()[1] for body in github.bodies()] == ["newest"]
    assert list(github.comments) == [oldest]


def test_a_comment_deleted_meanwhile_is_made_again(github, client):
    ours = github.add_comment(body_of("old"))

    def delete_it():
        github.comments.pop(ours, None)
        github.before_write = lambda: None

    github.before_write = delete_it
    delivery = post(client, "new", run=11)
    assert delivery.posted
    assert [body.splitlines()[1] for body in github.bodies()] == ["new"]


def test_two_runs_at_once_leave_one_comment_with_the_newer_report(github, client):
    def other_run_posts():
        github.before_write = lambda: None
        github.add_comment(body_of("other", run=12))

    github.before_write = other_run_posts
    delivery = post(client, "mine", run=11)
    assert not delivery.posted
    assert [body.splitlines()[1] for body in github.bodies()] == ["other"]


def test_a_post_that_succeeded_despite_a_server_error_is_not_repeated(github, client):
    github.controls.fail_after = [502]
    delivery = post(client, "mine", run=11)
    assert delivery.posted
    assert [body.splitlines()[1] for body in github.bodies()] == ["mine"]


def test_a_token_of_a_person_finds_its_own_comments(github, client):
    github.controls.viewer = github.controls.author = "octocat"
    theirs = github.add_comment(body_of("by the bot", run=9))
    post(client, "one", run=10)
    post(client, "two", run=11)
    assert github.comments[theirs]["body"].endswith("by the bot")
    assert [body.splitlines()[1] for body in github.bodies()] == ["by the bot", "two"]


def test_without_graphql_the_jobs_own_account_is_assumed(github, client):
    github.controls.viewer = None
    post(client, "one", run=10)
    post(client, "two", run=11)
    assert [body.splitlines()[1] for body in github.bodies()] == ["two"]


def test_without_graphql_another_account_is_learned_from_what_it_posts(github, client):
    github.controls.viewer = None
    github.controls.author = "release-app[bot]"
    oldest = github.add_comment(body_of("one", run=10), author="release-app[bot]")
    delivery = post(client, "two", run=11)
    assert delivery.url.endswith(str(oldest))
    assert [body.splitlines()[1] for body in github.bodies()] == ["two"]


def test_read_only_token_names_the_permission(github, client):
    github.controls.read_only = True
    delivery = post(client, "mine")
    assert not delivery.posted
    assert "`pull-requests: write`" in delivery.notice
    assert "Resource not accessible by integration" in delivery.notice
    assert github.comments == {}


def test_hidden_repository_names_the_permission(github, client):
    github.controls.no_repository = True
    delivery = post(client, "mine")
    assert not delivery.posted
    assert "`pull-requests: write`" in delivery.notice


def test_locked_conversation_is_not_called_a_missing_permission(github, client):
    github.controls.locked = True
    delivery = post(client, "mine")
    assert "locked" in delivery.notice
    assert "lacks" not in delivery.notice


def test_a_report_that_is_refused_does_not_leave_the_old_verdict(github, client):
    post(client, "red", run=10, verdict="failed")
    delivery = post(client, "x" * 70_000, run=11, verdict="passed")
    assert delivery.posted
    (body,) = github.bodies()
    assert parse_marker(body).verdict == "passed"
    assert "passed" in body
    assert "red" not in body


def test_a_first_report_that_is_refused_is_posted_short(github, client):
    assert post(client, "x" * 70_000, run=11).posted
    assert len(github.bodies()[0]) < 1000


def test_a_second_job_with_the_same_key_is_pointed_at_comment_key(github, client):
    post(client, "one", run=11)
    delivery = post(client, "two", run=11)
    assert delivery.posted
    assert "comment-key" in delivery.notice


def test_garbage_in_the_list_is_skipped(github, client):
    number = github.add_comment("x")
    github.comments[number]["body"] = None
    github.comments[number]["user"] = None
    assert post(client, "mine").posted


def test_unreachable_github_is_a_notice(github, client, waits):
    github.controls.fail = [500] * 50
    delivery = post(client, "mine")
    assert not delivery.posted
    assert "500" in delivery.notice
    assert sum(waits) <= 120


def test_body_without_marker_is_a_fault_of_ours(client):
    with pytest.raises(ValueError, match="marker"):
        upsert_comment(client, repository="octo/repo", number=2, render=lambda _: "no marker")


def test_author_is_matched_whatever_its_case(github, client):
    github.add_comment(body_of("old", run=9), author=BOT["login"].upper())
    post(client, "new", run=11)
    assert len(github.comments) == 1
