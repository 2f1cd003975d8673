"""Execution records: what an agent did in one run, as far as the canary's metrics look at it.

Two forms are read: JSON Lines of our own, one run a line (`docs/canary.md`), and OpenTelemetry GenAI spans.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import NoReturn

from msgspec import Struct

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity

MOST_FAULTS = 20
LONGEST_CODE = 100
_RUN_KEYS = frozenset({"run", "contract", "expected_tool", "user_corrected", "calls"})
_CALL_KEYS = frozenset({"tool", "missing_arguments", "valid", "error", "retry", "approval", "verified"})
_APPROVALS = ("granted", "denied", None)


class CallRecord(Struct, frozen=True, kw_only=True):
    """One tool call. None means that the record does not say."""

    tool: str
    missing_arguments: bool | None = None
    """Whether a required argument was absent or empty."""
    valid: bool | None = None
    """Whether the arguments were valid against the contract."""
    error: str | None = None
    """The error's code, where the call ended in one."""
    retry: bool = False
    """Whether it repeats an earlier call of the run."""
    approval: str | None = None
    """granted or denied, where a person was asked."""
    verified: bool | None = None
    """Whether the claimed outcome was found in the system of record."""


class RunRecord(Struct, frozen=True, kw_only=True):
    """One run of the agent."""

    id: str
    calls: tuple[CallRecord, ...] = ()
    contract: str | None = None
    """Fingerprint of the contract or tool set the model saw."""
    has_expectation: bool = False
    expected_tool: str | None = None
    """The tool that was to be chosen; None: no call was to be made."""
    user_corrected: bool | None = None


def read_run_lines(values: Iterator[tuple[int, Json]], file: str) -> tuple[RunRecord, ...]:
    """Runs of our own form, from parsed lines with their numbers.

    Raises:
        ConfigurationError: with the line of every record that is wrong.
    """
    runs: dict[str, RunRecord] = {}
    findings: list[Finding] = []
    for line, value in values:
        try:
            run = _run(value)
            if run.id in runs:
                _refuse(f"Run {json.dumps(run.id[:60])} is there twice.")
            runs[run.id] = run
        except ValueError as fault:
            findings.append(
                Finding(
                    rule="wrong-execution-record",
                    severity=Severity.ERROR,
                    message=str(fault),
                    location=Location(file=file, line=line),
                )
            )
            if len(findings) == MOST_FAULTS:
                break
    if findings:
        raise ConfigurationError(findings=findings)
    return tuple(runs.values())


def _run(value: Json) -> RunRecord:
    if not isinstance(value, dict):
        _refuse("A run is an object with `run` and `calls`.")
    _known(value, _RUN_KEYS, "run")
    calls = value.get("calls")
    if not isinstance(calls, list):
        _refuse("`calls` must be a list.")
    return RunRecord(
        id=_text(value, "run"),
        calls=tuple(_call(call) for call in calls),
        contract=_optional_text(value, "contract"),
        has_expectation="expected_tool" in value,
        expected_tool=_optional_text(value, "expected_tool"),
        user_corrected=_optional_boolean(value, "user_corrected"),
    )


def _call(value: Json) -> CallRecord:
    if not isinstance(value, dict):
        _refuse("A call is an object with `tool`.")
    _known(value, _CALL_KEYS, "call")
    missing = value.get("missing_arguments")
    if not (missing is None or isinstance(missing, (bool, list))):
        _refuse("`missing_arguments` must be a list of names, true or false.")
    if value.get("approval") not in _APPROVALS:
        _refuse("`approval` must be granted or denied.")
    return CallRecord(
        tool=_text(value, "tool"),
        missing_arguments=None if missing is None else bool(missing),
        valid=_optional_boolean(value, "valid"),
        error=(_optional_text(value, "error") or "")[:LONGEST_CODE] or None,
        retry=_optional_boolean(value, "retry") or False,
        approval=value.get("approval"),
        verified=_optional_boolean(value, "verified"),
    )


def _known(value: Mapping[str, Json], keys: frozenset[str], what: str) -> None:
    for key in value:
        if key not in keys:
            _refuse(f"A {what} has no key {json.dumps(key[:60])}. Known are: {', '.join(sorted(keys))}.")


def _text(value: Mapping[str, Json], key: str) -> str:
    text = value.get(key)
    if not isinstance(text, str) or not text:
        _refuse(f"`{key}` must be a text that is not empty.")
    return text


def _optional_text(value: Mapping[str, Json], key: str) -> str | None:
    return _text(value, key) if value.get(key) is not None else None


def _optional_boolean(value: Mapping[str, Json], key: str) -> bool | None:
    answer = value.get(key)
    if answer is not None and not isinstance(answer, bool):
        _refuse(f"`{key}` must be true or false.")
    return answer


def _refuse(message: str) -> NoReturn:
    raise ValueError(message)
