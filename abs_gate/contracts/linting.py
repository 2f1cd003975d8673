"""What lint rules see and what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.contracts.model import ContractSet, ToolContract
from abs_gate.contracts.places import PartPath
from abs_gate.contracts.schema_nodes import SchemaNode, schema_nodes, used_nodes
from abs_gate.findings import Json, Location, Severity

_TEXT_KEYS = frozenset({"title", "description", "$comment", "default", "const", "pattern", "enum", "examples"})
"""Keywords whose texts reach the model."""


class LintFact(Struct, frozen=True, kw_only=True):
    """One thing a lint rule found."""

    message: str
    """A sentence."""
    tool: ToolContract | None = None
    part: tuple[str | int, ...] = ()
    is_of_set: bool = False
    """Whether it is about all tools at once; `tool` then only gives the place."""
    severity: Severity | None = None
    """Where it differs from the rule's default."""
    args: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """What identifies it besides the tool, for reviews."""

    @property
    def location(self) -> Location | None:
        """The place in the contract file."""
        return self.tool.places.get(self.part, self.tool.location) if self.tool else None


class LintedSet:
    """The tools that are linted, with what several rules need of them, worked out once."""

    def __init__(self, head: ContractSet, base: ContractSet | None) -> None:
        self.head = head
        self.base = base
        self._nodes: dict[int, tuple[SchemaNode, ...]] = {}

    @cached_property
    def tools(self) -> tuple[ToolContract, ...]:
        """The tools of the head."""
        return self.head.tools

    def nodes(self, tool: ToolContract, part: str = "input") -> tuple[SchemaNode, ...]:
        """Return every subschema of a tool's input or output schema."""
        schema = tool.input_schema if part == "input" else tool.output_schema
        if not isinstance(schema, Mapping):
            return ()
        key = id(schema)
        if key not in self._nodes:
            self._nodes[key] = tuple(schema_nodes(schema))
        return self._nodes[key]

    def each_node(self) -> Iterator[tuple[ToolContract, SchemaNode]]:
        """Yield every subschema of every tool's input."""
        for tool in self.tools:
            for node in self.nodes(tool):
                yield tool, node

    def each_used_node(self) -> Iterator[tuple[ToolContract, SchemaNode]]:
        """Yield every subschema of every tool's input that something of a call can be described by."""
        for tool in self.tools:
            for node in used_nodes(self.nodes(tool)):
                yield tool, node

    def arguments(self, tool: ToolContract) -> Iterator[SchemaNode]:
        """Yield what is said of each argument of a tool: an argument of several choices is met several times."""
        for node in used_nodes(self.nodes(tool), in_place=True):
            if node.is_property and node.level == 1:
                yield node

    @cached_property
    def texts(self) -> tuple[tuple[ToolContract, PartPath, str], ...]:
        """Every text that a model reads: the tool, the part of it, the text."""
        found = [(tool, part, text) for tool in self.tools for part, text in self._texts(tool) if text]
        if self.head.instructions and self.tools:
            found.append((self.tools[0], ("instructions",), self.head.instructions))
        return tuple(found)

    def _texts(self, tool: ToolContract) -> Iterator[tuple[PartPath, str]]:
        yield ("discovery", "name"), tool.name
        yield ("discovery", "title"), tool.title or ""
        yield ("discovery", "description"), tool.description
        for text in _strings(tool.examples):
            yield ("discovery", "examples"), text
        for part in ("input", "output"):
            for node in self.nodes(tool, part):
                if node.is_property or node.is_definition:
                    yield (part, *node.pointer), node.name
                for key in _TEXT_KEYS & node.schema.keys():
                    for text in _strings(node.schema[key]):
                        yield (part, *node.pointer, key), text
        for error in tool.errors:
            yield ("errors", error.code, "message"), error.message or ""


def _strings(value: Json) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value:
            yield from _strings(item)
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield str(key)
            yield from _strings(item)
