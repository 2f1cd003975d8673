"""Options that several commands share; those of settings are built from the settings' own table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])
Flags = Mapping[str, str | bool | Sequence[str] | None]


def common(command: Command) -> Command:
    """`--quiet`, `--no-color` and `--debug`."""
    command = click.option("--debug", is_flag=True, help="Show tracebacks of internal faults.")(command)
    command = click.option("--no-color", is_flag=True, help="No colour; NO_COLOR does the same.")(command)
    return click.option("-q", "--quiet", is_flag=True, help="Only the result and errors.")(command)


def watched(command: Command) -> Command:
    """`--watch`."""
    return click.option("--watch", is_flag=True, help="Run again what changes, until Ctrl-C.")(command)


def report_format(*formats: str, default: str = "text") -> Callable[[Command], Command]:
    """`--format` and `-o/--output` of a command that prints a report."""

    def decorate(command: Command) -> Command:
        command = click.option("-o", "--output", type=click.Path(dir_okay=False), help="Write to a file.")(command)
        return click.option(
            "--format",
            "format_",
            type=click.Choice(formats),
            default=default,
            show_default=True,
            help="Form of the report.",
        )(command)

    return decorate


def settings_flags(*prefixes: str, without: Sequence[str] = ()) -> Callable[[Command], Command]:
    """A flag for every setting whose path starts with one of the prefixes (all, when none is given).

    The values arrive as the keyword argument `flags`, keyed as typed, unread: `settings.load` reads them all and
    reports every fault at once.
    """

    def decorate(command: Command) -> Command:
        from abs_gate.settings.options import OPTIONS

        chosen = [
            option
            for option in OPTIONS
            if option.flag
            and option.flag not in without
            and (not prefixes or any(option.path.startswith(prefix) for prefix in prefixes))
        ]
        names = {_parameter(option.flag): option.flag for option in chosen if option.flag}

        def gather(*args: Any, **values: Any) -> Any:
            flags = {names[name]: values.pop(name) for name in list(values) if name in names}
            given = {flag: value for flag, value in flags.items() if value not in (None, (), False)}
            return command(*args, flags=given, **values)

        gather.__name__ = command.__name__
        gather.__doc__ = command.__doc__
        gather.__click_params__ = list(getattr(command, "__click_params__", []))  # type: ignore[attr-defined]
        decorated: Any = gather
        for option in reversed(chosen):
            assert option.flag
            decorated = click.option(
                option.flag,
                _parameter(option.flag),
                multiple=option.many,
                is_flag=option.switch is not None,
                default=None if option.switch is None else False,
                metavar=None if option.switch is not None else option.metavar or "TEXT",
                help=option.help,
            )(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


def _parameter(flag: str | None) -> str:
    assert flag
    return "setting_" + flag.lstrip("-").replace("-", "_")
