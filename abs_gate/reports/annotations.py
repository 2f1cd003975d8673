"""GitHub workflow commands: the only place that writes them and that makes other text unable to be one.

The runner reads standard output and standard error. A line ends at LF, CR or CRLF; `::name::` counts at the
start of a line, Unicode blanks before it or not; `##[name]` counts anywhere in a line; names have no case.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Literal, TypeAlias

from msgspec import Struct

from abs_gate.findings import Json
from abs_gate.gate.lint_policy import lint_gates
from abs_gate.gate.result import ResultDocument
from abs_gate.reports.advice import ACTION_WORDS, CLASSIFICATION_WORDS, affected_text, fix_of, plain
from abs_gate.reports.failures import find_failures
from abs_gate.reports.figures import count_of, rate_of
from abs_gate.reports.headline import title
from abs_gate.reports.schema_text import json_text
from abs_gate.reports.selection import action_of, changes_with, notices_of, sort_lint, sort_verification
from abs_gate.reports.untrusted import one_line, visible

Kind: TypeAlias = Literal["error", "warning", "notice"]

PER_KIND = 10
"""The runner keeps ten annotations of each kind for a step."""
PER_JOB = 50
"""And fifty for a job."""
MESSAGE_LIMIT = 4096
"""Characters of one annotation's message."""

PER_REQUEST = 50
"""Annotations a check-run request may carry."""

_TITLE_LIMIT = 120
_LEGACY = "##["
_TOKEN = re.compile(r"[A-Za-z0-9_-]{16,}")
_LEVELS: dict[Kind, str] = {"error": "failure", "warning": "warning", "notice": "notice"}
_KINDS: tuple[Kind, ...] = ("error", "warning", "notice")


class Annotation(Struct, frozen=True, kw_only=True):
    """One annotation, not yet escaped."""

    kind: Kind
    title: str
    message: str
    file: str | None = None
    """As the result names it; None where it is about no file."""
    line: int | None = None


def escape_data(text: str) -> str:
    """Text for the message of a workflow command."""
    return _without_legacy(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    """Text for a property of a workflow command; more characters mean something there."""
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def repository_path(file: str | None, directory: str = "") -> str | None:
    """The path as an annotation may name it: relative to the repository's root, without control characters; else None.

    Args:
        file: As the result names it, relative to `directory`.
        directory: Where in the repository that is; empty for its root.
    """
    if not file or visible(file) != file or "\\" in file:
        return None
    path = PurePosixPath(file)
    if path.is_absolute() or ".." in path.parts or re.match(r"[A-Za-z][A-Za-z0-9+.-]*:", file):
        return None
    return str(PurePosixPath(directory, path))


def find_annotations(document: ResultDocument) -> list[Annotation]:
    """Everything worth an annotation, worst first: what gates as errors, then warnings, then notices."""
    found = [*_verdict(document), *_failures(document), *_changes(document), *_verification(document), *_lint(document)]
    found += [
        Annotation(kind="warning", title="abs-gate", message=one_line(notice, 1000)) for notice in notices_of(document)
    ]
    return sorted(found, key=lambda annotation: _KINDS.index(annotation.kind))


def render_annotations(
    document: ResultDocument, *, directory: str = "", per_kind: int = PER_KIND, per_job: int = PER_JOB
) -> str:
    """The workflow commands, one a line, at most `per_kind` of each kind; the last counts what was left out.

    Args:
        document: The result.
        directory: Where in the repository its paths begin.
        per_kind: Most annotations of one kind.
        per_job: Most annotations of all.
    """
    room = {"error": per_kind, "warning": per_kind, "notice": max(per_kind - 1, 0)}
    left = dict.fromkeys(_KINDS, 0)
    shown: list[Annotation] = []
    for annotation in find_annotations(document):
        if room[annotation.kind] and len(shown) < per_job - 1:
            room[annotation.kind] -= 1
            shown.append(annotation)
        else:
            left[annotation.kind] += 1
    if any(left.values()):
        words = ", ".join(count_of(number, kind) for kind, number in left.items() if number)
        message = f"Not shown here: {words}. The job summary has all."
        shown.append(Annotation(kind="notice", title="abs-gate", message=message))
    return "".join(f"{render_command(annotation, directory)}\n" for annotation in shown)


def render_command(annotation: Annotation, directory: str = "") -> str:
    """One annotation as a workflow command; its file lies in `directory` of the repository."""
    properties = [f"title={escape_property(one_line(annotation.title, _TITLE_LIMIT))}"]
    path = repository_path(annotation.file, directory)
    if path is not None:
        properties.append(f"file={escape_property(path)}")
        if annotation.line:
            properties.append(f"line={annotation.line}")
    message = _bounded(visible(annotation.message, keep_lines=True))
    return f"::{annotation.kind} {','.join(properties)}::{message}"


def _bounded(text: str) -> str:
    """Escaped message of at most the runner's limit, never cut inside an escape."""
    escaped = escape_data(text)
    while len(escaped) > MESSAGE_LIMIT:
        text = text[: max(len(text) - (len(escaped) - MESSAGE_LIMIT) - 3, 0)] + "..."
        escaped = escape_data(text)
    return escaped


def check_annotations(document: ResultDocument, directory: str = "") -> list[list[dict[str, Json]]]:
    """Annotations for check-run requests, worst first, fifty a request; only those with a place, as the API demands."""
    placed: list[dict[str, Json]] = []
    for annotation in find_annotations(document):
        path = repository_path(annotation.file, directory)
        if path is not None:
            placed.append(
                {
                    "path": path,
                    "start_line": annotation.line or 1,
                    "end_line": annotation.line or 1,
                    "annotation_level": _LEVELS[annotation.kind],
                    "title": one_line(annotation.title, _TITLE_LIMIT),
                    "message": visible(annotation.message, keep_lines=True)[:MESSAGE_LIMIT] or "(no message)",
                }
            )
    return [placed[start : start + PER_REQUEST] for start in range(0, len(placed), PER_REQUEST)]


def _verdict(document: ResultDocument) -> Iterator[Annotation]:
    if document["verdict"] != "passed":
        reasons = [one_line(reason, 500) for reason in document["reasons"][:5]]
        yield Annotation(
            kind="error",
            title=title(document["verdict"]),
            message="\n".join(reasons) or "No reason.",
        )


def _failures(document: ResultDocument) -> Iterator[Annotation]:
    for failure in find_failures(document):
        behavior = failure.behavior
        verified = behavior["passed"] + behavior["failed"]
        lines = [f"Passed {rate_of(behavior['passed'], verified)}." if verified else "Never verified."]
        example = failure.example
        lines += [f"check: {one_line(example.check)}"] if example and example.check else []
        lines += [f"{word}: {one_line(text, 600)}" for word, text in (example.sides if example else {}).items()]
        lines += [f"because: {one_line(cause, 600)}" for cause in failure.causes]
        lines += [f"seen in {example.place}"] if example else []
        tolerated = "" if failure.gates else " (does not gate)"
        yield Annotation(
            kind="error" if failure.gates else "notice",
            title=f"{one_line(failure.session['name'], 60)}: {one_line(behavior['label'], 60)}{tolerated}",
            message="\n".join(lines),
            file=behavior["file"],
            line=behavior["line"],
        )


def _changes(document: ResultDocument) -> Iterator[Annotation]:
    for tool, change in changes_with(document, ["block", "review"]):
        word = ACTION_WORDS[action_of(change)]
        lines = [one_line(change["message"], 600)] if change["message"] else []
        if affected := affected_text(change, plain):
            lines.append(f"affects: {affected}")
        if "witness" in change:
            lines.append(f"witness: {json_text(change['witness'], 800)}")
        if fix := fix_of(change):
            lines.append(f"to do: {one_line(fix, 600)}")
        yield Annotation(
            kind="error",
            title=f"{one_line(tool['tool_id'], 60)}: {one_line(change['path'], 40)} {one_line(change['kind'], 40)}",
            message="\n".join([f"{CLASSIFICATION_WORDS[change['classification']]}, {word}", *lines]),
            file=change["file"],
            line=change["line"],
        )


def _verification(document: ResultDocument) -> Iterator[Annotation]:
    for case in sort_verification(document["verification"]):
        if case["outcome"] in ("failed", "unverified"):
            yield Annotation(
                kind="error",
                title=f"{one_line(case['tool_id'], 60)}: {one_line(case['name'], 60)} {case['outcome']}",
                message=one_line(case["reason"], 1000) or case["outcome"],
                file=case["file"],
                line=case["line"],
            )


def _lint(document: ResultDocument) -> Iterator[Annotation]:
    contracts = document["contracts"]
    if contracts is None:
        return
    kinds: dict[str, Kind] = {"error": "warning", "warning": "warning", "info": "notice"}
    for finding in sort_lint(contracts["lint"]):
        yield Annotation(
            kind="error" if lint_gates(contracts, finding) else kinds[finding["severity"]],
            title=f"{one_line(finding['subject'], 60)}: {one_line(finding['rule'], 60)}".removeprefix(": "),
            message="\n".join(filter(None, [one_line(finding["message"], 1000), one_line(finding["hint"], 600)])),
            file=finding["file"],
            line=finding["line"],
        )


def sanitise_log(text: str) -> str:
    """Text for the log, unable to be a workflow command. Line feeds stay; CR and all other controls are shown.

    Every line loses a leading `::` (blanks before it or not) and every `##[` to a blank between the two
    characters that make it mean something.
    """
    return "\n".join(_sanitise_line(line) for line in text.split("\n"))


def _sanitise_line(line: str) -> str:
    shown = _without_legacy(visible(line))
    body = shown.lstrip()
    if body.startswith("::"):
        shown = shown[: len(shown) - len(body)] + ": :" + body[2:]
    return shown


def _without_legacy(text: str) -> str:
    return text.replace(_LEGACY, "# #[")


def stop_commands(token: str) -> str:
    """The line after which the runner obeys nothing until `resume_commands` with the same token.

    Raises:
        ValueError: the token is short or holds more than letters, digits, `-` and `_`.
    """
    return f"::stop-commands::{_checked(token)}"


def resume_commands(token: str) -> str:
    """The line that ends `stop_commands`."""
    return f"::{_checked(token)}::"


def _checked(token: str) -> str:
    if not _TOKEN.fullmatch(token):
        raise ValueError("a stop-commands token needs 16 or more letters, digits, - or _")
    return token
