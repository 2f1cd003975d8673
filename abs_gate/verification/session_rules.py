"""The `effects` entries of a session policy: their shape, and what is wrong with one."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib import resources

from abs_gate.findings import Json
from abs_gate.sources.patterns import compile_pattern
from abs_gate.sources.schema_errors import explain_mismatches
from abs_gate.verification.probe_rules import probe_fault


def entry_faults(entry: Json) -> Iterator[str]:
    """Everything that is wrong with an entry, in sentences."""
    wrong = explain_mismatches(entry, _schema())
    yield from wrong
    if wrong:
        return
    if "probe" in entry:
        ((kind, options),) = entry["probe"].items()
        fault = probe_fault(kind, options)
        if fault is not None:
            yield f"The probe {fault[1]} {fault[2]}"
    yield from _pattern_faults(entry)


def _pattern_faults(entry: Mapping[str, Json]) -> Iterator[str]:
    injected = entry.get("injected") or {}
    patterns = [claim["says"] for claim in entry.get("claims") or ()]
    patterns += [injected[key] for key in ("pattern", "says") if key in injected]
    for pattern in patterns:
        try:
            compile_pattern(pattern)
        except ValueError as problem:
            yield f"The pattern {pattern[:80]} cannot be used: {problem}"


@lru_cache(maxsize=1)
def _schema() -> Mapping[str, Json]:
    text = resources.files("abs_gate.verification").joinpath("session_effects.schema.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]
