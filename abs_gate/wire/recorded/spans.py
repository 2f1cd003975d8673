"""OpenTelemetry spans from whatever envelope they were exported in.

OTLP JSON (`resourceSpans`, `resourceLogs`), the Python SDK's console exporter, lists of spans as agent
frameworks and viewers save them, or the attributes of one span alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.wire.values import as_list, as_mapping, as_text

_MARKERS = ("gen_ai.", "llm.", "openinference.", "traceloop.", "ai.")
_ATTRIBUTE_LISTS = ("attributes", "tags")


class Span(Struct, frozen=True, kw_only=True):
    """One span, its attributes as plain values."""

    trace_id: str
    span_id: str
    parent_id: str
    name: str
    start: float
    """Sorts spans of one trace; the place in the file where there is no time."""
    attributes: Mapping[str, Json]
    events: tuple[tuple[str, Mapping[str, Json]], ...] = ()
    """Name and attributes (or body) of each event."""


def is_span_like(value: Json) -> bool:
    """Whether a value is a span, an export of spans, or the attributes of a span."""
    item = as_mapping(value)
    if any(key in item for key in ("resourceSpans", "resource_spans", "resourceLogs", "resource_logs")):
        return True
    if isinstance(item.get("spans"), list):
        return True
    if any(key in item for key in _ATTRIBUTE_LISTS) and _first(
        item, "trace_id", "traceId", "span_id", "spanId", "context"
    ):
        return True
    return any(key.startswith(_MARKERS) for key in item)


def find_spans(values: Iterable[Json]) -> list[Span]:
    """Every span in the values, in time order. Log records that belong to a span become its events."""
    spans: list[Span] = []
    records: dict[tuple[str, str], list[tuple[str, Mapping[str, Json]]]] = {}
    for item in _raw_spans(values):
        if "body" in item and not _first(item, "start_time", "startTimeUnixNano", "startTime"):
            key = as_text(item.get("traceId", item.get("trace_id"))), as_text(item.get("spanId", item.get("span_id")))
            records.setdefault(key, []).append(_read_event(item))
        else:
            spans.append(_read_span(item, len(spans)))
    for (trace_id, span_id), events in records.items():
        found = next((span for span in spans if (span.trace_id, span.span_id) == (trace_id, span_id)), None)
        base = found or Span(trace_id=trace_id, span_id=span_id, parent_id="", name="", start=len(spans), attributes={})
        if found is not None:
            spans.remove(found)
        spans.append(
            Span(
                trace_id=base.trace_id,
                span_id=base.span_id,
                parent_id=base.parent_id,
                name=base.name,
                start=base.start,
                attributes=base.attributes,
                events=(*base.events, *events),
            )
        )
    return sorted(spans, key=lambda span: span.start)


def _raw_spans(values: Iterable[Json]) -> Iterator[Mapping[str, Json]]:
    for value in values:
        item = as_mapping(value)
        resources = _first(item, "resourceSpans", "resource_spans", "resourceLogs", "resource_logs")
        if resources is not None:
            for resource in as_list(resources):
                for key in ("scopeSpans", "scope_spans", "instrumentationLibrarySpans", "scopeLogs", "scope_logs"):
                    for scope in as_list(as_mapping(resource).get(key)):
                        inner = _first(as_mapping(scope), "spans", "logRecords", "log_records")
                        yield from map(as_mapping, as_list(inner))
        elif isinstance(item.get("spans"), list):
            yield from map(as_mapping, item["spans"])
        elif isinstance(value, list):
            yield from _raw_spans(value)
        elif item:
            yield item


def _read_span(item: Mapping[str, Json], place: int) -> Span:
    context = as_mapping(item.get("context"))
    attributes = item if not any(key in item for key in _ATTRIBUTE_LISTS) else _read_attributes(item)
    events = _first(item, "events", "span_events") or ()
    parent = _first(item, "parent_span_id", "parentSpanId", "parent_id", "parentId")
    return Span(
        trace_id=str(_first(item, "trace_id", "traceId") or context.get("trace_id") or ""),
        span_id=str(_first(item, "span_id", "spanId") or context.get("span_id") or ""),
        parent_id=str(parent or ""),
        name=as_text(item.get("name"))[:200],
        start=_time(
            _first(item, "start_time", "startTimeUnixNano", "start_time_unix_nano", "startTime", "timestamp"), place
        ),
        attributes=attributes,
        events=tuple(_read_event(as_mapping(event)) for event in as_list(events)),
    )


def _read_attributes(item: Mapping[str, Json]) -> Mapping[str, Json]:
    attributes = _first(item, *_ATTRIBUTE_LISTS)
    if isinstance(attributes, Mapping):
        return attributes
    return {
        as_text(entry.get("key")): _any_value(entry.get("value"))
        for entry in map(as_mapping, as_list(attributes))
        if entry.get("key")
    }


def _read_event(item: Mapping[str, Json]) -> tuple[str, Mapping[str, Json]]:
    """An event of a span or a log record: its name, and its attributes with the fields of its body."""
    attributes = dict(_read_attributes(item))
    body = item.get("body")
    body = _any_value(body) if isinstance(body, Mapping) and len(body) == 1 else body
    name = _first(item, "name", "eventName", "event_name") or attributes.get("event.name") or ""
    return as_text(name), {**attributes, **as_mapping(body)}


def _any_value(value: Json) -> Json:
    """A value of OTLP's JSON, as plain JSON."""
    item = as_mapping(value)
    if len(item) != 1:
        return value
    ((kind, inner),) = item.items()
    if kind in ("stringValue", "boolValue", "doubleValue", "bytesValue", "string_value", "bool_value", "double_value"):
        return inner
    if kind in ("intValue", "int_value"):
        return int(inner) if isinstance(inner, str) and inner.lstrip("-").isdigit() and len(inner) < 30 else inner
    if kind in ("arrayValue", "array_value"):
        return [_any_value(entry) for entry in as_list(as_mapping(inner).get("values"))]
    if kind in ("kvlistValue", "kvlist_value"):
        entries = map(as_mapping, as_list(as_mapping(inner).get("values")))
        return {as_text(entry.get("key")): _any_value(entry.get("value")) for entry in entries}
    return value


def _time(value: Json, place: int) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    if isinstance(value, str):
        if value.isdigit() and len(value) < 30:
            return float(value)
        try:
            return datetime.fromisoformat(value).timestamp()
        except (ValueError, OverflowError):
            return float(place)
    return float(place)


def _first(item: Mapping[str, Json], *keys: str) -> Json:
    """What stands under the first of the keys that is there."""
    return next((item[key] for key in keys if item.get(key) is not None), None)
