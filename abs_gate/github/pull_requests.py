"""Finds the pull request that a finished run belongs to, for the second workflow that reports on forks."""

from __future__ import annotations

from urllib.parse import quote

from abs_gate.github.client import GitHubClient
from abs_gate.github.event import EventContext


def find_pull_request(client: GitHubClient, event: EventContext) -> int | None:
    """The open pull request whose head is the run's commit; None where there is none.

    GitHub names none in the event of a fork's run. What the run itself claims is not asked: only GitHub's own
    record of who has that commit at the head of which branch.

    Raises:
        GitHubError: GitHub could not be asked.
    """
    if event.pr_number is not None:
        return event.pr_number
    if event.name != "workflow_run" or not event.head_sha or not event.head_owner or not event.head_ref:
        return None
    query = {"state": "open", "head": f"{event.head_owner}:{event.head_ref}"}
    for pull in client.pages(f"/repos/{quote(event.repository, safe='/')}/pulls", query=query):
        head = pull.get("head") if isinstance(pull, dict) else None
        if isinstance(head, dict) and head.get("sha") == event.head_sha and isinstance(pull.get("number"), int):
            return int(pull["number"])
    return None
