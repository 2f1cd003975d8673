"""What the model reads before it picks a tool, and how hosts show and run it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.contracts.effective import HINTS
from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.model import SourceFormat, ToolContract
from abs_gate.contracts.prose import describe_change, same_prose
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, REVIEW, tool_rule
from abs_gate.contracts.schemas.values import same
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "discovery"
_OBJECT = {"type": "object", "properties": {}}
_TOOL = {"name": "get_order", "description": "Finds one order by its number.", "inputSchema": _OBJECT}
_FIND: Json = {"name": "find", "description": "Finds one order.", "input_schema": _OBJECT}
_DISPLAY = ("icons", "_meta", "cache_control")


def _surface(**fields: Json) -> Json:
    return {"model_surface": fields}


@tool_rule(
    "tool_renamed",
    area=AREA,
    grade=BREAKING,
    affects=("model_arguments", "saved_runs", "adapter", "approval_policy", "model_selection"),
    no_mirror="its own opposite",
    fix="Answer to the old name too until saved work has drained.",
    bad=(_surface(name="refund"), _surface(name="issue_refund")),
    good=(_surface(name="refund"), _surface(name="refund", title="Refund")),
)
def tool_renamed(pair: ToolPair) -> Iterator[ToolFact]:
    """The name that models call the tool by changed.

    Saved calls, prompts, allow-lists and adapters name the old one. For bare lists a tool that went and one that came
    with equal arguments or a like name are taken for one that was renamed.
    """
    if pair.old.name != pair.new.name:
        yield ToolFact(
            path="discovery.name",
            message=f"{named(pair.old.name)} is now called {named(pair.new.name)}.",
            before=pair.old.name,
            after=pair.new.name,
            part=("discovery", "name"),
        )


@tool_rule(
    "description_changed",
    area=AREA,
    grade=REVIEW,
    affects=("model_selection",),
    no_mirror="its own opposite",
    fix="Run the sessions that choose between this tool and its neighbours against the new text.",
    bad=(_surface(description="Finds one order by number."), _surface(description="Finds one order by its number.")),
    good=(_surface(description="Finds  one order."), _surface(description="Finds one order.\n")),
)
def description_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The description changed: the text by which models choose among tools.

    A small change can move calls to or from a neighbour. Named besides: new orders to the model, new addresses, hidden
    characters, numbers that changed, growth beyond twice the length.
    """
    before, after = pair.old.description, pair.new.description
    if not same_prose(before, after):
        change = describe_change(before, after)
        yield ToolFact(
            path="discovery.description",
            message=change.summary,
            before=before,
            after=after,
            part=("discovery", "description"),
            notes=change.notes,
        )


@tool_rule(
    "examples_changed",
    area=AREA,
    grade=REVIEW,
    affects=("model_selection", "model_arguments"),
    no_mirror="its own opposite",
    fix="Run the sessions that use this tool against the new examples.",
    bad=(_surface(examples=[{"order_id": "A"}]), _surface(examples=[{"order_id": "B"}])),
    good=(_surface(examples=[{"a": 1, "b": 2}]), _surface(examples=[{"b": 2, "a": 1}])),
)
def examples_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The examples of the tool changed.

    Models copy them: when to call, with what.
    """
    if not same(pair.old.examples, pair.new.examples):
        yield ToolFact(
            path="discovery.examples",
            message="The examples changed.",
            before=pair.old.examples,
            after=pair.new.examples,
            part=("discovery", "examples"),
        )


@tool_rule(
    "title_changed",
    area=AREA,
    grade=COMPATIBLE,
    affects=("model_selection",),
    no_mirror="its own opposite",
    fix="Nothing, unless people approve calls by this title.",
    bad=({**_TOOL, "title": "Order"}, {**_TOOL, "title": "Find an order"}),
    good=({**_TOOL, "title": "Order"}, {**_TOOL, "title": "Order "}),
)
def title_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The title that people see changed.

    Models call by name, not by title.
    """
    for path, part, before, after in (
        ("discovery.title", ("discovery", "title"), pair.old.title, pair.new.title),
        ("annotations.title", ("discovery", "annotations", "title"), *_annotation_titles(pair)),
    ):
        if not same_prose(before, after):
            message = f"The title went from {show(before)} to {show(after)}."
            yield ToolFact(path=path, message=message, before=before, after=after, part=part)


def _annotation_titles(pair: ToolPair) -> tuple[str | None, str | None]:
    before, after = pair.old.annotations.get("title"), pair.new.annotations.get("title")
    return (before if isinstance(before, str) else None, after if isinstance(after, str) else None)


@tool_rule(
    "annotation_changed",
    area=AREA,
    grade=REVIEW,
    affects=("approval_policy",),
    no_mirror="its own opposite",
    fix="Find out what hosts make of it.",
    bad=({**_TOOL, "annotations": {"costHint": "low"}}, {**_TOOL, "annotations": {"costHint": "high"}}),
    good=({**_TOOL, "annotations": {"costHint": 1}}, {**_TOOL, "annotations": {"costHint": 1.0}}),
)
def annotation_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """An annotation that is none of MCP's four hints changed.

    What is not understood is never called compatible.
    """
    known = {"title", *HINTS}
    for key in sorted((pair.old.annotations.keys() | pair.new.annotations.keys()) - known):
        before, after = pair.old.annotations.get(key), pair.new.annotations.get(key)
        if not same(before, after):
            yield ToolFact(
                path=f"annotations.{key}",
                message=f"The annotation {named(key)} went from {show(before)} to {show(after)}.",
                before=before,
                after=after,
                part=("discovery", "annotations", key),
            )


@tool_rule(
    "display_changed",
    area=AREA,
    grade=COMPATIBLE,
    affects=("adapter",),
    no_mirror="its own opposite",
    fix="Nothing.",
    bad=(_TOOL, {**_TOOL, "icons": [{"src": "data:image/png;base64,AA=="}]}),
    good=({**_TOOL, "icons": [{"a": 1, "b": 2}]}, {**_TOOL, "icons": [{"b": 2, "a": 1}]}),
)
def display_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """Icons or other data for hosts and caches (`icons`, `_meta`, `cache_control`) changed.

    Models do not see them.
    """
    for key in _DISPLAY:
        before, after = pair.old.extra.get(key), pair.new.extra.get(key)
        if not same(before, after) and not _hides(pair):
            yield ToolFact(
                path=f"discovery.{key}",
                message=f"`{key}` changed, which models do not see.",
                before=before,
                after=after,
                part=("discovery", key),
            )


@tool_rule(
    "hidden_from_model",
    area=AREA,
    grade=BREAKING,
    affects=("model_selection", "saved_runs"),
    mirror="shown_to_model",
    fix="Keep `model` in `_meta.ui.visibility`, or remove the tool openly.",
    bad=(
        {**_TOOL, "_meta": {"ui": {"visibility": ["model", "app"]}}},
        {**_TOOL, "_meta": {"ui": {"visibility": ["app"]}}},
    ),
    good=(_TOOL, {**_TOOL, "_meta": {"ui": {"visibility": ["app", "model"]}}}),
)
def hidden_from_model(pair: ToolPair) -> Iterator[ToolFact]:
    """`_meta.ui.visibility` no longer names the model.

    For the model the tool is gone, though the list still has it.
    """
    if _hides(pair):
        yield ToolFact(
            path="discovery._meta.ui.visibility",
            message="The tool is no longer visible to the model.",
            before=_visibility(pair.old),
            after=_visibility(pair.new),
            part=("discovery", "_meta", "ui", "visibility"),
        )


@tool_rule(
    "shown_to_model",
    area=AREA,
    grade=REVIEW,
    affects=("model_selection", "approval_policy"),
    mirror="hidden_from_model",
    fix="Treat it as a tool that was added.",
    bad=(
        {**_TOOL, "_meta": {"ui": {"visibility": ["app"]}}},
        {**_TOOL, "_meta": {"ui": {"visibility": ["model"]}}},
    ),
    good=({**_TOOL, "_meta": {"ui": {"visibility": ["app", "model"]}}}, _TOOL),
)
def shown_to_model(pair: ToolPair) -> Iterator[ToolFact]:
    """`_meta.ui.visibility` names the model, which it did not.

    For the model this is a new tool beside the others.
    """
    if not _is_visible(pair.old) and _is_visible(pair.new):
        yield ToolFact(
            path="discovery._meta.ui.visibility",
            message="The tool is visible to the model now.",
            before=_visibility(pair.old),
            after=_visibility(pair.new),
            part=("discovery", "_meta", "ui", "visibility"),
        )


def _hides(pair: ToolPair) -> bool:
    return _is_visible(pair.old) and not _is_visible(pair.new)


def _visibility(tool: ToolContract) -> Json:
    meta = tool.extra.get("_meta")
    ui = meta.get("ui") if isinstance(meta, Mapping) else None
    return ui.get("visibility") if isinstance(ui, Mapping) else None


def _is_visible(tool: ToolContract) -> bool:
    visibility = _visibility(tool)
    return not isinstance(visibility, list) or "model" in visibility


@tool_rule(
    "task_support_changed",
    area=AREA,
    grade=BREAKING,
    affects=("adapter", "recovery_policy"),
    no_mirror="its own opposite",
    fix="Move by way of `optional`, which serves both kinds of client.",
    bad=({**_TOOL, "execution": {"taskSupport": "optional"}}, {**_TOOL, "execution": {"taskSupport": "required"}}),
    good=(_TOOL, {**_TOOL, "execution": {"taskSupport": "forbidden"}}),
)
def task_support_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """Whether the tool runs as a task (MCP 2025-11-25, `execution.taskSupport`) changed; absent means forbidden.

    To `optional` is compatible: it serves both kinds of client. Otherwise those of one kind can no longer call it.
    """
    before, after = _task_support(pair.old), _task_support(pair.new)
    if before != after:
        yield ToolFact(
            path="runtime.taskSupport",
            message=f"Support for tasks went from {show(before)} to {show(after)}.",
            before=before,
            after=after,
            part=("discovery", "execution", "taskSupport"),
            grade=COMPATIBLE if after == "optional" else None,
        )


def _task_support(tool: ToolContract) -> Json:
    execution = tool.extra.get("execution")
    support = execution.get("taskSupport") if isinstance(execution, Mapping) else None
    return "forbidden" if support is None else support


@tool_rule(
    "strict_disabled",
    area=AREA,
    grade=REVIEW,
    affects=("model_arguments", "provider"),
    mirror="strict_enabled",
    fix="Keep strict mode: without it arguments may not fit the schema.",
    bad=(_surface(strict=True), _surface(strict=False)),
    good=(_surface(strict=False), _surface()),
)
def strict_disabled(pair: ToolPair) -> Iterator[ToolFact]:
    """Strict mode was switched off.

    The provider no longer holds the model to the schema: wrong types and missing arguments come back.
    """
    if pair.old.strict and not pair.new.strict:
        message = "Strict mode was switched off."
        yield ToolFact(path="discovery.strict", message=message, before=True, after=False, part=("discovery", "strict"))


@tool_rule(
    "strict_enabled",
    area=AREA,
    grade=REVIEW,
    affects=("model_arguments", "provider"),
    mirror="strict_disabled",
    fix="Lint with the provider's strict profile, and see that no optional argument became required.",
    bad=(_surface(), _surface(strict=True)),
    good=(_surface(strict=True), _surface(strict=True)),
)
def strict_enabled(pair: ToolPair) -> Iterator[ToolFact]:
    """Strict mode was switched on.

    Converters then tend to mark every argument as required, and models fill in what they do not know.
    """
    if pair.new.strict and not pair.old.strict:
        message = "Strict mode was switched on."
        yield ToolFact(path="discovery.strict", message=message, before=False, after=True, part=("discovery", "strict"))


@tool_rule(
    "contract_field_changed",
    area=AREA,
    grade=REVIEW,
    affects=("adapter",),
    no_mirror="its own opposite",
    fix="Find out who reads the field.",
    bad=({"x-team": "billing"}, {"x-team": "payments"}),
    good=({"x-level": 1}, {"x-level": 1.0}),
)
def contract_field_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """A field of the contract that no other rule knows came, went or changed.

    What is not understood is never called compatible.
    """
    old, new = _other_fields(pair.old), _other_fields(pair.new)
    for key in sorted(old.keys() | new.keys()):
        before, after = old.get(key), new.get(key)
        if not same(before, after):
            yield ToolFact(
                path=f"discovery.{key}",
                message=f"The field {named(key)} went from {show(before)} to {show(after)}.",
                before=before,
                after=after,
                part=(key,) if pair.new.source is SourceFormat.NATIVE else ("discovery", key),
            )


def _other_fields(tool: ToolContract) -> dict[str, Json]:
    """Return what no other rule speaks of."""
    fields = {key: value for key, value in tool.extra.items() if key not in _DISPLAY}
    if fields.get("defer_loading") is False:  # as if it were absent
        del fields["defer_loading"]
    execution = fields.pop("execution", None)
    if isinstance(execution, Mapping):
        rest = {key: value for key, value in execution.items() if key != "taskSupport"}
        return {**fields, **({"execution": rest} if rest else {})}
    return fields if execution is None else {**fields, "execution": execution}


@tool_rule(
    "tool_id_changed",
    area=AREA,
    grade=BREAKING,
    affects=("adapter", "saved_runs", "approval_policy"),
    no_mirror="its own opposite",
    fix="Keep the `tool_id`: traces, release manifests and paused runs name it.",
    bad=({"tool_id": "orders.find", "model_surface": _FIND}, {"tool_id": "shop.find", "model_surface": _FIND}),
    good=({"tool_id": "orders.find", "model_surface": _FIND}, {"tool_id": "orders.find", "model_surface": _FIND}),
)
def tool_id_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The tool_id of an artifact is another one, under the same name for models.

    What was recorded under the old identity no longer leads here.
    """
    is_artifact = pair.old.source is SourceFormat.NATIVE and pair.new.source is SourceFormat.NATIVE
    if is_artifact and pair.old.tool_id != pair.new.tool_id:
        yield ToolFact(
            path="tool_id",
            message=f"{named(pair.old.tool_id)} is now {named(pair.new.tool_id)}.",
            before=pair.old.tool_id,
            after=pair.new.tool_id,
            part=("tool_id",),
        )
