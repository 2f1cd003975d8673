"""Short ways to write a trace, an evaluation and its context."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from abs_gate.documents.model import Behavior, Category, Evaluation, Session
from abs_gate.documents.variables import Scope
from abs_gate.documents.vocabulary import ACTIONS
from abs_gate.evaluators import EvalContext, EvalResult, evaluate
from abs_gate.findings import Location
from abs_gate.trace import ObservedStep, StepKind, Trace

PLACE = Location(file="s.abs.yaml", line=1)


def evaluation(type: str, *children: Evaluation, **fields: Any) -> Evaluation:
    """`when`, `threshold`, `blocking` and `adapter` are the evaluation's own, everything else its fields."""
    common = {key: fields.pop(key) for key in ("when", "threshold", "blocking", "adapter") if key in fields}
    named = {key.rstrip("_"): value for key, value in fields.items()}
    return Evaluation(type=type, fields=named, children=children, location=PLACE, **common)


def behavior(actor: str, action: str, index: int = 0, **fields: Any) -> Behavior:
    return Behavior(
        index=index,
        actor=actor,
        action=action,
        category=ACTIONS.get(action, Category.COMMUNICATION),
        location=PLACE,
        **fields,
    )


def session(*behaviors: Behavior) -> Session:
    numbered = tuple(replace(b, index=index) for index, b in enumerate(behaviors))
    return Session(name="s", file="s.abs.yaml", behaviors=numbered, location=PLACE)


def user(text: str, action: str = "says", **fields: Any) -> dict[str, Any]:
    return {"kind": StepKind.SENT, "actor": "user", "action": action, "content": text, **fields}


def says(text: str, action: str = "responds", **fields: Any) -> dict[str, Any]:
    return {"kind": StepKind.TEXT, "actor": "assistant", "action": action, "content": text, **fields}


def calls(name: str, arguments: Mapping[str, Any] | None = None, **fields: Any) -> dict[str, Any]:
    step = {"kind": StepKind.CALL, "actor": "assistant", "action": "calls", "target": name}
    return {**step, "arguments": arguments or {}, **fields}


def result(name: str, content: Any, **fields: Any) -> dict[str, Any]:
    return {
        "kind": StepKind.RESULT,
        "actor": "tool",
        "action": "responds",
        "target": name,
        "content": content,
        **fields,
    }


def trace(*steps: Mapping[str, Any]) -> Trace:
    turn, built = 0, []
    for index, fields in enumerate(steps):
        turn += fields["kind"] is StepKind.SENT
        built.append(ObservedStep(**{"index": index, "turn": turn, **fields}))
    return Trace(steps=tuple(built))


def context(steps: Sequence[Mapping[str, Any]] = (), at: int | None = None, **fields: Any) -> EvalContext:
    """The context of an evaluation; `at` is the index of the step it stands on."""
    observed = trace(*steps)
    given = {"trace": observed, "session": session(), "scope": Scope(), **fields}
    if at is not None:
        given.setdefault("behavior", behavior("assistant", "informs"))
        given["step"] = observed.steps[at]
        given["session"] = session(given["behavior"])
    return EvalContext(**given)


def run(evaluation: Evaluation, *steps: Mapping[str, Any], **fields: Any) -> EvalResult:
    """The result over a whole trace."""
    return evaluate(evaluation, context(steps, **fields))


def run_on(evaluation: Evaluation, step: Mapping[str, Any], **fields: Any) -> EvalResult:
    """The result on a single step."""
    return evaluate(evaluation, context([step], at=0, **fields))
