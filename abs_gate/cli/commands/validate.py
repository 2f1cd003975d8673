"""`abs-gate validate`: every document, configuration, contract and case, without an agent."""

from __future__ import annotations

from pathlib import Path

import click

from abs_gate.cli import output as out
from abs_gate.cli.options import Flags, common, settings_flags


@click.command()
@click.argument("paths", nargs=-1, metavar="[PATH]...")
@click.option("-c", "--config", "config", metavar="FILE", help="Configuration file. Default: abs-gate.yaml.")
@click.option("--format", "format_", type=click.Choice(("text", "json")), default="text", show_default=True)
@settings_flags("sessions.dataset", "sessions.variables", "sessions.filters")
@common
def command(
    paths: tuple[str, ...],
    config: str | None,
    format_: str,
    flags: Flags,
    quiet: bool,
    no_color: bool,
    debug: bool,
) -> int:
    """Check everything that the configuration names, or only the files and directories at each PATH.

    Nothing is sent. Exit code 2 where something is wrong; what is legal but probably wrong is a warning.
    """
    from abs_gate.app.validate import files_at, validate
    from abs_gate.cli.clock import SystemClock
    from abs_gate.cli.places import here, open_path
    from abs_gate.cli.wiring import environment, known_rules
    from abs_gate.errors import ConfigurationError
    from abs_gate.gate.records import finding_record
    from abs_gate.reports.figures import count_of
    from abs_gate.reports.json_report import json_text
    from abs_gate.settings.load import load_settings
    from abs_gate.sources.workspace import Workspace

    environ = environment()
    places = [open_path(path) for path in paths]
    configurations = [place.path for place in places if Path(place.path).name in ("abs-gate.yaml", "abs-gate.yml")]
    workspace: Workspace = places[0].workspace if places else here()
    if len({repr(place.workspace) for place in places}) > 1:
        raise ConfigurationError("The paths lie in different places.", hint="Check them one command each.")
    settings = load_settings(
        workspace,
        config or (configurations[0] if configurations else None),
        flags=flags,
        environ=environ,
        known_rules=known_rules,
        use_default_file=not paths,
        resolve_secrets=False,
    )
    others = [place.path for place in places if place.path not in configurations]
    acknowledgements: tuple[str, ...] = ()
    if others:
        named = files_at(workspace, others, settings)
        settings, acknowledgements = named.settings, named.acknowledgements
    result = validate(
        workspace, settings, environ=environ, today=SystemClock().today(), acknowledgements=acknowledgements
    )
    if result.is_empty and not configurations and settings.file is None:
        raise ConfigurationError(
            "There is nothing to check.", hint="Name sessions, contracts or a configuration, or write abs-gate.yaml."
        )
    if format_ == "json":
        out.data(json_text([finding_record(each) for each in result.warnings]))
        return 0
    for warning in result.warnings:
        out.error(f"warning: {warning}")
    if not quiet:
        warned = f" {count_of(len(result.warnings), 'warning')}." if result.warnings else ""
        sessions = f"{count_of(result.sessions, 'session')} with {count_of(result.cases, 'case')}"
        counted = (
            (result.sessions, sessions),
            (result.tools, count_of(result.tools, "tool")),
            (result.suites, count_of(result.suites, "verification suite")),
            (result.acknowledgements, count_of(result.acknowledgements, "acknowledgement")),
        )
        found = ", ".join(words for number, words in counted if number) or "the configuration, which names nothing else"
        out.data(f"Valid: {found}.{warned}")
    return 0
