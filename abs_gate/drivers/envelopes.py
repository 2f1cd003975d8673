"""Answers of tools in whatever envelope they come, as one value."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from abs_gate.findings import Json
from abs_gate.verification.model import AnswerKind, ToolAnswer
from abs_gate.verification.script import resolve_pointer
from abs_gate.wire.base import HttpResponse

MOST_RAW = 100_000
"""Characters of an answer in which leaks are looked for."""
_CODES = ("/error/code", "/code", "/errors/0/code", "/error_code", "/error", "/type")
_MESSAGES = ("/error/message", "/message", "/detail", "/errors/0/message", "/errors/0", "/error", "/title", "/reason")
_RETRYABLE = ("/error/retryable", "/retryable", "/errors/0/retryable")


def read_http(response: HttpResponse, result: str, error: Mapping[str, Json]) -> ToolAnswer:
    """An HTTP answer. `error` holds the pointers and codes by status that a suite gives."""
    raw = response.body.decode("utf-8", "replace")[:MOST_RAW]
    is_json, value = _parse(raw)
    if 200 <= response.status < 300:
        media = response.headers.get("content-type", "")
        if not is_json and raw.strip() and ("json" in media or "html" in media):
            return ToolAnswer(
                kind=AnswerKind.PROTOCOL_ERROR, message=f"the answer is no JSON: {raw[:200]}", raw=raw, content=raw
            )
        content = resolve_pointer(value, result) if is_json else raw or None
        return ToolAnswer(kind=AnswerKind.RESULT, content=content, raw=raw)
    by_status = (error.get("status") or {}).get(str(response.status))
    answer = read_error(value if is_json else None, raw, error)
    kind = AnswerKind.TOOL_ERROR if answer.code or by_status or answer.message else AnswerKind.PROTOCOL_ERROR
    return ToolAnswer(
        kind=kind,
        content=answer.content,
        code=answer.code or by_status,
        message=answer.message or f"HTTP {response.status}: {raw[:200]}",
        retryable=answer.retryable,
        raw=raw,
    )


def read_value(value: Json) -> ToolAnswer:
    """What a command or a function gave: a result, or an object with `isError` or only an `error`."""
    raw = as_text(value)
    if isinstance(value, Mapping):
        if value.get("isError") is True or value.get("is_error") is True:
            return read_error(value, raw, {})
        if set(value) == {"error"} and value["error"] is not None:
            return read_error(value, raw, {})
        if set(value) == {"result"}:
            value = value["result"]
    return ToolAnswer(kind=AnswerKind.RESULT, content=value, raw=raw)


def read_error(value: Json, raw: str, places: Mapping[str, Json]) -> ToolAnswer:
    """An error's code, message and retryability, where they stand or where they usually do."""
    code = _first(value, places.get("code"), _CODES, str)
    message = _first(value, places.get("message"), _MESSAGES, str)
    if isinstance(value, Mapping) and isinstance(value.get("errors"), list):
        said = [each for each in value["errors"] if isinstance(each, str)]
        message = "; ".join(said) or message
    if code is not None and (len(code) > 100 or " " in code):
        code = None
    retryable = _first(value, places.get("retryable"), _RETRYABLE, bool)
    return ToolAnswer(
        kind=AnswerKind.TOOL_ERROR, content=value, code=code, message=message or "", retryable=retryable, raw=raw
    )


def no_answer(message: str) -> ToolAnswer:
    """Nothing came."""
    return ToolAnswer(kind=AnswerKind.NO_ANSWER, message=message, raw="")


def as_text(value: Json) -> str:
    """A value as a model would read it, bounded."""
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str))[:MOST_RAW]


def _first(value: Json, given: Json, usual: tuple[str, ...], kind: type) -> Any:
    for pointer in (given,) if isinstance(given, str) else usual:
        found = resolve_pointer(value, pointer)
        if isinstance(found, kind) and found != "":
            return found
        if kind is str and isinstance(found, int) and not isinstance(found, bool) and given:
            return str(found)
    return None


def _parse(text: str) -> tuple[bool, Json]:
    try:
        return True, json.loads(text)
    except (ValueError, RecursionError):
        return False, None
