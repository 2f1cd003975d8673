"""The pull-request comment: one, found again by a hidden marker on its first line, within GitHub's limit.

The marker carries the key (for matrices and monorepos), the commit and the run, so that an older run never
overwrites a newer one, and the verdict, so that the next comment can tell what changed.
"""

from __future__ import annotations

import json
import re
from typing import Any

from msgspec import Struct

from abs_gate.gate.result import ResultDocument, VerdictText
from abs_gate.reports.headline import VERDICT_ICONS, VERDICT_WORDS
from abs_gate.reports.markdown import build_sections
from abs_gate.reports.markdown_frame import footer
from abs_gate.reports.markdown_text import MARKER, code, fit
from abs_gate.reports.markdown_words import Caps

COMMENT_LIMIT = 65_536
"""GitHub answers 422 to more; counted in UTF-8 bytes here, never fewer than the characters it counts."""

_CAPS = Caps(
    reasons=8,
    failures=20,
    groups=5,
    changes=20,
    full_changes=4,
    lint=10,
    verification=15,
    sessions=50,
    behaviors=60,
    transcript=2500,
)
_MARKER_LINE = re.compile(r"[\ufeff\s]{0,8}<!-- " + re.escape(MARKER) + r" (\{[^\r\n]{0,2000}\}) -->")
_SHA = re.compile(r"[0-9A-Za-z]{1,64}")
_MAX_KEY = 200
_RUN_URL = re.compile(r"https?://[A-Za-z0-9.-]+(:\d{1,5})?(/[A-Za-z0-9._-]+)*")


class Marker(Struct, frozen=True, kw_only=True):
    """What the hidden marker says about the run that wrote the comment."""

    key: str
    sha: str
    run_id: int
    run_attempt: int
    verdict: str


def render_marker(key: str, sha: str, run_id: int, run_attempt: int, verdict: str) -> str:
    """The hidden first line of a comment."""
    data = {"key": key[:_MAX_KEY], "sha": sha, "run": run_id, "attempt": run_attempt, "verdict": verdict}
    text = json.dumps(data, ensure_ascii=True, separators=(",", ":"))
    text = text.replace("-", "\\u002d").replace("<", "\\u003c").replace(">", "\\u003e")
    return f"<!-- {MARKER} {text} -->"


def parse_marker(body: str) -> Marker | None:
    """The marker a comment begins with, or None. Text after the first line is never looked at."""
    found = _MARKER_LINE.match(body[:4096])
    if not found:
        return None
    try:
        data: Any = json.loads(found[1])
    except ValueError:
        return None
    key, sha, verdict = data.get("key"), data.get("sha"), data.get("verdict")
    run, attempt = data.get("run"), data.get("attempt")
    texts = all(isinstance(value, str) for value in (key, sha, verdict))
    numbers = all(isinstance(value, int) and not isinstance(value, bool) for value in (run, attempt))
    if not texts or not numbers:
        return None
    return Marker(key=key, sha=sha, run_id=run, run_attempt=attempt, verdict=verdict)


def told_verdict(marker: Marker) -> str:
    """`❌ not ready to merge`; empty for a verdict that this version does not know."""
    return "".join(f"{VERDICT_ICONS[name]} {word}" for name, word in VERDICT_WORDS.items() if name == marker.verdict)


def render_comment(
    document: ResultDocument,
    *,
    key: str = "default",
    sha: str = "",
    run_id: int = 0,
    run_attempt: int = 1,
    previous: Marker | None = None,
    run_url: str = "",
    limit: int = COMMENT_LIMIT,
) -> str:
    """The comment's whole body, marker first, at most `limit` UTF-8 bytes (line ends counted twice).

    Args:
        document: The result.
        key: Tells this comment from those of other gates on the same pull request; shown unless `default`.
        sha: The commit that was checked; the result's own by default.
        run_id: The workflow run, 0 outside one.
        run_attempt: Which attempt of it.
        previous: The marker of the comment that this one replaces.
        run_url: Page of the run; linked only when it is a plain address.
        limit: For services with another limit.
    """
    named = sha or document["metadata"]["commit"] or ""
    sha = named if _SHA.fullmatch(named) else ""
    marker = render_marker(key, sha, run_id, run_attempt, document["verdict"])
    summary = f"[the job summary]({run_url})" if _RUN_URL.fullmatch(run_url) else "the job summary"
    extra = " ".join(filter(None, [_key_line(key), _history_line(previous, sha, document["verdict"])]))
    body = fit(build_sections(document, _CAPS, extra), limit - len(marker) - 2, summary, footer(document))
    return f"{marker}\n{body}"


def _key_line(key: str) -> str:
    return "" if key == "default" else f"Gate {code(key, 80)}."


def _history_line(previous: Marker | None, sha: str, verdict: VerdictText) -> str:
    if previous is None or not (before := told_verdict(previous)):
        return ""
    at = f" at {code(previous.sha[:12], 12)}" if previous.sha and previous.sha != sha else " on the same commit"
    return f"Before{at}: {before}{', as now' if previous.verdict == verdict else ''}."
