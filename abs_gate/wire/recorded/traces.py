"""Conversations from spans: model calls woven into threads, results filled in from the tools that ran."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from abs_gate.conversation import Message, Role, ToolCall, ToolResult
from abs_gate.findings import Json
from abs_gate.wire.call_ids import fill_call_ids
from abs_gate.wire.recorded.genai import conversation_id, is_agent_span, read_model_call, read_tool_run
from abs_gate.wire.recorded.model import NotUnderstood, RecordedConversation
from abs_gate.wire.recorded.spans import Span, find_spans
from abs_gate.wire.recorded.threads import Thread, Threads
from abs_gate.wire.values import as_text

FORM = "OpenTelemetry spans"
_MAX_ANCESTORS = 50
_NO_CONTENT = (
    "its spans hold no messages; have the instrumentation capture message content "
    "(for OpenTelemetry: OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=true)"
)


def read_traces(values: Iterable[Json], place: str) -> tuple[RecordedConversation, ...]:
    """Every conversation that the spans tell.

    Raises:
        NotUnderstood: no span holds a message or a tool that ran.
    """
    spans = find_spans(values)
    told = _with_messages(spans)
    spans_by_id = {span.span_id: span for span in spans if span.span_id}
    threads = Threads()
    traces: dict[int, str] = {}
    for span in told:
        call = read_model_call(span)
        if call is None:
            continue
        conversation = conversation_id(span)
        agent = as_text(span.attributes.get("gen_ai.agent.name"))
        group = f"{conversation} {agent}" if conversation else f"{span.trace_id} {span.parent_id}"
        before = len(threads.all)
        threads.add(
            call.sent,
            call.answered,
            name=_name(span, spans_by_id, place),
            group=group,
            model=call.model,
            usage=call.usage,
        )
        if len(threads.all) > before:
            traces[id(threads.all[-1])] = span.trace_id
    tools = [(span, run) for span in spans if (run := read_tool_run(span)) is not None]
    lonely = [(span, run) for span, run in tools if not _fill_in(threads.all, traces, span, run)]
    conversations = [_conversation(thread) for thread in threads.all]
    conversations.extend(_tools_alone(lonely, place))
    if not conversations:
        raise NotUnderstood(_NO_CONTENT)
    return tuple(conversations)


def _with_messages(spans: list[Span]) -> list[Span]:
    """The spans to take messages from: model calls; the spans of whole runs only in traces that have no other."""
    calls = [span for span in spans if not is_agent_span(span) and read_model_call(span) is not None]
    told = {span.trace_id for span in calls}
    whole: dict[str, Span] = {}
    for span in spans:
        if span.trace_id not in told and is_agent_span(span) and read_model_call(span) is not None:
            whole.setdefault(span.trace_id, span)
    return sorted([*calls, *whole.values()], key=lambda span: span.start)


def _fill_in(threads: list[Thread], traces: dict[int, str], span: Span, run: tuple[ToolCall, ToolResult]) -> bool:
    """Put the result of a tool that ran behind its call, unless it is there; True when its call was found."""
    call, result = run
    found = False
    for thread in threads:
        if traces.get(id(thread)) != span.trace_id:
            continue
        answered = {item.call_id for message in thread.messages for item in message.results}
        for place, message in enumerate(thread.messages):
            for known in message.calls:
                same = known.id == call.id if call.id else (known.name, known.arguments) == (call.name, call.arguments)
                if not same:
                    continue
                found = True
                if known.id not in answered and result.content is not None:
                    after = place + 1
                    while after < len(thread.messages) and thread.messages[after].role is Role.TOOL:
                        after += 1
                    named = replace(result, call_id=known.id, name=known.name)
                    thread.messages.insert(after, Message(role=Role.TOOL, results=(named,)))
                    return True
    return found


def _tools_alone(runs: list[tuple[Span, tuple[ToolCall, ToolResult]]], place: str) -> list[RecordedConversation]:
    """Tools that ran without a model call that asked for them, one conversation a trace."""
    by_trace: dict[str, list[Message]] = {}
    for span, (call, result) in runs:
        messages = by_trace.setdefault(span.trace_id, [])
        messages.append(Message(role=Role.ASSISTANT, calls=(call,)))
        if result.content is not None:
            messages.append(Message(role=Role.TOOL, results=(result,)))
    return [
        RecordedConversation(name=f"{trace_id or place} (tools)", messages=fill_call_ids(messages), form=FORM)
        for trace_id, messages in by_trace.items()
    ]


def _name(span: Span, spans: Mapping[str, Span], place: str) -> str:
    """The conversation's or trace's id, with the name of the agent whose run the span belongs to."""
    name = conversation_id(span) or span.trace_id or place
    agent: Span | None = span
    for _ in range(_MAX_ANCESTORS):
        if agent is None:
            return name
        named = as_text(agent.attributes.get("gen_ai.agent.name")) or as_text(agent.attributes.get("agent.name"))
        if named:
            return f"{name} {named}"
        agent = spans.get(agent.parent_id)
    return name


def _conversation(thread: Thread) -> RecordedConversation:
    return RecordedConversation(
        name=thread.name, messages=fill_call_ids(thread.messages), form=FORM, model=thread.model, usage=thread.usage
    )
