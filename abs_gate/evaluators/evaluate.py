"""Runs one evaluation: its `when` guard, its variables, the evaluator."""

from __future__ import annotations

from types import MappingProxyType

from msgspec.structs import replace

from abs_gate.documents.model import Evaluation
from abs_gate.documents.options import EvaluatorShape
from abs_gate.documents.placeholders import find_placeholders
from abs_gate.documents.variables import VariableError
from abs_gate.documents.vocabulary import PROMPT_PLACEHOLDERS
from abs_gate.documents.when import WhenError, evaluate_when, parse_when
from abs_gate.evaluators.base import EVALUATORS, EvalContext, EvalResult, EvaluatorSpec
from abs_gate.evaluators.json_schema import find_violations
from abs_gate.evaluators.results import skipped, unverified
from abs_gate.findings import Json


def evaluate(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The result of an evaluation in its context; children of compositions come through here too.

    A `when` that is false gives `skipped`. Whatever keeps the evaluator from deciding gives `unverified`.
    """
    spec = EVALUATORS.get(evaluation.type)
    if spec is None:
        return unverified(f"there is no evaluator {evaluation.type}")
    if not context.complete and context.behavior is None and not spec.partial:
        return unverified("the conversation broke off")
    try:
        if evaluation.when is not None and not _holds(evaluation.when, context):
            return skipped(f"does not apply: {evaluation.when} is false")
        resolved = resolve_evaluation(evaluation, context)
    except (WhenError, VariableError) as error:
        return unverified(str(error))
    bad = "" if resolved is evaluation else _find_bad_fields(spec, evaluation, resolved)
    return unverified(bad) if bad else spec.run(resolved, context)


def resolve_evaluation(evaluation: Evaluation, context: EvalContext) -> Evaluation:
    """The evaluation with its variables in place: escaped in a `pattern`, judge placeholders of a `prompt` kept.

    Raises:
        VariableError: a variable has no value at this point.
    """
    scope = context.scope
    if scope is None or not find_placeholders(evaluation.fields):
        return evaluation
    fields: dict[str, Json] = {}
    for name, value in evaluation.fields.items():
        if name == "pattern" and isinstance(value, str):
            fields[name] = scope.resolve_pattern(value)
        elif name == "prompt":
            fields[name] = scope.with_captures(_KEPT).resolve(value)
        else:
            fields[name] = scope.resolve(value)
    return replace(evaluation, fields=fields)


def evaluator_shapes() -> dict[str, EvaluatorShape]:
    """Every evaluator by name, as the loader wants it: levels, field schemas, required fields, whether it scores."""
    return {
        spec.name: EvaluatorShape(levels=spec.levels, fields=spec.fields, required=spec.required, scores=spec.scores)
        for spec in EVALUATORS.values()
    }


def _find_bad_fields(spec: EvaluatorSpec, written: Evaluation, resolved: Evaluation) -> str:
    """What a variable made of a field, where the field cannot take it: the loader saw only the placeholder."""
    for name, value in resolved.fields.items():
        if name in spec.fields and find_placeholders(written.fields[name]):
            violations = find_violations(spec.fields[name], value)
            if violations:
                return f"`{name}` cannot be used: {violations[0]}"
    return ""


_KEPT = MappingProxyType({name: "{{" + name + "}}" for name in PROMPT_PLACEHOLDERS})


def _holds(when: str, context: EvalContext) -> bool:
    if context.scope is None:
        raise WhenError(f"nothing is known that `when: {when}` could read")
    return evaluate_when(parse_when(when), context.scope.lookup)
