"""variable_consistency: one variable, one value, wherever it was observed in use.

Compares observations, not the session with itself: an argument at the place where `with` names the variable,
a tool's payload at that place, the words of the agent where a `content` template has it, what was sent, and
the captures. It catches an agent that swaps one order number for another (EVALUATIONS.md).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from msgspec import Struct

from abs_gate.documents.model import Behavior, Evaluation
from abs_gate.documents.placeholders import Placeholder, find_placeholders, split_template
from abs_gate.documents.variables import Scope, VariableError
from abs_gate.evaluators.base import EvalContext, EvalResult, evaluator
from abs_gate.evaluators.observed import observed_json, observed_text
from abs_gate.evaluators.results import failed, passed, skipped, unverified
from abs_gate.evaluators.values import as_text, show
from abs_gate.findings import Json
from abs_gate.sources.json_values import json_equal
from abs_gate.trace import ObservedStep

_Path = tuple[str | int, ...]
_ABSENT = object()
_MAX_TEXT = 20_000
"""How much of a text is searched: templates become patterns, and the text is the agent's."""


class Use(Struct, frozen=True, kw_only=True):
    """One observed use of the variable."""

    place: str
    value: Json = None
    is_missing: bool = False
    """The place is not there in what was observed."""

    def __str__(self) -> str:
        return "missing" if self.is_missing else show(self.value)


@evaluator(
    "variable_consistency",
    levels=("session",),
    fields={"variable": {"type": "string"}},
    required=("variable",),
    partial=True,
)
def variable_consistency(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """Every observed use of the variable has the same value."""
    name = evaluation.fields["variable"].strip().removeprefix("{{").removesuffix("}}").strip()
    uses = [use for behavior in context.session.behaviors for use in _find_uses(name, behavior, context)]
    if not uses:
        if context.complete:
            return skipped(f"{name} was not used in anything that happened")
        return unverified(f"the conversation broke off before {name} was used")
    first = uses[0]
    for use in uses[1:]:
        if not _same(first, use):
            return failed(f"{name} is {first} in {first.place}, but {use} in {use.place}")
    if not context.complete:
        return unverified(f"{name} was the same so far, but the conversation broke off")
    return passed(f"{name} is {first} in all {len(uses)} places")


def _find_uses(name: str, behavior: Behavior, context: EvalContext) -> Iterator[Use]:
    index = behavior.index
    scope = context.scopes.get(index)
    step = context.matched.get(index)
    if scope is None:
        return
    place = f"behavior {index + 1} ({behavior.label})"
    call = step or context.closest.get(index)
    declared = behavior.with_only if behavior.with_only is not None else behavior.with_
    if call is not None and declared is not None and behavior.is_call:
        arguments = dict(call.arguments) if call.arguments is not None else call.raw_arguments
        yield from _uses_in(name, declared, arguments, scope, place)
    if step is not None and behavior.content is not None:
        yield from _uses_in_content(name, behavior, step, scope, place)
    if step is not None and name in behavior.capture:
        value = _resolve(scope, behavior.capture[name])
        if value is not _ABSENT:
            yield Use(place=f"the capture of {place}", value=value)


def _uses_in_content(name: str, behavior: Behavior, step: ObservedStep, scope: Scope, place: str) -> Iterator[Use]:
    if isinstance(behavior.content, str):
        text = observed_text(step)
        yield from _uses_in_text(name, behavior.content, text, scope, place, whole=behavior.actor != "assistant")
    elif _mentions(name, behavior.content):
        is_json, observed = observed_json(step)
        if is_json:
            yield from _uses_in(name, behavior.content, observed, scope, place)


def _uses_in(name: str, template: Json, observed: Json, scope: Scope, place: str) -> Iterator[Use]:
    """Uses inside structured data: the observed value at each path where the template names the variable."""
    for path, text in _find_templates(name, template):
        value = _at(observed, path)
        where = f"{place} at {'.'.join(map(str, path))}"
        if value is _ABSENT:
            yield Use(place=where, is_missing=True)
        elif isinstance(value, str):
            yield from _uses_in_text(name, text, value, scope, where, whole=True)
        else:
            yield Use(place=where, value=value)


def _uses_in_text(name: str, template: str, text: str, scope: Scope, place: str, *, whole: bool) -> Iterator[Use]:
    """The value a text has where the template has the variable.

    `whole`: the text is nothing but the filled template (an argument, a message sent); otherwise it is what
    an agent said in its own words, which need not follow the template at all.
    """
    if not _mentions(name, template):
        return
    known = _resolve(scope, "{{" + name + "}}")
    if whole and _is_bare(template):
        yield Use(place=place, value=text if isinstance(known, str) or as_text(known) != text else known)
        return
    as_known = rf"(?<!\w){re.escape(as_text(known))}(?!\w)"
    if known is not _ABSENT and re.search(_filled(template, name, scope, as_known), text[:_MAX_TEXT], re.IGNORECASE):
        yield Use(place=place, value=known)
        return
    if _is_bare(template):
        yield Use(place=place, value=text)
        return
    other = re.search(_filled(template, name, scope, r"(?P<value>\S{1,200})"), text[:_MAX_TEXT], re.IGNORECASE)
    if other is not None:
        yield Use(place=place, value=other["value"].rstrip(".,;:!?)\"'"))
    elif whole:
        yield Use(place=place, value=text)


def _filled(template: str, name: str, scope: Scope, value_pattern: str) -> str:
    """The template as a pattern: words with any spacing, this variable as `value_pattern`, others as they resolve."""
    parts: list[str] = []
    for part in split_template(template):
        if isinstance(part, str):
            parts.append(_words(part))
        elif part.name == name:
            parts.append(value_pattern if value_pattern not in parts else r"\S{1,200}")
        else:
            value = _resolve(scope, part.text)
            parts.append(r".{0,200}?" if value is _ABSENT else re.escape(as_text(value)))
    return "".join(parts)


def _is_bare(template: str) -> bool:
    """True when the text is one placeholder and nothing else."""
    parts = split_template(template.strip())
    return len(parts) == 1 and isinstance(parts[0], Placeholder)


def _words(text: str) -> str:
    return re.sub(r"(?:\\?\s)+", r"\\s+", re.escape(text))


def _find_templates(name: str, template: Json, path: _Path = ()) -> Iterator[tuple[_Path, str]]:
    if isinstance(template, str):
        if _mentions(name, template):
            yield path, template
    elif isinstance(template, Mapping):
        for key, value in template.items():
            yield from _find_templates(name, value, (*path, key))
    elif isinstance(template, list | tuple):
        for index, value in enumerate(template):
            yield from _find_templates(name, value, (*path, index))


def _mentions(name: str, template: Json) -> bool:
    return any(placeholder.name == name for placeholder in find_placeholders(template))


def _at(value: Json, path: _Path) -> Json:
    for part in path:
        if isinstance(value, Mapping) and part in value:
            value = value[str(part)]
        elif isinstance(value, list | tuple) and isinstance(part, int) and part < len(value):
            value = value[part]
        else:
            return _ABSENT
    return value


def _resolve(scope: Scope, template: Json) -> Json:
    try:
        return scope.resolve(template)
    except VariableError:
        return _ABSENT


def _same(left: Use, right: Use) -> bool:
    """Equal as JSON, or a text and a number that read the same: what was said is always text."""
    if left.is_missing or right.is_missing:
        return left.is_missing and right.is_missing
    if json_equal(left.value, right.value):
        return True
    one_is_text = isinstance(left.value, str) != isinstance(right.value, str)
    return one_is_text and as_text(left.value) == as_text(right.value)
