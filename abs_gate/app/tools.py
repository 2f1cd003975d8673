"""What contracts and configuration say about tools, in the form sessions need."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.contracts.model import ContractSet, Effect, ToolContract
from abs_gate.contracts.versions import newest_tools
from abs_gate.conversation import ToolOffer
from abs_gate.documents.advice import KnownTools
from abs_gate.findings import Json

_RESULT_KEYS = ("result", "output", "response")


class ToolFacts(Struct, frozen=True, kw_only=True):
    """Tools as sessions see them."""

    aliases: Mapping[str, tuple[str, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """Target to the tool names that stand for it: a tool's id, title and model name stand for one another."""
    offers: tuple[ToolOffer, ...] = ()
    example_results: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    write_tools: frozenset[str] = frozenset()
    effects: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Tool name to its effect, as far as contracts say."""
    names: frozenset[str] | None = None
    """Every tool known; None where no contract says."""

    def known_tools(self, handoffs: tuple[str, ...]) -> KnownTools:
        """What advice about documents may rely on."""
        return KnownTools(names=self.names, aliases=self.aliases, handoffs=frozenset(handoffs))


def tool_facts(contracts: ContractSet | None, targets: Mapping[str, tuple[str, ...]]) -> ToolFacts:
    """Facts from the newest version of every tool, and from configured targets."""
    if contracts is None:
        return ToolFacts(aliases=targets)
    newest = newest_tools(contracts)
    aliases = dict(targets)
    names: set[str] = set()
    for tool in newest.values():
        group = tuple(dict.fromkeys(name for name in (tool.name, tool.tool_id, tool.title) if name))
        names.update(group)
        for name in group:
            aliases[name] = tuple(dict.fromkeys((*aliases.get(name, ()), *group)))
    return ToolFacts(
        aliases=aliases,
        offers=tuple(_offer(tool) for tool in newest.values()),
        example_results={tool.name: example for tool in newest.values() for example in _example_results(tool)[:1]},
        write_tools=frozenset(tool.name for tool in newest.values() if is_write(tool)),
        effects={tool.name: effect for tool in newest.values() if (effect := _effect(tool)) is not None},
        names=frozenset(names),
    )


def is_write(tool: ToolContract) -> bool:
    """Whether a tool may change something. What is not declared counts as a write, as MCP's defaults do."""
    if tool.policy.effect is not None:
        return tool.policy.effect is not Effect.READ_ONLY
    return tool.annotations.get("readOnlyHint") is not True


def _effect(tool: ToolContract) -> str | None:
    if tool.policy.effect is not None:
        return tool.policy.effect.value
    return Effect.READ_ONLY.value if tool.annotations.get("readOnlyHint") is True else None


def _offer(tool: ToolContract) -> ToolOffer:
    schema = tool.input_schema if isinstance(tool.input_schema, dict) else {"type": "object", "properties": {}}
    return ToolOffer(name=tool.name, description=tool.description, input_schema=schema, strict=tool.strict)


def _example_results(tool: ToolContract) -> list[Json]:
    examples = tool.examples if isinstance(tool.examples, list) else []
    declared = [
        example[key] for example in examples if isinstance(example, dict) for key in _RESULT_KEYS if key in example
    ]
    if isinstance(tool.output_schema, dict) and isinstance(tool.output_schema.get("examples"), list):
        declared += tool.output_schema["examples"]
    return declared
