"""Errors, versions and form of contract files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.contracts.fingerprint import fingerprint_content
from abs_gate.contracts.linting import LintedSet, LintFact
from abs_gate.contracts.model import SourceFormat
from abs_gate.contracts.rules.registry import lint_rule
from abs_gate.contracts.wording import named, show
from abs_gate.findings import Json, Severity

AREA = "artifact lint"


def _version(number: int, **more: Json) -> Json:
    return {"tool_version": number, **more}


@lint_rule(
    "undocumented-error",
    area=AREA,
    severity=Severity.ERROR,
    fix="Declare the code under `errors`, with `retryable` and what the user should do.",
    bad={
        "errors": [{"code": "ORDER_NOT_FOUND", "retryable": False}],
        "cases": [{"name": "late", "expect": {"error": "WINDOW_CLOSED"}}],
    },
    good={
        "errors": [{"code": "ORDER_NOT_FOUND", "retryable": False}],
        "cases": [{"name": "gone", "expect": {"error": "ORDER_NOT_FOUND"}}],
    },
)
def undocumented_error(linted: LintedSet) -> Iterator[LintFact]:
    """A verification case expects or provokes an error code that the contract does not declare.

    Recovery knows nothing of it, and the model gets whatever text comes.
    """
    for tool in linted.tools:
        declared = {error.code for error in tool.errors}
        for index, case in enumerate(tool.cases):
            for code in sorted(set(_error_codes(case)) - declared):
                yield LintFact(
                    message=f"A case uses the error code {named(code)}, which is not declared.",
                    tool=tool,
                    part=("cases", index),
                    args={"code": code},
                )


def _error_codes(case: Json) -> Iterator[str]:
    """Yield the codes a case names: under `error`, `error_code` or `code`, as a text or in a mapping."""
    if isinstance(case, list):
        for item in case:
            yield from _error_codes(item)
    elif isinstance(case, Mapping):
        for key, value in case.items():
            if key in ("error", "error_code", "code") and isinstance(value, str) and value.isupper():
                yield value
            elif key not in ("arguments", "args", "with", "input"):
                yield from _error_codes(value)


@lint_rule(
    "error-without-retryable",
    area=AREA,
    severity=Severity.WARNING,
    fix="Write `retryable: true` or `false`.",
    bad={"errors": [{"code": "ORDER_NOT_FOUND"}]},
    good={"errors": [{"code": "ORDER_NOT_FOUND", "retryable": False}]},
)
def error_without_retryable(linted: LintedSet) -> Iterator[LintFact]:
    """A declared error does not say whether the call may be repeated.

    Recovery has to guess, and a wrong guess repeats a write.
    """
    for tool in linted.tools:
        for error in tool.errors:
            if error.retryable is None:
                yield LintFact(
                    message=f"The error {named(error.code)} does not say whether the call may be repeated.",
                    tool=tool,
                    part=("errors", error.code),
                )


@lint_rule(
    "version-undeclared",
    area=AREA,
    severity=Severity.WARNING,
    fix="Count versions in `tool_version`, from 1.",
    bad={"tool_version": None},
    good={"tool_version": 1},
)
def version_undeclared(linted: LintedSet) -> Iterator[LintFact]:
    """An artifact has no version.

    A breaking change of it cannot be released: nothing tells the old contract from the new one.
    """
    for tool in linted.tools:
        if tool.source is SourceFormat.NATIVE and tool.version is None:
            yield LintFact(message=f"{named(tool.tool_id)} has no `tool_version`.", tool=tool)


@lint_rule(
    "changed-contract-same-version",
    area=AREA,
    severity=Severity.ERROR,
    fix="Raise `tool_version`, and keep the old version beside it while work is pinned to it.",
    bad={"base": _version(2), "head": _version(2, runtime={"deadline_ms": 1})},
    good={"base": _version(2), "head": _version(3, runtime={"deadline_ms": 1})},
)
def changed_contract_same_version(linted: LintedSet) -> Iterator[LintFact]:
    """The contract changed and its version did not.

    Traces and paused runs name the version: two contracts under one number cannot be told apart afterwards.
    """
    if linted.base is None:
        return
    before = {(tool.tool_id, str(tool.version)): tool for tool in linted.base.tools if tool.version is not None}
    for tool in linted.tools:
        old = before.get((tool.tool_id, str(tool.version)))
        if old and old.fingerprint != tool.fingerprint and fingerprint_content(old) != fingerprint_content(tool):
            yield LintFact(
                message=f"{named(tool.tool_id)} changed and is still version {show(tool.version)}.",
                tool=tool,
                part=("version",),
            )


@lint_rule(
    "migration-without-date",
    area=AREA,
    severity=Severity.INFO,
    fix="Write `retire_when: 2027-01-31`: a date is checked, a condition in words is not.",
    bad={"migration": {"owner": "@billing", "retire_when": "when nobody uses it"}},
    good={"migration": {"owner": "@billing", "retire_when": "2027-01-31"}},
)
def migration_without_date(linted: LintedSet) -> Iterator[LintFact]:
    """The retirement condition is no date.

    Nobody but a person can tell when it is met, so the old version cannot be removed by this gate.
    """
    for tool in linted.tools:
        condition = tool.migration.get("retire_when")
        if isinstance(condition, str) and not any(char.isdigit() for char in condition):
            yield LintFact(
                message=f"The retirement condition {show(condition)} is no date.",
                tool=tool,
                part=("migration", "retire_when"),
            )


@lint_rule(
    "schema-missing",
    area=AREA,
    severity=Severity.ERROR,
    fix='For a tool without arguments write {"type": "object", "properties": {}}.',
    bad={"name": "find_order", "description": "Finds one order.", "inputSchema": None},
    good={"name": "find_order", "description": "Finds one order.", "inputSchema": {"type": "object"}},
)
def schema_missing(_: LintedSet) -> Iterator[LintFact]:
    """A schema is absent where one is needed, null, or no schema. Found while loading.

    Providers refuse the tool, and some clients drop the whole list.
    """
    yield from ()


@lint_rule(
    "contract-unknown-key",
    area=AREA,
    severity=Severity.WARNING,
    fix="Correct it, or begin it with `x-` if it is your own.",
    bad={"polcy": {"effect": "read_only"}},
    good={"x-team": "billing"},
)
def contract_unknown_key(_: LintedSet) -> Iterator[LintFact]:
    """An artifact has a key that no part of a contract is called by. Found while loading.

    Nothing reads it: if it is a slip, what it was meant to say is missing.
    """
    yield from ()


@lint_rule(
    "schema-unused",
    area=AREA,
    severity=Severity.WARNING,
    fix="Refer to it with `input_schema_ref`, or move it out of the contract directory.",
    bad={
        "files": {
            "c/a.json": '{"tools": []}',
            "c/old.json": '{"$schema": "https://json-schema.org/draft/2020-12/schema"}',
        }
    },
    good={"files": {"c/a.json": '{"tools": []}'}},
)
def schema_unused(_: LintedSet) -> Iterator[LintFact]:
    """A schema in the contract directory is referred to by no contract. Found while loading.

    Nothing checks it, and a change of it is seen by nobody.
    """
    yield from ()
