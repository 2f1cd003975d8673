"""What a tool may do to the world, by MCP's hints and by what its arguments select."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from abs_gate.contracts.effective import HINTS, Hints, effective_hints, writes
from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.matching import property_step
from abs_gate.contracts.model import ToolContract
from abs_gate.contracts.plain import Pointer, SchemaReader
from abs_gate.contracts.renames import words
from abs_gate.contracts.rules.registry import REVIEW, SAFETY, tool_rule
from abs_gate.contracts.schemas import SchemaDocument
from abs_gate.contracts.schemas.values import canonical
from abs_gate.contracts.wording import named, show, show_all
from abs_gate.findings import Json

AREA = "authority"
_TOOL = {"name": "move_file", "description": "Moves a file.", "inputSchema": {"type": "object", "properties": {}}}


def _hinted(**hints: bool) -> Json:
    return {**_TOOL, "annotations": hints}


def _finder(
    hint: str, promised: Callable[[Hints], bool], *, withdrawn: bool, only_for_writes: bool
) -> Callable[[ToolPair], Iterator[ToolFact]]:
    def find(pair: ToolPair) -> Iterator[ToolFact]:
        old, new = effective_hints(pair.old.annotations), effective_hints(pair.new.annotations)
        if only_for_writes and (old.read_only or new.read_only):
            return
        if promised(old) is withdrawn and promised(new) is not withdrawn:
            before, after = _written(pair.old, hint), _written(pair.new, hint)
            yield ToolFact(
                path=f"annotations.{hint}",
                message=f"`{hint}` went from {before} to {after}.",
                before=pair.old.annotations.get(hint),
                after=pair.new.annotations.get(hint),
                part=("discovery", "annotations", hint),
            )

    return find


def _written(tool: ToolContract, hint: str) -> str:
    value = tool.annotations.get(hint)
    return show(value) if isinstance(value, bool) else f"absent, which means {show(HINTS[hint])},"


def _enter(hint: str, name: str, promised: Callable[[Hints], bool], *, good: bool, effect: str, claim: str) -> None:
    """Enter the two rules of one hint; `good` is its value where the promise holds."""
    only_for_writes = hint in ("destructiveHint", "idempotentHint")
    kept, broken = _hinted(**{hint: good}), _hinted(**{hint: not good})
    affects = ("recovery_policy",) if name == "idempotent" else ("approval_policy",)
    both = ("approval_policy", "recovery_policy") if name == "read_only" else affects
    withdrawn = _finder(hint, promised, withdrawn=True, only_for_writes=only_for_writes)
    withdrawn.__doc__ = (
        f"The promise behind `{hint}` was withdrawn: {effect}\n\n"
        "Effective values are compared, so a default that is spelled out is no change. The schema may be the same to "
        "the byte."
    )
    tool_rule(
        f"{name}_withdrawn",
        area=AREA,
        grade=SAFETY,
        affects=both,
        mirror=f"{name}_claimed",
        fix="Put the tool behind approval again, and offer the old promise under another name.",
        bad=(kept, broken),
        good=(broken, _TOOL),
    )(withdrawn)
    claimed = _finder(hint, promised, withdrawn=False, only_for_writes=only_for_writes)
    claimed.__doc__ = (
        f"The tool promises by `{hint}` what it did not promise before: {claim}\n\n"
        "A guard is relaxed on the word of the author. Hints are not guarantees."
    )
    tool_rule(
        f"{name}_claimed",
        area=AREA,
        grade=REVIEW,
        affects=affects,
        mirror=f"{name}_withdrawn",
        fix="Ask for evidence: a test that shows it, or the word of a code owner.",
        bad=(broken, kept),
        good=(_TOOL, broken),
    )(claimed)


_enter(
    "readOnlyHint",
    "read_only",
    lambda hints: hints.read_only,
    good=True,
    effect="a tool that only read may write now, and hosts that approved it by that hint go on running it unasked.",
    claim="that it only reads, so hosts may stop asking before they run it.",
)
_enter(
    "destructiveHint",
    "non_destructive",
    lambda hints: not hints.destructive,
    good=False,
    effect="a tool that only added may now overwrite or delete.",
    claim="that it never overwrites or deletes.",
)
_enter(
    "idempotentHint",
    "idempotent",
    lambda hints: hints.idempotent,
    good=True,
    effect="a repeat of the same call may now take effect twice, and retry policies repeat it.",
    claim="that a repeat has no further effect, so harnesses may start to retry it.",
)
_enter(
    "openWorldHint",
    "closed_world",
    lambda hints: not hints.open_world,
    good=False,
    effect="a tool that stayed inside may now reach the open world: data may leave, and untrusted text come in.",
    claim="that it reaches nothing outside.",
)

_MOST_PLACES = 1_000
"""Parts of a schema looked into for arguments that select an effect."""
_DISPATCH_NAMES = frozenset({"method", "action", "operation", "command", "mode", "op", "verb"})
_EFFECT_VERBS = frozenset(
    {
        *("add", "approve", "assign", "cancel", "close", "create", "delete", "deploy", "disable", "enable", "execute"),
        *("grant", "insert", "merge", "move", "overwrite", "pay", "post", "publish", "purge", "refund", "remove"),
        *("rename", "replace", "reset", "revoke", "run", "send", "set", "transfer", "update", "write", "get", "list"),
    }
)


def _dispatch_enums(tool: ToolContract) -> dict[str, list[Json]]:
    """Return the listed values of arguments that select what the tool does, by path; those of all branches as one."""
    reader = SchemaReader(SchemaDocument(tool.input_schema))
    enums: dict[str, list[Json]] = {}
    places: list[tuple[str, Pointer]] = [("", ())]
    seen: set[Pointer] = set()
    for path, pointer in places:
        form = reader.read(pointer)
        if form.pointer in seen or len(seen) > _MOST_PLACES:
            continue
        seen.add(form.pointer)
        places += [(path, branch) for branch in (*form.branches, *form.all_of)]
        places += [(f"{path}[]", form.single["items"])] if "items" in form.single else []
        for name, inner in form.properties.items():
            step = path + property_step(name)
            enum = reader.read(inner).enum
            if enum is None:
                places.append((step, inner))
            elif (words(name)[-1:] and words(name)[-1] in _DISPATCH_NAMES) or _are_verbs(list(enum)):
                enums[step] = [*enums.get(step, []), *enum]
    return enums


def _are_verbs(values: list[Json]) -> bool:
    first = [words(value)[:1] for value in values if isinstance(value, str)]
    return len(first) > 1 and all(word and word[0] in _EFFECT_VERBS for word in first)


@tool_rule(
    "dispatch_value_added",
    area=AREA,
    grade=REVIEW,
    affects=("approval_policy", "recovery_policy"),
    no_mirror="a value that went is reported as `enum_value_removed`",
    fix="Look at approvals that name this tool: they cover the new action too. Consider a tool of its own for it.",
    bad=(
        {**_TOOL, "inputSchema": {"type": "object", "properties": {"method": {"enum": ["create"]}}}},
        {**_TOOL, "inputSchema": {"type": "object", "properties": {"method": {"enum": ["create", "delete"]}}}},
    ),
    good=(
        {**_TOOL, "inputSchema": {"type": "object", "properties": {"colour": {"enum": ["red"]}}}},
        {**_TOOL, "inputSchema": {"type": "object", "properties": {"colour": {"enum": ["red", "blue"]}}}},
    ),
)
def dispatch_value_added(pair: ToolPair) -> Iterator[ToolFact]:
    """An argument that selects the action (`method`, `action`, `mode`, ...) of a tool that writes takes a new value.

    The same approval now covers a new effect: whoever allowed the tool by name allowed more than they saw.
    """
    if not writes(pair.new):
        return
    before = _dispatch_enums(pair.old)
    for path, values in _dispatch_enums(pair.new).items():
        known = {canonical(value) for value in before.get(path, [])}
        added = [value for value in values if canonical(value) not in known]
        if known and added:
            argument = named(path.removeprefix("."))
            yield ToolFact(
                path=f"input{path}",
                message=f"{argument} selects what the tool does and takes {show_all(added)} besides.",
                before=before[path],
                after=values,
                part=("input", "properties", path[1:]),
            )


_WRITES_FILE = re.compile(
    r"^(?:(?:output|out|save|dest|destination|target|download|export|log|dump|write)_?(?:file|path|dir|directory|folder|to|as)"
    r"|(?:(?:output|save|download|export)_)?file_?name|destination)$",
    re.IGNORECASE,
)


@tool_rule(
    "read_only_tool_takes_file",
    area=AREA,
    grade=REVIEW,
    affects=("approval_policy",),
    no_mirror="a property that went is reported as `property_removed`",
    fix="Find out whether the tool writes there. If it does, it is not read-only.",
    bad=(
        _hinted(readOnlyHint=True),
        {
            **_hinted(readOnlyHint=True),
            "inputSchema": {"type": "object", "properties": {"filename": {"type": "string"}}},
        },
    ),
    good=(
        _hinted(readOnlyHint=True),
        {**_hinted(readOnlyHint=True), "inputSchema": {"type": "object", "properties": {"path": {"type": "string"}}}},
    ),
)
def read_only_tool_takes_file(pair: ToolPair) -> Iterator[ToolFact]:
    """A tool that claims to be read-only takes a new argument that names a file to write.

    To write a file is an effect, whatever the hint says.
    """
    if writes(pair.new):
        return
    before = SchemaReader(SchemaDocument(pair.old.input_schema)).read()
    after_reader = SchemaReader(SchemaDocument(pair.new.input_schema))
    after = after_reader.read()
    for name in sorted(after.properties.keys() - before.properties.keys()):
        form = after_reader.read(after.properties[name])
        if _WRITES_FILE.match("_".join(words(name))) and form.allows("string") and form.enum is None:
            yield ToolFact(
                path=f"input{property_step(name)}",
                message=f"The tool claims to be read-only and takes {named(name)}, which looks like a file to write.",
                after=name,
                part=("input", "properties", name),
            )
