"""What GitHub is told of an action that ended before it had a result.

Without it a step would fail with no output, and a comment that says `ready to merge` would stand over a commit that
was never checked.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.cli.places import here
from abs_gate.errors import AbsGateError, ConfigurationError, DeliveryFailed, Interrupted
from abs_gate.findings import Finding, Severity
from abs_gate.github.client import GitHubClient
from abs_gate.github.comments import upsert_comment
from abs_gate.github.errors import GitHubError
from abs_gate.github.event import EventContext
from abs_gate.github.log import WorkflowLog
from abs_gate.github.outputs import append_summary, write_outputs
from abs_gate.github.pull_requests import find_pull_request
from abs_gate.reports.no_result import render_no_result, render_no_result_annotations, render_no_result_comment
from abs_gate.settings.model import Settings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.vcs.git import directory_in_repository

_VERDICTS = {3: "unverified", 130: "cancelled", 143: "cancelled"}


class Given(Struct, frozen=True, kw_only=True):
    """As much of the settings as telling this needs; where files are wrong, only the inputs are known."""

    token: str = ""
    comment: bool = True
    comment_key: str = "default"
    secrets: tuple[str, ...] = ()

    @classmethod
    def by(cls, inputs: Mapping[str, str], *, is_untrusted: bool) -> Given:
        """What the action's inputs say. An event that is refused for whose files it brings writes no comment."""
        return cls(
            token=inputs.get("github-token", ""),
            comment=inputs.get("comment") != "never" and not is_untrusted,
            comment_key=inputs.get("comment-key", "default"),
            secrets=tuple(inputs[name] for name in ("agent-token", "github-token") if inputs.get(name)),
        )

    @classmethod
    def of(cls, settings: Settings) -> Given:
        """What settings that could be read say."""
        return cls(
            token=settings.github_token.value if settings.github_token is not None else "",
            comment=settings.report.comment != "never",
            comment_key=settings.report.comment_key or "default",
            secrets=tuple(secret.value for secret in settings.secrets),
        )


def tell_no_result(
    fault: Exception,
    *,
    environ: Mapping[str, str],
    given: Given,
    event: EventContext | None,
    log: WorkflowLog,
) -> None:
    """Write outputs, summary and annotations, and replace the comment of an earlier run.

    Never raises: the exit code tells what happened whether or not this can be told anywhere else.
    """
    exit_code = _exit_code(fault)
    redactor = Redactor(given.secrets)
    findings = [_redacted(finding, redactor) for finding in _findings(fault)]
    directory = directory_in_repository(here().root, Path(event.workspace)) if event is not None else ""
    log.commands(render_no_result_annotations(findings, exit_code, directory))
    try:
        append_summary(environ, render_no_result(findings, exit_code))
        write_outputs(environ, {"verdict": _VERDICTS.get(exit_code, ""), "exit-code": str(exit_code)})
    except DeliveryFailed as problem:
        log.line(str(problem))
    if event is not None and given.token and given.comment:
        _replace_comment(findings, exit_code, given, event, redactor)


def _replace_comment(
    findings: list[Finding], exit_code: int, given: Given, event: EventContext, redactor: Redactor
) -> None:
    body = render_no_result_comment(
        findings,
        exit_code,
        key=given.comment_key,
        sha=event.commit or "",
        run_id=event.run_id,
        run_attempt=event.run_attempt,
    )
    with Transport(redactor=redactor) as transport:
        client = GitHubClient(transport, token=given.token, api_url=event.api_url)
        try:
            number = find_pull_request(client, event)
        except GitHubError:
            return
        if number is not None:
            upsert_comment(client, repository=event.repository, number=number, render=lambda _: body, only_replace=True)


def _exit_code(fault: Exception) -> int:
    if isinstance(fault, Interrupted):
        return fault.signal_exit_code
    return fault.exit_code if isinstance(fault, AbsGateError) else AbsGateError.exit_code


def _findings(fault: Exception) -> list[Finding]:
    if isinstance(fault, ConfigurationError) and fault.findings:
        return list(fault.findings)
    if not isinstance(fault, AbsGateError):
        fault = AbsGateError(f"Internal fault in abs-gate: {type(fault).__name__}.", hint="The log says more.")
    return [Finding(rule="no-result", severity=Severity.ERROR, message=fault.message, hint=fault.hint)]


def _redacted(finding: Finding, redactor: Redactor) -> Finding:
    return replace(finding, message=redactor.redact(finding.message), hint=redactor.redact(finding.hint))
