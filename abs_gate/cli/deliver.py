"""Where reports go: files, and on GitHub the comment, summary, annotations, outputs and check run.

Nothing here changes the verdict: a report that cannot be delivered is said in one notice.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from abs_gate.cli import output as out
from abs_gate.cli.places import here, output_path
from abs_gate.errors import DeliveryFailed
from abs_gate.gate.result import ResultDocument
from abs_gate.github.checks import CheckRun, post_check_run
from abs_gate.github.client import GitHubClient
from abs_gate.github.comments import PERMISSION, upsert_comment
from abs_gate.github.delivery import Delivery, not_delivered
from abs_gate.github.errors import GitHubError
from abs_gate.github.event import EventContext
from abs_gate.github.log import WorkflowLog
from abs_gate.github.outputs import append_summary, write_outputs
from abs_gate.github.ownership import give_to_workspace_owner
from abs_gate.github.pull_requests import find_pull_request
from abs_gate.outcomes import Verdict
from abs_gate.reports import REPORTERS
from abs_gate.reports.annotations import Annotation, check_annotations, render_annotations, render_command
from abs_gate.reports.comment import Marker, render_comment
from abs_gate.reports.evidence_text import render_evidence_json
from abs_gate.reports.headline import title
from abs_gate.reports.options import ReportOptions
from abs_gate.settings.model import ReportSettings, Settings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.vcs.git import directory_in_repository

FORMATS = ("junit", "json", "html", "markdown", "sarif")
EVIDENCE_FILE = "evidence.json"
DEFAULT_FORMATS = ("junit", "json", "html", "markdown")


def report_files(settings: ReportSettings) -> dict[str, str]:
    """Format to path of every report file asked for, relative to the workspace.

    A bare file name lies in the report directory, a path with a directory counts from the workspace. With a
    directory and no names, the usual reports are written; the JSON result always is.
    """
    named = {name: path for name in FORMATS if (path := getattr(settings, name))}
    if settings.dir is None:
        return named
    wanted = dict(named) if named else {name: REPORTERS[name].default_filename for name in DEFAULT_FORMATS}
    wanted.setdefault("json", REPORTERS["json"].default_filename)
    return {name: path if "/" in path else f"{settings.dir}/{path}" for name, path in wanted.items()}


def discard_reports(
    settings: Settings, *, anywhere: bool, given: str | None = None, also: str | None = None, keep: Sequence[str] = ()
) -> None:
    """Remove the reports of an earlier run, so that a run that is killed leaves none that could be taken for its own.

    Only files are removed, and only those that the run writes at its end, `also` being what the user names for
    the result; none of `keep`.

    Raises:
        ConfigurationError: one of them could not be written.
    """
    paths = [*report_files(settings.report).values()]
    if settings.report.dir is not None:
        paths.append(f"{settings.report.dir}/{EVIDENCE_FILE}")
    targets = [output_path(path, anywhere=anywhere, given=given) for path in paths]
    for target in [*targets, *([Path(also)] if also and also != "-" else [])]:
        out.check_writable(target)
        if target.is_file() and not any(Path(kept).exists() and target.samefile(kept) for kept in keep):
            target.unlink()


def deliver(
    document: ResultDocument,
    settings: Settings,
    *,
    event: EventContext | None,
    environ: Mapping[str, str],
    log: WorkflowLog | None = None,
    quiet: bool = False,
    given: str | None = None,
) -> None:
    """Write report files, and in the action (where there is a workflow log) everything else.

    `given` is a report directory that the command line named.
    """
    files = report_files(settings.report)
    written = write_files(document, files, anywhere=event is None, given=given, directory=_directory(event))
    if settings.report.dir is not None and document["evidence"]:
        evidence = output_path(f"{settings.report.dir}/{EVIDENCE_FILE}", anywhere=event is None, given=given)
        out.write_file(evidence, render_evidence_json(document))
        written["evidence"] = evidence
    if written and not quiet:
        out.error(f"Reports: {', '.join(str(path) for path in written.values())}")
    if event is not None and log is not None:
        _deliver_to_github(document, settings, event, environ, written, log)


def write_files(
    document: ResultDocument, files: Mapping[str, str], *, anywhere: bool, given: str | None = None, directory: str = ""
) -> dict[str, Path]:
    """Write report files; gives format to the file written. `directory` is where the result's paths begin."""
    written = {}
    for name, path in files.items():
        target = output_path(path, anywhere=anywhere, given=given)
        out.write_file(target, REPORTERS[name].render(document, ReportOptions(directory=directory)))
        written[name] = target
    return written


def _deliver_to_github(
    document: ResultDocument,
    settings: Settings,
    event: EventContext,
    environ: Mapping[str, str],
    written: Mapping[str, Path],
    log: WorkflowLog,
) -> None:
    summary = REPORTERS["markdown"].render(document, ReportOptions())
    _tell(log, lambda: append_summary(environ, summary))
    if settings.report.annotations:
        log.commands(render_annotations(document, directory=_directory(event)))
    # GitHub can be slow, and a cancelled step has only seconds: everything of this machine comes first.
    outputs = _outputs(document, settings, written, Path(os.path.realpath(event.workspace)))
    can_output = _tell(log, lambda: write_outputs(environ, outputs))
    directory = [Path(os.path.realpath(settings.report.dir))] if settings.report.dir else []
    _tell(log, lambda: give_to_workspace_owner([*directory, *written.values()], Path(event.workspace)))
    url = ""
    redactor = Redactor([secret.value for secret in settings.secrets])
    with Transport(redactor=redactor) as transport:
        for delivery in _posts(document, settings, event, transport):
            url = url or (delivery.url or "")
            if delivery.notice:
                log.commands(_notice(delivery.notice))
    if can_output:
        _tell(log, lambda: write_outputs(environ, {"comment-url": url}))


def _tell(log: WorkflowLog, deliver: Callable[[], object]) -> bool:
    """Deliver one thing; where that fails it is a notice, and the verdict keeps its exit code."""
    try:
        deliver()
    except DeliveryFailed as problem:
        log.commands(_notice(str(problem)))
        return False
    return True


def _notice(text: str) -> str:
    return render_command(Annotation(kind="notice", title="abs-gate", message=text))


def _posts(document: ResultDocument, settings: Settings, event: EventContext, transport: Transport) -> list[Delivery]:
    if settings.sessions.shard is not None:
        # One shard decides nothing; the merge of all of them is told.
        return []
    if settings.github_token is None:
        if event.pr_number is None or settings.report.comment == "never":
            return []
        return [Delivery(posted=False, notice="No comment was posted: there is no github-token. The verdict stands.")]
    client = GitHubClient(transport, token=settings.github_token.value, api_url=event.api_url)
    deliveries = []
    if settings.report.comment == "auto":
        deliveries += _comment(document, settings, event, client)
    if settings.report.check_run and event.commit:
        check = CheckRun(
            name=_check_name(settings),
            head_sha=event.commit,
            verdict=Verdict(document["verdict"]),
            title=title(document["verdict"]),
            summary=REPORTERS["markdown"].render(document, ReportOptions()),
            annotations=check_annotations(document, _directory(event)),
            details_url=event.run_url,
        )
        deliveries.append(post_check_run(client, event.repository, check))
    return deliveries


def _comment(document: ResultDocument, settings: Settings, event: EventContext, client: GitHubClient) -> list[Delivery]:
    """The comment, where there is a pull request; a run that follows a fork's finds out which one."""
    try:
        number = find_pull_request(client, event)
    except GitHubError as error:
        return [not_delivered("The pull request comment", error, permission=PERMISSION)]
    if number is None:
        return []

    def render(previous: Marker | None) -> str:
        return render_comment(
            document,
            key=settings.report.comment_key or "default",
            sha=event.commit or "",
            run_id=event.run_id,
            run_attempt=event.run_attempt,
            run_url=event.run_url,
            previous=previous,
        )

    return [upsert_comment(client, repository=event.repository, number=number, render=render)]


def _check_name(settings: Settings) -> str:
    return f"abs-gate ({settings.report.comment_key})" if settings.report.comment_key else "abs-gate"


def _outputs(
    document: ResultDocument, settings: Settings, written: Mapping[str, Path], workspace: Path
) -> dict[str, str]:
    gating = [session for session in document["sessions"] if not session["quarantined"]]
    passed = sum(session["trials"]["passed"] for session in gating)
    verified = passed + sum(session["trials"]["failed"] for session in gating)
    contracts = document["contracts"]
    breaking = sum(
        change["classification"] in ("breaking", "safety_breaking")
        for tool in (contracts["tools"] if contracts else ())
        for change in tool["changes"]
    )
    places = {name: _relative(path, workspace) for name, path in written.items()}
    return {
        "verdict": document["verdict"],
        "exit-code": str(document["exit_code"]),
        "pass-rate": f"{passed / verified:.4f}" if verified else "",
        "sessions-passed": str(sum(session["outcome"] == "passed" for session in gating)),
        "sessions-failed": str(sum(session["outcome"] == "failed" for session in gating)),
        "breaking-changes": str(breaking),
        "report-dir": _relative(Path(os.path.realpath(settings.report.dir)), workspace) if settings.report.dir else "",
        "junit-file": places.get("junit", ""),
        "result-file": places.get("json", ""),
    }


def _directory(event: EventContext | None) -> str:
    """Where in the repository the paths of the result begin: the input working-directory, most often its root."""
    return directory_in_repository(here().root, Path(event.workspace)) if event is not None else ""


def _relative(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix() if path.is_relative_to(root) else path.as_posix()
