"""Reading the small parts that all formats share: text, arguments, token counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from abs_gate.conversation import ToolCall, Usage
from abs_gate.findings import Json
from abs_gate.wire.json_text import parse_json, to_text

_MAX_TOKENS_COUNTED = 10**12


def as_mapping(value: Json) -> Mapping[str, Json]:
    """The value when it is an object, else an empty one."""
    return value if isinstance(value, Mapping) else {}


def as_list(value: Json) -> Sequence[Json]:
    """The value when it is a list, else an empty one."""
    return value if isinstance(value, list | tuple) else ()


def as_text(value: Json) -> str:
    """The value when it is text, else an empty one."""
    return value if isinstance(value, str) else ""


def text_or_none(text: str | None) -> str | None:
    """Empty text is no text (blank text too)."""
    return text if text and text.strip() else None


def join_parts(content: Json) -> str:
    """The text of a message's content: text as it is, a list of parts joined, other kinds of part left out."""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    texts: list[str] = []
    for part in as_list(content):
        if isinstance(part, str):
            texts.append(part)
        elif isinstance(part, Mapping) and part.get("type") not in ("thinking", "reasoning", "redacted_thinking"):
            text = part.get("text", part.get("content"))
            if isinstance(text, Mapping):
                text = text.get("value")
            texts.append(as_text(text))
    return "".join(texts)


def read_call(call_id: Json, name: Json, arguments: Json) -> ToolCall:
    """A tool call with its arguments as JSON text or as an object; none, or empty text, are `{}`."""
    identity = to_text(call_id) if isinstance(call_id, str | int) else ""
    if arguments is None or (isinstance(arguments, str) and not arguments.strip()):
        return ToolCall(id=identity, name=as_text(name), arguments=MappingProxyType({}), raw_arguments="")
    if isinstance(arguments, Mapping):
        return ToolCall(id=identity, name=as_text(name), arguments=arguments)
    raw = to_text(arguments)
    parsed: Json = None
    if isinstance(arguments, str):
        try:
            parsed = parse_json(arguments)
        except ValueError:
            parsed = None
    return ToolCall(
        id=identity,
        name=as_text(name),
        arguments=parsed if isinstance(parsed, Mapping) else None,
        raw_arguments=raw,
    )


def arguments_text(call: ToolCall) -> str:
    """The arguments as JSON text, as received where they came as text."""
    return call.raw_arguments or to_text(dict(call.arguments or {}))


def read_usage(usage: Json, *names: tuple[str, str]) -> Usage:
    """Token counts under the first pair of names (input, output) that is there; nonsense counts as zero."""
    usage = as_mapping(usage)
    for input_name, output_name in names:
        if input_name in usage or output_name in usage:
            return Usage(input_tokens=_count(usage.get(input_name)), output_tokens=_count(usage.get(output_name)))
    return Usage()


def _count(value: Json) -> int:
    is_count = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_TOKENS_COUNTED
    return value if is_count else 0
