"""Reads one behavior."""

from __future__ import annotations

from types import MappingProxyType

from abs_gate.documents.evaluations import EvaluationReader, places_of
from abs_gate.documents.model import Behavior, Category, MatchesWhen
from abs_gate.documents.options import LoadOptions
from abs_gate.documents.pattern_check import check_pattern
from abs_gate.documents.placeholders import has_placeholder, is_variable_name
from abs_gate.documents.places import Place, Reader
from abs_gate.documents.vocabulary import (
    ACTIONS,
    ACTORS,
    BEHAVIOR_KEYS,
    MATCHES_WHEN_ARGUMENT,
    SINCE_0_2,
)
from abs_gate.findings import Json
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.suggest import did_you_mean

_WHAT = "a behavior"
_SENT = ("user", "human", "system")


class BehaviorReader:
    """Reads the behaviors of one document, those of fragments included."""

    def __init__(self, reader: Reader, options: LoadOptions, version: str) -> None:
        self._reader = reader
        self._problems = reader.problems
        self._actions = {**{name: Category(category) for name, category in options.actions.items()}, **ACTIONS}
        self._evaluations = EvaluationReader(reader, options, version)
        self._version = version

    def read(self, place: Place, index: int) -> Behavior:
        """The behavior at a place that holds a mapping; what is missing or wrong is noted and stood in for."""
        reader = self._reader
        reader.unknown_keys(place, BEHAVIOR_KEYS, _WHAT)
        if self._version == "0.1":
            self._refuse_0_2(place)
        actor = self._actor(place)
        with_, with_only = self._arguments(place, "with"), self._arguments(place, "with_only")
        self._check_exclusive(place)
        self._check_content(place, actor)
        return Behavior(
            index=index,
            actor=actor,
            action=reader.text(place, "action", _WHAT, required=True) or "",
            category=self._category(place),
            id=self._id(place),
            target=reader.text(place, "target", _WHAT),
            content=place.value.get("content"),
            capture=MappingProxyType(self._capture(place)),
            with_=with_,
            with_only=with_only,
            evaluations=self._evaluations.read_all(place, "step", _WHAT),
            optional=reader.flag(place, "optional", _WHAT),
            requires=reader.text(place, "requires", _WHAT),
            matches_when=self._matches_when(place),
            location=place.location,
            places=places_of(place),
        )

    def _refuse_0_2(self, place: Place) -> None:
        for key, child in place.entries():
            if key in SINCE_0_2:
                self._problems.error(
                    "needs-0.2",
                    child.key_location,
                    f"`{key}` exists since ABS 0.2, and this document is 0.1.",
                    'Set abs_version: "0.2".',
                )

    def _actor(self, place: Place) -> str:
        actor = self._reader.text(place, "actor", _WHAT, required=True)
        at = place.get("actor")
        if actor is not None and at is not None and actor not in ACTORS:
            hint = did_you_mean(actor, ACTORS).strip() or f"Actors are {', '.join(ACTORS)}."
            self._problems.error("unknown-actor", at.location, f"No actor is called {excerpt(actor)}.", hint)
        return actor or ""

    def _category(self, place: Place) -> Category:
        at = place.get("action")
        action = at.value if at is not None else None
        if at is None or not isinstance(action, str) or not action.strip():
            return Category.COMMUNICATION
        category = self._actions.get(action)
        if category is None:
            mapping = f"sessions.actions: {{{action[:40]}: communication}}"
            hint = did_you_mean(action, self._actions).strip()
            custom = f"A custom action needs a category in the configuration, such as `{mapping}`."
            self._problems.error(
                "unknown-action", at.location, f"No action is called {excerpt(action)}.", f"{hint} {custom}".strip()
            )
        return category or Category.COMMUNICATION

    def _id(self, place: Place) -> str | None:
        identity = self._reader.text(place, "id", _WHAT)
        at = place.get("id")
        if identity is not None and at is not None and has_placeholder(identity):
            self._problems.error("invalid-id", at.location, "An `id` cannot hold a placeholder.")
        return identity

    def _arguments(self, place: Place, key: str) -> MappingProxyType[str, Json] | None:
        value = self._reader.map_of(place, key, _WHAT)
        if value is None:
            return None
        if key == "with" and not value:
            at = place.get(key)
            assert at is not None
            self._problems.error(
                "empty-value",
                at.location,
                "`with: {}` would check nothing.",
                "Leave it out, or write `with_only: {}` for a call without arguments.",
            )
        return MappingProxyType(value)

    def _check_exclusive(self, place: Place) -> None:
        at = place.get("with_only")
        if at is not None and place.get("with") is not None:
            self._problems.error(
                "with-and-with-only",
                at.key_location,
                "`with` and `with_only` cannot stand together.",
                "`with` allows further arguments, `with_only` does not: keep the one you mean.",
            )

    def _check_content(self, place: Place, actor: str) -> None:
        at = place.get("content")
        if at is not None and at.value is None and actor in _SENT:
            self._problems.error(
                "empty-value",
                at.location,
                "`content` of a message that is sent is null.",
                "Write the message, or leave `content` out to send the action's name.",
            )

    def _capture(self, place: Place) -> dict[str, Json]:
        value = self._reader.map_of(place, "capture", _WHAT)
        at = place.get("capture")
        if value is None or at is None:
            return {}
        if not value:
            self._problems.error("empty-value", at.location, "`capture` is empty.")
        for name, child in at.entries():
            if not is_variable_name(name):
                self._problems.error(
                    "invalid-name",
                    child.key_location,
                    f"{excerpt(name)} cannot name a variable.",
                    "Use letters, digits, `_`, `.` and `-`.",
                )
        return value

    def _matches_when(self, place: Place) -> MatchesWhen | None:
        at = place.get("matches_when")
        if at is None or not self._reader.mapping(at, "`matches_when`"):
            return None
        kind = self._reader.text(at, "type", "`matches_when`", required=True)
        if kind is None:
            return None
        key = MATCHES_WHEN_ARGUMENT.get(kind)
        if key is None:
            kind_at = at.get("type")
            assert kind_at is not None
            hint = did_you_mean(kind, MATCHES_WHEN_ARGUMENT).strip() or "Types are contains, regex and llm_judge."
            self._problems.error(
                "unknown-evaluator", kind_at.location, f"`matches_when` knows no type {excerpt(kind)}.", hint
            )
            return None
        self._reader.unknown_keys(at, ("type", key), f"`matches_when` of type {kind}")
        argument = self._reader.text(at, key, f"`matches_when` of type {kind}", required=True)
        argument_at = at.get(key)
        if argument is None or argument_at is None:
            return None
        if kind == "regex":
            check_pattern(argument_at, self._problems)
        return MatchesWhen(type=kind, argument=argument, location=argument_at.location)
