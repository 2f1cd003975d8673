"""An optional check run: the verdict beside the commit, with every annotation and not only the log's first ten."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.github.client import GitHubClient
from abs_gate.github.delivery import Delivery, not_delivered
from abs_gate.github.errors import GitHubError
from abs_gate.outcomes import Verdict

MAX_TEXT = 65_535
MAX_TITLE = 255
PERMISSION = "checks: write"

_CONCLUSIONS = {
    Verdict.PASSED: "success",
    Verdict.FAILED: "failure",
    Verdict.UNVERIFIED: "failure",  # `neutral` would let a required check pass
    Verdict.CANCELLED: "cancelled",
}


class CheckRun(Struct, frozen=True, kw_only=True):
    """A check run to be made."""

    name: str
    head_sha: str
    verdict: Verdict
    title: str
    summary: str
    """Markdown."""
    annotations: Sequence[Sequence[Mapping[str, Json]]] = ()
    """As `reports.annotations.check_annotations` makes them: one batch a request."""
    details_url: str | None = None


def post_check_run(client: GitHubClient, repository: str, check: CheckRun) -> Delivery:
    """Make a completed check run; annotations beyond the first batch are added to it one request each."""
    first, *others = check.annotations or ((),)
    body = {
        "name": check.name[:MAX_TITLE],
        "head_sha": check.head_sha,
        "status": "completed",
        "conclusion": _CONCLUSIONS[check.verdict],
        "output": _output(check, first),
    }
    if check.details_url:
        body["details_url"] = check.details_url
    path = f"/repos/{repository}/check-runs"
    try:
        made = client.request("POST", path, body=body).json()
    except GitHubError as error:
        return not_delivered("The check run", error, permission=PERMISSION)
    number, url = (made.get("id"), made.get("html_url")) if isinstance(made, dict) else (None, None)
    for done, batch in enumerate(others):
        try:
            client.request("PATCH", f"{path}/{number}", body={"output": _output(check, batch)})
        except GitHubError as error:
            left = sum(len(other) for other in others[done:])
            return Delivery(posted=True, url=url, notice=f"{left} annotations are missing: {error.message}")
    return Delivery(posted=True, url=url)


def _output(check: CheckRun, annotations: Sequence[Mapping[str, Json]]) -> Json:
    return {
        "title": check.title[:MAX_TITLE],
        "summary": _cut(check.summary),
        "annotations": [dict(annotation) for annotation in annotations],
    }


def _cut(text: str) -> str:
    """At most GitHub's limit, ended at a line."""
    if len(text.encode()) <= MAX_TEXT:
        return text
    cut = text.encode()[:MAX_TEXT].decode("utf-8", "ignore")
    return cut[: cut.rfind("\n") + 1] or cut
