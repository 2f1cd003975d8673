"""The report as one self-contained page: no network, readable without its script, verdict first.

The style and the script of the page stand in it; a content security policy with their hashes allows nothing
else, so that text which got past escaping still could not run or load anything.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from functools import cache
from importlib import resources
from string import Template

from abs_gate.gate.elsewhere import runs_elsewhere
from abs_gate.gate.result import ResultDocument, SessionRecord, VerificationRecord
from abs_gate.reports.evidence_text import item_text, pointers_of, reasons_of, state_of
from abs_gate.reports.failures import find_failures
from abs_gate.reports.figures import count_of, duration_text
from abs_gate.reports.headline import VERDICT_MEANING, headline, title
from abs_gate.reports.html_contracts import contracts_html
from abs_gate.reports.html_data import cases_data
from abs_gate.reports.html_sessions import facts_html, failures_html, sessions_html, verification_html
from abs_gate.reports.html_text import badge, code, esc, joined, prose
from abs_gate.reports.options import ReportOptions
from abs_gate.reports.selection import changes_with, notices_of

_ICONS = {
    "passed": '<path d="M7 16.5l6 6 12-13"/>',
    "failed": '<path d="M9 9l14 14M23 9L9 23"/>',
    "unverified": '<path d="M11 12a5 5 0 1 1 7 4.6c-1.4.7-2 1.7-2 3.4M16 24.5v.5"/>',
    "cancelled": '<path d="M10 10h12v12H10z"/>',
}
_MAX_REASONS = 30


@cache
def _asset(name: str) -> str:
    return resources.files("abs_gate.reports").joinpath("page", name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def render(document: ResultDocument, _options: ReportOptions) -> str:
    """The page, below 2 MB whatever the result holds."""
    style, script = _asset("page.css"), _asset("page.js")
    sections = _sections(document)
    verdict = document["verdict"]
    return Template(_asset("page.html")).substitute(
        policy=(
            f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; "
            "img-src data:; base-uri 'none'; form-action 'none'"
        ),
        title=title(verdict),
        style=style,
        script=script,
        verdict=verdict,
        icon=f'<svg class="icon" viewBox="0 0 32 32" aria-hidden="true">{_ICONS[verdict]}</svg>',
        word=title(verdict),
        headline=esc(headline(document), 600)[:1].upper() + esc(headline(document), 600)[1:] + ".",
        meaning=VERDICT_MEANING[verdict],
        reasons=_reasons(document),
        tiles=_tiles(document),
        links="".join(f'<li><a href="#{name}">{heading}</a></li>' for name, heading, _ in sections),
        sections=joined(
            f'<section id="{name}" aria-labelledby="{name}-title"><h2 id="{name}-title">{heading}</h2>{body}</section>'
            for name, heading, body in sections
        ),
        data=cases_data(document),
    )


def _reasons(document: ResultDocument) -> str:
    shown = [f"<li>{prose(reason, 600)}</li>" for reason in document["reasons"][:_MAX_REASONS]]
    left = len(document["reasons"]) - len(shown)
    if left > 0:
        shown.append(f"<li>and {count_of(left, 'more reason')}</li>")
    return f'<ul class="reasons">{joined(shown)}</ul>' if shown else ""


def _tiles(document: ResultDocument) -> str:
    """The few figures that tell how big the run was and how it went."""
    sessions = [session for session in document["sessions"] if not runs_elsewhere(session)]
    trials = [session["trials"] for session in sessions]
    tiles: list[tuple[str, str]] = []
    if sessions:
        tiles.append(("Sessions passed", f"{_passed(sessions)} of {len(sessions):,}"))
        passed, run = sum(trial["passed"] for trial in trials), sum(trial["run"] for trial in trials)
        tiles.append(("Trials passed", f"{passed:,} of {run:,}"))
    if document["contracts"] is not None:
        tiles.append(("Contract changes that block", f"{len(changes_with(document, ['block'])):,}"))
    if document["verification"]:
        cases = document["verification"]
        tiles.append(("Verification passed", f"{_passed(cases)} of {len(cases):,}"))
    tiles.append(("Agent calls", f"{document['metadata']['agent_calls']:,}"))
    tiles.append(("Time", duration_text(document["metadata"]["duration_ms"])))
    return "".join(f"<div><dt>{name}</dt><dd>{value}</dd></div>" for name, value in tiles)


def _passed(records: Sequence[SessionRecord] | Sequence[VerificationRecord]) -> str:
    return f"{sum(1 for record in records if record['outcome'] == 'passed'):,}"


def _sections(document: ResultDocument) -> list[tuple[str, str, str]]:
    """(id, title, body) of every section that has something to say."""
    sections: list[tuple[str, str, str]] = []
    notices = notices_of(document)
    if notices:
        listed = joined(f"<li>{prose(notice, 600)}</li>" for notice in notices[:_MAX_REASONS])
        sections.append(("notices", "Notices", f'<ul class="notices">{listed}</ul>'))
    if find_failures(document):
        sections.append(("failures", "What did not pass", failures_html(document)))
    if document["contracts"] is not None:
        sections.append(("contracts", "Tool contracts", contracts_html(document["contracts"])))
    if document["verification"]:
        sections.append(("verification", "Verification", verification_html(document)))
    if document["sessions"]:
        sections.append(("sessions", "Sessions and behaviors", sessions_html(document)))
        sections.append(("cases", "All cases", _asset("cases.html")))
    if document["evidence"]:
        sections.append(("evidence", "Release evidence", _evidence(document)))
    sections.append(("run", "This run", _run(document)))
    return sections


def _evidence(document: ResultDocument) -> str:
    rows = []
    for entry in document["evidence"][:50]:
        state = state_of(entry)
        outcome = {"met": "passed", "not met": "failed"}.get(state, "skipped")
        listed = ", ".join(code(pointer, 160) for pointer in list(pointers_of(entry))[:5])
        why = "".join(f'<p class="reason">{prose(reason, 400)}</p>' for reason in reasons_of(entry))
        rows.append(f"<li><div>{badge(outcome, state)} {esc(item_text(entry), 400)}</div>{why}{listed}</li>")
    return f'<ul class="behaviors">{joined(rows)}</ul>'


def _run(document: ResultDocument) -> str:
    data = document["metadata"]
    facts = [("abs-gate", esc(data["abs_gate_version"], 40)), ("Started", esc(data["started"], 40))]
    named = (
        ("Commit", data["commit"]),
        ("Base", data["base"]),
        ("Agent", data["agent_url"]),
        ("Format", data["agent_format"]),
        ("Model", data["model"]),
        ("Tool set", data["toolset_fingerprint"]),
        ("Policy", data["policy_fingerprint"]),
        ("Shard", data.get("shard")),
    )
    facts += [(name, code(value, 160)) for name, value in named if value]
    facts += [(esc(name.replace("_", " "), 40), f"{number:,}") for name, number in sorted(data["usage"].items())]
    facts += [(esc(name, 40), esc(version, 40)) for name, version in sorted(data["versions"].items())[:30]]
    hashes = joined(
        f"<li>{code(name, 160)} {code(value, 90)}</li>" for name, value in sorted(data["session_hashes"].items())[:100]
    )
    listed = f"<details><summary>Session documents</summary><ul>{hashes}</ul></details>" if hashes else ""
    return facts_html(facts) + listed
