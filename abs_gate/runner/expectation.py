"""One expected behavior with its variables in place, compared with one observed step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct

from abs_gate.documents.model import Behavior, Category
from abs_gate.documents.variables import Scope
from abs_gate.evaluators.arguments import arguments_match, describe_arguments
from abs_gate.evaluators.judged import JudgePanel, judge_text
from abs_gate.evaluators.observed import observed_json, observed_text
from abs_gate.evaluators.step import contains_text
from abs_gate.evaluators.values import clip, show
from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.sources.json_values import json_type
from abs_gate.sources.patterns import PatternTimeout, compile_pattern
from abs_gate.trace import ObservedStep, StepKind, ToolNames


class Undecided(Exception):
    """Whether a step matches could not be found out (no judge, a pattern that took too long); says why."""


class Expectation(Struct, frozen=True, kw_only=True):
    """A behavior as it stands once its variables have values."""

    behavior: Behavior
    target: str | None
    with_: Mapping[str, Json] | None
    with_only: Mapping[str, Json] | None
    content: Json
    criterion: str
    """The argument of `matches_when`; empty without one."""

    @classmethod
    def resolve(cls, behavior: Behavior, scope: Scope) -> Expectation:
        """Raises VariableError when a variable has no value yet."""
        condition = behavior.matches_when
        criterion = ""
        if condition is not None:
            is_pattern = condition.type == "regex"
            resolve = scope.resolve_pattern if is_pattern else scope.resolve_text
            criterion = resolve(condition.argument)
        return cls(
            behavior=behavior,
            target=None if behavior.target is None else scope.resolve_text(behavior.target),
            with_=scope.resolve(behavior.with_),
            with_only=scope.resolve(behavior.with_only),
            content=scope.resolve(behavior.content) if isinstance(behavior.content, Mapping) else behavior.content,
            criterion=criterion,
        )

    @property
    def is_call(self) -> bool:
        """True when only a tool call can match."""
        return self.behavior.is_call

    def is_of_kind(self, step: ObservedStep, names: ToolNames) -> bool:
        """True when the step is the kind of thing expected, whatever its arguments or content."""
        category = self.behavior.category
        if step.kind is StepKind.CALL:
            name = step.target or ""
            if category is Category.DELEGATION:
                return names.is_handoff(name, step.arguments, self.target)
            if self.target is None:
                return category is Category.EXECUTION
            return category is not Category.COMMUNICATION and names.stands_for(name, self.target)
        if step.kind is not StepKind.TEXT:
            return False
        if category is Category.DELEGATION:
            return self.behavior.matches_when is not None
        return category is not Category.EXECUTION

    def matches(self, step: ObservedStep, names: ToolNames, asked: Asked) -> bool:
        """True when the step is what is expected.

        Raises:
            Undecided: it depends on a criterion that could not be applied.
        """
        if not self.is_of_kind(step, names):
            return False
        if step.kind is StepKind.CALL and not arguments_match(step, self.with_, self.with_only):
            return False
        if find_content_differences(self.content, step):
            return False
        is_handoff = self.behavior.category is Category.DELEGATION and step.kind is StepKind.CALL
        return is_handoff or self._meets_criterion(step, asked)

    def describe(self) -> str:
        """What is expected, in words: `a call of get_order with orderId "12345"`."""
        behavior = self.behavior
        if behavior.category is Category.DELEGATION:
            what = f"a hand-off to {self.target}" if self.target else "a hand-off"
        elif self.is_call:
            what = f"a call of {self.target or 'a tool'}{describe_arguments(self.with_, self.with_only)}"
        elif behavior.is_tool_result:
            what = f"a result of {self.target or 'a tool'}"
        else:
            what = f"a text of the assistant ({behavior.action})"
        if isinstance(self.content, Mapping) and self.content:
            what += f" holding {', '.join(f'{clip(key, 40)} ({json_type(v)})' for key, v in self.content.items())}"
        condition = behavior.matches_when
        if condition is not None:
            verb = {"contains": "containing", "regex": "matching", "llm_judge": "that meets"}[condition.type]
            what += f" {verb} {show(self.criterion, 80)}"
        return what

    def _meets_criterion(self, step: ObservedStep, asked: Asked) -> bool:
        condition = self.behavior.matches_when
        if condition is None:
            return True
        text = observed_text(step)
        if condition.type == "contains":
            if not self.criterion:
                raise Undecided("the `value` of `matches_when` is empty")
            return contains_text(text, self.criterion)
        if condition.type == "regex":
            try:
                return compile_pattern(self.criterion).search(text)
            except (PatternTimeout, ValueError) as error:
                raise Undecided(str(error)) from error
        result = judge_text(asked.judges, self.criterion, text, asked.steps[: step.index + 1])
        if result.outcome is Outcome.UNVERIFIED:
            raise Undecided(result.reason)
        return result.outcome is Outcome.PASSED


class Asked(Struct, frozen=True, kw_only=True):
    """What a judge needs to decide a `matches_when`: the panel, and the conversation."""

    judges: JudgePanel | None
    steps: Sequence[ObservedStep]


def find_content_differences(declared: Json, step: ObservedStep) -> tuple[str, ...]:
    """What keeps an observed payload from having the declared keys with the declared types; empty when it has them.

    Only an object is compared; declared text documents intent. Nested objects are compared the same way, and
    more keys are fine.
    """
    if not isinstance(declared, Mapping):
        return ()
    is_json, observed = observed_json(step)
    if not is_json:
        return (f"a text that is not JSON: {show(observed_text(step), 80)}",)
    if not isinstance(observed, Mapping):
        return (f"JSON of type {json_type(observed)}",)
    return tuple(_structure_differences(declared, observed))


def _structure_differences(declared: Mapping[str, Json], observed: Mapping[str, Json]) -> list[str]:
    found: list[str] = []
    pending: list[tuple[str, Mapping[str, Json], Mapping[str, Json]]] = [("", declared, observed)]
    while pending:
        prefix, expected, actual = pending.pop()
        for key, value in expected.items():
            path = f"{prefix}{clip(key, 40)}"
            if key not in actual:
                found.append(f"{path} (missing)")
                continue
            kinds = json_type(value), json_type(actual[key])
            if kinds[0] != kinds[1]:
                found.append(f"{path} ({kinds[1]}, expected {kinds[0]})")
            elif kinds == ("object", "object"):
                pending.append((f"{path}.", value, actual[key]))
    return found
