"""What every evaluator takes and gives, and the registry they join."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, TypeAlias

from msgspec import Struct, field

from abs_gate.documents.model import Behavior, Evaluation, Session
from abs_gate.outcomes import Outcome
from abs_gate.trace import ObservedStep, ToolNames, Trace

if TYPE_CHECKING:
    from abs_gate.documents.variables import Scope
    from abs_gate.evaluators.judged import JudgePanel


class EvalResult(Struct, frozen=True, kw_only=True):
    """An outcome with its reason in words. `score` is 0..1 for scoring evaluators, else None; never NaN."""

    outcome: Outcome
    reason: str
    score: float | None = None
    details: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))


class EvalContext(Struct, frozen=True, kw_only=True):
    """Everything an evaluator may look at. Variables in the evaluation are resolved before it is called."""

    trace: Trace
    session: Session
    behavior: Behavior | None = None
    """The behavior that carries the evaluation; None at session level."""
    step: ObservedStep | None = None
    """The step that behavior matched (or sent); None at session level or when it did not match."""
    matched: Mapping[int, ObservedStep] = field(default_factory=lambda: MappingProxyType({}))
    """Behavior index to the step it matched, sent or supplied, over the whole session."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Target name to the tool names that stand for it (configuration and contracts)."""
    judges: JudgePanel | None = None
    handoff_tools: frozenset[str] = frozenset()
    """Tools the configuration declares as hand-offs."""
    scope: Scope | None = None
    """Resolves the variables of this evaluation, and what `when` reads."""
    scopes: Mapping[int, Scope] = field(default_factory=lambda: MappingProxyType({}))
    """Behavior index to the scope its own variables were resolved in."""
    closest: Mapping[int, ObservedStep] = field(default_factory=lambda: MappingProxyType({}))
    """Behavior index to the call of the same target that stood in its place without matching."""
    complete: bool = True
    """False when the conversation broke off: what did not happen yet might still have happened."""

    @property
    def names(self) -> ToolNames:
        """The names tools go by."""
        return ToolNames(aliases=self.aliases, handoff_tools=self.handoff_tools)


Evaluator: TypeAlias = Callable[[Evaluation, EvalContext], EvalResult]


class EvaluatorSpec(Struct, frozen=True, kw_only=True):
    """A registered evaluator: what it is called, where it may stand, and its own fields."""

    name: str
    levels: frozenset[str]
    """`step`, `session` or both."""
    fields: Mapping[str, Mapping[str, Any]]
    """JSON Schema of each type-specific field."""
    required: tuple[str, ...]
    run: Evaluator
    scores: bool = False
    """Whether it gives a score that `threshold` applies to."""
    partial: bool = False
    """Whether it can say something about a whole conversation that broke off."""


EVALUATORS: dict[str, EvaluatorSpec] = {}
"""Every evaluator by its ABS name, filled by `@evaluator` when the family modules are imported."""


def evaluator(
    name: str,
    *,
    levels: tuple[str, ...],
    fields: Mapping[str, Mapping[str, Any]] | None = None,
    required: tuple[str, ...] = (),
    scores: bool = False,
    partial: bool = False,
) -> Callable[[Evaluator], Evaluator]:
    """Register an evaluator under its ABS name. Names are public and never reused."""

    def register(run: Evaluator) -> Evaluator:
        if name in EVALUATORS:
            raise ValueError(f"evaluator {name} is registered twice")
        EVALUATORS[name] = EvaluatorSpec(
            name=name,
            levels=frozenset(levels),
            fields=MappingProxyType(dict(fields or {})),
            required=required,
            run=run,
            scores=scores,
            partial=partial,
        )
        return run

    return register
