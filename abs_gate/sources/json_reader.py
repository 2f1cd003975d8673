"""JSON text to located nodes. A reader of its own: YAML parsers refuse JSON's surrogate escapes and long keys."""

from __future__ import annotations

import json
import re

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Json
from abs_gate.sources.nodes import MAX_DEPTH, MAX_NODES, Node, Positions, Problems
from abs_gate.sources.scalars import parse_number

_BLANK = re.compile(r"[ \t\r\n]*")
_STRING = re.compile(r'"(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*+"')
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORD = re.compile(r"[A-Za-z]+")
_SURROGATE = re.compile("[\ud800-\udfff]")
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}


def read_json(text: str, positions: Positions, max_depth: int = MAX_DEPTH) -> tuple[Json, Node]:
    """The one value of a JSON text, and its root.

    Raises:
        ConfigurationError: not JSON, or beyond the bounds.
    """
    problems = Problems(positions)
    node = _Reader(text, problems, max_depth).read()
    problems.raise_any()
    return node.value, node


class _Reader:
    """Reads one value with a stack of open containers in place of recursion."""

    def __init__(self, text: str, problems: Problems, max_depth: int) -> None:
        self._text = text
        self._problems = problems
        self._max_depth = max_depth
        self._at = 0
        self._nodes = 0

    def read(self) -> Node:
        stack: list[tuple[Node, str]] = []
        key = ""
        while True:
            node = self._value()
            is_open = node.height == 1
            if is_open:
                if len(stack) >= self._max_depth:
                    raise self._problems.fail("too-deep", node.start, f"Nested deeper than {self._max_depth} levels.")
                closing = "]" if node.items is not None else "}"
                if self._peek() == closing:
                    self._at += 1
                    is_open = False
            if is_open:
                stack.append((node, key))
                key = self._key(node) if node.entries is not None else ""
                continue
            while stack:
                parent, outer_key = stack[-1]
                self._attach(parent, key, node)
                if self._separator(parent):
                    key = self._key(parent) if parent.entries is not None else ""
                    break
                stack.pop()
                node, key = parent, outer_key
            else:
                if self._peek():
                    raise self._unexpected("nothing more: the document ended before it")
                return node

    def _peek(self) -> str:
        match = _BLANK.match(self._text, self._at)
        assert match is not None
        self._at = match.end()
        return self._text[self._at : self._at + 1]

    def _value(self) -> Node:
        char = self._peek()
        start = self._at
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._problems.fail("too-many-values", start, f"The file holds more than {MAX_NODES:,} values.")
        if char == "{":
            self._at += 1
            return Node(value={}, start=start, entries={}, keys={}, height=1)
        if char == "[":
            self._at += 1
            return Node(value=[], start=start, items=[], height=1)
        if char == '"':
            return Node(value=self._string(), start=start)
        number = _NUMBER.match(self._text, start)
        if number:
            self._at = number.end()
            return Node(value=self._number(number[0], start), start=start)
        word = _WORD.match(self._text, start)
        if word and word[0] in _WORDS:
            self._at = word.end()
            return Node(value=_WORDS[word[0]], start=start)
        if self._text.startswith(("NaN", "Infinity", "-Infinity"), start):
            raise self._problems.fail("invalid-number", start, "Infinity and NaN are not JSON values.")
        raise self._unexpected("a value")

    def _number(self, text: str, start: int) -> int | float:
        try:
            return parse_number(text)
        except ValueError as error:
            self._problems.add("invalid-number", start, str(error))
            return 0

    def _string(self) -> str:
        start = self._at
        match = _STRING.match(self._text, start)
        if match is None:
            raise self._problems.fail(
                "invalid-json",
                start,
                "A text is not closed, or holds a line break or an escape that JSON does not know.",
                "Close the quote; write line breaks as \\n and backslashes as \\\\.",
            )
        self._at = match.end()
        body = match[0]
        if "\\" not in body:
            return body[1:-1]
        value: str = json.loads(body)
        if _SURROGATE.search(value):
            self._problems.add("invalid-text", start, "An escape names half of a character (a lone surrogate).")
        return value

    def _key(self, parent: Node) -> str:
        if self._peek() != '"':
            raise self._unexpected("a key in double quotes")
        start = self._at
        key = self._string()
        if self._peek() != ":":
            raise self._unexpected("a colon")
        self._at += 1
        assert parent.keys is not None
        if key in parent.keys:
            self._problems.add(
                "duplicate-key",
                start,
                f"The key `{key[:60]}` stands twice in this mapping.",
                "Remove one: only one value can count.",
            )
        else:
            parent.keys[key] = start
        return key

    def _attach(self, parent: Node, key: str, child: Node) -> None:
        parent.size += child.size
        parent.height = max(parent.height, child.height + 1)
        if parent.items is not None:
            parent.items.append(child)
            parent.value.append(child.value)
        elif parent.entries is not None and key not in parent.entries:
            parent.entries[key] = child
            parent.value[key] = child.value

    def _separator(self, parent: Node) -> bool:
        """True when another entry follows, False when the container closes here."""
        closing = "]" if parent.items is not None else "}"
        char = self._peek()
        if char not in (",", closing) or not char:
            raise self._unexpected(f"a comma or `{closing}`")
        self._at += 1
        return char == ","

    def _unexpected(self, wanted: str) -> ConfigurationError:
        found = "the end of the file" if self._at >= len(self._text) else "something else"
        return self._problems.fail("invalid-json", self._at, f"This is not JSON: expected {wanted}, found {found}.")
