"""The release checklist of a result, for a terminal and as Markdown."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.findings import Json
from abs_gate.gate.evidence import evidence_document
from abs_gate.gate.result import ResultDocument
from abs_gate.reports.json_report import json_text
from abs_gate.reports.markdown_text import cell
from abs_gate.reports.terminal import wrap
from abs_gate.reports.untrusted import one_line

_WIDTH = 100
_ICONS = {"met": "✅", "not met": "❌"}


def render_evidence(document: ResultDocument) -> str:
    """Each item with its state, why, and what shows it."""
    lines = []
    for entry in document["evidence"]:
        lines += wrap(item_text(entry), _WIDTH, first=f"{state_of(entry):<16}")
        for pointer in [*reasons_of(entry), *pointers_of(entry)]:
            lines += wrap(pointer, _WIDTH, first=" " * 16)
    return "\n".join([*lines, *([""] if lines else []), _summary(document)]) + "\n"


def render_evidence_markdown(document: ResultDocument) -> str:
    """The same as a table."""
    rows = [
        f"| {_ICONS.get(state_of(entry), '➖')} {state_of(entry)} | {cell(item_text(entry), 300)} "
        f"| {' '.join(cell(reason, 300) for reason in reasons_of(entry))} "
        f"| {', '.join(cell(pointer) for pointer in list(pointers_of(entry))[:5])} |"
        for entry in document["evidence"]
    ]
    table = "\n".join(["| | Item | Why | Shown by |", "|---|---|---|---|", *rows])
    return f"## Release evidence\n\n{table}\n\n{_summary(document)}\n" if rows else f"{_summary(document)}\n"


def render_evidence_json(document: ResultDocument) -> str:
    """`evidence.json`: the checklist and the manifest of the release."""
    return json_text(evidence_document(document))


def state_of(entry: Mapping[str, Json]) -> str:
    """`met`, `not met` or `not applicable`; anything else is not met."""
    state = str(entry.get("state", "")).replace("_", " ")
    return state if state in ("met", "not met", "not applicable") else "not met"


def item_text(entry: Mapping[str, Json]) -> str:
    """What the item demands."""
    return one_line(str(entry.get("item", "")), 400)


def reasons_of(entry: Mapping[str, Json]) -> list[str]:
    """Why it has its state, if that is said."""
    return [one_line(str(entry["reason"]), 400)] if entry.get("reason") else []


def pointers_of(entry: Mapping[str, Json]) -> Iterator[str]:
    """What shows it: findings, files, fingerprints."""
    pointers = entry.get("pointers")
    for pointer in pointers[:20] if isinstance(pointers, list) else []:
        yield one_line(str(pointer), 300)


def _summary(document: ResultDocument) -> str:
    states = [state_of(entry) for entry in document["evidence"]]
    if not states:
        return "No release evidence was recorded."
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(sorted(states))) + "."
