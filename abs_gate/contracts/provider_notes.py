"""What model providers make of a change: a second axis, said beside the verdict and never instead of it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from msgspec.structs import replace

from abs_gate.contracts.linting import LintedSet
from abs_gate.contracts.model import Change, ContractSet, ToolContract
from abs_gate.contracts.rules.lint import anthropic, openai, portable
from abs_gate.contracts.wording import show

_RULES = (
    *(openai.openai_root_choice, anthropic.anthropic_root_choice, openai.openai_tool_name),
    *(anthropic.anthropic_tool_name, openai.openai_object_without_properties, openai.openai_array_without_items),
    *(portable.cross_type_list, portable.cross_one_of, portable.cross_recursion),
)
"""What is refused without strict mode already, and what is not portable."""
_MOST = 5


def with_provider_notes(changes: Sequence[Change], old: ToolContract, new: ToolContract) -> tuple[Change, ...]:
    """Return the changes with what providers refuse now, and did not before, noted on the first about the input."""
    if not changes:
        return ()
    notes = tuple(_new_notes(old, new))[:_MOST]
    if not notes:
        return tuple(changes)
    first = next((index for index, change in enumerate(changes) if change.path.startswith("input")), 0)
    noted = replace(changes[first], notes=(*changes[first].notes, *notes))
    return (*changes[:first], noted, *changes[first + 1 :])


def _new_notes(old: ToolContract, new: ToolContract) -> Iterator[str]:
    facts = dict.fromkeys(_provider_facts(new))
    known = set(_provider_facts(old)) if facts else set()
    yield from (f"Providers: {fact}" for fact in facts if fact not in known)
    for part, before, after in (
        ("input", old.input_schema, new.input_schema),
        ("output", old.output_schema, new.output_schema),
    ):
        if isinstance(before, Mapping) and isinstance(after, Mapping) and before.get("$schema") != after.get("$schema"):
            yield (
                f"Providers: the dialect of the {part} schema went from {show(before.get('$schema'))} to "
                f"{show(after.get('$schema'))}; some clients know one only."
            )


def _provider_facts(tool: ToolContract) -> Iterator[str]:
    linted = LintedSet(ContractSet(tools=(tool,)), None)
    for find in _RULES:
        yield from (fact.message for fact in find(linted))
