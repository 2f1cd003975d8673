"""Inline SVG: a pass rate with its interval, and a trial as a line of steps through three lanes."""

from __future__ import annotations

from collections.abc import Sequence

from abs_gate.gate.result import StepRecord
from abs_gate.reports.html_text import esc

_BAR_WIDTH = 120
_LANES = {"sent": 0, "text": 1, "call": 1, "result": 2}
_LANE_NAMES = ("user", "agent", "tools")
_STEP = 34
_GUTTER = 50
_TOP = 34
_LANE = 34
_MAX_STEPS = 100


def rate_bar(rate: float | None, interval: Sequence[float] | None, outcome: str) -> str:
    """A bar of the rate and a whisker of the interval. Decorative: the same figures stand beside it as text."""
    parts = [f'<rect class="track" width="{_BAR_WIDTH}" height="10" y="3" rx="2"/>']
    if rate is not None:
        parts.append(f'<rect class="fill {outcome}" width="{_x(rate)}" height="10" y="3" rx="2"/>')
    if interval and len(interval) == 2:
        low, high = _x(interval[0]), _x(interval[1])
        parts.append(f'<path class="whisker" d="M{low} 8H{high}M{low} 5v6M{high} 5v6"/>')
    return f'<svg class="bar" viewBox="-1 0 122 16" aria-hidden="true">{"".join(parts)}</svg>'


def _x(rate: float) -> str:
    return f"{min(max(rate, 0.0), 1.0) * _BAR_WIDTH:.1f}".removesuffix(".0")


def timeline(transcript: Sequence[StepRecord]) -> str:
    """Numbered marks in the lanes of user, agent and tools, joined in order; squares are calls.

    The numbers are those of the list of steps below it. At most a hundred steps.
    """
    steps = transcript[:_MAX_STEPS]
    if not steps:
        return ""
    width = _GUTTER + _STEP * len(steps) + 6
    height = _TOP + 2 * _LANE + 24
    parts = [_lanes(width), _turns(steps, height)]
    points = " ".join(f"{_cx(number)},{_cy(step)}" for number, step in enumerate(steps))
    parts.append(f'<polyline class="thread" points="{points}"/>')
    parts += [_mark(number, step) for number, step in enumerate(steps)]
    calls = [step for step in steps if step["kind"] == "call"]
    unexpected = sum(1 for step in calls if not step["expected"])
    label = f"Timeline of {len(steps)} steps: {len(calls)} tool calls, {unexpected} of them not asked for by a behavior"
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="Timeline of this trial">'
        f'<svg class="timeline" width="{width}" height="{height}" viewBox="0 0 {width} {height}" '
        f'role="img" aria-label="{label}">{"".join(parts)}</svg></div>'
    )


def _cx(number: int) -> int:
    return _GUTTER + _STEP * number + _STEP // 2


def _cy(step: StepRecord) -> int:
    return _TOP + _LANE * _LANES[step["kind"]]


def _lanes(width: int) -> str:
    return "".join(
        f'<path class="lane" d="M{_GUTTER} {_TOP + _LANE * number}H{width}"/>'
        f'<text class="lane-name" x="0" y="{_TOP + _LANE * number + 4}">{name}</text>'
        for number, name in enumerate(_LANE_NAMES)
    )


def _turns(steps: Sequence[StepRecord], height: int) -> str:
    parts = []
    for number, step in enumerate(steps):
        if number == 0 or step["turn"] != steps[number - 1]["turn"]:
            left = _cx(number) - _STEP // 2
            parts.append(
                f'<path class="turn" d="M{left} 4V{height - 4}"/>'
                f'<text class="turn-name" x="{left + 4}" y="12">turn {step["turn"]}</text>'
            )
    return "".join(parts)


def _mark(number: int, step: StepRecord) -> str:
    x, y = _cx(number), _cy(step)
    state = " bad" if step["is_error"] or not step["expected"] else ""
    shape = (
        f'<rect x="{x - 10}" y="{y - 10}" width="20" height="20" rx="3"/>'
        if step["kind"] == "call"
        else f'<circle cx="{x}" cy="{y}" r="10"/>'
    )
    target = f": {esc(step['target'], 60)}" if step["target"] else ""
    name = f"{step['index'] + 1}. {esc(step['actor'], 40)} {esc(step['action'], 40)}{target}"
    return (
        f'<g class="mark {step["kind"]}{state}"><title>{name}</title>{shape}'
        f'<text x="{x}" y="{y + 4}">{step["index"] + 1}</text></g>'
    )
