"""Checks a case before any of its requests: every placeholder has a value, and every value fits its place.

Walks the session as the runner will, taking captures as it goes. What a capture of an optional behavior would give is
taken as given; whether that behavior happens is only known at run time.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from abs_gate.documents.evaluations import walk_evaluations
from abs_gate.documents.model import Behavior, Case, Evaluation
from abs_gate.documents.options import EvaluatorShape
from abs_gate.documents.placeholders import OPENING, find_placeholders
from abs_gate.documents.variables import Scope, UnknownVariable, VariableError, as_text
from abs_gate.documents.vocabulary import PROMPT_PLACEHOLDERS
from abs_gate.documents.when import WhenError, evaluate_when, parse_when
from abs_gate.findings import Finding, Json, Location, Severity, sort_findings
from abs_gate.sources.excerpt import excerpt, type_name
from abs_gate.sources.patterns import compile_pattern
from abs_gate.sources.schema_errors import explain_mismatches

_UNRESOLVED: Json = object()
"""In the place of a value whose variables were reported."""
_PROMPT_NAMES = MappingProxyType(dict.fromkeys(PROMPT_PLACEHOLDERS, ""))


def check_variables(
    case: Case, scope: Scope, evaluators: Mapping[str, EvaluatorShape] | None = None
) -> tuple[Finding, ...]:
    """Everything that keeps a case from running: to be asked before the first request of the case.

    Args:
        case: The session with its row.
        scope: The sources beside the row: `--var`, environment, configuration.
        evaluators: Shapes that evaluation fields must fit once variables are in place.
    """
    return _CaseCheck(case, scope.for_case(case), evaluators or {}).run()


class _CaseCheck:
    """One walk through a session."""

    def __init__(self, case: Case, scope: Scope, evaluators: Mapping[str, EvaluatorShape]) -> None:
        self._case = case
        self._scope = scope
        self._evaluators = evaluators
        self._findings: dict[tuple[str, str], Finding] = {}

    def run(self) -> tuple[Finding, ...]:
        for behavior in self._case.session.behaviors:
            self._check_behavior(behavior)
            self._take_captures(behavior)
            for evaluation in walk_evaluations(behavior.evaluations):
                self._check_evaluation(evaluation, self._name(behavior))
        for evaluation in walk_evaluations(self._case.session.evaluations):
            self._check_evaluation(evaluation, "the session")
        return sort_findings(self._findings.values())

    def _check_behavior(self, behavior: Behavior) -> None:
        name = self._name(behavior)
        for key, value in (
            ("target", behavior.target),
            ("content", behavior.content),
            ("with", behavior.with_),
            ("with_only", behavior.with_only),
        ):
            if not find_placeholders(value):
                continue
            place = behavior.places.get(key, behavior.location)
            resolved = self._resolve(value, place, f"`{key}` of {name}")
            if resolved is _UNRESOLVED:
                continue
            if key == "target" and not isinstance(resolved, str | None):
                self._note("wrong-type", place, f"`target` of {name} comes to {type_name(resolved)}; it must be text.")
            if key == "content" and (behavior.is_sent or behavior.is_tool_result):
                self._check_sent(behavior, value, resolved, place)
        self._check_matches_when(behavior, name)

    def _check_sent(self, behavior: Behavior, value: Json, resolved: Json, place: Location) -> None:
        name = self._name(behavior)
        if resolved is None and behavior.is_sent:
            self._note(
                "empty-value", place, f"{excerpt(value)} is null, and nothing can be sent for `content` of {name}."
            )
        if OPENING in as_text(resolved):
            culprit = next(
                (part.name for part in find_placeholders(value) if OPENING in as_text(self._look_up(part.name))), ""
            )
            self._note(
                "braces-in-value",
                place,
                f"The value of `{culprit}` in `content` of {name} itself holds `{{{{`.",
                "Values are not expanded again, and nothing is sent with `{{` left in it.",
            )

    def _check_matches_when(self, behavior: Behavior, name: str) -> None:
        rule = behavior.matches_when
        if rule is None or OPENING not in rule.argument:
            return
        if rule.type == "regex":
            self._check_pattern(rule.argument, rule.location, f"`matches_when` of {name}")
        else:
            self._resolve(rule.argument, rule.location, f"`matches_when` of {name}")

    def _take_captures(self, behavior: Behavior) -> None:
        if not behavior.capture:
            return
        captured: dict[str, Json] = {}
        for variable, value in behavior.capture.items():
            place = behavior.places.get("capture", behavior.location)
            resolved = self._resolve(value, place, f"`capture` of {self._name(behavior)}")
            captured[variable] = "" if resolved is _UNRESOLVED else resolved
        self._scope = self._scope.with_captures(captured)

    def _check_evaluation(self, evaluation: Evaluation, owner: str) -> None:
        for key, value in evaluation.fields.items():
            if not find_placeholders(value):
                continue
            place = evaluation.places.get(key, evaluation.location)
            where = f"`{key}` of `{evaluation.type}` on {owner}"
            if key == "pattern" and isinstance(value, str):
                self._check_pattern(value, place, where)
                continue
            scope = self._scope.with_captures(_PROMPT_NAMES) if key == "prompt" else self._scope
            resolved = self._resolve(value, place, where, scope)
            if resolved is not _UNRESOLVED:
                self._check_shape(evaluation.type, key, resolved, place)
        if evaluation.when is not None:
            self._check_when(evaluation, evaluation.when, owner)
        variable = evaluation.fields.get("variable")
        if evaluation.type == "variable_consistency" and isinstance(variable, str) and OPENING not in variable:
            place = evaluation.places.get("variable", evaluation.location)
            self._resolve(f"{{{{{variable}}}}}", place, f"`variable_consistency` on {owner}")

    def _check_shape(self, kind: str, key: str, value: Json, place: Location) -> None:
        shape = self._evaluators.get(kind)
        if shape is not None and key in shape.fields:
            for message in explain_mismatches(value, shape.fields[key])[:3]:
                self._note("invalid-evaluation", place, f"`{key}` of `{kind}` with its variables in place: {message}")

    def _check_pattern(self, pattern: str, place: Location, where: str) -> None:
        try:
            compile_pattern(self._scope.resolve_pattern(pattern))
        except UnknownVariable as error:
            self._note_unknown(error, place, where)
        except ValueError as error:
            self._note("invalid-pattern", place, f"{where} is {error}.")

    def _check_when(self, evaluation: Evaluation, when: str, owner: str) -> None:
        place = evaluation.places.get("when", evaluation.location)
        where = f"`when` of `{evaluation.type}` on {owner}"
        try:
            evaluate_when(parse_when(when), self._scope.lookup)
        except UnknownVariable as error:
            self._note_unknown(error, place, where)
        except WhenError as error:
            self._note("invalid-when", place, f"{where} cannot be decided: {error}")

    def _resolve(self, value: Json, place: Location, where: str, scope: Scope | None = None) -> Json:
        try:
            return (scope or self._scope).resolve(value)
        except UnknownVariable as error:
            self._note_unknown(error, place, where)
        except VariableError as error:
            self._note("bad-placeholder", place, f"{where}: {error}")
        return _UNRESOLVED

    def _look_up(self, name: str) -> Json:
        try:
            return self._scope.lookup(name)
        except UnknownVariable:
            return None

    def _note_unknown(self, error: UnknownVariable, place: Location, where: str) -> None:
        hint = (
            f'Did you mean "{error.nearest}"?'
            if error.nearest
            else "Capture it earlier, or give it by --var or a data set."
        )
        self._note("unknown-variable", place, f"No value for the variable `{error.name[:80]}` in {where}.", hint)

    def _note(self, rule: str, place: Location, message: str, hint: str = "") -> None:
        row = f" (row {self._case.row + 1})" if self._case.row is not None else ""
        finding = Finding(
            rule=rule,
            severity=Severity.ERROR,
            message=f"{message[:-1]}{row}{message[-1:]}" if row else message,
            hint=hint,
            location=place,
            subject=self._case.session.name,
        )
        self._findings.setdefault((str(place), message), finding)

    @staticmethod
    def _name(behavior: Behavior) -> str:
        return f"`{behavior.label}`" + (f" ({behavior.id})" if behavior.id else "")
