"""What stands around the sections of a Markdown report: the verdict at the head, notices, what was run at the foot."""

from __future__ import annotations

from collections.abc import Iterator

from abs_gate.gate.result import ResultDocument
from abs_gate.reports.figures import count_of, duration_text
from abs_gate.reports.headline import VERDICT_ICONS, headline, title
from abs_gate.reports.markdown_text import Section, code, sentence
from abs_gate.reports.markdown_words import TOLERATED_ICON, Caps, upper_first
from abs_gate.reports.selection import notices_of


def verdict_section(document: ResultDocument, caps: Caps, extra: str = "") -> Section:
    """Title, headline, history and reasons."""
    verdict = document["verdict"]
    lines = [f"## {VERDICT_ICONS[verdict]} {title(verdict)}", "", f"**{upper_first(headline(document))}.**"]
    if extra:
        lines += ["", extra]
    reasons = document["reasons"]
    return Section(
        head="\n".join(lines) + "\n",
        rows=[f"- {sentence(reason, 500)}" for reason in reasons[: caps.reasons]],
        noun="reason",
        left=max(len(reasons) - caps.reasons, 0),
    )


def notice_sections(document: ResultDocument) -> Iterator[Section]:
    """What a reader must know besides: lowered thresholds, a budget that ran out."""
    notices = notices_of(document)
    if notices:
        yield Section(
            head="### Notices\n",
            rows=[f"- {TOLERATED_ICON} {sentence(notice, 400)}" for notice in notices[:20]],
            noun="notice",
            left=max(len(notices) - 20, 0),
        )


def footer(document: ResultDocument) -> str:
    """What was run, on what, in one small line."""
    data = document["metadata"]
    facts = [f"abs-gate {code(data['abs_gate_version'], 20)}"]
    if data["commit"]:
        facts.append(f"commit {code(data['commit'][:12], 12)}")
    if data["base"]:
        facts.append(f"base {sentence(data['base'], 120)}")
    if data["model"]:
        facts.append(f"model {code(data['model'], 80)}")
    if data["agent_url"]:
        facts.append(f"agent {code(data['agent_url'], 120)}")
    if data["toolset_fingerprint"]:
        facts.append(f"tool set {code(data['toolset_fingerprint'][:19], 19)}")
    facts.append(f"{count_of(data['agent_calls'], 'agent call')} in {duration_text(data['duration_ms'])}")
    return f"<sub>{' · '.join(facts)}</sub>"
