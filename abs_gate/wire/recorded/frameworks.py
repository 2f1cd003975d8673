"""Conversations as frameworks and benchmarks save them: a case with its messages under some key."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from abs_gate.conversation import Message, Role, ToolResult
from abs_gate.findings import Json
from abs_gate.wire.call_ids import fill_call_ids
from abs_gate.wire.recorded.any_message import is_message, read_any_message, read_history
from abs_gate.wire.recorded.model import NotUnderstood, RecordedConversation
from abs_gate.wire.values import as_list, as_mapping, as_text, read_call, text_or_none

_NAMES = ("name", "session", "conversation_id", "id", "eval_id", "task_id", "trace_id", "thread_id", "instance_id")
_SYSTEM_KEYS = ("system", "system_prompt", "instructions", "systemInstruction", "system_instruction")
_MESSAGE_KEYS = (
    "messages",
    "traj",
    "trajectory",
    "conversation",
    "conversations",
    "history",
    "contents",
    "input",
    "dialogue",
)


def name_of(item: Mapping[str, Json], place: str) -> str:
    """What a recording calls its conversation; its place in the file where it has no name."""
    for key in _NAMES:
        value = item.get(key)
        if isinstance(value, str | int) and not isinstance(value, bool) and str(value).strip():
            return str(value)[:200]
    return place


def read_message_list(items: Sequence[Json], place: str) -> tuple[RecordedConversation, ...]:
    """A bare list of messages is one conversation."""
    return (RecordedConversation(name=place, messages=read_history(items), form="a list of messages"),)


def is_case(value: Json) -> bool:
    """Whether a value is an object that holds a list of messages."""
    return _messages_key(as_mapping(value)) is not None


def read_case(value: Json, place: str) -> tuple[RecordedConversation, ...]:
    """One object with a list of messages, and perhaps the system text and the answer beside it."""
    item = as_mapping(value)
    key = _messages_key(item)
    assert key is not None
    system = next((item[name] for name in _SYSTEM_KEYS if item.get(name)), None)
    items = [*item[key], *(() if key != "input" else as_list(item.get("output")))]
    messages = read_history(items, system)
    return (
        RecordedConversation(
            name=name_of(item, place),
            messages=messages,
            form="an object with messages",
            model=text_or_none(as_text(item.get("model"))[:200]),
        ),
    )


def _messages_key(item: Mapping[str, Json]) -> str | None:
    for key in _MESSAGE_KEYS:
        items = item.get(key)
        if isinstance(items, list) and any(map(is_message, items)) and all(map(_may_stand_among_messages, items)):
            return key
    return None


def _may_stand_among_messages(entry: Json) -> bool:
    """A message, or an item of a kind of its own beside them, such as reasoning."""
    return is_message(entry) or isinstance(as_mapping(entry).get("type"), str)


def is_inspect_log(value: Json) -> bool:
    """Whether a value is an Inspect evaluation log."""
    item = as_mapping(value)
    return isinstance(item.get("eval"), Mapping) and ("samples" in item or "plan" in item)


def read_inspect_log(value: Json, place: str) -> tuple[RecordedConversation, ...]:
    """One conversation a sample and epoch.

    Raises:
        NotUnderstood: a log without samples.
    """
    item = as_mapping(value)
    model = text_or_none(as_text(as_mapping(item.get("eval")).get("model")))
    conversations = []
    for sample in map(as_mapping, as_list(item.get("samples"))):
        attachments = as_mapping(sample.get("attachments"))
        messages = [_with_attachments(as_mapping(message), attachments) for message in as_list(sample.get("messages"))]
        conversations.append(
            RecordedConversation(
                name=f"{sample.get('id', place)} (epoch {sample.get('epoch', 1)})",
                messages=read_history(messages),
                form="an Inspect log",
                model=model,
            )
        )
    if not conversations:
        raise NotUnderstood("it is an Inspect log without samples")
    return tuple(conversations)


def _with_attachments(message: Mapping[str, Json], attachments: Mapping[str, Json]) -> Mapping[str, Json]:
    content = message.get("content")
    if isinstance(content, str) and content.startswith("attachment://"):
        return {**message, "content": attachments.get(content.removeprefix("attachment://"), content)}
    return message


def is_adk(value: Json) -> bool:
    """Whether a value is a session or an evaluation set of Google's Agent Development Kit."""
    item = as_mapping(value)
    if isinstance(item.get("eval_cases"), list):
        return True
    events = as_list(item.get("events"))
    return bool(events) and all("author" in as_mapping(event) for event in events)


def read_adk(value: Json, place: str) -> tuple[RecordedConversation, ...]:
    """A session's events, or one conversation a case of an evaluation set."""
    item = as_mapping(value)
    if "eval_cases" not in item:
        events = [as_mapping(event) for event in item["events"]]
        whole = [event for event in events if not _is_partial(event)]
        messages = [message for event in whole for message in _read_event(event)]
        return (_adk(name_of(item, place), messages),)
    conversations = []
    for number, case in enumerate(map(as_mapping, item["eval_cases"]), start=1):
        messages = [
            message
            for invocation in map(as_mapping, as_list(case.get("conversation")))
            for message in _read_invocation(invocation)
        ]
        conversations.append(_adk(name_of(case, f"{place} #{number}"), messages))
    return tuple(conversations)


def _adk(name: str, messages: Iterable[Message]) -> RecordedConversation:
    return RecordedConversation(name=name, messages=fill_call_ids(tuple(messages)), form="an ADK session")


def _is_partial(event: Mapping[str, Json]) -> bool:
    """Pieces of a streamed answer, which its last event repeats whole."""
    return event.get("partial") is True or as_mapping(event.get("options")).get("partial") is True


def _read_event(event: Mapping[str, Json]) -> tuple[Message, ...]:
    content = dict(as_mapping(event.get("content")))
    content.setdefault("role", "user" if event.get("author") == "user" else "model")
    return read_any_message(content) if content.get("parts") else ()


def _read_invocation(invocation: Mapping[str, Json]) -> Iterable[Message]:
    """What the user said, the tools used, their answers as far as they were kept, and what was said last."""
    data = as_mapping(invocation.get("intermediate_data"))
    uses = [as_mapping(use) for use in as_list(data.get("tool_uses"))]
    answers = [as_mapping(answer) for answer in as_list(data.get("tool_responses"))]
    yield from read_any_message({"role": "user", **_content(invocation.get("user_content"))})
    if uses:
        calls = tuple(read_call(use.get("id"), use.get("name"), use.get("args")) for use in uses)
        yield Message(role=Role.ASSISTANT, calls=calls)
    for answer in answers:
        result = ToolResult(
            call_id=as_text(answer.get("id")), name=as_text(answer.get("name")), content=answer.get("response")
        )
        yield Message(role=Role.TOOL, results=(result,))
    yield from read_any_message({"role": "model", **_content(invocation.get("final_response"))})


def _content(content: Json) -> Mapping[str, Json]:
    """A content without the fields that are null."""
    return {key: value for key, value in as_mapping(content).items() if value is not None}


def is_toolbench(value: Json) -> bool:
    """Whether a value is an answer tree of ToolBench."""
    return isinstance(as_mapping(value).get("answer_generation"), Mapping)


def read_toolbench(value: Json, place: str) -> tuple[RecordedConversation, ...]:
    """The chains of messages that the search kept, without those that a longer one repeats.

    Raises:
        NotUnderstood: it kept none.
    """
    answer = as_mapping(as_mapping(value)["answer_generation"])
    chains = [read_history(chain) for chain in as_list(answer.get("train_messages")) if isinstance(chain, list)]
    kept = [
        chain
        for chain in chains
        if not any(len(other) > len(chain) and other[: len(chain)] == chain for other in chains)
    ]
    if not kept:
        raise NotUnderstood("it is a ToolBench answer without messages")
    name = as_text(answer.get("query"))[:80].strip() or place
    return tuple(
        RecordedConversation(
            name=name if len(kept) == 1 else f"{name} #{number}", messages=chain, form="a ToolBench answer"
        )
        for number, chain in enumerate(kept, start=1)
    )


def is_own_recording(value: Json) -> bool:
    """Whether a value is one exchange as `--record` writes it."""
    item = as_mapping(value)
    return {"version", "session", "hash", "request"} <= set(item)


def read_own_recordings(values: Sequence[Json]) -> tuple[RecordedConversation, ...]:
    """Conversations from exchanges: the last one of each session holds all that went before."""
    last: dict[str, Mapping[str, Json]] = {}
    for value in values:
        item = as_mapping(value)
        last[as_text(item.get("session"))] = item
    conversations = []
    for session, item in last.items():
        messages = [
            _own_message(as_mapping(message))
            for part in ("request", "reply")
            for message in as_list(as_mapping(item.get(part)).get("messages"))
        ]
        conversations.append(
            RecordedConversation(name=session, messages=fill_call_ids(messages), form="a recording of the gate")
        )
    return tuple(conversations)


def _own_message(item: Mapping[str, Json]) -> Message:
    role = as_text(item.get("role"))
    calls = [as_mapping(call) for call in as_list(item.get("calls"))]
    results = [as_mapping(result) for result in as_list(item.get("results"))]
    return Message(
        role=Role(role) if role in set(Role) else Role.ASSISTANT,
        text=as_text(item.get("text")) or None,
        calls=tuple(
            read_call(call.get("id"), call.get("name"), call.get("raw_arguments") or call.get("arguments"))
            for call in calls
        ),
        results=tuple(
            ToolResult(
                call_id=as_text(result.get("call_id")),
                name=as_text(result.get("name")),
                content=result.get("content"),
                is_error=result.get("is_error") is True,
            )
            for result in results
        ),
        refusal=item.get("refusal") is True,
        truncated=item.get("truncated") is True,
    )
