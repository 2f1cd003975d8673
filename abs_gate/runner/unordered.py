"""Maximum matching of expected calls to observed calls where order is free."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable


def match_unordered(expected: int, observed: int, fits: Callable[[int, int], bool]) -> dict[int, int]:
    """Give as many expected calls as possible an observed call of their own.

    Observed calls are taken in order and only as many as are needed, so that what comes after them is left
    for later behaviors. Kuhn's augmenting paths from the side of the observed calls.

    Args:
        expected: number of expected calls.
        observed: number of observed calls.
        fits: whether expected call i may be observed call j; asked at most once a pair.

    Returns:
        Expected index to observed index.
    """
    owner: dict[int, int] = {}
    candidates: list[list[int]] = []
    for call in range(observed):
        if len(owner) == expected:
            break
        candidates.append([i for i in range(expected) if fits(i, call)])
        _place(call, candidates, owner)
    return owner


def _place(call: int, candidates: list[list[int]], owner: dict[int, int]) -> None:
    """Find an expected call for an observed one, moving others along the shortest augmenting path."""
    came_from: dict[int, int | None] = {}
    queue: deque[tuple[int, int | None]] = deque([(call, None)])
    while queue:
        current, via = queue.popleft()
        for i in candidates[current]:
            if i in came_from:
                continue
            came_from[i] = via
            if i in owner:
                queue.append((owner[i], i))
                continue
            free: int | None = i
            while free is not None:
                before = came_from[free]
                owner[free] = call if before is None else owner[before]
                free = before
            return
