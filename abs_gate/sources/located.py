"""User documents as plain values that remember where every key and value stands.

Accepts YAML (1.2 core schema, several documents a file) and JSON. Bounded in size, depth and number of values;
whatever the bytes, the only error is ConfigurationError.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec import Struct

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.sources.json_reader import read_json
from abs_gate.sources.json_skim import SkimmedNode, skim_json
from abs_gate.sources.nodes import MAX_DEPTH, Node, Positions, walk
from abs_gate.sources.workspace import MAX_FILE_BYTES


class LocatedDocument(Struct, frozen=True, kw_only=True, eq=False):
    """One document of a file."""

    value: Json
    file: str
    index: int
    """Counts from 0 in its file; documents that hold nothing are not counted."""
    text: str
    """The document's own text."""
    _root: Node | SkimmedNode
    _positions: Positions

    def location(self, path: Sequence[str | int] = ()) -> Location:
        """The place of a value; of the nearest value around it when the path leads nowhere."""
        return self._positions.location(self._find(path)[0].start)

    def key_location(self, path: Sequence[str | int]) -> Location:
        """The place of the key that a path ends in; of the value itself when it is no mapping's key."""
        parent, missing = self._find(path[:-1])
        if not missing and path and parent.keys is not None and path[-1] in parent.keys:
            return self._positions.location(parent.keys[str(path[-1])])
        return self.location(path)

    def plain_scalars(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Every scalar written without quotes in YAML: its path and how it was written."""
        for path, node in walk(self._root) if isinstance(self._root, Node) else ():
            if node.plain is not None:
                yield path, node.plain

    def _find(self, path: Sequence[str | int]) -> tuple[Node | SkimmedNode, bool]:
        node: Node | SkimmedNode = self._root
        for step in path:
            child = node.child(step)
            if child is None:
                return node, True
            node = child
        return node, False


def parse_documents(text: bytes | str, file: str, *, max_depth: int = MAX_DEPTH) -> tuple[LocatedDocument, ...]:
    """Every document of a file that holds anything, in order; `max_depth` levels of lists and mappings at most.

    Raises:
        ConfigurationError: with a finding for every problem, each with its place.
    """
    readable = decode_text(text, file)
    positions = Positions(file, readable)
    if readable.lstrip(" \t\r\n")[:1] in ("{", "["):
        try:
            value, root = skim_json(readable, max_depth) or read_json(readable, positions, max_depth)
        except ConfigurationError:
            if file.lower().endswith(".json"):
                raise
        else:
            return (
                LocatedDocument(
                    value=value, file=file, index=0, text=readable.strip(), _root=root, _positions=positions
                ),
            )
    from abs_gate.sources.yaml_reader import read_yaml  # JSON is read without it, sooner

    return tuple(
        LocatedDocument(
            value=document.root.value,
            file=file,
            index=index,
            text=readable[document.start : document.end].strip(),
            _root=document.root,
            _positions=positions,
        )
        for index, document in enumerate(read_yaml(readable, positions, max_depth))
    )


def decode_text(data: bytes | str, file: str) -> str:
    """A file's bytes as text: UTF-8, with or without a byte-order mark.

    Raises:
        ConfigurationError: another encoding, a binary file, or one larger than 5 MiB.
    """
    if isinstance(data, str):
        try:
            data = data.encode("utf-8")
        except UnicodeEncodeError as error:
            raise _unreadable(file, error.object[: error.start], "The text holds half of a character.") from None
    if len(data) > MAX_FILE_BYTES:
        raise _unreadable(file, None, f"The file is larger than {MAX_FILE_BYTES // 2**20} MiB.", rule="too-large")
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _unreadable(file, "", "The file is UTF-16 or UTF-32 text.", "Save it as UTF-8.")
    body = data.removeprefix(b"\xef\xbb\xbf")
    if b"\x00" in body:
        before = body[: body.index(b"\x00")].decode("utf-8", "replace")
        raise _unreadable(file, before, "The file holds a zero byte: it is binary, or UTF-16.", "Save it as UTF-8.")
    try:
        return body.decode("utf-8")
    except UnicodeDecodeError as error:
        before = body[: error.start].decode("utf-8", "replace")
        message = f"The byte 0x{body[error.start]:02X} is not UTF-8 text."
        raise _unreadable(file, before, message, "Save the file as UTF-8.") from None


def _unreadable(
    file: str, before: str | None, message: str, hint: str = "", *, rule: str = "invalid-text"
) -> ConfigurationError:
    location = Location(file=file) if before is None else Positions(file, before).location(len(before))
    finding = Finding(rule=rule, severity=Severity.ERROR, message=message, hint=hint, location=location)
    return ConfigurationError(findings=(finding,))
