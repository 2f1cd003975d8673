"""Builds the real adapters and hands them to the use cases: the one place that sees both."""

from __future__ import annotations

import os
import uuid
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from abs_gate.agents import build_agent
from abs_gate.app.contracts import BaseContents
from abs_gate.app.loading import Faults
from abs_gate.app.ports import Journal, Progress
from abs_gate.app.run import RunPorts
from abs_gate.app.verification import OpenBench, suite_paths, verifier
from abs_gate.cli.clock import SystemClock
from abs_gate.cli.journal import FILE_NAME, DiskJournal, NoJournal
from abs_gate.cli.places import Place, open_path, output_path
from abs_gate.cli.results import read_result
from abs_gate.conversation import Agent, Connection
from abs_gate.documents.variables import Scope, environment_variables
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.gate.result import VerificationRecord
from abs_gate.github.client import GitHubClient
from abs_gate.github.contents import HostedRepository
from abs_gate.github.event import EventContext, is_github_workflow, load_payload, read_event
from abs_gate.judges import build_panel
from abs_gate.settings.model import Settings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.vcs.base import BaseSources, resolve_base
from abs_gate.vcs.fetch import Remote
from abs_gate.vcs.git import Git
from abs_gate.vcs.worktree import WorkTree
from abs_gate.wire.recorded import MAX_TRACE_BYTES, RecordedConversation, load_traces


def read_context(environ: Mapping[str, str]) -> EventContext | None:
    """The workflow run this is part of; None outside GitHub."""
    return read_event(environ, load_payload(environ)) if is_github_workflow(environ) else None


@contextmanager
def open_ports(
    settings: Settings,
    *,
    worktree: WorkTree,
    environ: Mapping[str, str],
    event: EventContext | None,
    progress: Progress,
    run_id: str | None = None,
    is_partial: bool = False,
) -> Iterator[RunPorts]:
    """Everything a run needs; ends what was started when the run is over."""
    redactor = Redactor([secret.value for secret in settings.secrets])
    git = Git.find(worktree.root, environ=environ)
    # A container's localhost is not the runner's: there the host is tried at the gateway too.
    in_container = Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()
    with Transport(redactor=redactor, try_host_gateway=in_container) as transport:
        client = github_client(settings, event, transport)
        yield RunPorts(
            workspace=worktree,
            base=lambda: _base(settings, worktree, git, event, client),
            traces=_traces(settings.sessions.traces, worktree) if settings.sessions.traces else None,
            open_agent=lambda settings: _open_agent(settings, transport, redactor, worktree, event),
            judges=lambda settings: build_panel(
                settings.judges,
                transport,
                environ=environ,
                allow_commands=settings.allow_commands,
                files_trusted=files_trusted(event),
                root=str(worktree.root),
            ),
            verify=_verification(settings, worktree, transport, redactor, environ, progress),
            open_bench=bench_opener(settings, worktree, transport, redactor, environ),
            open_journal=_journal(settings, event, redactor),
            progress=progress,
            clock=SystemClock(),
            environ=environ,
            redactor=redactor,
            run_id=run_id or uuid.uuid4().hex[:12],
            commit=event.commit if event is not None else (git.head() if git is not None else None),
            is_workflow=event is not None,
            is_partial=is_partial,
            review_label=_has_review_label(settings, event),
            baseline=read_result(settings.sessions.baseline) if settings.sessions.baseline else None,
        )


def github_client(settings: Settings, event: EventContext | None, transport: Transport) -> GitHubClient | None:
    """A client for the run's own GitHub; None without a token or outside GitHub."""
    if event is None or settings.github_token is None:
        return None
    return GitHubClient(transport, token=settings.github_token.value, api_url=event.api_url)


def files_trusted(event: EventContext | None) -> bool:
    """Whether files may name where secrets go: a user's own files may, those of a workflow's pull request may not."""
    return event is None


def _base(
    settings: Settings,
    worktree: WorkTree,
    git: Git | None,
    event: EventContext | None,
    client: GitHubClient | None,
) -> BaseContents:
    token = settings.github_token.value if settings.github_token is not None else None
    sources = BaseSources(
        worktree=worktree,
        git=git,
        remote=Remote(url=event.clone_url, token=token) if event is not None and event.repository else None,
        host=HostedRepository(client, event.repository) if client is not None and event is not None else None,
    )
    base = resolve_base(settings.contracts.base, sources, event)
    return BaseContents(workspace=base.workspace, label=base.label, paths=base.paths)


def _traces(path: str, worktree: WorkTree) -> Callable[[], tuple[RecordedConversation, ...]]:
    place = open_path(path) if os.path.lexists(path) else Place(worktree, path)
    return lambda: load_traces(place.workspace.read_bytes(place.path, limit=MAX_TRACE_BYTES), path)


class _NoAgent:
    """Stands where recorded conversations are judged: nothing may be sent."""

    def connect(self, session_key: str) -> Connection:
        raise AgentUnavailable("Recorded conversations are judged; there is no agent.")


@contextmanager
def _open_agent(
    settings: Settings,
    transport: Transport,
    redactor: Redactor,
    worktree: WorkTree,
    event: EventContext | None,
) -> Iterator[Agent]:
    if settings.sessions.traces:
        yield _NoAgent()
        return
    with build_agent(
        settings.agent,
        transport,
        allow_commands=settings.allow_commands,
        redactor=redactor,
        files_trusted=files_trusted(event),
        root=str(worktree.root),
    ) as agent:
        yield agent


def _verification(
    settings: Settings,
    worktree: WorkTree,
    transport: Transport,
    redactor: Redactor,
    environ: Mapping[str, str],
    progress: Progress,
) -> Callable[[Faults], Callable[[], Iterator[VerificationRecord]]] | None:
    paths = suite_paths(settings)
    if not paths:
        return None
    open_bench = bench_opener(settings, worktree, transport, redactor, environ)
    return verifier(worktree, paths, settings=settings, environ=environ, open_bench=open_bench, note=progress.note)


def bench_opener(
    settings: Settings,
    worktree: WorkTree,
    transport: Transport,
    redactor: Redactor,
    environ: Mapping[str, str],
) -> OpenBench:
    """What opens everything a verification suite runs on."""
    from abs_gate.drivers.bench import Surroundings, open_bench

    around = Surroundings(
        root=worktree.root,
        transport=transport,
        redactor=redactor,
        environ=environ,
        scope=Scope(variables=settings.sessions.variables, environment=environment_variables(environ)),
        secrets_allowed=settings.allow_commands,
    )
    return lambda planned: open_bench(planned, around)


def _journal(settings: Settings, event: EventContext | None, redactor: Redactor) -> Callable[[str], Journal]:
    """A journal stands beside the reports; without a report directory nothing is written."""
    directory = settings.report.dir
    if directory is None:
        if settings.sessions.resume:
            raise ConfigurationError(
                "--resume needs the journal of the earlier run, which stands in its report directory.",
                hint="Give --report-dir, or report.dir in abs-gate.yaml, in both runs.",
            )
        return lambda identity: NoJournal()
    path = output_path(directory, anywhere=event is None) / FILE_NAME
    return lambda identity: DiskJournal(path, identity, resume=settings.sessions.resume, redactor=redactor)


def _has_review_label(settings: Settings, event: EventContext | None) -> bool:
    label = settings.contracts.review_label
    return label is not None and event is not None and label in event.labels


def environment() -> Mapping[str, str]:
    """The process's environment, read once."""
    return dict(os.environ)


def known_rules() -> frozenset[str]:
    """The id of every contract rule, for settings that name one."""
    from abs_gate.contracts.rules import all_rules

    return frozenset(rule.id for rule in all_rules())
