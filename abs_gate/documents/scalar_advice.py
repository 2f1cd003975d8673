"""Unquoted values that other YAML readers take for something else, or that look like text and are not."""

from __future__ import annotations

import re
from collections.abc import Iterator

from abs_gate.findings import Finding, Severity
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.located import LocatedDocument

_OLD_BOOLEAN = re.compile(r"yes|no|on|off|y|n", re.IGNORECASE)
_OLD_FORMS = (
    (re.compile(r"[-+]?0[0-9_]+"), "a number"),
    (re.compile(r"[-+]?[0-9]+(?::[0-5]?[0-9])+(?:\.[0-9]*)?"), "a number of base sixty"),
    (re.compile(r"[0-9]{4}-[0-9]{1,2}-[0-9]{1,2}(?:[Tt \t].*)?"), "a date"),
    (re.compile(r"[-+]?[1-9][0-9]*(?:_[0-9]+)+"), "a number"),
    (re.compile(r"[-+]?0b[01_]+"), "a number"),
)
_SURPRISING_NUMBER = re.compile(r"\+[0-9]{6,}|0x[0-9a-fA-F]+|0o[0-7]+|[0-9]+[eE][0-9]+")


def find_scalar_doubts(document: LocatedDocument) -> Iterator[Finding]:
    """A warning for every such value of a document."""
    for path, plain in document.plain_scalars():
        message, hint = _doubt(plain)
        if message:
            location = document.location(path)
            severity = Severity.WARNING
            yield Finding(rule="ambiguous-scalar", severity=severity, message=message, hint=hint, location=location)


def _doubt(plain: str) -> tuple[str, str]:
    other = "true or false" if _OLD_BOOLEAN.fullmatch(plain) else None
    for form, name in _OLD_FORMS:
        if other is None and form.fullmatch(plain):
            other = name
    if other is not None:
        return f"{excerpt(plain, 40)} is text here; readers of YAML 1.1 take it for {other}.", "Put it in quotes."
    if _SURPRISING_NUMBER.fullmatch(plain):
        return f"{excerpt(plain, 40)} is read as a number.", "Put it in quotes if it is meant as text."
    return "", ""
