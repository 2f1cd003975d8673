"""Deep recursion without the interpreter's stack: generators that yield the call they need the answer of."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any, TypeAlias, TypeVar

Result = TypeVar("Result")

Task: TypeAlias = Generator[Any, Any, Result]
"""A generator that yields other tasks, is sent their results and returns its own."""


def run(task: Task[Result]) -> Result:
    """Run a task and all it waits for, however deeply nested. Raises what no task on the way catches."""
    stack: list[Task[Any]] = [task]
    answer: Any = None
    error: Exception | None = None
    while stack:
        try:
            waited_for = stack[-1].send(answer) if error is None else stack[-1].throw(error)
        except StopIteration as finished:
            stack.pop()
            answer, error = finished.value, None
        except Exception as raised:  # handed on to the task that waits
            stack.pop()
            answer, error = None, raised
        else:
            stack.append(waited_for)
            answer = error = None
    if error is not None:
        raise error
    return answer  # type: ignore[no-any-return]  # the first task's result
