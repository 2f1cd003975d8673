"""Names and descriptions: what a model chooses by."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from abs_gate.contracts.likeness import find_near_duplicates
from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.model import ToolContract
from abs_gate.contracts.renames import words
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json, Severity

AREA = "discovery lint"
_SCHEMA = {"type": "object", "properties": {"order_id": {"type": "string"}}}
_INTERCHANGEABLE = frozenset(
    {
        *("find", "get", "fetch", "list", "search", "lookup", "retrieve", "read", "show", "view", "query", "load"),
        *("create", "add", "make", "new", "insert", "update", "edit", "change", "modify", "set"),
        *("delete", "remove", "drop", "cancel", "the", "a", "an", "of", "one", "all", "by", "and", "or", "to", "tool"),
    }
)
"""Words that tell no two tools apart, without a plural's ending."""
_MANY_TOOLS = 20
"""OpenAI's guide suggests fewer than 20 functions at the start of a turn."""


def _tool(name: str = "find_order", description: str = "Finds one order by its number.", **more: Json) -> Json:
    return {"name": name, "description": description, "inputSchema": _SCHEMA, **more}


def _tools(*tools: Json) -> Json:
    return {"tools": list(tools)}


@lint_rule(
    "duplicate-tool",
    area=AREA,
    severity=Severity.ERROR,
    fix="Keep one of them: providers and hosts refuse a second tool of the same name, or pick either.",
    bad=_tools(_tool(), _tool(description="Finds an order otherwise.")),
    good=_tools(_tool(), _tool("cancel_order", "Cancels one order before it is sent.")),
)
def duplicate_tool(linted: LintedSet) -> Iterator[LintFact]:
    """Two tools have the same identity, or the same name for the model.

    Which of them a call reaches cannot be told. Several versions of one tool_id are not duplicates.
    """
    names: dict[str, str] = {}
    seen: dict[tuple[str, str], str] = {}
    for tool in linted.tools:
        key = tool.tool_id, str(tool.version)
        version = "" if tool.version is None else f" version {tool.version}"
        owner = names.setdefault(tool.name, tool.tool_id)
        if key in seen:
            yield LintFact(
                message=f"The tool {named(tool.tool_id)}{version} is declared twice; the first is at {seen[key]}.",
                tool=tool,
            )
        elif owner != tool.tool_id:
            yield LintFact(
                message=f"{named(owner)} and {named(tool.tool_id)} are both called {named(tool.name)}.",
                tool=tool,
                part=("discovery", "name"),
                args={"other": owner},
            )
        seen.setdefault(key, str(tool.location))


@lint_rule(
    "missing-description",
    area=AREA,
    severity=Severity.ERROR,
    fix="Say what the tool does, when to use it, when not to, and what it returns.",
    bad=_tool(description=" "),
    good=_tool(),
)
def missing_description(linted: LintedSet) -> Iterator[LintFact]:
    """A tool has no description.

    The model knows nothing of it but its name. Tools a provider hosts are described by the provider.
    """
    for tool in linted.tools:
        if not tool.description.strip() and not (tool.input_schema is None and "type" in tool.extra):
            yield LintFact(
                message=f"The tool {named(tool.tool_id)} has no description.",
                tool=tool,
                part=("discovery", "description"),
            )


@lint_rule(
    "thin-description",
    area=AREA,
    severity=Severity.WARNING,
    fix="Say when to use it, when not to, and what it returns: three or four sentences.",
    bad=_tool(description="Orders"),
    good=_tool(),
)
def thin_description(linted: LintedSet) -> Iterator[LintFact]:
    """The description is one word, or the name again.

    It says nothing that the name does not.
    """
    for tool in linted.tools:
        text = tool.description.strip()
        if text and (len(text.split()) == 1 or sorted(words(text)) == sorted(words(tool.name))):
            yield LintFact(
                message=f"The description of {named(tool.tool_id)} says no more than its name: {show(text)}.",
                tool=tool,
                part=("discovery", "description"),
            )


@lint_rule(
    "undescribed-argument",
    area=AREA,
    severity=Severity.INFO,
    fix="Say what it holds, in what form, and where the value comes from.",
    bad=_tool(inputSchema={"type": "object", "properties": {"q": {"type": "string"}}}),
    good=_tool(inputSchema={"type": "object", "properties": {"q": {"type": "string", "description": "Words."}}}),
)
def undescribed_argument(linted: LintedSet) -> Iterator[LintFact]:
    """An argument has no description.

    The model fills it in by its name alone.
    """
    for tool in linted.tools:
        bare = [node for node in linted.arguments(tool) if not node.schema.get("description")]
        missing = list(dict.fromkeys(node.name for node in bare if "$ref" not in node.schema))
        if missing:
            names = ", ".join(named(name) for name in missing[:6])
            more = f" and {len(missing) - 6} more" if len(missing) > 6 else ""
            yield LintFact(message=f"Arguments without a description: {names}{more}.", tool=tool, part=("input",))


@lint_rule(
    "confusable-tools",
    area=AREA,
    severity=Severity.WARNING,
    fix="Merge them, or say in each description when to use it and when the other.",
    bad=_tools(_tool("getOrder", "Finds one order by its number."), _tool("get_order", "Reads a customer's invoice.")),
    good=_tools(_tool("get_order"), _tool("cancel_order", "Cancels an order that was not sent yet.")),
)
def confusable_tools(linted: LintedSet) -> Iterator[LintFact]:
    """Two tools a model could take for one another: the same words in the name, or nearly the same description.

    A description that differs by a word of the name (`the status of invoices`) tells them apart; `find` and `get` do
    not. It picks a near neighbour, skips the right tool, or calls both.
    """
    tools = list({tool.tool_id: tool for tool in reversed(linted.tools)}.values())[::-1]
    pairs: set[tuple[int, int]] = set()
    by_words: dict[tuple[str, ...], int] = {}
    for index, tool in enumerate(tools):
        first = by_words.setdefault(tuple(sorted(words(tool.name))), index)
        if first != index and tools[first].name != tool.name:
            pairs.add((first, index))
            yield LintFact(
                message=f"{named(tools[first].name)} and {named(tool.name)} differ in spelling or word order only.",
                tool=tool,
                part=("discovery", "name"),
                args={"other": tools[first].name},
            )
    for right, lefts in _near_neighbours(tools, pairs).items():
        nearest, other = lefts[0], named(tools[right].name)
        others = ", ".join(map(named, lefts[:3])) + (f" and {len(lefts) - 3} more" if len(lefts) > 3 else "")
        yield LintFact(
            message=f"{named(nearest)} and {other} have nearly the same description."
            if len(lefts) == 1
            else f"{other} has nearly the same description as {others}.",
            tool=tools[right],
            part=("discovery", "description"),
            args={"other": nearest},
        )


def _near_neighbours(tools: Sequence[ToolContract], known: set[tuple[int, int]]) -> dict[int, list[str]]:
    """Return the names of earlier tools whose descriptions are like a tool's, by the place of the later one."""
    found: dict[int, list[str]] = {}
    for left, right in sorted(find_near_duplicates([tool.description for tool in tools], at_least=0.85)):
        if (left, right) not in known and not _are_told_apart(tools[left], tools[right]):
            found.setdefault(right, []).append(tools[left].name)
    return dict(sorted(found.items()))


def _are_told_apart(left: ToolContract, right: ToolContract) -> bool:
    """Whether a word that only one name has stands in that tool's description only."""
    names = _telling(left.name), _telling(right.name)
    texts = _telling(left.description), _telling(right.description)
    return bool((names[0] - names[1]) & (texts[0] - texts[1]) or (names[1] - names[0]) & (texts[1] - texts[0]))


def _telling(text: str) -> frozenset[str]:
    return frozenset(word.removesuffix("s") for word in words(text)) - _INTERCHANGEABLE


@lint_rule(
    "too-many-tools",
    area=AREA,
    severity=Severity.WARNING,
    fix="Offer fewer at once: merge tools that overlap, choose a set for the task, or load tools on demand.",
    bad=_tools(*(_tool(f"tool_{number}", f"Does thing number {number} to an order.") for number in range(21))),
    good=_tools(*(_tool(f"tool_{number}", f"Does thing number {number} to an order.") for number in range(20))),
)
def too_many_tools(linted: LintedSet) -> Iterator[LintFact]:
    """More than 20 tools are offered at once.

    Models choose worse among many, and every tool costs tokens with each request.
    """
    names = {tool.tool_id for tool in linted.tools}
    if len(names) > _MANY_TOOLS:
        yield LintFact(
            message=f"{len(names)} tools are offered at once; models choose worse among more than {_MANY_TOOLS}.",
            tool=linted.tools[0],
            is_of_set=True,
        )


@lint_rule(
    "no-output-schema",
    area=AREA,
    severity=Severity.INFO,
    fix="Declare what comes back, so that clients can check it and a change of it is seen.",
    bad=_tool(),
    good=_tool(outputSchema={"type": "object", "properties": {}}),
)
def no_output_schema(linted: LintedSet) -> Iterator[LintFact]:
    """A tool does not declare what it returns.

    A change of its results breaks consumers unseen. Only for formats that can declare it.
    """
    for tool in linted.tools:
        if tool.output_schema is None and tool.source in ("native", "mcp"):
            yield LintFact(message=f"{named(tool.tool_id)} does not declare what it returns.", tool=tool)


@lint_rule(
    "no-example",
    area=AREA,
    severity=Severity.INFO,
    fix="Add `examples` with the arguments of a typical call.",
    bad={"model_surface": {}},
    good={"model_surface": {"examples": [{"order_id": "ORD-1001"}]}},
)
def no_example(linted: LintedSet) -> Iterator[LintFact]:
    """An artifact has no example of a call.

    Examples show the model, and the reviewer, what a good call looks like.
    """
    for tool in linted.tools:
        if tool.source == "native" and not tool.examples:
            yield LintFact(message=f"{named(tool.tool_id)} has no example of a call.", tool=tool)
