"""Making a decoded turn fit the conversation it belongs to: no echo of what was sent, every call with an id."""

from __future__ import annotations

from msgspec.structs import replace

from abs_gate.conversation import AgentRequest, AgentTurn, Message, Role
from abs_gate.wire.call_ids import fill_call_ids
from abs_gate.wire.pieces import pieces_of


def settle(turn: AgentTurn, request: AgentRequest) -> AgentTurn:
    """The turn as the runner takes it."""
    calls_so_far = sum(len(message.calls) for message in request.messages)
    return replace(turn, messages=fill_call_ids(_without_echo(turn.messages, request), first=calls_so_far + 1))


def _without_echo(messages: tuple[Message, ...], request: AgentRequest) -> tuple[Message, ...]:
    """Leave out what repeats the request: an agent may answer with its whole state.

    What was said before the last message sent is left out by the codec. What remains is an echo only where the
    answer begins with all calls and results of this turn and goes on after them; ids are not compared, since agents
    that give none, or the same one every time, repeat themselves without meaning to.
    """
    sent = list(pieces_of(_this_turn(request)))
    if not sent:
        return messages
    known = 0
    for count, message in enumerate(messages):
        if known == len(sent):
            return messages[count:]
        pieces = list(pieces_of([message]))
        if pieces != sent[known : known + len(pieces)]:
            return messages
        known += len(pieces)
    return messages


def _this_turn(request: AgentRequest) -> tuple[Message, ...]:
    """The messages after the last one that was sent as a user or the system."""
    for index in range(len(request.messages), 0, -1):
        if request.messages[index - 1].role in (Role.USER, Role.SYSTEM):
            return request.messages[index:]
    return request.messages
