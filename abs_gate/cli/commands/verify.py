"""`abs-gate verify`: deterministic verification of tools, providers and adapters."""

from __future__ import annotations

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import Flags, common, report_format, settings_flags


@click.command()
@click.argument("paths", nargs=-1, required=True, metavar="PATH...")
@settings_flags("sessions.variables", "allow_commands")
@report_format("text", "json", "junit", "markdown", "html")
@common
def command(
    paths: tuple[str, ...],
    flags: Flags,
    format_: str,
    output: str | None,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Run the verification suites at each PATH, files or directories. Needs no configuration file and no model."""
    from abs_gate.app.loading import Faults
    from abs_gate.app.verification import conclude_verification, verifier
    from abs_gate.cli import signals
    from abs_gate.cli.clock import SystemClock
    from abs_gate.cli.places import common_workspace, here
    from abs_gate.cli.progress import choose_progress
    from abs_gate.cli.wiring import bench_opener, environment
    from abs_gate.errors import Interrupted
    from abs_gate.gate.result import VerificationRecord
    from abs_gate.reports import REPORTERS
    from abs_gate.reports.options import ReportOptions
    from abs_gate.reports.verification_text import render_verification
    from abs_gate.settings.load import load_settings
    from abs_gate.sources.redaction import Redactor
    from abs_gate.transport import Transport

    signals.install()
    environ = environment()
    settings = load_settings(here(), None, flags=flags, environ=environ, use_default_file=False)
    worktree, inside = common_workspace(paths)
    clock, faults = SystemClock(), Faults()
    started, since = clock.now(), clock.monotonic()
    redactor = Redactor([secret.value for secret in settings.secrets])
    progress = choose_progress(quiet=quiet)
    with Transport(redactor=redactor) as transport:
        verify = verifier(
            worktree,
            inside,
            settings=settings,
            environ=environ,
            open_bench=bench_opener(settings, worktree, transport, redactor, environ),
            note=progress.note,
        )(faults)
        faults.raise_any()
        records: list[VerificationRecord] = []
        cancelled = None
        try:
            records.extend(verify())
        except Interrupted as stop:
            cancelled = stop.signal_exit_code - 128
        finally:
            progress.close()
    duration_ms = round((clock.monotonic() - since) * 1000)
    document = conclude_verification(
        redactor.redact_json(records), settings, started=started, duration_ms=duration_ms, cancelled=cancelled
    )
    color = format_ == "text" and not output and out.wants_color(no_color)
    options = ReportOptions(color=color, width=out.width(), quiet=quiet)
    render = render_verification if format_ == "text" else REPORTERS[format_].render
    out.data(render(document, options), output)
    return document["exit_code"]
