"""One tool as it stands in a file, with what every format's reader needs from it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct

from abs_gate.contracts.model import SourceFormat, ToolContract
from abs_gate.contracts.places import PartPath, Places
from abs_gate.contracts.reading import Reading
from abs_gate.findings import Json, Severity
from abs_gate.sources.located import LocatedDocument

NO_ARGUMENTS: Json = {"type": "object", "properties": {}}
"""What an absent schema means where a provider lets it be left out."""


class Entry(Struct, frozen=True, kw_only=True):
    """A mapping that describes one tool, the document it stands in and its path there."""

    reading: Reading
    document: LocatedDocument
    path: PartPath
    value: Mapping[str, Json]

    def at(self, *steps: str | int) -> PartPath:
        """Return the document path of a part of the entry."""
        return (*self.path, *steps)

    def text(self, holder: Mapping[str, Json], *steps: str) -> str | None:
        """Return a text of the entry; anything but a text or null is a fault."""
        value = holder.get(steps[-1])
        if value is None or isinstance(value, str):
            return value
        self.reading.fault(
            self.document,
            self.at(*steps),
            "contract-invalid",
            f"`{'.'.join(steps)}` is {_kind(value)}, not a text.",
            "Write it as a text.",
        )
        return None

    def name(self, holder: Mapping[str, Json], *steps: str) -> str | None:
        """Return the name models call the tool by; a tool without one is a fault."""
        name = self.text(holder, *steps)
        if name is not None and name.strip():
            return name
        if name is not None or steps[-1] not in holder or holder[steps[-1]] is None:
            self.reading.fault(
                self.document,
                self.at(*steps),
                "contract-invalid",
                f"A tool has no `{'.'.join(steps)}`: models could not call it.",
                "Give it a name.",
            )
        return None

    def mapping(self, holder: Mapping[str, Json], *steps: str) -> Mapping[str, Json]:
        """Return a mapping of the entry, empty when absent; anything else is a fault."""
        value = holder.get(steps[-1])
        if value is None:
            return MappingProxyType({})
        if isinstance(value, Mapping):
            return value
        self.reading.fault(
            self.document,
            self.at(*steps),
            "contract-invalid",
            f"`{'.'.join(steps)}` is {_kind(value)}, not a mapping.",
            "Write it as `key: value` pairs.",
        )
        return MappingProxyType({})

    def schema(self, holder: Mapping[str, Json], *steps: str, needed: bool = True, default: Json = None) -> Json:
        """Return a schema of the entry. One that is null or no schema is reported and read as None.

        An absent one is the default where the format has one, else reported when it is needed.
        """
        key = steps[-1]
        if key not in holder and default is not None:
            return default
        schema = holder.get(key)
        if isinstance(schema, Mapping | bool):
            return schema
        if key in holder or needed:
            what = f"`{'.'.join(steps)}` is {_kind(schema)}" if key in holder else f"There is no `{'.'.join(steps)}`"
            self.reading.oddity(
                self.document,
                self.at(*steps),
                "schema-missing",
                f"{what}: providers refuse a tool whose schema is no object.",
                'For a tool without arguments write {"type": "object", "properties": {}}.',
                severity=Severity.ERROR,
            )
        return None

    def rest(self, known: frozenset[str], holder: Mapping[str, Json] | None = None) -> Mapping[str, Json]:
        """Return what no field of the contract holds, so that a change of it is still seen."""
        source = self.value if holder is None else holder
        return {key: value for key, value in source.items() if key not in known}


def bare_tool(
    entry: Entry, *, source: SourceFormat, name: str | None, written: Mapping[PartPath, PartPath], **parts: Json
) -> ToolContract | None:
    """Build the contract of a tool from a bare list, where the name is the identity; `written` leads to its parts."""
    if name is None:
        return None
    places = Places(entry.document, entry.path, written)
    return ToolContract(tool_id=name, name=name, source=source, places=places, **parts)


def _kind(value: Json) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "a mapping"
