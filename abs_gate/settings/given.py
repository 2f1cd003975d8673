"""What was given outside the file: the strongest value of every option, and under which name it was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from abs_gate.findings import Finding, Json, Severity
from abs_gate.settings.options import OPTIONS, OTHER_ENVIRONMENT, Option
from abs_gate.settings.values import NotShown
from abs_gate.sources.suggest import nearest

Flags = Mapping[str, str | bool | Sequence[str] | None]
"""Flag as typed (`--trials`) to its text, its texts when it may be repeated, or True for a switch."""

_PREFIX = "ABS_GATE_"


class Given(Struct, frozen=True, kw_only=True):
    """A value and the name it was given under."""

    value: Json
    name: str
    """`--trials`, `input trials` or `ABS_GATE_TRIALS`: how errors name it."""
    kind: str
    """flag, input or environment."""


def read_inputs(environ: Mapping[str, str]) -> dict[str, str]:
    """The action's inputs from `INPUT_*` variables, by name as in action.yml; empty ones count as not given."""
    return {
        name.removeprefix("INPUT_").lower(): value
        for name, value in environ.items()
        if name.startswith("INPUT_") and value
    }


def read_given(
    flags: Flags, inputs: Mapping[str, str], environ: Mapping[str, str]
) -> tuple[dict[str, Given], tuple[Finding, ...]]:
    """The value of every option that was given, by path, with a finding for each that cannot be read."""
    given: dict[str, Given] = {}
    findings: list[Finding] = []
    for option in OPTIONS:
        for raw, name, kind in _mentions(option, flags, inputs, environ):
            try:
                given[option.path] = Given(value=option.read(raw), name=name, kind=kind)
            except ValueError as problem:
                is_told = not option.secret or kind == "flag" or isinstance(problem, NotShown)
                told = str(problem) if is_told else "The value cannot be used."
                findings.append(_finding(f"{name}: {told}", option.path))
            break
    return given, tuple(findings)


def warn_unread(environ: Mapping[str, str], named: frozenset[str]) -> tuple[Finding, ...]:
    """A warning for every ABS_GATE_ variable that nothing reads; `named` are those the file names as secrets."""
    known = {name for option in OPTIONS for name in option.environment} | OTHER_ENVIRONMENT | named
    findings = []
    for name in sorted(environ):
        if name.startswith(_PREFIX) and name not in known and environ[name]:
            near = nearest(name, sorted(known))
            hint = f"Did you mean {near}?" if near else "Remove it, or check its name."
            findings.append(
                Finding(
                    rule="unread-variable",
                    severity=Severity.WARNING,
                    message=f"The environment variable {name[:80]} is not read by anything.",
                    subject=name[:80],
                    hint=hint,
                )
            )
    return tuple(findings)


def _mentions(
    option: Option, flags: Flags, inputs: Mapping[str, str], environ: Mapping[str, str]
) -> Iterator[tuple[str | Sequence[str], str, str]]:
    """Every mention of an option that is not empty, strongest first."""
    if option.flag is not None:
        value = flags.get(option.flag)
        if value is True and option.switch is not None:
            yield option.switch, option.flag, "flag"
        elif value not in (None, "", (), [], False):
            yield value if isinstance(value, (str, Sequence)) else str(value), option.flag, "flag"
    if option.input is not None and inputs.get(option.input, "").strip():
        yield inputs[option.input].strip(), f"input {option.input}", "input"
    for name in option.environment:
        if environ.get(name, "").strip():
            yield environ[name].strip(), name, "environment"


def _finding(message: str, path: str) -> Finding:
    return Finding(rule="wrong-setting", severity=Severity.ERROR, message=message, subject=path)
