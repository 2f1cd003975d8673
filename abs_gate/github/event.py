"""What started this workflow run, read from `GITHUB_*` variables and the event file.

A pure function of both. Payload fields may be missing or null (a deleted fork has no repository), and their
text is written by whoever opened the pull request.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from msgspec import Struct

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Json

MAX_EVENT_BYTES = 30 * 1024 * 1024
"""GitHub caps webhook payloads at 25 MB."""


class EventContext(Struct, frozen=True, kw_only=True):
    """One workflow run and its event."""

    name: str
    """`pull_request`, `push`, `merge_group`, ..."""
    action: str | None = None
    """`opened`, `synchronize`, ...; not every event has one."""
    repository: str = ""
    """`owner/name`."""
    server_url: str = "https://github.com"
    api_url: str = "https://api.github.com"
    workspace: str = "."
    """Directory the repository is checked out in."""
    ref: str = ""
    """Full name of the ref the workflow runs for."""
    sha: str | None = None
    """The commit the workflow runs for; for a pull request GitHub's test merge."""
    run_id: int = 0
    run_attempt: int = 1
    workflow: str = ""
    job: str = ""
    default_branch: str | None = None
    pr_number: int | None = None
    pr_author: str = ""
    labels: frozenset[str] = frozenset()
    is_draft: bool = False
    is_fork: bool = False
    """Files come from another repository than the one the workflow runs in, or from one since deleted."""
    head_sha: str | None = None
    """Tip of the pull request's own branch, of the merge group, or of the run that this one follows."""
    head_ref: str = ""
    """Branch of that tip."""
    head_owner: str = ""
    """Whose repository that branch is in."""
    base_sha: str | None = None
    base_ref: str = ""
    before: str | None = None
    """Where a pushed ref stood before; all zeros for a new one."""
    untrusted: str = ""
    """Why files of strangers may meet this workflow's secrets; "" where they cannot."""

    @property
    def clone_url(self) -> str:
        """Where git fetches from, without credentials."""
        return f"{self.server_url.rstrip('/')}/{self.repository}"

    @property
    def run_url(self) -> str:
        """The page of this run."""
        return f"{self.clone_url}/actions/runs/{self.run_id}"

    @property
    def commit(self) -> str | None:
        """The commit a person would name: the author's, not the test merge."""
        is_about_head = self.pr_number is not None or self.name == "workflow_run"
        return self.head_sha if is_about_head and self.head_sha else self.sha


def is_github_workflow(environ: Mapping[str, str]) -> bool:
    """Whether this process runs in a GitHub workflow."""
    return environ.get("GITHUB_ACTIONS") == "true" and bool(environ.get("GITHUB_REPOSITORY"))


def load_payload(environ: Mapping[str, str]) -> Json:
    """The event file's content; None where there is none.

    Raises:
        ConfigurationError: it is not JSON.
    """
    path = environ.get("GITHUB_EVENT_PATH")
    if not path or not Path(path).is_file():
        return None
    with Path(path).open("rb") as file:
        data = file.read(MAX_EVENT_BYTES + 1)
    try:
        return json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ConfigurationError(
            "The event file that GITHUB_EVENT_PATH names is not JSON.",
            hint="It is written by the runner; something else must have changed it.",
        ) from error


def read_event(environ: Mapping[str, str], payload: Json) -> EventContext:
    """The event as a value. Unknown events and missing fields leave the fields at their defaults."""
    name = environ.get("GITHUB_EVENT_NAME", "")
    pull = _pull_request(name, payload)
    head, base = _object(pull, "head"), _object(pull, "base")
    group = _object(payload, "merge_group")
    run = _object(payload, "workflow_run")
    number = pull.get("number", payload.get("number") if isinstance(payload, dict) else None)
    if name == "issue_comment" and "pull_request" in _object(payload, "issue"):
        number = _object(payload, "issue").get("number")
    repository = environ.get("GITHUB_REPOSITORY") or _text(_object(payload, "repository"), "full_name")
    is_fork = bool(pull) and _is_other(head.get("repo"), base.get("repo"))
    head_repository = head.get("repo")
    if name == "workflow_run":
        head_repository = run.get("head_repository")
        is_fork = _is_other(head_repository, run.get("repository"))
    return EventContext(
        name=name,
        action=_text(payload, "action") or None,
        repository=repository,
        server_url=environ.get("GITHUB_SERVER_URL") or "https://github.com",
        api_url=environ.get("GITHUB_API_URL") or "https://api.github.com",
        workspace=environ.get("GITHUB_WORKSPACE") or ".",
        ref=environ.get("GITHUB_REF", ""),
        sha=environ.get("GITHUB_SHA") or None,
        run_id=_number(environ.get("GITHUB_RUN_ID")) or 0,
        run_attempt=_number(environ.get("GITHUB_RUN_ATTEMPT")) or 1,
        workflow=environ.get("GITHUB_WORKFLOW", ""),
        job=environ.get("GITHUB_JOB", ""),
        default_branch=_text(_object(payload, "repository"), "default_branch") or None,
        pr_number=_number(number),
        pr_author=_text(_object(pull, "user"), "login"),
        labels=_labels(pull),
        is_draft=pull.get("draft") is True,
        is_fork=is_fork,
        head_sha=_text(head, "sha") or _text(group, "head_sha") or _text(run, "head_sha") or None,
        head_ref=_text(head, "ref") or _text(run, "head_branch") or environ.get("GITHUB_HEAD_REF", ""),
        head_owner=_text(_object(head_repository, "owner"), "login"),
        base_sha=_text(base, "sha") or _text(group, "base_sha") or None,
        base_ref=_text(base, "ref") or environ.get("GITHUB_BASE_REF", ""),
        before=_text(payload, "before") or None if name == "push" else None,
        untrusted=_why_untrusted(name, pull, run, payload, is_fork),
    )


def refuse_untrusted(event: EventContext, *, allowed: bool) -> None:
    """Stop where a stranger's files would run with this repository's secrets and write token.

    Raises:
        ConfigurationError: the event is such a one and the workflow has not allowed it.
    """
    if event.untrusted and not allowed:
        raise ConfigurationError(
            f"abs-gate does not run on `{event.name}` here: {event.untrusted}",
            hint="Run it on `pull_request`, and post the report from a second workflow as examples/workflows/forks.yml "
            "does. Where the files are known to be trusted, set `ABS_GATE_ALLOW_UNTRUSTED_EVENT: true` in the step's "
            "`env:`.",
        )


def _why_untrusted(name: str, pull: Mapping[str, Any], run: Mapping[str, Any], payload: Json, is_fork: bool) -> str:
    if name == "pull_request_target":
        return "the job holds secrets and a write token while the files can be those of the pull request."
    if name == "workflow_run" and is_fork:
        return "the run it follows was started by a fork, while this job holds secrets and a write token."
    if name == "issue_comment" and "pull_request" in _object(payload, "issue"):
        return "anyone can comment, and the files can be those of a fork, while this job holds secrets."
    return ""


def _pull_request(name: str, payload: Json) -> Mapping[str, Any]:
    pull = _object(payload, "pull_request")
    if pull or name != "workflow_run":
        return pull
    pulls = _object(payload, "workflow_run").get("pull_requests")
    return pulls[0] if isinstance(pulls, list) and pulls and isinstance(pulls[0], dict) else {}


def _is_other(head: Json, base: Json) -> bool:
    """Whether the repository is another one; a deleted one is."""
    name = _text(head, "full_name")
    return not name or name.lower() != _text(base, "full_name").lower()


def _labels(pull: Mapping[str, Any]) -> frozenset[str]:
    labels = pull.get("labels")
    if not isinstance(labels, list):
        return frozenset()
    return frozenset(text for label in labels if isinstance(label, dict) and (text := _text(label, "name")))


def _object(value: Json, key: str) -> Mapping[str, Any]:
    found = value.get(key) if isinstance(value, dict) else None
    return found if isinstance(found, dict) else {}


def _text(value: Json, key: str) -> str:
    found = value.get(key) if isinstance(value, Mapping) else None
    return found if isinstance(found, str) else ""


def _number(value: Json) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    return int(value) if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 19 else None
