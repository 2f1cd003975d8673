"""Tools that came, went or were renamed between two sets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from abs_gate.contracts.effective import effective_hints, undo_of, writes
from abs_gate.contracts.model import Change, Classification, ContractSet, ToolContract, ToolDiff
from abs_gate.contracts.prose import describe_change, same_prose
from abs_gate.contracts.renames import are_similar, without_texts, words
from abs_gate.contracts.rules import rule
from abs_gate.contracts.rules.registry import COMPATIBLE, REVIEW, Side
from abs_gate.contracts.schemas.values import canonical
from abs_gate.contracts.wording import named
from abs_gate.findings import Json

SERVER = "(server)"
"""The tool_id under which what belongs to the whole set is reported."""
_MAX_PAIRS = 2_500
"""More pairs of names than this are not compared for likeness, only for equal words and equal arguments."""
_RETIRED = ("deprecated", "deprecation", "sunset", "x-deprecated", "x-sunset")


class Pairing(NamedTuple):
    """Which tools of two sets answer to each other."""

    same: list[tuple[str, str]]
    """tool_ids in the base and in the head, in the order of the head; renamed ones too."""
    added: list[str]
    removed: list[str]


Versions = Mapping[str, Sequence[ToolContract]]
"""The versions of each tool_id, highest first."""


def pair_tools(base: Versions, head: Versions) -> Pairing:
    """Pair tools by tool_id, then by the name models call them by, then those that were renamed by all appearances."""
    answers = {tool_id: tool_id for tool_id in head if tool_id in base}
    left = {tool_id: versions[0] for tool_id, versions in base.items() if tool_id not in head}
    free = {tool_id: versions[0] for tool_id, versions in head.items() if tool_id not in base}
    for match in (_by_replaces, _by_name, _by_words, _by_schema, _by_likeness):
        for new_id, old_id in list(match(left, free)) if left and free else ():
            if old_id in left and new_id in free:
                answers[new_id] = old_id
                del left[old_id], free[new_id]
    same = [(answers[tool_id], tool_id) for tool_id in head if tool_id in answers]
    return Pairing(same, list(free), list(left))


_Tools = Mapping[str, ToolContract]
_Found = Iterator[tuple[str, str]]


def _by_replaces(left: _Tools, free: _Tools) -> _Found:
    for new_id, new in free.items():
        for entry in replaced(new):
            old_id = entry.rpartition("@")[0] or entry
            if old_id in left:
                yield new_id, old_id


def _by_name(left: _Tools, free: _Tools) -> _Found:
    return _by_key(left, free, lambda tool: tool.name)


def _by_words(left: _Tools, free: _Tools) -> _Found:
    return _by_key(left, free, lambda tool: " ".join(sorted(words(tool.name))))


def _by_schema(left: _Tools, free: _Tools) -> _Found:
    """One argument called `id` makes no likeness; two do, where no other tool has the same."""
    return _by_key(left, free, lambda tool: _arguments(tool) if len(_names(tool)) > 1 else "")


def _by_key(left: _Tools, free: _Tools, key: Callable[[ToolContract], str]) -> _Found:
    """Yield the tools that alone on both sides have the same key; an empty key is none."""
    before, after = _grouped(left, key), _grouped(free, key)
    for text, new_ids in after.items():
        old_ids = before.get(text, [])
        if text and len(new_ids) == len(old_ids) == 1:
            yield new_ids[0], old_ids[0]


def _grouped(tools: _Tools, key: Callable[[ToolContract], str]) -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {}
    for tool_id, tool in tools.items():
        grouped.setdefault(key(tool), []).append(tool_id)
    return grouped


def _by_likeness(left: _Tools, free: _Tools) -> _Found:
    if len(left) * len(free) > _MAX_PAIRS:
        return
    for new_id, new in free.items():
        for old_id, old in left.items():
            if are_similar(old.name, new.name) and _share_arguments(old, new):
                yield new_id, old_id


def _arguments(tool: ToolContract) -> str:
    return canonical(without_texts(tool.input_schema))


def _names(tool: ToolContract) -> set[str]:
    schema = tool.input_schema
    properties = schema.get("properties") if isinstance(schema, Mapping) else None
    return set(properties) if isinstance(properties, Mapping) else set()


def _share_arguments(old: ToolContract, new: ToolContract) -> bool:
    before, after = _names(old), _names(new)
    return not (before | after) or len(before & after) * 2 >= len(before | after)


def diff_added(tool: ToolContract) -> ToolDiff:
    """Return the entry of a tool that is new."""
    each = rule("tool_added")
    hints = effective_hints(tool.annotations)
    risks = [
        word
        for word, applies in (
            ("writes", writes(tool)),
            ("may destroy", writes(tool) and hints.destructive and tool.policy.effect is None),
            ("reaches the open world", _reaches_out(tool)),
        )
        if applies
    ]
    undeclared = writes(tool) and tool.policy.effect is None and not tool.annotations
    message = f"The tool {named(tool.tool_id)} is new."
    if risks:
        message += f" It {', '.join(risks)}{', as far as anything is declared' if undeclared else ''}."
    change = Change(
        path="discovery.tools",
        kind=each.id,
        classification=REVIEW if risks else COMPATIBLE,
        affects=each.affects[Side.TOOL],
        message=message,
        after=tool.name,
        location=tool.location,
    )
    return ToolDiff(
        tool_id=tool.tool_id,
        baseline=None,
        candidate=tool.version,
        baseline_fingerprint=None,
        candidate_fingerprint=tool.fingerprint,
        classification=change.classification,
        changes=(change,),
    )


def _reaches_out(tool: ToolContract) -> bool:
    """Tell whether a tool says that it reaches the open world, or says nothing and may write."""
    declared = tool.annotations.get("openWorldHint")
    if isinstance(declared, bool):
        return declared
    return writes(tool) and tool.policy.effect is None


def diff_removed(tool: ToolContract, aliases: Mapping[str, str], *, today: str) -> ToolDiff:
    """Return the entry of a tool that is gone: allowed when its date has passed or another answers to its name."""
    each = rule("tool_removed")
    excuse = _retired(tool, today)
    if not excuse and tool.name in aliases:
        excuse = f"{named(aliases[tool.name])} answers to its name."
    change = Change(
        path="discovery.tools",
        kind=each.id,
        classification=COMPATIBLE if excuse else each.grades[Side.TOOL],
        affects=each.affects[Side.TOOL],
        message=f"The tool {named(tool.tool_id)} is gone." + (f" {excuse}" if excuse else ""),
        before=tool.name,
        location=tool.location,
    )
    return ToolDiff(
        tool_id=tool.tool_id,
        baseline=tool.version,
        candidate=None,
        baseline_fingerprint=tool.fingerprint,
        candidate_fingerprint=None,
        classification=change.classification,
        changes=(change,),
    )


def diff_twice(base: ContractSet, head: ContractSet) -> Iterator[ToolDiff]:
    """Yield an entry for each tool that stands twice, in one version, where it did not before."""
    each = rule("tool_declared_twice")
    known = Counter((tool.tool_id, tool.version) for tool in base.tools)
    seen = Counter[tuple[str, int | str | None]]()
    for tool in head.tools:
        key = tool.tool_id, tool.version
        seen[key] += 1
        if seen[key] == 2 and known[key] < 2:
            change = Change(
                path="discovery.name",
                kind=each.id,
                classification=each.grades[Side.TOOL],
                affects=each.affects[Side.TOOL],
                message=f"The tool {named(tool.tool_id)} stands twice in the list.",
                after=tool.name,
                location=tool.location,
            )
            yield ToolDiff(
                tool_id=tool.tool_id,
                baseline=tool.version if known[key] else None,
                candidate=tool.version,
                baseline_fingerprint=None,
                candidate_fingerprint=tool.fingerprint,
                classification=change.classification,
                changes=(change,),
            )


def diff_orphans(removed: Sequence[ToolContract], tools: Sequence[ToolContract]) -> Iterator[ToolDiff]:
    """Yield an entry for each tool whose declared way to undo it is among those that are gone."""
    gone = {name for tool in removed for name in (tool.tool_id, tool.name)}
    each = rule("compensation_removed")
    for tool in tools if gone else ():
        undo = undo_of(tool)
        if isinstance(undo, str) and {undo, undo.rpartition("@")[0]} & gone:
            change = Change(
                path="policy.compensation",
                kind=each.id,
                classification=each.grades[Side.TOOL],
                affects=each.affects[Side.TOOL],
                message=f"{named(undo)}, which undoes this tool, is no longer among the tools.",
                before=undo,
                location=tool.places.get(("policy", "compensation"), tool.location),
            )
            yield ToolDiff(
                tool_id=tool.tool_id,
                baseline=tool.version,
                candidate=tool.version,
                baseline_fingerprint=tool.fingerprint,
                candidate_fingerprint=tool.fingerprint,
                classification=change.classification,
                changes=(change,),
            )


def aliases_of(tools: Sequence[ToolContract]) -> dict[str, str]:
    """Return the names that tools answer to besides their own, each with the name of its tool."""
    names: dict[str, str] = {}
    for tool in tools:
        meta = tool.extra.get("_meta")
        for holder in (tool.extra, meta if isinstance(meta, Mapping) else {}):
            aliases = holder.get("aliases")
            for alias in aliases if isinstance(aliases, list) else []:
                names.setdefault(str(alias), tool.name)
    return names


def diff_instructions(base: ContractSet, head: ContractSet) -> tuple[ToolDiff, ...]:
    """Return the entry for the server's instructions, when they changed and both sides could hold them."""
    before, after = base.instructions, head.instructions
    if same_prose(before, after) or not base.tools or not head.tools:
        return ()
    each = rule("instructions_changed")
    described = describe_change(before, after)
    change = Change(
        path="discovery.instructions",
        kind=each.id,
        classification=each.grades[Side.TOOL],
        affects=each.affects[Side.TOOL],
        message=described.summary,
        before=before,
        after=after,
        location=head.tools[0].location,
        notes=described.notes,
    )
    return (
        ToolDiff(
            tool_id=SERVER,
            baseline=None,
            candidate=None,
            baseline_fingerprint=base.fingerprint,
            candidate_fingerprint=head.fingerprint,
            classification=Classification.BEHAVIOR_SENSITIVE,
            changes=(change,),
        ),
    )


def replaced(tool: ToolContract) -> list[str]:
    """Return what a contract says it replaces: `tool_id@version`."""
    value = tool.compatibility.get("replaces")
    items = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [str(item) for item in items]


def passed_date(condition: Json, today: str) -> str | None:
    """Return the date of a retirement condition when it is one and has passed; conditions in words are not judged."""
    if isinstance(condition, Mapping):
        condition = next(
            (condition[key] for key in ("date", "after", "on", "sunset", "not_before") if key in condition), None
        )
    if not isinstance(condition, str):
        return None
    text = condition.strip()
    for word in ("after ", "on ", "from "):
        text = text.removeprefix(word)
    is_date = (
        len(text) >= 10
        and text[4] == text[7] == "-"
        and text[:10].replace("-", "").isdigit()
        and text[10:11] in ("", "T")
    )
    return text[:10] if is_date and text[:10] <= today else None


def _retired(tool: ToolContract, today: str) -> str:
    meta = tool.extra.get("_meta")
    holders = [tool.migration, tool.extra, tool.annotations, meta if isinstance(meta, Mapping) else {}]
    for holder in holders:
        for key in ("retire_when", *_RETIRED):
            date = passed_date(holder.get(key), today)
            if date:
                return f"Its retirement date, {date}, has passed."
    return ""
