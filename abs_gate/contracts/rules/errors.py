"""Declared errors: what recovery relies on."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.contracts.facts import ToolFact, ToolPair
from abs_gate.contracts.model import ErrorSpec, ToolContract
from abs_gate.contracts.prose import same_prose
from abs_gate.contracts.rules.registry import BREAKING, COMPATIBLE, REVIEW, SAFETY, tool_rule
from abs_gate.contracts.schemas.values import same
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json

AREA = "errors"
_RECOVERY = ("recovery_policy",)
_EFFECT_KEYS = ("effect_applied", "effect", "applied")
_NOT_APPLIED = frozenset({"no", "none", "not_applied", "never", "false"})
PAYLOAD_KEYS = ("schema", "payload_schema", "data_schema")
"""Under which an error may declare the schema of what comes with it."""


def _errors(*errors: Json) -> Json:
    return {"errors": list(errors)}


def _by_code(tool: ToolContract) -> dict[str, ErrorSpec]:
    return {error.code: error for error in tool.errors}


def _kept(pair: ToolPair) -> Iterator[tuple[ErrorSpec, ErrorSpec]]:
    old = _by_code(pair.old)
    for error in pair.new.errors:
        if error.code in old:
            yield old[error.code], error


def _renamed(pair: ToolPair) -> tuple[str, str] | None:
    """Return the code that went and the one that came, when it is one of each and they are alike."""
    old, new = _by_code(pair.old), _by_code(pair.new)
    gone, come = sorted(old.keys() - new.keys()), sorted(new.keys() - old.keys())
    if len(gone) != 1 or len(come) != 1:
        return None
    before, after = old[gone[0]], new[come[0]]
    alike = (before.retryable, before.user_action, before.retry_after_source) == (
        after.retryable,
        after.user_action,
        after.retry_after_source,
    )
    return (gone[0], come[0]) if alike else None


@tool_rule(
    "error_added",
    area=AREA,
    grade=REVIEW,
    affects=_RECOVERY,
    mirror="error_removed",
    fix="Teach recovery what to do about it, and the sessions what the agent should say.",
    bad=(_errors({"code": "A"}), _errors({"code": "A"}, {"code": "B", "retryable": True})),
    good=(_errors({"code": "A"}, {"code": "B"}), _errors({"code": "B"}, {"code": "A"})),
)
def error_added(pair: ToolPair) -> Iterator[ToolFact]:
    """A new error code is declared.

    Handlers that know every code meet one they do not know. Breaking where the contract says that the set is closed
    (`errors_closed: true`).
    """
    known = _by_code(pair.old)
    renamed = _renamed(pair)
    for error in pair.new.errors:
        if error.code not in known and (renamed is None or renamed[1] != error.code):
            yield ToolFact(
                path=f"errors.{error.code}",
                message=f"The error {named(error.code)} is new.",
                after=_plain(error),
                part=("errors", error.code),
                grade=BREAKING if pair.old.extra.get("errors_closed") is True else None,
            )


@tool_rule(
    "error_removed",
    area=AREA,
    grade=COMPATIBLE,
    affects=_RECOVERY,
    mirror="error_added",
    fix="Drop the handler when no old version runs any more.",
    bad=(_errors({"code": "A"}, {"code": "B", "retryable": True}), _errors({"code": "A"})),
    good=(_errors({"code": "A"}), {"errors": {"A": None}}),
)
def error_removed(pair: ToolPair) -> Iterator[ToolFact]:
    """An error code is no longer declared.

    Its handler is dead code.
    """
    left = _by_code(pair.new)
    renamed = _renamed(pair)
    for error in pair.old.errors:
        if error.code not in left and (renamed is None or renamed[0] != error.code):
            yield ToolFact(
                path=f"errors.{error.code}",
                message=f"The error {named(error.code)} is gone.",
                before=_plain(error),
                part=("errors",),
            )


@tool_rule(
    "error_renamed",
    area=AREA,
    grade=BREAKING,
    affects=("recovery_policy", "consumers"),
    no_mirror="its own opposite",
    fix="Keep the code: it is what programs compare. Change the message instead.",
    bad=(_errors({"code": "TIMEOUT", "retryable": True}), _errors({"code": "PROVIDER_TIMEOUT", "retryable": True})),
    good=(_errors({"code": "TIMEOUT"}), _errors({"code": "TIMEOUT"})),
)
def error_renamed(pair: ToolPair) -> Iterator[ToolFact]:
    """An error code went and one that is handled alike came, by all appearances the same error.

    Recovery and consumers compare the old code and find no match.
    """
    renamed = _renamed(pair)
    if renamed:
        yield ToolFact(
            path=f"errors.{renamed[1]}",
            message=f"The error {named(renamed[0])} is now called {named(renamed[1])}, by all appearances.",
            before=renamed[0],
            after=renamed[1],
            part=("errors", renamed[1]),
        )


@tool_rule(
    "retryability_changed",
    area=AREA,
    grade=BREAKING,
    affects=_RECOVERY,
    no_mirror="its own opposite",
    fix="Use a new code for the new meaning.",
    bad=(_errors({"code": "A", "retryable": True}), _errors({"code": "A", "retryable": False})),
    good=(_errors({"code": "A", "retryable": False}), _errors({"code": "A"})),
)
def retryability_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """Whether a call may be repeated after an error changed; not declared counts as not.

    No longer retryable is breaking: the policy keeps repeating what cannot succeed. Retryable now is safety-breaking:
    a write may be applied twice.
    """
    for old, new in _kept(pair):
        before, after = old.retryable is True, new.retryable is True
        if before != after:
            yield ToolFact(
                path=f"errors.{new.code}",
                message=f"`retryable` of {named(new.code)} went from {show(old.retryable)} to {show(new.retryable)}.",
                before=old.retryable,
                after=new.retryable,
                part=("errors", new.code, "retryable"),
                grade=SAFETY if after else None,
            )


@tool_rule(
    "error_effect_uncertain",
    area=AREA,
    grade=SAFETY,
    affects=_RECOVERY,
    mirror="error_effect_certain",
    fix="Keep the promise that nothing was applied, or use a new code for the case where it may have been.",
    bad=(_errors({"code": "A", "effect_applied": "no"}), _errors({"code": "A", "effect_applied": "unknown"})),
    good=(_errors({"code": "A", "effect_applied": "no"}), _errors({"code": "A", "effect_applied": False})),
)
def error_effect_uncertain(pair: ToolPair) -> Iterator[ToolFact]:
    """After this error the effect was certainly not applied; now it may have been.

    A repeat, harmless until now, may take effect twice.
    """
    yield from _effect_facts(pair, certain_before=True)


@tool_rule(
    "error_effect_certain",
    area=AREA,
    grade=REVIEW,
    affects=_RECOVERY,
    mirror="error_effect_uncertain",
    fix="Ask for a test that shows that nothing is applied.",
    bad=(_errors({"code": "A", "effect_applied": "unknown"}), _errors({"code": "A", "effect_applied": "no"})),
    good=(_errors({"code": "A", "effect_applied": False}), _errors({"code": "A", "effect_applied": "no"})),
)
def error_effect_certain(pair: ToolPair) -> Iterator[ToolFact]:
    """The contract promises that nothing was applied when this error comes, which it did not.

    Recovery may start to repeat calls on that word.
    """
    yield from _effect_facts(pair, certain_before=False)


def _effect_facts(pair: ToolPair, *, certain_before: bool) -> Iterator[ToolFact]:
    for old, new in _kept(pair):
        for key in _EFFECT_KEYS:
            before, after = old.extra.get(key), new.extra.get(key)
            certain = _is_not_applied(before), _is_not_applied(after)
            if certain == (certain_before, not certain_before):
                yield ToolFact(
                    path=f"errors.{new.code}",
                    message=f"`{key}` of {named(new.code)} went from {show(before)} to {show(after)}.",
                    before=before,
                    after=after,
                    part=("errors", new.code, key),
                )


def _is_not_applied(value: Json) -> bool:
    return value is not None and str(value).lower() in _NOT_APPLIED


@tool_rule(
    "error_action_changed",
    area=AREA,
    grade=REVIEW,
    affects=_RECOVERY,
    no_mirror="its own opposite",
    fix="Run the sessions in which this error comes.",
    bad=(
        _errors({"code": "A", "user_action": "verify_order"}),
        _errors({"code": "A", "user_action": "contact_support"}),
    ),
    good=(_errors({"code": "A", "user_action": "verify_order"}), _errors({"code": "A", "user_action": "verify_order"})),
)
def error_action_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """What the user shall do after an error changed, or where the time to wait is read from.

    The agent says and does something else.
    """
    for old, new in _kept(pair):
        for key, before, after in (
            ("user_action", old.user_action, new.user_action),
            ("retry_after_source", old.retry_after_source, new.retry_after_source),
        ):
            if before != after:
                yield ToolFact(
                    path=f"errors.{new.code}",
                    message=f"`{key}` of {named(new.code)} went from {show(before)} to {show(after)}.",
                    before=before,
                    after=after,
                    part=("errors", new.code, key),
                )


@tool_rule(
    "error_message_changed",
    area=AREA,
    grade=REVIEW,
    affects=("model_selection",),
    no_mirror="its own opposite",
    fix="Run the sessions in which this error comes.",
    bad=(_errors({"code": "A", "message": "Try again."}), _errors({"code": "A", "message": "Give up."})),
    good=(_errors({"code": "A", "message": "Try again."}), _errors({"code": "A", "message": "Try  again. "})),
)
def error_message_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """The text of an error changed.

    The model reads it and decides what to do next.
    """
    for old, new in _kept(pair):
        if not same_prose(old.message, new.message):
            yield ToolFact(
                path=f"errors.{new.code}",
                message=f"The text of {named(new.code)} changed.",
                before=old.message,
                after=new.message,
                part=("errors", new.code, "message"),
            )


@tool_rule(
    "error_detail_changed",
    area=AREA,
    grade=REVIEW,
    affects=_RECOVERY,
    no_mirror="its own opposite",
    fix="Find out who reads the field.",
    bad=(_errors({"code": "A", "http_status": 409}), _errors({"code": "A", "http_status": 422})),
    good=(_errors({"code": "A", "http_status": 409}), _errors({"code": "A", "http_status": 409.0})),
)
def error_detail_changed(pair: ToolPair) -> Iterator[ToolFact]:
    """A field of an error that no other rule knows came, went or changed.

    What is not understood is never called compatible.
    """
    for old, new in _kept(pair):
        for key in sorted((old.extra.keys() | new.extra.keys()) - {*_EFFECT_KEYS, *PAYLOAD_KEYS}):
            before, after = old.extra.get(key), new.extra.get(key)
            if not same(before, after):
                yield ToolFact(
                    path=f"errors.{new.code}",
                    message=f"{named(key)} of {named(new.code)} went from {show(before)} to {show(after)}.",
                    before=before,
                    after=after,
                    part=("errors", new.code, key),
                )


def _plain(error: ErrorSpec) -> Json:
    fields = {"retryable": error.retryable, "user_action": error.user_action, "message": error.message}
    return {"code": error.code, **{key: value for key, value in fields.items() if value is not None}}
