"""Options that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def common(command: Command) -> Command:
    """`--quiet`, `--no-color` and `--debug`."""
    command = click.option("--debug", is_flag=True, help="Show tracebacks of internal faults.")(command)
    command = click.option("--no-color", is_flag=True, help="No colour; NO_COLOR does the same.")(command)
    return click.option("-q", "--quiet", is_flag=True, help="Only the result and errors.")(command)


def report_format(*formats: str, default: str = "text") -> Callable[[Command], Command]:
    """`--format` and `-o/--output` of a command that prints a report."""

    def decorate(command: Command) -> Command:
        command = click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to a file.")(command)
        return click.option(
            "--format", "format_", type=click.Choice(formats), default=default, show_default=True, help="Form of the report."
        )(command)

    return decorate
