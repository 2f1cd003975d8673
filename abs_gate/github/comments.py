"""The one comment on a pull request: found again, replaced, never doubled, never older than what it replaces.

A comment is ours when its hidden marker names our key *and* this token's own account wrote it: anyone can write
a marker, and anyone's comment may be read here.
"""

from __future__ import annotations

from collections.abc import Callable
from urllib.parse import quote

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.github.client import GitHubClient
from abs_gate.github.delivery import Delivery, not_delivered
from abs_gate.github.errors import GitHubError, NotFound, Rejected, Unreachable
from abs_gate.reports.comment import Marker, parse_marker, render_marker, told_verdict

PERMISSION = "pull-requests: write"
DEFAULT_AUTHOR = "github-actions[bot]"
"""Who a job's own token speaks as; taken where GitHub does not say."""

_ROUNDS = 3
"""Times the whole is tried where other runs or people change comments meanwhile."""


class _Comment(Struct, frozen=True, kw_only=True):
    number: int
    url: str
    body: str
    author: str
    marker: Marker | None

    @property
    def run(self) -> tuple[int, int]:
        return (self.marker.run_id, self.marker.run_attempt) if self.marker else (0, 0)


def upsert_comment(
    client: GitHubClient,
    *,
    repository: str,
    number: int,
    render: Callable[[Marker | None], str],
    only_replace: bool = False,
) -> Delivery:
    """Bring the pull request's comment up to this run.

    The oldest of ours is kept and later doubles are removed; one that was deleted is made again. Where a newer
    run has already written, its comment stays.

    Args:
        client: GitHub.
        repository: `owner/name`.
        number: The pull request.
        render: The whole body, its own marker first, given the marker of the comment it replaces.
        only_replace: Make no comment where there is none yet.

    Returns:
        What became of it. Never raises for GitHub's sake: the verdict does not depend on a comment.
    """
    try:
        return _Upsert(client, repository, number, render, only_replace=only_replace).run()
    except GitHubError as error:
        return not_delivered("The pull request comment", error, permission=PERMISSION)


class _Upsert:
    def __init__(
        self,
        client: GitHubClient,
        repository: str,
        number: int,
        render: Callable[[Marker | None], str],
        *,
        only_replace: bool,
    ) -> None:
        self._client = client
        self._comments = f"/repos/{quote(repository, safe='/')}/issues/comments"
        self._thread = f"/repos/{quote(repository, safe='/')}/issues/{number}/comments"
        self._render = render
        self._only_replace = only_replace
        mine = parse_marker(render(None))
        if mine is None:
            raise ValueError("the body does not begin with a marker")
        self._mine = mine
        self._author = ""

    def run(self) -> Delivery:
        self._author = self._client.viewer() or DEFAULT_AUTHOR
        failure: GitHubError = Unreachable("the comment kept changing while it was written.")
        for _ in range(_ROUNDS):
            ours = self._find()
            made = None
            if not ours and self._only_replace:
                return Delivery(posted=False)
            if not ours:
                try:
                    made = self._create()
                except Unreachable as error:  # it may have been made all the same: look again
                    failure = error
                    continue
                # Another run may have made one at the same moment, and only now is it certain who we are.
                self._author = made.author
                ours = self._find()
            if not ours or (made and [comment.number for comment in ours] == [made.number]):
                return Delivery(posted=True, url=made.url if made else None)
            try:
                return self._settle(ours, made)
            except NotFound as error:  # deleted since it was listed
                failure = error
        raise failure

    def _settle(self, ours: list[_Comment], made: _Comment | None) -> Delivery:
        """Put the newest report into the oldest comment and remove the others."""
        oldest, *doubles = sorted(ours, key=lambda comment: comment.number)
        others = [comment for comment in ours if made is None or comment.number != made.number]
        newest = max(others, key=lambda comment: comment.run, default=None)
        mine = (self._mine.run_id, self._mine.run_attempt)
        if newest and newest.run > mine:
            if newest is not oldest:
                self._replace(oldest, newest.body)
            self._remove(doubles)
            return Delivery(
                posted=False,
                url=oldest.url,
                notice="The pull request comment is that of a newer run, which stays; this run's report is in the job "
                "summary.",
            )
        self._replace(oldest, self._render(newest.marker if newest else None))
        self._remove(doubles)
        notice = ""
        if newest and newest.run == mine:
            notice = (
                "Another job or step of this run had written the same comment. Give each its own `comment-key`, or "
                "only the last one can be read."
            )
        return Delivery(posted=True, url=oldest.url, notice=notice)

    def _find(self) -> list[_Comment]:
        found = (_read(item) for item in self._client.pages(self._thread))
        return [
            comment
            for comment in found
            if comment
            and comment.marker
            and comment.marker.key == self._mine.key
            and comment.author.lower() == self._author.lower()
        ]

    def _create(self) -> _Comment:
        try:
            answer = self._client.request("POST", self._thread, body={"body": self._render(None)})
        except Rejected:
            answer = self._client.request("POST", self._thread, body={"body": self._short()})
        made = _read(answer.json())
        if made is None:
            raise Unreachable("GitHub answered a new comment with something that is not one.")
        return made

    def _replace(self, comment: _Comment, body: str) -> None:
        path = f"{self._comments}/{comment.number}"
        try:
            self._client.request("PATCH", path, body={"body": body})
        except Rejected:  # an old verdict must not stand where the new report is refused
            self._client.request("PATCH", path, body={"body": self._short()})

    def _remove(self, doubles: list[_Comment]) -> None:
        for double in doubles:
            try:
                self._client.request("DELETE", f"{self._comments}/{double.number}")
            except NotFound:
                continue

    def _short(self) -> str:
        mine = self._mine
        marker = render_marker(mine.key, mine.sha, mine.run_id, mine.run_attempt, mine.verdict)
        return f"{marker}\n## {told_verdict(mine)}\n\nGitHub refused abs-gate's full report; it is in the job summary."


def _read(item: Json) -> _Comment | None:
    if not isinstance(item, dict) or not isinstance(item.get("id"), int):
        return None
    user = item.get("user")  # null for a deleted account
    author = user.get("login") if isinstance(user, dict) else None
    text = item.get("body")
    body = text if isinstance(text, str) else ""
    return _Comment(
        number=item["id"],
        url=item["html_url"] if isinstance(item.get("html_url"), str) else "",
        body=body,
        author=author if isinstance(author, str) else "",
        marker=parse_marker(body),
    )
