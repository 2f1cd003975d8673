"""Execution records from OpenTelemetry GenAI spans, in whatever envelope they were exported.

A run is a trace. Tool calls are `execute_tool` spans; where a trace has none, the calls in its model outputs. Required
arguments are known from `gen_ai.tool.definitions`. What the conventions have no attribute for is read from
`abs_gate.user_corrected`, `abs_gate.approval`, `abs_gate.verified`, `abs_gate.contract` and `abs_gate.expected_tool`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping

from msgspec import Struct, field

from abs_gate.findings import Json
from abs_gate.gate.canary.records import LONGEST_CODE, CallRecord, RunRecord

_EMPTY = (None, "", "null", "undefined", "N/A")
_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}
_FAILED_STATUS = ("error", "status_code_error", "2")
_MOST_NESTED = 50


class _Trace(Struct):
    """The spans of one run."""

    executed: list[Mapping[str, Json]] = field(default_factory=list)
    asked: list[tuple[str, Json]] = field(default_factory=list)
    """Calls as the model wrote them: name and arguments."""
    parameters: dict[str, Mapping[str, Json]] = field(default_factory=dict)
    marks: dict[str, Json] = field(default_factory=dict)
    """Attributes of ours that speak of the whole run."""


def holds_spans(value: Json) -> bool:
    """Whether a parsed value is a span, a list of spans, or an OTLP export."""
    first = next(iter(_spans(value)), None)
    return first is not None and any(key.startswith(("gen_ai.", "abs_gate.")) for key in _attributes(first))


def read_spans(values: Iterable[Json]) -> tuple[RunRecord, ...]:
    """The runs of all spans, in the order their traces first appear."""
    traces: dict[str, _Trace] = {}
    for index, span in enumerate(span for value in values for span in _spans(value)):
        attributes = _attributes(span)
        key = span.get("trace_id") or span.get("traceId") or attributes.get("gen_ai.conversation.id") or f"span {index}"
        _note(traces.setdefault(str(key), _Trace()), span, attributes)
    return tuple(_run(name, trace) for name, trace in traces.items())


def _spans(value: Json, depth: int = 0) -> Iterator[Mapping[str, Json]]:
    if depth > _MOST_NESTED:
        return
    if isinstance(value, list):
        for item in value:
            yield from _spans(item, depth + 1)
    elif isinstance(value, dict):
        inner = [value[key] for key in ("resourceSpans", "scopeSpans", "spans") if key in value]
        if inner:
            for item in inner:
                yield from _spans(item, depth + 1)
        else:
            yield value


def _attributes(span: Mapping[str, Json]) -> Mapping[str, Json]:
    """Attributes as a mapping, whether exported so, as OTLP key-value pairs, or as the span itself."""
    attributes = span.get("attributes", span)
    if isinstance(attributes, list):
        return {
            str(pair["key"]): _otlp_value(pair.get("value"))
            for pair in attributes
            if isinstance(pair, dict) and "key" in pair
        }
    return attributes if isinstance(attributes, dict) else {}


def _otlp_value(value: Json) -> Json:
    if not isinstance(value, dict):
        return value
    kind, content = next(iter(value.items()), ("", None))
    # 64-bit numbers are texts in OTLP's JSON.
    return int(content) if kind == "intValue" and isinstance(content, str) and content.isdecimal() else content


def _note(trace: _Trace, span: Mapping[str, Json], attributes: Mapping[str, Json]) -> None:
    for name, schema in _definitions(attributes.get("gen_ai.tool.definitions")):
        trace.parameters[name] = schema
    for key in ("contract", "expected_tool", "user_corrected"):
        if f"abs_gate.{key}" in attributes:
            trace.marks[key] = attributes[f"abs_gate.{key}"]
    if attributes.get("gen_ai.operation.name") == "execute_tool":
        started = span.get("start_time", span.get("startTimeUnixNano"))
        trace.executed.append({**attributes, "status": span.get("status"), "started": started})
    else:
        trace.asked += _asked(attributes.get("gen_ai.output.messages"))


def _run(name: str, trace: _Trace) -> RunRecord:
    corrected = trace.marks.get("user_corrected")
    expected = trace.marks.get("expected_tool")
    contract = trace.marks.get("contract")
    return RunRecord(
        id=name,
        calls=tuple(_calls(trace)),
        contract=str(contract) if contract else None,
        has_expectation="expected_tool" in trace.marks,
        expected_tool=str(expected) if expected else None,
        user_corrected=corrected if isinstance(corrected, bool) else None,
    )


def _calls(trace: _Trace) -> Iterator[CallRecord]:
    seen: set[str] = set()
    executed = [
        (str(span.get("gen_ai.tool.name") or "?"), _parsed(span.get("gen_ai.tool.call.arguments")), span)
        for span in sorted(trace.executed, key=_started)
    ]
    calls = executed or [(name, _parsed(arguments), {}) for name, arguments in trace.asked]
    for name, arguments, span in calls:
        same = f"{name} {json.dumps(arguments, sort_keys=True, default=str)}"
        missing, valid = _checked(arguments, trace.parameters.get(name))
        approval, verified = span.get("abs_gate.approval"), span.get("abs_gate.verified")
        yield CallRecord(
            tool=name,
            missing_arguments=missing,
            valid=valid,
            error=_error(span),
            retry=arguments is not None and same in seen,
            approval=approval if approval in ("granted", "denied") else None,
            verified=verified if isinstance(verified, bool) else None,
        )
        seen.add(same)


def _started(span: Mapping[str, Json]) -> int:
    """Spans are exported as they end; calls are read in the order they began."""
    started = str(span.get("started"))
    return int(started) if started.isdecimal() and len(started) < 30 else 0


def _checked(arguments: Json, parameters: Mapping[str, Json] | None) -> tuple[bool | None, bool | None]:
    """Whether a required argument is absent or empty, and whether names and outer types fit the definition."""
    if arguments is None or parameters is None:
        return None, None
    if not isinstance(arguments, dict):
        return None, False
    required = parameters.get("required")
    names = [name for name in required if isinstance(name, str)] if isinstance(required, list) else []
    missing = any(name not in arguments or arguments[name] in _EMPTY for name in names)
    absent = any(name not in arguments for name in names)
    properties = parameters.get("properties")
    fits = not isinstance(properties, dict) or all(
        _fits(value, properties.get(name)) for name, value in arguments.items()
    )
    return missing, fits and not absent


def _fits(value: Json, schema: Json) -> bool:
    kind = schema.get("type") if isinstance(schema, dict) else None
    allowed = _TYPES.get(kind) if isinstance(kind, str) else None
    if allowed is None:
        return True
    return isinstance(value, allowed) and (bool in allowed or not isinstance(value, bool))


def _error(span: Mapping[str, Json]) -> str | None:
    kind = span.get("error.type")
    if isinstance(kind, str) and kind:
        return kind[:LONGEST_CODE]
    status = span.get("status")
    code = status.get("code", status.get("status_code")) if isinstance(status, dict) else status
    return "ERROR" if str(code).lower() in _FAILED_STATUS else None


def _definitions(value: Json) -> Iterator[tuple[str, Mapping[str, Json]]]:
    tools = _parsed(value)
    for tool in tools if isinstance(tools, list) else ():
        inner = tool.get("function", tool) if isinstance(tool, dict) else None
        if isinstance(inner, dict) and isinstance(inner.get("name"), str):
            parameters = inner.get("parameters", inner.get("input_schema"))
            if isinstance(parameters, dict):
                yield inner["name"], parameters


def _asked(value: Json) -> Iterator[tuple[str, Json]]:
    messages = _parsed(value)
    for message in messages if isinstance(messages, list) else ():
        parts = message.get("parts") if isinstance(message, dict) else None
        for part in parts if isinstance(parts, list) else ():
            if isinstance(part, dict) and part.get("type") == "tool_call" and isinstance(part.get("name"), str):
                yield part["name"], part.get("arguments")


def _parsed(value: Json) -> Json:
    """JSON that stands in a text, as attributes hold it; a text that is no JSON stays itself."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
