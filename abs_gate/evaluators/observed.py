"""What of a step an evaluator looks at."""

from __future__ import annotations

from abs_gate.evaluators.values import as_text, parse_json_text
from abs_gate.findings import Json
from abs_gate.trace import ObservedStep, StepKind


def observed_value(step: ObservedStep) -> Json:
    """The text of a message, the payload of a result, the arguments of a call (its text when unreadable)."""
    if step.kind is StepKind.CALL:
        return dict(step.arguments) if step.arguments is not None else step.raw_arguments
    return step.content


def observed_text(step: ObservedStep) -> str:
    """The same as text: JSON text for payloads and arguments."""
    return as_text(observed_value(step))


def observed_json(step: ObservedStep) -> tuple[bool, Json]:
    """The value with JSON text read: (False, None) for a text that is not JSON."""
    value = observed_value(step)
    return parse_json_text(value) if isinstance(value, str) else (True, value)
