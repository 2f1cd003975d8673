"""Evaluators of one observed step: exact_match, contains, regex, schema.

Inside a composition of the session they have no step of their own and look at the agent's last text, as judges and
text metrics do.
"""

from __future__ import annotations

from abs_gate.documents.model import Evaluation
from abs_gate.evaluators.base import EvalContext, EvalResult, evaluator
from abs_gate.evaluators.json_schema import SchemaUnusable, find_violations
from abs_gate.evaluators.observed import observed_json, observed_text, observed_value
from abs_gate.evaluators.references import last_answer
from abs_gate.evaluators.results import failed, passed, unverified
from abs_gate.evaluators.values import as_text, clip, show
from abs_gate.sources.json_values import json_equal
from abs_gate.sources.patterns import PatternTimeout, compile_pattern
from abs_gate.trace import ObservedStep

_ANY: dict[str, object] = {}
_OBJECT_KEYWORDS = frozenset(
    {"required", "properties", "patternProperties", "additionalProperties", "propertyNames", "items", "prefixItems"}
)


@evaluator("exact_match", levels=("step",), fields={"value": _ANY}, required=("value",))
def exact_match(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The observed content equals `value` as JSON; the observed text is read as JSON when `value` is not text."""
    step = _step(context)
    if step is None:
        return _no_step()
    expected = evaluation.fields["value"]
    observed = observed_value(step)
    if json_equal(expected, observed):
        return passed(f"is exactly {show(expected)}")
    if not isinstance(expected, str) and isinstance(observed, str):
        is_json, parsed = observed_json(step)
        if is_json and json_equal(expected, parsed):
            return passed(f"is exactly {show(expected)}")
    return failed(f"expected exactly {show(expected)}; observed {show(observed)}")


@evaluator("contains", levels=("step",), fields={"value": {"type": ["string", "number"]}}, required=("value",))
def contains(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The observed content holds `value`, whatever the case; a number counts as its text."""
    step = _step(context)
    if step is None:
        return _no_step()
    value = as_text(evaluation.fields["value"])
    if not value:
        return unverified("there is nothing to look for: `value` is empty")
    text = observed_text(step)
    if contains_text(text, value):
        return passed(f"contains {show(value)}")
    return failed(f"expected a text containing {show(value)}; observed {show(text)}")


@evaluator("regex", levels=("step",), fields={"pattern": {"type": "string"}}, required=("pattern",))
def regex(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The pattern is found somewhere in the observed content."""
    step = _step(context)
    if step is None:
        return _no_step()
    pattern = str(evaluation.fields["pattern"])
    text = observed_text(step)
    try:
        found = compile_pattern(pattern).search(text)
    except (PatternTimeout, ValueError) as error:
        return unverified(f"/{clip(pattern, 80)}/ could not be applied: {error}")
    if found:
        return passed(f"matches /{clip(pattern, 80)}/")
    return failed(f"expected a text matching /{clip(pattern, 80)}/; observed {show(text)}")


@evaluator("schema", levels=("step",), fields={"schema": {"type": ["object", "boolean"]}}, required=("schema",))
def schema(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """The observed content, read as JSON where it is JSON, is valid under a JSON Schema."""
    step = _step(context)
    if step is None:
        return _no_step()
    wanted = evaluation.fields["schema"]
    is_json, instance = observed_json(step)
    if not is_json:
        instance = observed_text(step)
        if _wants_structure(wanted):
            return failed(_not_json(instance))
    try:
        violations = find_violations(wanted, instance)
        if violations and isinstance(step.content, str) and not isinstance(instance, dict | list | str):
            # `12345` is a JSON number and a text: either may be what the schema means.
            violations = find_violations(wanted, step.content) and violations
    except SchemaUnusable as error:
        return unverified(f"the schema could not be applied: {error}")
    if not violations:
        return passed("is valid under the schema")
    if not is_json and isinstance(wanted, dict) and wanted.get("type") in ("object", "array"):
        return failed(_not_json(instance))
    more = f" (and {len(violations) - 3} more)" if len(violations) > 3 else ""
    return failed(f"is not valid under the schema: {'; '.join(violations[:3])}{more}")


def contains_text(text: str, part: str) -> bool:
    """True when `part` occurs in `text`, whatever the case. Shared with `matches_when`."""
    return part.casefold() in text.casefold()


def _step(context: EvalContext) -> ObservedStep | None:
    return context.step if context.behavior is not None else last_answer(context)


def _no_step() -> EvalResult:
    return unverified("no text of the agent was observed")


def _not_json(text: str) -> str:
    fenced = " (it is fenced as Markdown code)" if text.lstrip().startswith("```") else ""
    return f"expected JSON; observed the text {show(text)}, which is not JSON{fenced}"


def _wants_structure(schema: object) -> bool:
    """True when a schema speaks of an object or array without saying so: `required` means nothing for a text."""
    return isinstance(schema, dict) and "type" not in schema and bool(_OBJECT_KEYWORDS & schema.keys())
