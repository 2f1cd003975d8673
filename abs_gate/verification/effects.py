"""What changed in the system of record between two looks at it, and whether that is what was claimed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from abs_gate.errors import CannotVerify
from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.verification.model import Check, Probe, judged

LONGEST_SHOWN = 160


class Difference(Struct, frozen=True, kw_only=True):
    """How two looks differ. Entries are those of a list, or of the lists in an object."""

    added: tuple[Json, ...] = ()
    removed: tuple[Json, ...] = ()
    is_changed: bool = False
    """True also where the two differ in something that is no list entry."""

    @property
    def effects(self) -> int:
        """How many effects it shows: entries added, or one where something else changed."""
        return len(self.added) or len(self.removed) or int(self.is_changed)

    def __str__(self) -> str:
        if not self.is_changed:
            return "nothing changed"
        parts = [f"{word} {show(entry)}" for word, entries in self._entries() for entry in entries[:3]]
        return "; ".join(parts) or "something changed"

    def _entries(self) -> tuple[tuple[str, tuple[Json, ...]], ...]:
        return (("added", self.added), ("removed", self.removed))


def differ(before: Json, after: Json) -> Difference:
    """Compare two looks at the same thing."""
    old, new = Counter(_entries(before)), Counter(_entries(after))
    return Difference(
        added=tuple(json.loads(text) for text in (new - old).elements()),
        removed=tuple(json.loads(text) for text in (old - new).elements()),
        is_changed=_canonical(before) != _canonical(after),
    )


class Watch:
    """Looks at a tool's probe around calls. Without a probe every effect check is unverified."""

    def __init__(self, probe: Probe | None, missing: str = "") -> None:
        self._probe = probe
        self._missing = missing or "no probe looks at what this tool changes"
        self._before: Json = None
        self._failed = ""

    def start(self) -> Watch:
        """Take the look that later ones are compared with."""
        self._failed = ""
        if self._probe is not None:
            try:
                self._before = self._probe.read()
            except CannotVerify as problem:
                self._failed = str(problem)
        return self

    def difference(self) -> Difference | None:
        """What changed since `start`; None where that cannot be said."""
        if self._probe is None or self._failed:
            return None
        try:
            return differ(self._before, self._probe.read())
        except CannotVerify as problem:
            self._failed = str(problem)
            return None

    def check(self, name: str, judge: Callable[[Difference], str]) -> Check:
        """A check of what changed since `start`. `judge` says what is wrong, or "" where nothing is."""
        difference = self.difference()
        if difference is None:
            return Check(name=name, outcome=Outcome.UNVERIFIED, reason=self._failed or self._missing)
        wrong = judge(difference)
        return judged(name, wrong)

    def check_nothing(self, name: str = "no effect") -> Check:
        """A check that nothing changed."""
        return self.check(name, lambda d: f"it must change nothing, but {d}" if d.is_changed else "")

    def check_effects(self, name: str, expected: int) -> Check:
        """A check that there were exactly so many effects."""

        def judge(difference: Difference) -> str:
            found = difference.effects
            return (
                "" if found == expected else f"{_times(expected)} was expected, and {_times(found)} found: {difference}"
            )

        return self.check(name, judge)


def matches_expectation(difference: Difference, expected: Json) -> str:
    """What is wrong with a difference under a case's `effects` entry; "" where it is as expected.

    `none`: nothing changed. `changed`: something did. `{added: N or [partial entries], removed: ...}`: exactly these.
    """
    if expected == "none":
        return f"nothing may change, but {difference}" if difference.is_changed else ""
    if expected == "changed":
        return "" if difference.is_changed else "something had to change, and nothing did"
    if not isinstance(expected, Mapping):
        return f"the expectation {show(expected)} is not understood"
    for word, found in (("added", difference.added), ("removed", difference.removed)):
        wrong = _entries_wrong(word, found, expected.get(word, 0))
        if wrong:
            return wrong
    return ""


def show(value: Json) -> str:
    """A value on one line, bounded."""
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= LONGEST_SHOWN else f"{text[:LONGEST_SHOWN]}…"


def contains(whole: Json, part: Json) -> bool:
    """Whether an object has at least the members of another, at any depth; everything else is compared whole."""
    if isinstance(part, Mapping):
        return isinstance(whole, Mapping) and all(
            key in whole and contains(whole[key], value) for key, value in part.items()
        )
    if isinstance(part, bool) or isinstance(whole, bool):
        return part is whole
    return bool(part == whole)


def _entries_wrong(word: str, found: Sequence[Json], expected: Json) -> str:
    if isinstance(expected, int):
        return "" if len(found) == expected else f"{expected} entries had to be {word}, and {len(found)} were"
    wanted = expected if isinstance(expected, list) else [expected]
    left = list(found)
    for entry in wanted:
        match = next((each for each in left if contains(each, entry)), None)
        if match is None:
            return f"an entry with {show(entry)} had to be {word}, and there is none among {show(list(found))}"
        left.remove(match)
    return f"{word} besides what was expected: {show(left)}" if left else ""


def _entries(value: Json) -> list[str]:
    if isinstance(value, list):
        return [_canonical(entry) for entry in value]
    if isinstance(value, Mapping):
        return [_canonical(entry) for part in value.values() if isinstance(part, list) for entry in part]
    return []


def _canonical(value: Json) -> str:
    return json.dumps(value, sort_keys=True, ensure_ascii=False, default=str)


def _times(count: int) -> str:
    return "no effect" if count == 0 else "1 effect" if count == 1 else f"{count} effects"
