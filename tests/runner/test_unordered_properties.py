"""Free order against an oracle that tries every assignment; fixed order against a search of its own."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from abs_gate.runner.unordered import match_unordered

from .scripted import outcomes, play

grids = st.integers(0, 5).flatmap(
    lambda expected: st.lists(st.lists(st.booleans(), min_size=expected, max_size=expected), max_size=6)
)


def best(expected: int, fits: list[list[bool]]) -> int:
    """The most expected calls that can have an observed call of their own, by trying everything."""
    slots = [*range(len(fits)), *([None] * expected)]
    found = 0
    for chosen in set(permutations(slots, expected)):
        found = max(found, sum(j is not None and fits[j][i] for i, j in enumerate(chosen)))
    return found


@settings(max_examples=150, deadline=None)
@given(grids)
def test_as_many_as_possible_are_matched_each_to_its_own(fits):
    expected = len(fits[0]) if fits else 0
    found = match_unordered(expected, len(fits), lambda i, j: fits[j][i])
    assert len(set(found.values())) == len(found)
    assert all(fits[j][i] for i, j in found.items())
    assert len(found) == best(expected, fits)
    if found:
        shorter = fits[: max(found.values())]
        assert best(expected, shorter) < len(found), "no later call is taken than is needed"


@settings(max_examples=60, deadline=None)
@given(
    declared=st.lists(st.sampled_from("abc"), min_size=1, max_size=4),
    observed=st.lists(st.sampled_from("abcd"), max_size=5),
    free=st.booleans(),
)
def test_sessions_match_as_the_oracle_says(declared, observed, free):
    lines = [f"  - {{actor: assistant, action: calls, target: {name}}}" for name in declared]
    if free:
        lines[-1] = lines[-1][:-1] + ", evaluations: [{type: tool_call, ordered: false}]}"
    session = "behaviors:\n  - {actor: user, action: says, content: go}\n" + "\n".join(lines)
    replies = [{"calls": [{"name": name, "id": str(i)} for i, name in enumerate(observed)]}, {"text": "ok"}]
    result, _ = play(session, replies if observed else [{"text": "ok"}])
    matched = sum(behavior.step is not None for behavior in result.behaviors[1:])
    if free:
        fits = [[name == wanted for wanted in declared] for name in observed]
        assert matched == best(len(declared), fits)
    else:
        cursor, expected = 0, []
        for name in declared:
            position = observed.index(name, cursor) if name in observed[cursor:] else None
            cursor = cursor if position is None else position + 1
            expected.append("failed" if position is None else "passed")
        assert outcomes(result)[1:] == expected
    taken = [b.step for b in result.behaviors[1:] if b.step is not None]
    assert len(set(taken)) == len(taken)


def test_long_runs_are_matched_in_a_moment():
    size = 400
    found = match_unordered(size, size, lambda i, j: i + j >= size - 1)
    assert len(found) == size
