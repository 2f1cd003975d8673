"""Making a decoded turn fit the conversation it belongs to: no echo of what was sent, every call with an id."""

from __future__ import annotations

from dataclasses import replace

from abs_gate.conversation import AgentRequest, AgentTurn, Message

ID_PREFIX = "gate_call_"
"""Ids given by the gate to calls that came without one."""


def settle(turn: AgentTurn, request: AgentRequest) -> AgentTurn:
    """The turn as the runner takes it."""
    return replace(turn, messages=_with_ids(_without_echo(turn.messages, request), request))


def _without_echo(messages: tuple[Message, ...], request: AgentRequest) -> tuple[Message, ...]:
    """Leave out what repeats the request: an agent may answer with its whole state, earlier calls included."""
    sent = {call.id for message in request.messages for call in message.calls if call.id}
    sent_results = {result.call_id for message in request.messages for result in message.results if result.call_id}
    first_new = 0
    for index, message in enumerate(messages):
        calls_repeated = message.calls and all(call.id in sent for call in message.calls)
        results_repeated = message.results and all(result.call_id in sent_results for result in message.results)
        if calls_repeated or results_repeated:
            first_new = index + 1
    return messages[first_new:]


def _with_ids(messages: tuple[Message, ...], request: AgentRequest) -> tuple[Message, ...]:
    """Give calls without an id one that no other call has; results reported without one answer calls by name."""
    if all(call.id for message in messages for call in message.calls) and all(
        result.call_id for message in messages for result in message.results
    ):
        return messages
    count = sum(len(message.calls) for message in request.messages)
    settled: list[Message] = []
    unanswered: list[tuple[str, str]] = []
    for message in messages:
        calls = []
        for call in message.calls:
            count += 1
            named = call if call.id else replace(call, id=f"{ID_PREFIX}{count}")
            calls.append(named)
            unanswered.append((named.name, named.id))
        results = []
        for result in message.results:
            call_id = result.call_id or next((known for name, known in unanswered if name == result.name), "")
            unanswered = [pair for pair in unanswered if pair[1] != call_id]
            results.append(replace(result, call_id=call_id))
        settled.append(replace(message, calls=tuple(calls), results=tuple(results)))
    return tuple(settled)
