"""Reading a file of execution records, whichever of the forms it is in."""

from __future__ import annotations

import json
from collections.abc import Iterator

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.gate.canary.records import MOST_FAULTS, RunRecord, read_run_lines
from abs_gate.gate.canary.spans import holds_spans, read_spans


def read_execution_records(text: str, file: str) -> tuple[RunRecord, ...]:
    """Every run of a file: JSON Lines of runs, or spans as JSON Lines, one JSON list, or an OTLP export.

    Raises:
        ConfigurationError: a line that is not JSON or not a record, each with its place; or no record at all.
    """
    whole = _whole(text)
    if whole is not None and holds_spans(whole):
        return _some(read_spans([whole]), file)
    lines = list(_lines(text, file))
    if lines and holds_spans(lines[0][1]):
        return _some(read_spans(value for _, value in lines), file)
    return _some(read_run_lines(iter(lines), file), file)


def _whole(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _lines(text: str, file: str) -> Iterator[tuple[int, Json]]:
    findings: list[Finding] = []
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        try:
            yield number, json.loads(line)
        except (ValueError, RecursionError):
            findings.append(
                Finding(
                    rule="wrong-execution-record",
                    severity=Severity.ERROR,
                    message="This line is not JSON.",
                    location=Location(file=file, line=number),
                )
            )
            if len(findings) == MOST_FAULTS:
                break
    if findings:
        raise ConfigurationError(findings=findings)


def _some(runs: tuple[RunRecord, ...], file: str) -> tuple[RunRecord, ...]:
    if not runs:
        raise ConfigurationError(f"{file} holds no execution record.", hint="docs/canary.md shows the forms.")
    return runs
