"""`result.json`: the result document as text, byte-identical for equal documents."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from abs_gate.findings import Json
from abs_gate.reports.options import ReportOptions

if TYPE_CHECKING:
    from abs_gate.gate.result import ResultDocument

_UNSAFE = re.compile(
    "[\x7f-\x9f\xad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff\ufff9-\uffff]"
)
"""What would move a cursor, hide or break UTF-8 if it stood in the file as it is."""


_INDENTED_TRIALS = 1_000
"""With more trials the text stands on one line: nobody reads it, and it is written ten times as fast."""


def render(document: ResultDocument, _options: ReportOptions) -> str:
    """The document with sorted keys and a line end, indented by two; no NaN, no raw control characters."""
    trials = sum(len(case["trials"]) for session in document["sessions"] for case in session["cases"])
    indent = 2 if trials <= _INDENTED_TRIALS else None
    return json_text(document, indent=indent, sort_keys=True)


def json_text(value: Json, *, indent: int | None = 2, sort_keys: bool = False) -> str:
    """Any value as JSON and a line end, fit for a terminal too: no NaN, no raw control characters."""
    text = json.dumps(value, ensure_ascii=False, indent=indent, sort_keys=sort_keys, allow_nan=False)
    return _UNSAFE.sub(lambda found: f"\\u{ord(found[0]):04x}", text) + "\n"
