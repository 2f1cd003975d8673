"""From the bytes of a recording to its conversations."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

import yaml

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.recorded.any_message import is_message
from abs_gate.wire.recorded.frameworks import (
    is_adk,
    is_case,
    is_inspect_log,
    is_own_recording,
    is_toolbench,
    read_adk,
    read_case,
    read_inspect_log,
    read_message_list,
    read_own_recordings,
    read_toolbench,
)
from abs_gate.wire.recorded.http_log import is_http_log, read_http_log
from abs_gate.wire.recorded.model import NotUnderstood, RecordedConversation
from abs_gate.wire.recorded.spans import is_span_like
from abs_gate.wire.recorded.traces import read_traces
from abs_gate.wire.unreadable import one_line
from abs_gate.wire.values import as_list, as_mapping

MAX_TRACE_BYTES = 64 * 1024 * 1024
MAX_YAML_BYTES = 8 * 1024 * 1024
MAX_CONVERSATIONS = 100_000
MAX_YAML_VALUES = 2_000_000
"""Most values in a YAML recording, counted as if every alias were written out."""
UNDERSTOOD = (
    "messages of OpenAI, Anthropic, Gemini or Bedrock as JSON or JSON Lines, OpenTelemetry GenAI spans, "
    "recorded HTTP, Inspect logs, ADK sessions"
)
_YAML: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_traces(text: bytes, file: str) -> tuple[RecordedConversation, ...]:
    """Every conversation of a recording.

    Args:
        text: The file's bytes.
        file: Its name, for messages and for conversations that have no name of their own.

    Raises:
        ConfigurationError: it is too large, damaged, or of no form that is known; the finding says which and where.
    """
    if len(text) > MAX_TRACE_BYTES:
        raise _refuse(file, None, f"The recording is larger than {MAX_TRACE_BYTES:,} bytes.")
    place = PurePosixPath(file).name.split(".")[0] or "recording"
    values = list(_values(text, file))
    if not values:
        raise _refuse(file, None, "The recording is empty.")
    try:
        conversations = _read_all(values, place)
    except NotUnderstood as error:
        raise _not_understood(file, error) from None
    except RecursionError:
        raise _refuse(file, None, "The recording is nested too deeply.") from None
    if len(conversations) > MAX_CONVERSATIONS:
        raise _refuse(file, None, f"The recording holds more than {MAX_CONVERSATIONS:,} conversations.")
    found = tuple(conversation for conversation in conversations if conversation.messages)
    if not found:
        raise _not_understood(file, NotUnderstood("it holds no message"))
    return found


def _read_all(values: Sequence[Json], place: str) -> tuple[RecordedConversation, ...]:
    """Read the values of a file together where they belong together, else one by one."""
    if len(values) > 1 and all(is_message(value) for value in values):
        return read_message_list(values, place)
    if all(is_span_like(value) for value in values):
        return read_traces(values, place)
    if all(is_own_recording(value) for value in values):
        return read_own_recordings(values)
    if len(values) == 1:
        return _read_one(values[0], place)
    if all(is_http_log(value) for value in values):
        return read_http_log({"interactions": list(values)}, place)
    return tuple(
        conversation
        for number, value in enumerate(values, start=1)
        for conversation in _read_one(value, f"{place} #{number}")
    )


def _read_one(value: Json, place: str) -> tuple[RecordedConversation, ...]:
    """Read one value, by the first form it has the marks of.

    Raises:
        NotUnderstood: it has the marks of none.
    """
    if isinstance(value, list):
        if not value:
            raise NotUnderstood("it holds an empty list")
        if all(is_message(item) for item in value):
            return read_message_list(value, place)
        return _read_all(value, place)
    if is_span_like(value):
        return read_traces([value], place)
    if is_http_log(value):
        return read_http_log(value, place)
    for recognises, read in (
        (is_inspect_log, read_inspect_log),
        (is_adk, read_adk),
        (is_toolbench, read_toolbench),
        (is_case, read_case),
    ):
        if recognises(value):
            return read(value, place)
    cases = _cases_within(value)
    if cases:
        return _read_all(cases, place)
    if is_message(value):
        return read_message_list([value], place)
    raise NotUnderstood(_what_it_is(value))


def _cases_within(value: Json) -> Sequence[Json]:
    """The first list of cases that an object holds: results of a benchmark, say, beside what they were run with."""
    for inner in as_mapping(value).values():
        if isinstance(inner, list) and inner and all(is_case(item) for item in inner):
            return inner
    return ()


def _what_it_is(value: Json) -> str:
    item = as_mapping(value)
    if {"case", "ground_truth"} <= set(item) or ("question" in item and "initial_config" in item):
        return "it is a benchmark case (questions and the calls expected), not the recording of a conversation"
    if any(isinstance(item.get(key), list) and not item[key] for key in ("messages", "traj", "history", "events")):
        return "its list of messages is empty"
    if "messages" in item and not all(is_message(entry) for entry in as_list(item["messages"])):
        return "something in its messages is not a message"
    if isinstance(value, Mapping):
        return (
            f"it is an object with the keys {', '.join(one_line(str(key), 30) for key in list(item)[:8]) or '(none)'}"
        )
    return f"it is {one_line(value, 40)}"


def _values(text: bytes, file: str) -> Iterator[Json]:
    """The values of a file: one JSON value or several after one another (JSON Lines), else one YAML document."""
    decoded = text.decode("utf-8-sig", "replace")
    if decoded.lstrip()[:1] in ("{", "["):
        yield from _json_values(decoded, file)
    elif decoded.strip():
        yield _yaml_value(text, decoded, file)


def _json_values(text: str, file: str) -> Iterator[Json]:
    try:
        yield parse_json(text)
    except ValueError as error:
        whole = error
    else:
        return
    lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
    if len(lines) > 1 and lines[0][1].rstrip()[-1:] in ("}", "]") and _is_json(lines[0][1]):
        for number, line in lines:
            try:
                yield parse_json(line)
            except ValueError as error:
                raise _refuse(file, number, f"This line cannot be read: {error}.") from None
        return
    yield from _values_in_a_row(text, file, whole)


def _values_in_a_row(text: str, file: str, whole: ValueError) -> Iterator[Json]:
    """JSON values over several lines each, one after the other, as console exporters write them."""
    decoder = json.JSONDecoder()
    at = 0
    count = 0
    while at < len(text):
        try:
            _, end = decoder.raw_decode(text, at)
            value = parse_json(text[at:end])
        except (ValueError, RecursionError):
            problem = str(whole)
            raise _refuse(file, None, f"The recording cannot be read: {problem}.") from None
        yield value
        count += 1
        at = end
        while at < len(text) and text[at] in " \t\r\n,":
            at += 1


def _is_json(line: str) -> bool:
    try:
        parse_json(line)
    except ValueError:
        return False
    return True


def _yaml_value(text: bytes, decoded: str, file: str) -> Json:
    if len(text) > MAX_YAML_BYTES:
        raise _refuse(file, None, f"A recording in YAML may not be larger than {MAX_YAML_BYTES:,} bytes.")
    if decoded.lstrip()[:1] == "<":
        raise _not_understood(file, NotUnderstood("it is HTML or XML"))
    try:
        value = yaml.load(decoded, Loader=_YAML)  # noqa: S506 - a safe loader, the C one where there is one
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = one_line(getattr(error, "problem", "") or "it cannot be read", 100)
        line = mark.line + 1 if mark is not None else None
        raise _refuse(file, line, f"The recording is neither JSON nor YAML: {problem}.") from None
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        raise _refuse(file, None, f"The recording cannot be read: {one_line(str(error), 100)}.") from None
    if not isinstance(value, dict | list):
        raise _not_understood(file, NotUnderstood("it is plain text"))
    if _count(value, {}) > MAX_YAML_VALUES:
        raise _refuse(file, None, "The recording's aliases stand for too many values.")
    return value


def _count(value: Json, known: dict[int, int]) -> int:
    """How many values there are with every alias written out; each container is looked at once."""
    if not isinstance(value, dict | list):
        return 1
    if id(value) not in known:
        known[id(value)] = MAX_YAML_VALUES + 1  # what a value that contains itself comes to
        inner = value.values() if isinstance(value, dict) else value
        known[id(value)] = min(1 + sum(_count(item, known) for item in inner), MAX_YAML_VALUES + 1)
    return known[id(value)]


def _refuse(file: str, line: int | None, message: str) -> ConfigurationError:
    return ConfigurationError(
        findings=[
            Finding(
                rule="trace-unreadable",
                severity=Severity.ERROR,
                message=message,
                location=Location(file=file, line=line),
            )
        ]
    )


def _not_understood(file: str, error: NotUnderstood) -> ConfigurationError:
    return ConfigurationError(
        findings=[
            Finding(
                rule="trace-not-understood",
                severity=Severity.ERROR,
                message=f"This is not a recording that is understood: {error}.",
                location=Location(file=file),
                hint=f"Understood are {UNDERSTOOD}.",
            )
        ]
    )
