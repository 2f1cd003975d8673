"""Expands `include:` in place, before anything else is read. Fragments are known by name within one file."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.documents.places import Place, Reader
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.suggest import did_you_mean

MAX_BEHAVIORS = 1_000
"""Most behaviors and includes of one session once fragments are expanded."""


class Fragments:
    """The fragments that documents of one file may include."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._problems = reader.problems
        self._lists: dict[str, Place] = {}

    def declare(self, document: Place) -> None:
        """Take the fragments of a document: for itself and for the documents after it in the file."""
        at = document.get("fragments")
        if at is None or not self._reader.mapping(at, "`fragments`"):
            return
        for name, entries in at.entries():
            if not isinstance(entries.value, list):
                self._reader.wrong_type(entries, f"The fragment {excerpt(name)}", "a list of behaviors")
            elif not entries.value:
                self._problems.error("empty-value", entries.location, f"The fragment {excerpt(name)} is empty.")
            elif name in self._lists:
                first = self._lists[name].key_location
                self._problems.error(
                    "duplicate-fragment",
                    entries.key_location,
                    f"The fragment {excerpt(name)} is declared a second time in this file.",
                    f"The first stands in line {first.line}: remove or rename one.",
                )
            else:
                self._lists[name] = entries

    def behaviors_of(self, document: Place) -> Iterator[Place]:
        """Every behavior declared in the fragments of a document, whether included anywhere or not."""
        for entries in self._lists.values():
            if entries.document is document.document:
                yield from (entry for entry in entries.items() if self._is_behavior(entry))

    def expand(self, entries: list[Place]) -> list[Place]:
        """The behaviors in order, each `include:` replaced by what the fragment holds, recursively."""
        expanded: list[Place] = []
        pending: list[tuple[Place, tuple[str, ...]]] = [(entry, ()) for entry in reversed(entries)]
        taken = 0
        while pending:
            entry, chain = pending.pop()
            taken += 1
            if taken > MAX_BEHAVIORS:
                message = f"The session has more than {MAX_BEHAVIORS:,} behaviors and includes."
                self._problems.error("too-many-values", entry.location, message)
                break
            name_at = entry.get("include")
            if name_at is None:
                if self._is_behavior(entry):
                    expanded.append(entry)
                continue
            included = self._included(entry, name_at, chain)
            if included is not None:
                pending.extend((child, (*chain, name_at.value)) for child in reversed(list(included.items())))
        return expanded

    def _included(self, entry: Place, name_at: Place, chain: tuple[str, ...]) -> Place | None:
        self._reader.unknown_keys(entry, ("include",), "an `include` entry")
        name = self._reader.text(entry, "include", "an entry of `behaviors`")
        if name is None:
            return None
        if name in chain:
            path = " → ".join((*chain[chain.index(name) :], name))
            self._problems.error(
                "fragment-cycle", name_at.location, f"Fragments include each other in a circle: {path}."
            )
            return None
        if name not in self._lists:
            hint = did_you_mean(name, self._lists).strip()
            if not hint:
                known = ", ".join(self._lists)
                hint = (
                    f"Fragments known here: {known[:200]}." if known else "This file declares no fragments before it."
                )
            self._problems.error("unknown-fragment", name_at.location, f"No fragment is called {excerpt(name)}.", hint)
            return None
        return self._lists[name]

    def _is_behavior(self, entry: Place) -> bool:
        return (
            "include" not in entry.value if isinstance(entry.value, dict) else self._reader.mapping(entry, "A behavior")
        )
