"""Reading a result document back: whole, of a known version, with counts that add up, or not at all."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from importlib.resources import files
from typing import NoReturn, cast

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Json
from abs_gate.gate.result import ResultDocument, SessionRecord
from abs_gate.sources.schema_errors import explain_mismatches

MAX_RESULT_BYTES = 256 * 1024 * 1024
"""Largest result that is read."""
_SHOWN_FAULTS = 5


@cache
def result_schema() -> Mapping[str, Json]:
    """The JSON Schema of result.json, as shipped."""
    schema: Mapping[str, Json] = json.loads(files(__package__).joinpath("result.schema.json").read_text("utf-8"))
    return schema


def load_result(text: str | bytes, *, name: str = "the result") -> ResultDocument:
    """A result document.

    Raises:
        ConfigurationError: it is not complete JSON, not a result, of another version, or contradicts itself.
    """
    document = _parse(text, name)
    if not isinstance(document, dict) or "schema_version" not in document:
        raise ConfigurationError(f"{name} is not a result of abs-gate: it has no schema_version.")
    if document["schema_version"] != 1:
        version = json.dumps(document["schema_version"])[:20]
        raise ConfigurationError(
            f"{name} has schema_version {version}, and this abs-gate reads version 1.",
            hint="Use the abs-gate that wrote it, or a newer one.",
        )
    faults = explain_mismatches(document, result_schema())
    if not faults:
        faults = tuple(_contradictions(cast("ResultDocument", document)))
    if faults:
        more = f" And {len(faults) - _SHOWN_FAULTS} more." if len(faults) > _SHOWN_FAULTS else ""
        raise ConfigurationError(f"{name} is not a sound result: {' '.join(faults[:_SHOWN_FAULTS])}{more}")
    return cast("ResultDocument", document)


def _parse(text: str | bytes, name: str) -> Json:
    if len(text) > MAX_RESULT_BYTES:
        raise ConfigurationError(f"{name} is larger than {MAX_RESULT_BYTES:,} bytes.")
    try:
        readable = text.decode("utf-8-sig") if isinstance(text, bytes) else text
        return json.loads(readable, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as problem:
        where = f" (line {problem.lineno}, column {problem.colno})" if isinstance(problem, json.JSONDecodeError) else ""
        raise ConfigurationError(
            f"{name} is not complete JSON{where}.",
            hint="It may be half written: the run that wrote it may have been killed. Run it again.",
        ) from None


def _contradictions(document: ResultDocument) -> Iterator[str]:
    for session in document["sessions"]:
        if problem := _miscounted(session):
            yield f'Session "{session["name"][:80]}": {problem}.'


def _miscounted(session: SessionRecord) -> str:
    trials = session["trials"]
    counts = (trials["run"], trials["passed"], trials["failed"], trials["unverified"], trials["saved"])
    if min(counts) < 0:
        return "a count of trials is negative"
    if trials["passed"] + trials["failed"] + trials["unverified"] != trials["run"]:
        return "passed, failed and unverified trials do not add up to those run"
    if trials["run"] + trials["saved"] > trials["planned"]:
        return "more trials were run and saved than planned"
    for word in ("passed", "failed", "unverified"):
        if sum(row[word] * row["rows"] for row in session["row_counts"]) > trials[word]:
            return f"its rows have more {word} trials than the session"
    return ""


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
