"""Python callables named as `module:function`, found beside the user's files and run with a time limit."""

from __future__ import annotations

import importlib
import inspect
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.wire.unreadable import one_line


def load_callable(reference: str, *, root: str) -> Callable[..., Any]:
    """The function that `module:function` names.

    The root is looked in last, so that no file of it stands in for a module that is installed.

    Raises:
        ConfigurationError: no such module or function, or importing it failed.
    """
    module_name, _, attribute = reference.partition(":")
    shown = one_line(reference, 80)
    if not module_name or not attribute:
        raise ConfigurationError(f"{shown} does not name a function.", hint="Write module:function.")
    place = str(Path(root).resolve())
    if place not in sys.path:
        sys.path.append(place)
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ConfigurationError(
            f"There is no module {one_line(error.name or module_name, 80)} (for {shown}).",
            hint="Modules are looked up where the gate is installed and in the working directory.",
        ) from error
    except Exception as error:
        raise ConfigurationError(
            f"Importing {one_line(module_name, 80)} failed: {type(error).__name__}: {one_line(str(error))}."
        ) from error
    for name in attribute.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        raise ConfigurationError(f"{one_line(module_name, 80)} has no function {one_line(attribute, 80)}.")
    function: Callable[..., Any] = found
    return function


def call_within(function: Callable[..., Any], *arguments: Any, seconds: float, shown: str) -> Any:
    """Call a function, or run a coroutine function, for at most so many seconds.

    A function that does not return in time is left to itself on a daemon thread; Python cannot end it.

    Raises:
        AgentUnavailable: it raised, or did not return in time.
    """
    outcome: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def work() -> None:
        try:
            value = function(*arguments)
            if inspect.isawaitable(value):
                import asyncio  # slow to load, and few agents are coroutine functions

                value = asyncio.run(_wait_for(value))
            outcome.put((True, value))
        except BaseException as error:
            outcome.put((False, error))

    threading.Thread(target=work, name=f"call {shown}", daemon=True).start()
    try:
        succeeded, value = outcome.get(timeout=max(seconds, 0.001))
    except queue.Empty:
        raise AgentUnavailable(f"{shown} did not return within {seconds:g} s.") from None
    if not succeeded:
        raise AgentUnavailable(f"{shown} raised {type(value).__name__}: {one_line(str(value))}.") from value
    return value


async def _wait_for(value: Any) -> Any:
    return await value
