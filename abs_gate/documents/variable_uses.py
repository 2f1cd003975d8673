"""Where a session reads and captures its variables."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

from abs_gate.documents.evaluations import walk_evaluations
from abs_gate.documents.model import Behavior, Evaluation, Session
from abs_gate.documents.placeholders import find_placeholders
from abs_gate.findings import Json


class VariableUses:
    """Where a session reads each variable; `a.b` reads `a` too."""

    def __init__(self, session: Session) -> None:
        self.captures = Counter(name for behavior in session.behaviors for name in behavior.capture)
        self.behaviors: dict[str, list[int]] = defaultdict(list)
        """Variable to the behaviors that read it, in order."""
        self._last: dict[str, int] = {}
        for behavior in session.behaviors:
            for name in _with_prefixes(_names_in_behavior(behavior)):
                self.behaviors[name].append(behavior.index)
                self._last[name] = behavior.index
            for evaluation in walk_evaluations(behavior.evaluations):
                # An evaluation sees the captures of its own behavior.
                self._last.update(dict.fromkeys(_with_prefixes(_names_in_evaluation(evaluation)), behavior.index + 1))
        for evaluation in walk_evaluations(session.evaluations):
            self._last.update(dict.fromkeys(_with_prefixes(_names_in_evaluation(evaluation)), len(session.behaviors)))

    def is_used(self, name: str, index: int) -> bool:
        """Whether anything reads the variable after the behavior that captured it."""
        return self._last.get(name, -1) > index


def _with_prefixes(names: Iterable[str]) -> Iterator[str]:
    for name in names:
        yield name
        yield from (name[:end] for end, char in enumerate(name) if char == ".")


def _names_in_behavior(behavior: Behavior) -> Iterator[str]:
    values: list[Json] = [behavior.target, behavior.content, behavior.with_, behavior.with_only, behavior.capture]
    if behavior.matches_when is not None:
        values.append(behavior.matches_when.argument)
    yield from (part.name for part in find_placeholders(values))


def _names_in_evaluation(evaluation: Evaluation) -> Iterator[str]:
    yield from (part.name for part in find_placeholders([evaluation.fields, evaluation.when]))
    variable = evaluation.fields.get("variable")
    if isinstance(variable, str):
        yield variable
