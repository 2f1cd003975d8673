"""Markdown of the behaviors that did not pass: a table or their causes, then a closer look at each cause."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from abs_gate.gate.result import ResultDocument
from abs_gate.reports.failures import Example, Failure, find_failures
from abs_gate.reports.figures import count_of, interval_text
from abs_gate.reports.grouping import FailureGroup, group_failures
from abs_gate.reports.markdown_text import Section, cell, code, details, fence, sentence
from abs_gate.reports.markdown_words import ICONS, TOLERATED_ICON, Caps, passed_text
from abs_gate.reports.selection import place_of
from abs_gate.reports.transcript_text import step_text


def failure_sections(document: ResultDocument, caps: Caps) -> Iterator[Section]:
    """The behaviors that did not pass: a table, or causes where there are many, then a closer look at each cause."""
    failures = find_failures(document)
    if not failures:
        return
    groups = group_failures(failures)
    gates = any(failure.gates for failure in failures)
    title = "### What did not pass" if gates else "### What did not always pass (nothing of this gates)"
    yield _behavior_table(title, failures) if len(failures) <= caps.failures else _cause_table(title, groups, caps)
    looked_at = [group for group in groups if group.first.gates] or groups
    yield Section(
        head="#### A closer look",
        rows=_closer_looks(looked_at[: caps.groups], caps),
        separator="\n\n",
        noun="cause",
        left=max(len(looked_at) - caps.groups, 0),
    )


def _behavior_table(title: str, failures: Sequence[Failure]) -> Section:
    columns = "| | Behavior | Passed | 95 % interval | Session | Where |\n|---|---|---|---|---|---|"
    return Section(head=f"{title}\n\n{columns}", rows=[_failure_row(failure) for failure in failures], noun="behavior")


def _cause_table(title: str, groups: Sequence[FailureGroup], caps: Caps) -> Section:
    failures = [failure for group in groups for failure in group.failures]
    sessions = len({(failure.session["path"], failure.session["name"]) for failure in failures})
    summary = (
        f"{count_of(len(failures), 'behavior')} in {count_of(sessions, 'session')}, "
        f"for {count_of(len(groups), 'cause')}:"
    )
    columns = "| | Cause | Behaviors | Sessions | First seen |\n|---|---|---|---|---|"
    return Section(
        head=f"{title}\n\n{summary}\n\n{columns}",
        rows=[_group_row(group) for group in groups[: caps.failures]],
        noun="cause",
        left=max(len(groups) - caps.failures, 0),
    )


def _failure_row(failure: Failure) -> str:
    behavior, session = failure.behavior, failure.session
    place = place_of(behavior["file"], behavior["line"])
    label = cell(behavior["label"], 120) + (" (session evaluation)" if failure.part == "session evaluation" else "")
    return (
        f"| {_failure_icon(failure)} | {label} | {passed_text(behavior)} | {interval_text(behavior['interval'])} "
        f"| {cell(session['name'], 80)}{_gating_note(failure)} | {cell(place)} |"
    )


def _failure_icon(failure: Failure) -> str:
    if not failure.gates:
        return TOLERATED_ICON
    return ICONS["failed"] if failure.behavior["failed"] else ICONS["unverified"]


def _gating_note(failure: Failure) -> str:
    if failure.session["quarantined"]:
        return " (quarantined)"
    if not failure.gates:
        return " (tolerated)"
    return " (critical)" if failure.session["critical"] else ""


def _group_row(group: FailureGroup) -> str:
    first = group.first
    place = place_of(first.behavior["file"], first.behavior["line"])
    return (
        f"| {_failure_icon(first)} | {cell(first.reason, 200)} | {len(group.failures):,} | {group.sessions:,} "
        f"| {cell(place)} |"
    )


def _closer_looks(groups: Sequence[FailureGroup], caps: Caps) -> list[str]:
    """A closer look at each cause; the transcript of a trial only with the first that shows it."""
    rows = []
    seen: set[int] = set()
    for number, group in enumerate(groups, start=1):
        example = group.first.example
        is_new = example is not None and example.key not in seen
        rows.append(_closer_look(number, group, caps if is_new else replace(caps, transcript=0)))
        if example:
            seen.add(example.key)
    return rows


def _closer_look(number: int, group: FailureGroup, caps: Caps) -> str:
    failure = group.first
    behavior, session = failure.behavior, failure.session
    parts = [
        f"**{number}.** {_failure_icon(failure)} {code(behavior['label'])} in {code(session['name'], 120)} "
        f"at {code(place_of(behavior['file'], behavior['line']))}"
    ]
    if causes := failure.causes:
        parts.append("Because " + "<br>".join(sentence(cause, 600) for cause in causes))
    if failure.example:
        parts += _example(failure.example, caps)
    if len(group.failures) > 1:
        others = [place_of(other.behavior["file"], other.behavior["line"]) for other in group.failures[1:4]]
        rest = len(group.failures) - 1 - len(others)
        more = f" and {rest:,} more" if rest else ""
        parts.append(f"The same cause in {', '.join(code(other) for other in others)}{more}.")
    return "\n\n".join(parts)


def _example(example: Example, caps: Caps) -> list[str]:
    """Expected beside observed, where it was seen, and the collapsed transcript."""
    parts = []
    if example.check:
        parts.append(f"The check that did not pass: {code(example.check)}")
    if example.sides:
        parts.append(fence("\n".join(f"{word:<9}{text[:800]}" for word, text in example.sides.items())))
    transcript = example.trial["transcript"] if caps.transcript else None
    if transcript is None or example.case["variables"]:
        parts.append(f"Seen in {example.place}{_variables(example.case['variables'])}.")
    if transcript:
        steps = "\n".join(f"{step['index'] + 1}. {step_text(step)}" for step in transcript)
        title = f"Transcript of {example.place} ({count_of(example.trial['steps'], 'step')})"
        parts.append(details(title, fence(steps, limit=caps.transcript)))
    return parts


def _variables(variables: dict[str, object]) -> str:
    if not variables:
        return ""
    return f" with {code(', '.join(f'{name}={value}' for name, value in sorted(variables.items())), 160)}"
