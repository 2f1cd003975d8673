"""What the authors of schemas suggest as values, found along a path through an instance."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from abs_gate.contracts.schemas.references import Pointer, UnresolvedReference
from abs_gate.contracts.schemas.values import is_json, size_of
from abs_gate.findings import Json

if TYPE_CHECKING:
    from abs_gate.contracts.schemas.reader import Reader

_MOST_PLACES = 40
_LARGEST = 5
_LONGEST = 60
_FORMATS = {
    "date": "2024-01-31",
    "date-time": "2024-01-31T09:30:00Z",
    "time": "09:30:00Z",
    "duration": "PT1H",
    "email": "user@example.com",
    "hostname": "example.com",
    "ipv4": "192.0.2.1",
    "ipv6": "2001:db8::1",
    "uri": "https://example.com/",
    "uri-reference": "https://example.com/",
    "uuid": "123e4567-e89b-42d3-a456-426614174000",
}

Path = tuple[str | int, ...]


class Hints:
    """Suggestions of one schema."""

    def __init__(self, reader: Reader, pointer: Pointer) -> None:
        self._reader = reader
        self._levels: dict[Path, list[Pointer]] = {(): self._in_place([pointer])}

    def at(self, path: Path) -> Iterator[Json]:
        """Return suggested values for a place in the instance, the author's examples first."""
        schemas = [self._reader.raw(pointer) for pointer in self._places(path)]
        schemas = [schema for schema in schemas if isinstance(schema, dict)]
        for schema in schemas:
            examples = schema.get("examples")
            yield from filter(_is_small, examples if isinstance(examples, list) else [])
        for keyword in ("example", "default", "const"):
            yield from (schema[keyword] for schema in schemas if keyword in schema and _is_small(schema[keyword]))
        for schema in schemas:
            values = schema.get("enum")
            yield from filter(_is_small, values[:3] if isinstance(values, list) else [])
        for schema in schemas:
            usual = _FORMATS.get(schema["format"]) if isinstance(schema.get("format"), str) else None
            if usual is not None:
                yield usual

    def names(self, path: Path) -> list[str]:
        """Return the names of the members described at a place, in the author's order."""
        schemas = (self._reader.raw(pointer) for pointer in self._places(path))
        described = (schema.get("properties") for schema in schemas if isinstance(schema, dict))
        return list(dict.fromkeys(name for members in described if isinstance(members, dict) for name in members))

    def _places(self, path: Path) -> list[Pointer]:
        known = self._levels.get(path)
        if known is None:
            inside = [child for place in self._places(path[:-1]) for child in self._inside(place, path[-1])]
            known = self._levels[path] = self._in_place(inside)
        return known

    def _inside(self, pointer: Pointer, token: str | int) -> Iterator[Pointer]:
        schema = self._reader.raw(pointer)
        if not isinstance(schema, dict):
            return
        if isinstance(token, str):
            properties = schema.get("properties")
            if isinstance(properties, dict) and token in properties:
                yield (*pointer, "properties", token)
            elif "additionalProperties" in schema:
                yield (*pointer, "additionalProperties")
            return
        for keyword in ("prefixItems", "items"):
            listed = schema.get(keyword)
            if isinstance(listed, list) and token < len(listed):
                yield (*pointer, keyword, str(token))
                return
            if isinstance(listed, dict):
                yield (*pointer, keyword)

    def _in_place(self, pointers: list[Pointer]) -> list[Pointer]:
        """Return the subschemas that speak about the same place, references followed."""
        found: dict[Pointer, None] = {}
        pending = list(reversed(pointers))
        while pending and len(found) < _MOST_PLACES:
            pointer = pending.pop()
            schema = self._reader.raw(pointer)
            if pointer in found or not isinstance(schema, dict):
                continue
            found[pointer] = None
            if "$ref" in schema:
                try:
                    pending.append(self._reader.target(schema["$ref"], pointer))
                except UnresolvedReference:
                    continue
            for keyword in ("allOf", "anyOf", "oneOf"):
                branches = schema.get(keyword)
                if isinstance(branches, list):
                    pending.extend((*pointer, keyword, str(index)) for index in reversed(range(len(branches))))
            pending.extend((*pointer, keyword) for keyword in ("then", "else") if keyword in schema)
        return list(found)


def _is_small(value: Json) -> bool:
    return size_of(value) <= _LARGEST and is_json(value) and (not isinstance(value, str) or 0 < len(value) <= _LONGEST)
