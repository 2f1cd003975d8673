"""The result for a terminal: verdict first, then why, failures in words, changes, verification, sessions."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.gate.elsewhere import runs_elsewhere
from abs_gate.gate.result import ResultDocument, SessionRecord
from abs_gate.reports.contracts_text import render_changes, render_lint_findings
from abs_gate.reports.failures import Failure, find_failures
from abs_gate.reports.figures import NO_RATE, count_of, duration_text, interval_text, rate_of
from abs_gate.reports.headline import headline
from abs_gate.reports.options import ReportOptions
from abs_gate.reports.selection import does_gate, notices_of, place_of, sort_sessions, sort_tools, sort_verification
from abs_gate.reports.session_words import session_notes
from abs_gate.reports.terminal import MIN_WIDTH, Paint, wrap
from abs_gate.reports.transcript_text import transcript_lines
from abs_gate.reports.untrusted import cut, one_line, visible

_VERDICTS = {
    "passed": "PASSED",
    "failed": "FAILED",
    "unverified": "COULD NOT BE VERIFIED",
    "cancelled": "CANCELLED",
}
_MAX_FAILURES = 20
_MAX_SESSIONS = 100
_MAX_REASONS = 20
_MAX_TEXT = 600


def render(document: ResultDocument, options: ReportOptions) -> str:
    """The whole report, or with `quiet` the verdict, its reasons and one line for each failure."""
    paint = Paint(enabled=options.color)
    width = max(options.width, MIN_WIDTH)
    failures = find_failures(document)
    sections = [list(_verdict(document, width, paint))]
    if options.quiet:
        sections[0] += [line for failure in failures if failure.gates for line in _failure_line(failure, width)][
            :_MAX_FAILURES
        ]
        return "\n".join(sections[0]) + "\n"
    sections += [
        list(_failures(failures, options, width, paint)),
        list(_contracts(document, options, width)),
        list(_verification(document, width, paint)),
        list(_sessions(document, options, width, paint)),
        list(_unexpected(document, width)),
        list(_notices(document, width)),
    ]
    if options.verbose:
        sections.append(list(_cases(document, width)))
    sections.append(list(_metadata(document, width)))
    return "\n\n".join("\n".join(section) for section in sections if section) + "\n"


def _verdict(document: ResultDocument, width: int, paint: Paint) -> Iterator[str]:
    verdict = document["verdict"]
    word = _VERDICTS[verdict]
    first, *others = wrap(f"{word}: {headline(document)}", width, rest="  ")
    yield paint.outcome(verdict, first)
    yield from others
    reasons = document["reasons"]
    for reason in reasons[:_MAX_REASONS]:
        yield from wrap(one_line(reason, _MAX_TEXT), width, first="  - ")
    if len(reasons) > _MAX_REASONS:
        yield f"  - and {count_of(len(reasons) - _MAX_REASONS, 'more reason')}"


def _failure_line(failure: Failure, width: int) -> list[str]:
    place = place_of(failure.behavior["file"], failure.behavior["line"])
    return wrap(f"{place}: {one_line(failure.behavior['label'], 120)}: {one_line(failure.reason)}", width, rest="    ")


def _failures(failures: list[Failure], options: ReportOptions, width: int, paint: Paint) -> Iterator[str]:
    if not failures:
        return
    yield paint("What did not pass", "bold")
    shown = failures if options.verbose else failures[:_MAX_FAILURES]
    for number, failure in enumerate(shown, start=1):
        yield ""
        yield from _failure(number, failure, options, width, paint)
    if len(shown) < len(failures):
        yield ""
        yield f"  and {count_of(len(failures) - len(shown), 'more behavior')} (--format json shows all)"


def _failure(number: int, failure: Failure, options: ReportOptions, width: int, paint: Paint) -> Iterator[str]:
    behavior, session = failure.behavior, failure.session
    lead = f"  {number}. "
    outcome = "failed" if behavior["failed"] else "unverified"
    kind = "session evaluation: " if failure.part == "session evaluation" else ""
    name = f" (id {one_line(behavior['id'], 60)})" if behavior["id"] else ""
    label, *more = wrap(f"{kind}{one_line(behavior['label'], 200)}{name}", width, first=lead)
    yield paint.outcome(outcome, label)
    yield from more
    inner = " " * len(lead)
    yield from wrap(f"{place_of(behavior['file'], behavior['line'])}  in session {_quote(session)}", width, first=inner)
    yield from wrap(_counts(failure), width, first=inner)
    example = failure.example
    if example and example.check:
        yield from wrap(one_line(example.check), width, first=f"{inner}check    ")
    for word, text in (example.sides if example else {}).items():
        yield from wrap(cut(visible(text, keep_lines=True), _MAX_TEXT), width, first=f"{inner}{word:<9}")
    for cause in failure.causes:
        yield from wrap(one_line(cause, _MAX_TEXT), width, first=f"{inner}because  ")
    if example:
        yield from wrap(example.place + _variables(example.case["variables"]), width, first=f"{inner}seen in  ")
        if options.verbose and example.trial["transcript"]:
            yield from transcript_lines(example.trial["transcript"], width, indent=f"{inner}  ")


def _counts(failure: Failure) -> str:
    behavior = failure.behavior
    verified = behavior["passed"] + behavior["failed"]
    parts = [f"passed {rate_of(behavior['passed'], verified)}" if verified else "never verified"]
    if verified:
        parts.append(f"95 % interval {interval_text(behavior['interval'])}")
    if behavior["unverified"]:
        parts.append(f"{behavior['unverified']:,} could not be verified")
    if failure.session["quarantined"]:
        parts.append("quarantined, does not gate")
    elif not failure.gates:
        parts.append("within what the session's threshold tolerates")
    return "; ".join(parts)


def _variables(variables: dict[str, object]) -> str:
    if not variables:
        return ""
    return f" ({one_line(', '.join(f'{name}={value}' for name, value in sorted(variables.items())), 160)})"


def _quote(session: SessionRecord) -> str:
    return f'"{one_line(session["name"], 120)}"'


def _contracts(document: ResultDocument, options: ReportOptions, width: int) -> Iterator[str]:
    contracts = document["contracts"]
    if contracts is None:
        return
    paint = Paint(enabled=options.color)
    compared = f"compared with {one_line(contracts['base'], 120)}" if contracts["base"] else "compared with nothing"
    first, *more = wrap(f"Tool contracts ({compared})", width, rest="  ")
    yield paint(first, "bold")
    yield from more
    if error := contracts.get("error"):
        yield from wrap(one_line(error, _MAX_TEXT), width, first="  could not be compared: ", rest="    ")
    elif not sort_tools(contracts["tools"]):
        yield "  no changes"
    yield from render_changes(contracts["tools"], options, indent="  ")
    if lint := list(render_lint_findings(contracts["lint"], options, indent="  ")):
        yield ""
        yield from lint


def _verification(document: ResultDocument, width: int, paint: Paint) -> Iterator[str]:
    cases = sort_verification(document["verification"])
    if not cases:
        return
    counts: dict[str, int] = {}
    for case in cases:
        counts[case["outcome"]] = counts.get(case["outcome"], 0) + 1
    yield paint("Verification", "bold") + ": " + ", ".join(f"{number:,} {word}" for word, number in counts.items())
    shown = [case for case in cases if case["outcome"] != "passed"][:_MAX_FAILURES]
    for case in shown:
        head = f"  {case['outcome']}  {one_line(case['tool_id'], 80)}  {case['kind']}: {one_line(case['name'], 120)}"
        first, *more = wrap(visible(head), width, rest="      ")
        yield paint.outcome(case["outcome"], first)
        yield from more
        place = place_of(case["file"], case["line"])
        if place:
            yield from wrap(place, width, first="      ")
        if case["reason"]:
            yield from wrap(one_line(case["reason"], _MAX_TEXT), width, first="      because  ")
        for check in case["checks"]:
            if check["outcome"] in ("failed", "unverified", "inconclusive"):
                text = f"{check['outcome']}: {one_line(check['name'], 120)}: {one_line(check['reason'])}"
                yield from wrap(text, width, first="      check    ")
    left = sum(1 for case in cases if case["outcome"] != "passed") - len(shown)
    if left:
        yield f"  and {count_of(left, 'more case')} that did not pass"


def _sessions(document: ResultDocument, options: ReportOptions, width: int, paint: Paint) -> Iterator[str]:
    if not document["sessions"]:
        return
    yield paint("Sessions", "bold")
    sessions = sort_sessions(document["sessions"])
    shown = sessions if options.verbose else sessions[:_MAX_SESSIONS]
    for session in shown:
        lead = f"  {'elsewhere' if runs_elsewhere(session) else session['outcome']:<12}"
        first, *more = wrap(f"{one_line(session['name'], 120)}: {_session_figures(session)}", width, first=lead)
        yield paint.outcome(session["outcome"], first) if does_gate(session) else first
        yield from more
        for note in session_notes(session):
            yield from wrap(one_line(note, _MAX_TEXT), width, first=" " * len(lead))
    if len(shown) < len(sessions):
        yield f"  and {count_of(len(sessions) - len(shown), 'more session')} (--format json shows all)"


def _session_figures(session: SessionRecord) -> str:
    trials = session["trials"]
    verified = trials["passed"] + trials["failed"]
    parts = [f"passed {rate_of(trials['passed'], verified)}" if verified else NO_RATE]
    if verified:
        parts.append(f"95 % interval {interval_text(session['interval'])}")
    if trials["unverified"]:
        parts.append(f"{trials['unverified']:,} could not be verified")
    parts.append(f"required {one_line(session['required'], 120)}")
    return ", ".join(parts)


def _unexpected(document: ResultDocument, width: int) -> Iterator[str]:
    sessions = [session for session in sort_sessions(document["sessions"]) if session["unexpected_calls"]]
    if not sessions:
        return
    yield "Calls no behavior asked for"
    for session in sessions:
        calls = sorted(session["unexpected_calls"].items(), key=lambda item: (-item[1], item[0]))
        named = ", ".join(f"{one_line(name, 80)} ({count_of(number, 'time')})" for name, number in calls[:10])
        more = f" and {len(calls) - 10} more tools" if len(calls) > 10 else ""
        yield from wrap(f"{_quote(session)}: {named}{more}", width, first="  ", rest="    ")


def _notices(document: ResultDocument, width: int) -> Iterator[str]:
    notices = notices_of(document)
    if not notices:
        return
    yield "Notices"
    for notice in notices[:_MAX_REASONS]:
        yield from wrap(one_line(notice, _MAX_TEXT), width, first="  - ")
    if len(notices) > _MAX_REASONS:
        yield f"  - and {len(notices) - _MAX_REASONS} more"


def _cases(document: ResultDocument, width: int) -> Iterator[str]:
    yield "Cases"
    for session in sort_sessions(document["sessions"]):
        for case in session["cases"]:
            row = f" row {case['row']}" if case["row"] is not None else ""
            outcomes = ", ".join(
                f"{trial['outcome']} in {duration_text(trial['duration_ms'])}" for trial in case["trials"]
            )
            yield from wrap(
                f"{_quote(session)}{row}{_variables(case['variables'])}: {outcomes}", width, first="  ", rest="    "
            )
            for warning in sorted({warning for trial in case["trials"] for warning in trial["warnings"]}):
                yield from wrap(one_line(warning, _MAX_TEXT), width, first="    warning: ")


def _metadata(document: ResultDocument, width: int) -> Iterator[str]:
    data = document["metadata"]
    parts = [f"abs-gate {data['abs_gate_version']}"]
    if data["agent_url"] or data["agent_format"]:
        url, form = one_line(data["agent_url"] or "", 120), one_line(data["agent_format"] or "", 40)
        parts.append(" ".join(filter(None, ("agent", url, f"({form})"))))
    if data["model"]:
        parts.append(f"model {one_line(data['model'], 80)}")
    if data["commit"]:
        parts.append(f"commit {one_line(data['commit'], 80)[:12]}")
    if data["base"]:
        parts.append(f"base {one_line(data['base'], 120)}")
    if data.get("shard"):
        parts.append(f"shard {one_line(str(data.get('shard')), 20)}")
    parts.append(f"{count_of(data['agent_calls'], 'agent call')} in {duration_text(data['duration_ms'])}")
    if data["usage"]:
        parts.append(
            ", ".join(f"{name.replace('_', ' ')} {number:,}" for name, number in sorted(data["usage"].items()))
        )
    parts.append(f"exit {document['exit_code']}")
    yield from wrap("; ".join(parts), width, rest="  ")
