"""What a sent behavior says to the agent."""

from __future__ import annotations

from abs_gate.conversation import Message, Role
from abs_gate.documents.model import Behavior
from abs_gate.documents.variables import Scope
from abs_gate.evaluators.values import as_text, json_text


class CannotSend(Exception):
    """A message has no text to send; says why."""


def render_message(behavior: Behavior, scope: Scope) -> str:
    """The text of a message: its content (structured content as JSON text), or the action in brackets without one.

    Raises:
        CannotSend: the whole content came to null.
        VariableError: a variable has no value at this point.
    """
    if behavior.content is None:
        target = f": {scope.resolve_text(behavior.target)}" if behavior.target is not None else ""
        parameters = behavior.with_only if behavior.with_only is not None else behavior.with_
        data = f" {json_text(scope.resolve(parameters))}" if parameters else ""
        return f"[{behavior.action}{target}]{data}"
    content = scope.resolve(behavior.content)
    if content is None:
        raise CannotSend(f"`content` came to null ({json_text(behavior.content)}), which cannot be sent")
    return as_text(content)


def message_of(behavior: Behavior, text: str) -> Message:
    """The message as it goes out: system behaviors as the system, user and human ones as the user."""
    return Message(role=Role.SYSTEM if behavior.actor == "system" else Role.USER, text=text)
