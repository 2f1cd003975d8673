"""From a command's options to a run and its reports: what `run`, `sessions` and the action share."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate.app.run import run_gate
from abs_gate.cli import output as out
from abs_gate.cli import signals
from abs_gate.cli.deliver import deliver, discard_reports
from abs_gate.cli.no_result import Given, tell_no_result
from abs_gate.cli.options import Flags
from abs_gate.cli.places import common_workspace, here
from abs_gate.cli.progress import choose_progress
from abs_gate.cli.results import read_result
from abs_gate.cli.wiring import environment, known_rules, open_ports, read_context
from abs_gate.errors import AbsGateError, ConfigurationError
from abs_gate.gate.evidence import collect_evidence
from abs_gate.gate.merge import merge_results
from abs_gate.gate.result import ResultDocument
from abs_gate.github.event import refuse_untrusted
from abs_gate.github.log import WorkflowLog
from abs_gate.reports import REPORTERS
from abs_gate.reports.options import ReportOptions
from abs_gate.settings.given import read_inputs
from abs_gate.settings.load import load_settings
from abs_gate.settings.model import ContractsSettings, Settings
from abs_gate.vcs.worktree import WorkTree

ALLOW_UNTRUSTED = "ABS_GATE_ALLOW_UNTRUSTED_EVENT"
"""Set to true in a step's env, runs the gate on events whose files may be a stranger's."""


class Request(Struct, frozen=True, kw_only=True):
    """What a command was asked."""

    config: str | None = None
    flags: Flags = field(default_factory=lambda: MappingProxyType({}))
    inputs: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    format: str = "text"
    output: str | None = None
    quiet: bool = False
    no_color: bool = False
    session_paths: tuple[str, ...] = ()
    """Sessions named on the command line; then only they run."""
    narrow: Callable[[Settings], Settings] | None = None
    """Makes less of the settings: only what changed, when a run is watched."""
    log: WorkflowLog | None = None
    """The workflow's log: given in the action, which delivers outputs, summary, annotations and comment."""


def run(request: Request) -> int:
    """Run the gate and give every report. Gives the exit code.

    Raises:
        ConfigurationError: something that was read is wrong; nothing was sent.
    """
    signals.install()
    environ = environment()
    event = read_context(environ)
    worktree, settings = read_settings(request, environ)
    if request.narrow is not None:
        settings = request.narrow(settings)
    if event is not None:
        refuse_untrusted(event, allowed=environ.get(ALLOW_UNTRUSTED) == "true")
    progress = choose_progress(quiet=request.quiet)
    try:
        with open_ports(
            settings,
            worktree=worktree,
            environ=environ,
            event=event,
            progress=progress,
            is_partial=request.narrow is not None,
        ) as ports:
            discard_reports(settings, anywhere=event is None, also=request.output)
            # A Python agent, judge or tool that prints would break the report on standard output.
            with redirect_stdout(sys.stderr):
                document = run_gate(settings, ports)
    finally:
        progress.close()
    deliver(document, settings, event=event, environ=environ, log=request.log, quiet=request.quiet)
    color = request.format == "text" and not request.output and out.wants_color(request.no_color)
    options = ReportOptions(color=color, width=out.width(), quiet=request.quiet)
    out.data(REPORTERS[request.format].render(document, options), request.output)
    return document["exit_code"]


def read_settings(request: Request, environ: Mapping[str, str]) -> tuple[WorkTree, Settings]:
    """The workspace and settings of a request. Raises ConfigurationError with every fault."""
    worktree, paths = here(), request.session_paths
    if paths:
        dataset = request.flags.get("--dataset")
        named = [*paths, *([dataset] if isinstance(dataset, str) else [])]
        worktree, inside = common_workspace(named)
        paths = inside[: len(paths)]
    settings = load_settings(
        here(),
        request.config,
        flags=request.flags,
        inputs=request.inputs,
        environ=environ,
        known_rules=known_rules,
        use_default_file=not paths,
    )
    if paths:
        dataset = settings.sessions.dataset
        sessions = replace(settings.sessions, paths=paths, dataset=inside[-1] if dataset is not None else None)
        return worktree, replace(settings, sessions=sessions, contracts=ContractsSettings(), verify={})
    if settings.file is None and not settings.sessions.paths and not settings.contracts.paths:
        raise ConfigurationError(
            "There is nothing to check: no abs-gate.yaml here, and no sessions or contracts were named.",
            hint="`abs-gate init` writes a first configuration; `abs-gate sessions PATH --agent URL` needs none.",
        )
    return worktree, settings


def merge(paths: Sequence[str], flags: Flags, *, quiet: bool, no_color: bool) -> int:
    """Merge the results of shards and give every report: files, and where this is a workflow all that GitHub shows.

    Raises:
        CannotVerify: a shard is missing or there twice, or they are not parts of one and the same run.
    """
    environ = environment()
    event = read_context(environ)
    settings = load_settings(here(), None, inputs=read_inputs(environ), environ=environ, flags=flags)
    given = flags["--report-dir"]
    directory = given if isinstance(given, str) else None
    with WorkflowLog(sys.stdout) if event is not None else nullcontext() as log:
        try:
            discard_reports(settings, anywhere=event is None, given=directory, keep=paths)
            document = _merged(paths, settings)
            deliver(document, settings, event=event, environ=environ, log=log, quiet=quiet, given=directory)
        except AbsGateError as fault:
            if event is not None and log is not None:
                tell_no_result(fault, environ=environ, given=Given.of(settings), event=event, log=log)
            raise
        options = ReportOptions(color=out.wants_color(no_color), width=out.width(), quiet=quiet)
        out.data(REPORTERS["text"].render(document, options))
    return document["exit_code"]


def _merged(paths: Sequence[str], settings: Settings) -> ResultDocument:
    baseline = settings.sessions.baseline
    document = merge_results(
        [(path, read_result(path)) for path in paths], baseline=read_result(baseline) if baseline else None
    )
    if settings.file is not None:
        # The configuration knows what shards by themselves cannot: golden cases over all rows.
        document["evidence"] = collect_evidence(document, settings)
    return document
