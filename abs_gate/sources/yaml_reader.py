"""YAML text to located nodes, from parser events, so that nothing is ever constructed, recursed into or executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import yaml
from msgspec import Struct
from yaml import events

from abs_gate.sources.nodes import MAX_NODES, Node, Positions, Problems
from abs_gate.sources.scalars import resolve_plain
from abs_gate.sources.yaml_problems import explain, is_about_opening

_Loader: type[yaml.CLoader] | type[yaml.Loader] = getattr(yaml, "CLoader", yaml.Loader)

MAX_ALIASED = 100_000
"""Most values that aliases may repeat in one file: beyond it a small file would grow without bound."""
_MAX_TAG_DIRECTIVES = 16
_REFUSED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\x80-\x84\x86-\x9f\ufffe\uffff]")
_TAG_DIRECTIVE = re.compile(r"^%TAG\b", re.MULTILINE)
_OLD_BREAKS = "\x85\u2028\u2029"
"""Line breaks in YAML 1.1, plain characters in YAML 1.2."""
_HAS_OLD_BREAK = re.compile(f"[{_OLD_BREAKS}]")


class YamlDocument(Struct, eq=False):
    """One document's tree and the range of the file's text it was written in."""

    root: Node
    start: int
    end: int


class _Open(Struct, eq=False):
    """A list or mapping being filled."""

    node: Node
    anchor: str | None = None
    key: str | None = None
    key_start: int = 0
    merged: list[Node] | None = None
    """The mappings under `<<`, once there is such a key."""
    is_merging: bool = False
    """True between a `<<` key and its value."""


def read_yaml(text: str, positions: Positions, max_depth: int) -> list[YamlDocument]:
    """Every document of a YAML stream that holds anything.

    Raises:
        ConfigurationError: not YAML, or beyond the bounds; every problem that can be told at once.
    """
    problems = Problems(positions)
    refused = _REFUSED.search(text)
    if refused:
        raise problems.fail(
            "invalid-text",
            refused.start(),
            f"The control character U+{ord(refused[0]):04X} may not stand in YAML.",
            'Remove it, or write it as an escape in double quotes, such as "\\u0007".',
        )
    directives = [match.start() for match in _TAG_DIRECTIVE.finditer(text)]
    if len(directives) > _MAX_TAG_DIRECTIVES:
        raise problems.fail("yaml-tag", directives[0], "%TAG directives are not accepted.", "Remove them.")
    readable, restore = _hide_old_breaks(text)
    documents = list(_Reader(readable, restore, problems, max_depth).read())
    problems.raise_any()
    return documents


def _hide_old_breaks(text: str) -> tuple[str, dict[int, str]]:
    """Swap characters that only YAML 1.1 takes for line breaks with unused private ones, one for one."""
    if not _HAS_OLD_BREAK.search(text):
        return text, {}
    unused = (chr(code) for code in range(0xE000, 0xF900) if chr(code) not in text)
    stand_ins = dict(zip(_OLD_BREAKS, unused, strict=False))
    return text.translate({ord(old): new for old, new in stand_ins.items()}), {
        ord(new): old for old, new in stand_ins.items()
    }


class _Reader:
    """Builds the trees of one stream. The stack of open containers replaces recursion."""

    def __init__(self, text: str, restore: dict[int, str], problems: Problems, max_depth: int) -> None:
        self._text = text
        self._restore = restore
        self._problems = problems
        self._max_depth = max_depth
        self._anchors: dict[str, Node | None] = {}
        self._stack: list[_Open] = []
        self._nodes = 0
        self._aliased = 0

    def read(self) -> Iterator[YamlDocument]:
        start = 0
        root: Node | None = None
        for event in self._events():
            kind = type(event)
            if kind is events.ScalarEvent:
                root = self._scalar(event) or root
            elif kind is events.MappingStartEvent or kind is events.SequenceStartEvent:
                self._begin(event, is_mapping=kind is events.MappingStartEvent)
            elif kind is events.MappingEndEvent or kind is events.SequenceEndEvent:
                root = self._end() or root
            elif kind is events.AliasEvent:
                self._alias(event)
            elif kind is events.DocumentStartEvent:
                start, root = event.start_mark.index, None
                self._anchors.clear()
            elif kind is events.DocumentEndEvent and root is not None:
                yield YamlDocument(root=root, start=start, end=event.end_mark.index)

    def _events(self) -> Iterator[Any]:
        try:
            loader = _Loader(self._text)
            try:
                while loader.check_event():
                    yield loader.get_event()
            finally:
                loader.dispose()
        except yaml.MarkedYAMLError as error:
            problem = error.problem or ""
            mark = error.problem_mark or error.context_mark
            if error.context_mark is not None and is_about_opening(problem):
                mark = error.context_mark
            offset = min(mark.index, len(self._text)) if mark is not None else 0
            message, hint = explain(problem, self._text, offset)
            raise self._problems.fail("invalid-yaml", offset, message, hint) from None
        except yaml.YAMLError:
            raise self._problems.fail("invalid-yaml", 0, "The text is not YAML.") from None

    def _count(self, start: int) -> None:
        self._nodes += 1
        if self._nodes > MAX_NODES:
            raise self._problems.fail("too-many-values", start, f"The file holds more than {MAX_NODES:,} values.")

    def _scalar(self, event: Any) -> Node | None:
        start = event.start_mark.index
        self._count(start)
        self._refuse_tag(event)
        text: str = event.value.translate(self._restore) if self._restore else event.value
        is_plain = event.style in (None, "") and event.implicit[0]
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.node.entries is not None and frame.key is None:
            self._key(frame, text, start, is_plain=is_plain)
            return None
        value = text
        if is_plain:
            try:
                value = resolve_plain(text)
            except ValueError as error:
                self._problems.add("invalid-number", start, str(error))
        node = Node(value=value, start=start, plain=text if is_plain else None)
        if event.anchor:
            self._anchors[event.anchor] = node
        if frame is not None:
            self._attach(frame, node)
            return None
        return None if is_plain and not text else node

    def _key(self, frame: _Open, text: str, start: int, *, is_plain: bool) -> None:
        if is_plain and not text:
            self._problems.add("missing-key", start, "A key is missing before this colon.")
        frame.key, frame.key_start = text, start
        frame.is_merging = is_plain and text == "<<"

    def _begin(self, event: Any, *, is_mapping: bool) -> None:
        start = event.start_mark.index
        self._count(start)
        self._refuse_tag(event)
        frame = self._stack[-1] if self._stack else None
        if frame is not None and frame.node.entries is not None and frame.key is None:
            if self._text[start - 1 : start + 1] == "{{":
                message, hint = "A placeholder needs quotes around it in YAML.", 'Write "{{name}}".'
                raise self._problems.fail("complex-key", start - 1, message, hint)
            raise self._problems.fail(
                "complex-key", start, "A list or mapping cannot be a key.", "Quote it if it is text."
            )
        if len(self._stack) >= self._max_depth:
            raise self._problems.fail("too-deep", start, f"Nested deeper than {self._max_depth} levels.")
        if is_mapping:
            node = Node(value={}, start=start, entries={}, keys={}, height=1)
        else:
            node = Node(value=[], start=start, items=[], height=1)
        if event.anchor:
            self._anchors[event.anchor] = None
        self._stack.append(_Open(node=node, anchor=event.anchor))

    def _end(self) -> Node | None:
        frame = self._stack.pop()
        if frame.merged is not None:
            self._merge(frame)
        if frame.anchor:
            self._anchors[frame.anchor] = frame.node
        if self._stack:
            self._attach(self._stack[-1], frame.node)
            return None
        return frame.node

    def _alias(self, event: Any) -> None:
        start = event.start_mark.index
        self._count(start)
        frame = self._stack[-1] if self._stack else None
        target = self._anchors.get(event.anchor)
        if target is None:
            known = event.anchor in self._anchors
            reason = "stands inside the value it repeats" if known else "names no anchor before it"
            raise self._problems.fail("bad-alias", start, f"The alias `*{event.anchor[:40]}` {reason}.")
        if frame is None:
            raise self._problems.fail("bad-alias", start, "A document cannot be an alias alone.")
        self._aliased += target.size
        if self._aliased > MAX_ALIASED:
            raise self._problems.fail(
                "too-many-values", start, f"Aliases repeat more than {MAX_ALIASED:,} values.", "Write fewer aliases."
            )
        if len(self._stack) + target.height > self._max_depth:
            raise self._problems.fail(
                "too-deep", start, f"Nested deeper than {self._max_depth} levels through this alias."
            )
        if frame.node.entries is not None and frame.key is None:
            if not isinstance(target.value, str):
                raise self._problems.fail("complex-key", start, "Only an alias of a text can be a key.")
            self._key(frame, target.value, start, is_plain=False)
            return
        self._attach(frame, target)

    def _attach(self, frame: _Open, child: Node) -> None:
        node = frame.node
        node.size += child.size
        node.height = max(node.height, child.height + 1)
        if node.items is not None:
            node.items.append(child)
            node.value.append(child.value)
            return
        assert node.entries is not None and node.keys is not None and frame.key is not None
        key, frame.key = frame.key, None
        if frame.is_merging and frame.merged is None:
            self._note_merge(frame, child)
        elif key in node.entries or frame.is_merging:
            self._problems.add(
                "duplicate-key",
                frame.key_start,
                f"The key `{key[:60]}` stands twice in this mapping.",
                "Remove one: only one value can count.",
            )
        else:
            node.entries[key] = child
            node.keys[key] = frame.key_start
            node.value[key] = child.value

    def _note_merge(self, frame: _Open, child: Node) -> None:
        """Take `<<: *anchor` or `<<: [*a, *b]` for the end of the mapping, when its own keys are known."""
        sources = child.items if child.items is not None else [child]
        if not all(source.entries is not None for source in sources):
            self._problems.add("bad-merge", frame.key_start, "`<<` merges a mapping or a list of mappings.")
            sources = []
        frame.merged = list(sources)

    def _merge(self, frame: _Open) -> None:
        """Add merged keys that the mapping does not have itself; the first source that has a key gives it."""
        node = frame.node
        assert node.entries is not None and node.keys is not None
        for source in frame.merged or ():
            assert source.entries is not None and source.keys is not None
            for key, child in source.entries.items():
                if key not in node.entries:
                    node.entries[key] = child
                    node.keys[key] = source.keys[key]
                    node.value[key] = child.value
                    node.size += child.size

    def _refuse_tag(self, event: Any) -> None:
        if event.tag is not None:
            self._problems.add(
                "yaml-tag",
                event.start_mark.index,
                "YAML tags (`!name`) are not accepted: a document is plain data.",
                "Remove the tag, or quote the text if the exclamation mark belongs to it.",
            )
