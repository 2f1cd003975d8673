"""What is legal in a document but probably not meant. Warnings of `validate`; never a reason to refuse a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.documents.evaluations import walk_evaluations
from abs_gate.documents.load import LoadedSessions
from abs_gate.documents.model import Behavior, Category, Evaluation, Session
from abs_gate.documents.options import EvaluatorShape
from abs_gate.documents.placeholders import find_placeholders
from abs_gate.documents.scalar_advice import find_scalar_doubts
from abs_gate.documents.variable_uses import VariableUses
from abs_gate.documents.vocabulary import COMPOSITIONS
from abs_gate.documents.when import parse_when
from abs_gate.documents.when_advice import find_static_mismatches
from abs_gate.findings import Finding, Location, Severity, sort_findings
from abs_gate.sources.excerpt import excerpt

_REFERENCE_FIELDS = ("query", "context", "response", "ground_truth")
_REFERENCE = re.compile(r"([\w-]+)\.([\w-]+)")
_CALL_CATEGORIES = (Category.EXECUTION, Category.DELEGATION)


class KnownTools(Struct, frozen=True, kw_only=True):
    """What the configuration and the contracts say about tools."""

    names: frozenset[str] | None = None
    """Every tool known; None where nothing is known about tools."""
    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Target to the tool names that stand for it."""
    handoffs: frozenset[str] = frozenset()
    """Tools that hand the conversation over."""

    def same(self, one: str | None, other: str | None) -> bool:
        """Whether two targets mean the same tool."""
        return one == other or bool(self._group(one) & self._group(other))

    def knows(self, target: str) -> bool:
        """Whether any known tool is meant by a target; True when no tools are known at all."""
        return self.names is None or bool(self._group(target) & self.names) or target in self.aliases

    def has_handoff(self, target: str | None) -> bool:
        """Whether some tool is known to hand over (to `target`)."""
        if self.handoffs or (target is not None and target in self.aliases):
            return True
        return any(name.casefold().startswith(("transfer_to", "handoff", "hand_off")) for name in self.names or ())

    def _group(self, target: str | None) -> frozenset[str]:
        if target is None:
            return frozenset()
        group = {target, *self.aliases.get(target, ())}
        group.update(name for name, stand_ins in self.aliases.items() if target in stand_ins)
        return frozenset(group)


def find_doubts(
    loaded: LoadedSessions,
    *,
    tools: KnownTools | None = None,
    evaluators: Mapping[str, EvaluatorShape] | None = None,
) -> tuple[Finding, ...]:
    """Warnings about every session and document loaded, in the order of files and lines."""
    found: list[Finding] = list(loaded.warnings)
    for documents in loaded.documents.values():
        for document in documents:
            found.extend(find_scalar_doubts(document))
    for session in loaded.sessions:
        found.extend(_SessionAdvice(session, tools or KnownTools(), evaluators or {}).find())
    distinct = {(finding.rule, str(finding.location), finding.message): finding for finding in found}
    return sort_findings(distinct.values())


class _SessionAdvice:
    """All doubts about one session."""

    def __init__(self, session: Session, tools: KnownTools, evaluators: Mapping[str, EvaluatorShape]) -> None:
        self._session = session
        self._tools = tools
        self._evaluators = evaluators
        self._all = [
            *(one for behavior in session.behaviors for one in walk_evaluations(behavior.evaluations)),
            *walk_evaluations(session.evaluations),
        ]

    def find(self) -> Iterator[Finding]:
        yield from self._repeated_name()
        yield from self._cannot_fail()
        for behavior in self._session.behaviors:
            yield from self._behavior(behavior)
        for evaluation in self._all:
            yield from self._evaluation(evaluation)
        yield from self._captures()

    def _warn(self, rule: str, location: Location, message: str, hint: str = "") -> Finding:
        return _warning(rule, location, message, hint, subject=self._session.name)

    def _repeated_name(self) -> Iterator[Finding]:
        if self._session.occurrence > 1:
            message = f"Another session in this file is called {excerpt(self._session.name)} too."
            yield self._warn("repeated-name", self._session.location, message, "Reports tell sessions apart by name.")

    def _cannot_fail(self) -> Iterator[Finding]:
        expects = any(b.actor == "assistant" and not b.optional for b in self._session.behaviors)
        if not expects and not self._all:
            yield self._warn(
                "cannot-fail",
                self._session.location,
                "This session can never fail: it expects nothing and checks nothing.",
                "Add an assistant behavior that is not optional, or evaluations.",
            )

    def _behavior(self, behavior: Behavior) -> Iterator[Finding]:
        if behavior.actor in ("tool", "external") and behavior.action != "responds":
            yield self._warn(
                "not-observable",
                behavior.location,
                f"`{behavior.label}` cannot be observed and is skipped.",
                "Only `responds` of a tool takes part in a conversation.",
            )
        if behavior.is_sent and behavior.evaluations:
            yield self._warn(
                "evaluation-of-sent",
                behavior.evaluations[0].location,
                f"This evaluation checks what the session itself sends (`{behavior.label}`), not the agent.",
                "Move it to the assistant behavior that answers.",
            )
        if behavior.is_tool_result and not self._is_called_before(behavior):
            yield self._warn(
                "unasked-result",
                behavior.location,
                f"No behavior before this result calls {excerpt(behavior.target or 'a tool')}.",
                "Add the call that it answers: `actor: assistant, action: calls`.",
            )
        for key, is_given in (("optional", behavior.optional), ("matches_when", behavior.matches_when is not None)):
            if is_given and behavior.actor != "assistant":
                yield self._warn(
                    "not-for-this-actor",
                    behavior.places.get(key, behavior.location),
                    f"`{key}` is about what the assistant does; it has no meaning for `{behavior.label}`.",
                )
        yield from self._takes_any_text(behavior)
        arguments = "with" if behavior.with_ is not None else "with_only" if behavior.with_only is not None else None
        is_call = behavior.actor == "assistant" and behavior.category in _CALL_CATEGORIES
        if arguments is not None and not is_call:
            yield self._warn(
                "arguments-not-compared",
                behavior.places.get(arguments, behavior.location),
                f"`{arguments}` is compared for calls of the assistant only, not for `{behavior.label}`.",
            )

    def _takes_any_text(self, behavior: Behavior) -> Iterator[Finding]:
        is_text = behavior.actor == "assistant" and behavior.category not in _CALL_CATEGORIES
        if is_text and behavior.optional and behavior.matches_when is None and self._something_hangs_on(behavior):
            yield self._warn(
                "optional-takes-any-text",
                behavior.places.get("optional", behavior.location),
                f"`{behavior.label}` is optional and takes any text of the turn, the final answer included.",
                "Say which text is meant with `matches_when`.",
            )

    def _something_hangs_on(self, optional: Behavior) -> bool:
        """Whether it matters which text is taken for this one."""
        required = any(other.requires == optional.id for other in self._session.behaviors)
        expected = any(
            optional.id in (one.fields.get("behavior"), one.fields.get("after"))
            for one in self._all
            if one.type == "expected"
        )
        return optional.id is not None and (required or expected)

    def _is_called_before(self, result: Behavior) -> bool:
        calls = (
            b
            for b in self._session.behaviors[: result.index]
            if b.actor == "assistant" and b.category in _CALL_CATEGORIES
        )
        return any(result.target is None or self._tools.same(call.target, result.target) for call in calls)

    def _evaluation(self, evaluation: Evaluation) -> Iterator[Finding]:
        shape = self._evaluators.get(evaluation.type)
        if evaluation.threshold is not None and shape is not None and not shape.scores:
            yield self._warn(
                "threshold-ignored",
                evaluation.places.get("threshold", evaluation.location),
                f"`{evaluation.type}` gives no score; its `threshold` has no effect.",
            )
        if evaluation.type == "never":
            yield from self._never(evaluation)
        if evaluation.type == "expected":
            yield from self._expected(evaluation)
        for key in _REFERENCE_FIELDS:
            yield from self._reference(evaluation, key)
        if evaluation.when is not None:
            place = evaluation.places.get("when", evaluation.location)
            for message in find_static_mismatches(parse_when(evaluation.when), self._session):
                yield self._warn("when-types", place, message, "Values of different types are never equal.")

    def _never(self, evaluation: Evaluation) -> Iterator[Finding]:
        match = evaluation.fields.get("match")
        if not isinstance(match, Mapping):
            return
        place = evaluation.places.get("match", evaluation.location)
        target = match.get("target")
        target = target if isinstance(target, str) and not find_placeholders(target) else None
        if match.get("action") == "hands_off":
            if not self._tools.has_handoff(target):
                yield self._warn(
                    "no-handoff-tool",
                    place,
                    "`never hands_off` looks at hand-off calls, and no hand-off tool is known.",
                    "Name the tools that hand over in the configuration, or it will always pass.",
                )
        elif target is not None and match.get("actor") in (None, "assistant") and not self._tools.knows(target):
            yield self._warn(
                "unknown-tool",
                place,
                f"`never` names {excerpt(target)}, and no tool of that name is known: it will always pass.",
                "Correct the name, or map it to its tools in the configuration.",
            )

    def _expected(self, evaluation: Evaluation) -> Iterator[Finding]:
        name = evaluation.fields.get("behavior")
        behavior = next((b for b in self._session.behaviors if b.id == name), None)
        if behavior is not None and not behavior.optional and behavior.requires is None:
            yield self._warn(
                "expected-of-required",
                evaluation.places.get("behavior", evaluation.location),
                f"`expected` names {excerpt(name)}, which is not optional and must happen anyway.",
                "Mark the behavior `optional: true`, or remove this evaluation.",
            )

    def _reference(self, evaluation: Evaluation, key: str) -> Iterator[Finding]:
        value = evaluation.fields.get(key)
        match = _REFERENCE.fullmatch(value) if isinstance(value, str) else None
        if match is None or evaluation.type in COMPOSITIONS:
            return
        known = {b.id for b in self._session.behaviors} | {b.actor for b in self._session.behaviors} | {"self"}
        if match[1] not in known:
            yield self._warn(
                "reference-is-text",
                evaluation.places.get(key, evaluation.location),
                f"`{key}` {excerpt(value)} names no behavior or actor of this session, so it is taken as text.",
            )

    def _captures(self) -> Iterator[Finding]:
        uses = VariableUses(self._session)
        for behavior in self._session.behaviors:
            place = behavior.places.get("capture", behavior.location)
            for name in behavior.capture:
                if not uses.is_used(name, behavior.index):
                    message = f"The variable {excerpt(name)} is captured and never used."
                    yield self._warn("unused-capture", place, message)
                elif behavior.optional and uses.captures[name] == 1 and self._maybe_unbound(behavior, name, uses):
                    message = (
                        f"{excerpt(name)} is captured by an optional behavior and used where it may have no value."
                    )
                    hint = (
                        f"Add `requires: {behavior.id}` where it is used."
                        if behavior.id
                        else "Capture it elsewhere too."
                    )
                    yield self._warn("maybe-unbound", place, message, hint)

    def _maybe_unbound(self, behavior: Behavior, name: str, uses: VariableUses) -> bool:
        """Whether a behavior that happens in any case uses what this optional one captures."""
        later = (self._session.behaviors[index] for index in uses.behaviors.get(name, ()) if index > behavior.index)
        return any(behavior.id not in self._required_by(user) for user in later)

    def _required_by(self, behavior: Behavior) -> set[str]:
        """Every id that a behavior requires, directly or through others."""
        by_id = {b.id: b for b in self._session.behaviors if b.id is not None}
        required: set[str] = set()
        name = behavior.requires
        while name is not None and name not in required:
            required.add(name)
            name = by_id[name].requires if name in by_id else None
        return required


def _warning(rule: str, location: Location, message: str, hint: str = "", subject: str = "") -> Finding:
    return Finding(rule=rule, severity=Severity.WARNING, message=message, hint=hint, location=location, subject=subject)
