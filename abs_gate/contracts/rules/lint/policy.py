"""Authority, effect and idempotency of the tools of one set."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.contracts.effective import HINTS, effect_rank, effective_hints, writes
from abs_gate.contracts.idempotency import find_key
from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.model import Effect, SourceFormat, ToolContract
from abs_gate.contracts.renames import words
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json, Severity

AREA = "policy lint"
_WRITE_VERBS = frozenset(
    {
        *(
            "add",
            "approve",
            "cancel",
            "charge",
            "close",
            "create",
            "delete",
            "deploy",
            "drop",
            "edit",
            "grant",
            "insert",
        ),
        *("issue", "kill", "merge", "move", "pay", "post", "publish", "purge", "refund", "remove", "rename", "reset"),
        *("revoke", "send", "set", "submit", "transfer", "update", "upload", "write"),
    }
)
_READ_VERBS = frozenset(
    {
        *(
            "check",
            "count",
            "describe",
            "fetch",
            "find",
            "get",
            "list",
            "lookup",
            "query",
            "read",
            "retrieve",
            "return",
        ),
        *("search", "show", "view"),
    }
)
_ARGUMENTS = {"type": "object", "properties": {"key": {"type": "string"}}, "required": ["key"]}
_SAFE_WRITE: Json = {
    "model_surface": {"input_schema": _ARGUMENTS},
    "policy": {
        "effect": "irreversible_external_write",
        "required_scope": "refunds.write",
        "approval": "always",
        "idempotency_key": "key",
    },
}


def _write(**changes: Json) -> Json:
    policy = {key: value for key, value in {**_SAFE_WRITE["policy"], **changes}.items() if value is not None}
    return {**_SAFE_WRITE, "policy": policy}


def _declared_writes(linted: LintedSet) -> Iterator[ToolContract]:
    """Yield the artifacts that declare an effect beyond reading: bare lists cannot say who may do what."""
    for tool in linted.tools:
        if tool.source is SourceFormat.NATIVE and tool.policy.effect not in (None, Effect.READ_ONLY):
            yield tool


@lint_rule(
    "write-without-scope",
    area=AREA,
    severity=Severity.ERROR,
    fix="Name the scope a caller needs in `policy.required_scope`.",
    bad=_write(required_scope=None),
    good=_SAFE_WRITE,
)
def write_without_scope(linted: LintedSet) -> Iterator[LintFact]:
    """A tool writes and names no authority it needs.

    Then it runs with whatever the service account may do.
    """
    for tool in _declared_writes(linted):
        if not tool.policy.required_scopes:
            yield LintFact(
                message=f"{named(tool.tool_id)} writes and names no scope.",
                tool=tool,
                part=("policy", "required_scope"),
            )


@lint_rule(
    "write-without-approval",
    area=AREA,
    severity=Severity.ERROR,
    fix="Say in `policy.approval` who is asked and when: `always`, `never`, or a rule with a threshold.",
    bad=_write(approval=None),
    good=_SAFE_WRITE,
)
def write_without_approval(linted: LintedSet) -> Iterator[LintFact]:
    """A tool writes and does not say whether anybody approves it.

    A warning for writes that can be taken back. `never` is an answer; silence is none.
    """
    for tool in _declared_writes(linted):
        if tool.policy.approval is None:
            is_hard = effect_rank(tool.policy.effect or Effect.READ_ONLY) >= effect_rank(Effect.HARD_TO_REVERSE_WRITE)
            yield LintFact(
                message=f"{named(tool.tool_id)} writes and does not say whether anybody approves it.",
                tool=tool,
                part=("policy", "approval"),
                severity=None if is_hard else Severity.WARNING,
            )


@lint_rule(
    "write-without-idempotency-key",
    area=AREA,
    severity=Severity.ERROR,
    fix="Name the argument that carries the key in `policy.idempotency_key`, or say `idempotentHint: true` if a repeat "
    "changes nothing by nature.",
    bad={
        "model_surface": {"input_schema": {"type": "object", "properties": {}}},
        "policy": {key: value for key, value in _SAFE_WRITE["policy"].items() if key != "idempotency_key"},
    },
    good=_SAFE_WRITE,
)
def write_without_idempotency_key(linted: LintedSet) -> Iterator[LintFact]:
    """A tool writes and has nothing by which a repeat is recognised.

    Harnesses retry after timeouts, and models call twice: two refunds, two messages.
    """
    for tool in _declared_writes(linted):
        if find_key(tool) is None and not effective_hints(tool.annotations).idempotent:
            yield LintFact(
                message=f"{named(tool.tool_id)} writes and has no idempotency key.",
                tool=tool,
                part=("policy", "idempotency_key"),
            )


@lint_rule(
    "optional-idempotency-key",
    area=AREA,
    severity=Severity.WARNING,
    fix="Make it required, or have the harness generate it once for each logical write.",
    bad={**_SAFE_WRITE, "model_surface": {"input_schema": {**_ARGUMENTS, "required": []}}},
    good=_SAFE_WRITE,
)
def optional_idempotency_key(linted: LintedSet) -> Iterator[LintFact]:
    """The idempotency key of a tool that writes may be left out.

    What models may leave out, they leave out; the repeat then applies twice.
    """
    for tool in linted.tools:
        key = find_key(tool)
        if key and key.is_argument and not key.is_required and writes(tool):
            if effective_hints(tool.annotations).idempotent:
                continue
            yield LintFact(
                message=f"The idempotency key {named(key.name)} may be left out.",
                tool=tool,
                part=("input", "properties", key.name),
            )


@lint_rule(
    "idempotency-key-unknown",
    area=AREA,
    severity=Severity.WARNING,
    fix='Name an argument of the input schema, or write `{header: "Idempotency-Key"}` if it travels beside them.',
    bad=_write(idempotency_key="action_id"),
    good=_SAFE_WRITE,
)
def idempotency_key_unknown(linted: LintedSet) -> Iterator[LintFact]:
    """`policy.idempotency_key` names no argument of the tool.

    Nobody can send the key, unless it is a header, which the policy should say.
    """
    for tool in linted.tools:
        declared = tool.policy.idempotency_key
        key = find_key(tool)
        is_header = isinstance(declared, Mapping) and "header" in declared
        if key and key.is_declared and not key.is_argument and not is_header:
            yield LintFact(
                message=f"The idempotency key {named(key.name)} is no argument of the tool.",
                tool=tool,
                part=("policy", "idempotency_key"),
            )


@lint_rule(
    "effect-undeclared",
    area=AREA,
    severity=Severity.WARNING,
    fix="Declare `policy.effect`.",
    bad={"policy": {}},
    good={"policy": {"effect": "read_only"}},
)
def effect_undeclared(linted: LintedSet) -> Iterator[LintFact]:
    """An artifact does not say what its tool does to the world.

    It counts as a write that cannot be taken back, so every guard applies to it.
    """
    for tool in linted.tools:
        if tool.source is SourceFormat.NATIVE and tool.policy.effect is None and not tool.annotations:
            yield LintFact(
                message=f"{named(tool.tool_id)} does not declare its effect and counts as an irreversible write.",
                tool=tool,
                part=("policy", "effect"),
            )


@lint_rule(
    "hints-undeclared",
    area=AREA,
    severity=Severity.INFO,
    fix="Declare `readOnlyHint`, `destructiveHint`, `idempotentHint` and `openWorldHint`.",
    bad={"name": "find_order", "description": "Finds one order.", "inputSchema": {"type": "object", "properties": {}}},
    good={
        "name": "find_order",
        "description": "Finds one order.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
)
def hints_undeclared(linted: LintedSet) -> Iterator[LintFact]:
    """An MCP tool has no annotations.

    By the specification's defaults hosts take it for one that may destroy and reaches the open world.
    """
    for tool in linted.tools:
        if tool.source is SourceFormat.MCP and not tool.annotations.keys() & HINTS.keys():
            yield LintFact(message=f"{named(tool.tool_id)} counts as a destructive write: it has no hints.", tool=tool)


@lint_rule(
    "hint-not-boolean",
    area=AREA,
    severity=Severity.ERROR,
    fix="Write true or false.",
    bad={
        "name": "find_order",
        "description": "Finds one order.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": "yes"},
    },
    good={
        "name": "find_order",
        "description": "Finds one order.",
        "inputSchema": {"type": "object", "properties": {}},
        "annotations": {"readOnlyHint": True},
    },
)
def hint_not_boolean(linted: LintedSet) -> Iterator[LintFact]:
    """A hint is neither true nor false.

    Hosts ignore it, or take any text for true.
    """
    for tool in linted.tools:
        for hint in HINTS:
            if hint in tool.annotations and not isinstance(tool.annotations[hint], bool):
                yield LintFact(
                    message=f"`{hint}` is {show(tool.annotations[hint])}, neither true nor false.",
                    tool=tool,
                    part=("discovery", "annotations", hint),
                )


@lint_rule(
    "read-only-contradiction",
    area=AREA,
    severity=Severity.ERROR,
    fix="Correct whichever of the two is wrong.",
    bad={"policy": {"effect": "irreversible_external_write"}, "annotations": {"readOnlyHint": True}},
    good={"policy": {"effect": "read_only"}, "annotations": {"readOnlyHint": True}},
)
def read_only_contradiction(linted: LintedSet) -> Iterator[LintFact]:
    """The hint and the declared effect disagree on whether the tool only reads.

    Hosts go by the hint and run a write unasked. That a name says so (`delete_order`) is a warning.
    """
    for tool in linted.tools:
        hint = tool.annotations.get("readOnlyHint")
        effect = tool.policy.effect
        if isinstance(hint, bool) and effect is not None and hint is not (effect is Effect.READ_ONLY):
            yield LintFact(
                message=f"`readOnlyHint` is {show(hint)} and the effect is {show(effect)}.",
                tool=tool,
                part=("policy", "effect"),
            )
        elif not writes(tool) and _is_named_as_write(tool):
            yield LintFact(
                message=f"{named(tool.tool_id)} claims to be read-only, and its name says that it writes.",
                tool=tool,
                part=("discovery", "annotations", "readOnlyHint") if effect is None else ("policy", "effect"),
                severity=Severity.WARNING,
            )


def _is_named_as_write(tool: ToolContract) -> bool:
    """Whether the name begins with a verb that writes; `issue_read`, or "Get an issue", says that it is a noun."""
    verb, *others = words(tool.name) or ("",)
    said = {word.removesuffix("s") for word in words(tool.description)[:1]}
    return verb in _WRITE_VERBS and not _READ_VERBS & {*others, *said}
