"""Making a decoded turn fit the conversation it belongs to: no echo of what was sent, every call with an id."""

from __future__ import annotations

from dataclasses import replace

from abs_gate.conversation import AgentRequest, AgentTurn, Message
from abs_gate.wire.call_ids import fill_call_ids


def settle(turn: AgentTurn, request: AgentRequest) -> AgentTurn:
    """The turn as the runner takes it."""
    calls_so_far = sum(len(message.calls) for message in request.messages)
    return replace(turn, messages=fill_call_ids(_without_echo(turn.messages, request), first=calls_so_far + 1))


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
