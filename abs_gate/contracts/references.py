"""Schemas that stand in files of their own: reads them and puts them where they are referred to."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import NamedTuple
from urllib.parse import unquote

from msgspec import Struct, field

from abs_gate.contracts.formats.shape import is_contract_shape
from abs_gate.contracts.keywords import DATA, SCHEMA_MAPS
from abs_gate.contracts.places import Mount, PartPath
from abs_gate.contracts.reading import Reading
from abs_gate.findings import Json
from abs_gate.sources.located import LocatedDocument

MAX_NODES = 100_000
"""Largest schema, in values, that references may unfold to."""
_DROPPED = frozenset({"$schema", "$id"})
"""What names a file's own schema says nothing once its content stands elsewhere."""


class _Spot(NamedTuple):
    """A value in a document."""

    document: LocatedDocument
    path: PartPath

    def under(self, *steps: str | int) -> _Spot:
        return _Spot(self.document, (*self.path, *steps))


class _Target(NamedTuple):
    """What a reference names."""

    file: str
    pointer: str


class SchemaFiles(Struct, kw_only=True):
    """Unfolds one schema: references to files become content, references that recur become definitions."""

    reading: Reading
    prefix: PartPath
    """The contract's part the schema is, ("input",) or ("output",)."""
    mounts: list[Mount] = field(default_factory=list)
    """Where the parts of the unfolded schema are written."""
    _root: _Target = field(default_factory=lambda: _Target("", ""))
    """Where the schema itself stands, when it is a file or a part of one."""
    _around: LocatedDocument | None = None
    """The contract file, when the schema stands in it: `#` then means the schema, not the file."""
    _nodes: int = 0
    _full: bool = False
    _definitions: dict[_Target, tuple[str, Json]] = field(default_factory=dict)

    def by_reference(self, document: LocatedDocument, path: PartPath, reference: str) -> Json:
        """Return the schema that a `..._schema_ref` names, None (with a fault) when it cannot be had."""
        spot = _Spot(document, path)
        target = self._target(spot, reference)
        found = self._find(spot, target) if target else None
        if target is None or found is None:
            return None
        if is_contract_shape(_value_at(found)):
            self._fault(
                spot, f"`{found.document.file}` holds a tool, no schema.", "Name the file of the tool's schema."
            )
            return None
        self._root = target
        self.mounts.append(Mount(self.prefix, *found))
        return self._unfolded(found, _value_at(found))

    def inline(self, document: LocatedDocument, path: PartPath, schema: Json) -> Json:
        """Return a schema that stands in the contract file itself, with references to files unfolded."""
        self._around = document
        self.mounts.append(Mount(self.prefix, document, path))
        return self._unfolded(_Spot(document, path), schema)

    def _unfolded(self, spot: _Spot, schema: Json) -> Json:
        unfolded = self._unfold(spot, schema, (self._root,), self.prefix)
        if self._definitions and isinstance(unfolded, dict):
            own = unfolded.get("$defs")
            unfolded["$defs"] = {**(own if isinstance(own, dict) else {}), **dict(self._definitions.values())}
        return unfolded

    def _unfold(self, spot: _Spot, value: Json, stack: tuple[_Target, ...], part: PartPath) -> Json:
        if not isinstance(value, Mapping) or not self._count(spot, value):
            return value
        unfolded: dict[str, Json] = {}
        for key, inner in value.items():
            at, of = spot.under(key), (*part, key)
            if key in DATA or (key == "$ref" and isinstance(inner, str)):
                unfolded[key] = inner
            elif key in SCHEMA_MAPS and isinstance(inner, Mapping):
                unfolded[key] = {
                    name: self._unfold(at.under(name), item, stack, (*of, name)) for name, item in inner.items()
                }
            elif isinstance(inner, list):
                unfolded[key] = [
                    self._unfold(at.under(index), item, stack, (*of, index)) for index, item in enumerate(inner)
                ]
            else:
                unfolded[key] = self._unfold(at, inner, stack, of)
        reference = unfolded.get("$ref")
        if not isinstance(reference, str) or (reference.startswith("#") and self._is_own(spot.document)):
            return unfolded
        target = self._target(spot.under("$ref"), reference)
        del unfolded["$ref"]
        return unfolded if target is None else self._refer(spot, target, unfolded, stack, part)

    def _is_own(self, document: LocatedDocument) -> bool:
        """Tell whether `#` in this document means the root of the schema that is being read."""
        return document is self._around or (document.file, "") == self._root

    def _count(self, spot: _Spot, value: Mapping[str, Json]) -> bool:
        self._nodes += len(value) + 1
        if self._nodes > MAX_NODES and not self._full:
            self._full = True
            message = f"The schema unfolds to more than {MAX_NODES} values: its references multiply."
            self._fault(spot, message, "Refer to fewer definitions, or split the tool.")
        return not self._full

    def _refer(
        self, spot: _Spot, target: _Target, beside: dict[str, Json], stack: tuple[_Target, ...], part: PartPath
    ) -> Json:
        """Return what stands for a reference: the content, or a local reference where it is the root or recurs."""
        if target.file == self._root.file and f"{target.pointer}/".startswith(f"{self._root.pointer}/"):
            return {"$ref": f"#{target.pointer[len(self._root.pointer) :]}", **beside}
        if target in stack or target in self._definitions:
            if target not in self._definitions:
                self._define(spot, target)
            return {"$ref": f"#/$defs/{_escaped(self._definitions[target][0])}", **beside}
        found = self._find(spot.under("$ref"), target)
        if found is None:
            return beside
        self.mounts.append(Mount(part, *found))
        content = self._content(found, (*stack, target), part)
        if not isinstance(content, dict):
            return {"allOf": [content], **beside} if beside else content
        return {"allOf": [content], **beside} if content.keys() & beside.keys() else {**content, **beside}

    def _define(self, spot: _Spot, target: _Target) -> None:
        stem = posixpath.splitext(posixpath.basename(target.file))[0] + target.pointer.replace("/", ".")
        taken = {known for known, _ in self._definitions.values()}
        name = stem if stem not in taken else f"{stem}.{len(taken)}"
        self._definitions[target] = (name, True)
        found = self._find(spot, target)
        if found:
            self._definitions[target] = (name, self._content(found, (target,), (*self.prefix, "$defs", name)))

    def _content(self, spot: _Spot, stack: tuple[_Target, ...], part: PartPath) -> Json:
        content = self._unfold(spot, _value_at(spot), stack, part)
        if isinstance(content, dict):
            return {key: value for key, value in content.items() if key not in _DROPPED}
        return content

    def _target(self, spot: _Spot, reference: str) -> _Target | None:
        name, _, fragment = reference.partition("#")
        pointer = unquote(fragment)
        file = spot.document.file
        if "://" in name or name.startswith(("urn:", "/", "\\")):
            message = f"`{reference[:200]}` leads out of the workspace: nothing is fetched."
            self._fault(spot, message, "Copy the schema beside the contract and refer to it by a relative path.")
            return None
        if pointer and not pointer.startswith("/"):
            message = f"`{reference[:200]}` names an anchor; only JSON pointers are followed between files."
            self._fault(spot, message, "Write it as a pointer: `file.json#/$defs/name`.")
            return None
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), name)) if name else file
        if target.startswith(".."):
            message = f"`{reference[:200]}` leads out of the workspace."
            self._fault(spot, message, "Keep schemas inside the workspace.")
            return None
        return _Target(target, pointer.rstrip("/"))

    def _find(self, spot: _Spot, target: _Target) -> _Spot | None:
        file, pointer = target
        self.reading.referenced.add(file)
        if file != spot.document.file and not self.reading.workspace.is_file(file):
            hint = "Correct the path; it is relative to this file."
            self._fault(spot, f"There is no schema file `{file}`.", hint)
            return None
        documents = self.reading.documents(file)
        if not documents:
            return None
        home = spot.document if file == spot.document.file else documents[0]
        path = _walk(home.value, pointer)
        if path is None:
            self._fault(spot, f"`{file}` has nothing at `#{pointer}`.", "Correct the reference.")
            return None
        found = _Spot(home, path)
        if not isinstance(_value_at(found), Mapping | bool):
            self._fault(spot, f"`{file}` has no schema at `#{pointer}`.", "Correct the reference.")
            return None
        return found

    def _fault(self, spot: _Spot, message: str, hint: str) -> None:
        self.reading.fault(spot.document, spot.path, "schema-reference", message, hint)


def _value_at(spot: _Spot) -> Json:
    value = spot.document.value
    for step in spot.path:
        value = value[step]
    return value


def _walk(value: Json, pointer: str) -> PartPath | None:
    path: list[str | int] = []
    for raw in pointer.split("/")[1:]:
        token = raw.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping) and token in value:
            path.append(token)
        elif isinstance(value, list) and token.isascii() and token.isdigit() and int(token) < len(value):
            path.append(int(token))
        else:
            return None
        value = value[path[-1]]
    return tuple(path)


def _escaped(name: str) -> str:
    return name.replace("~", "~0").replace("/", "~1")
