"""What the SDK logs of a server, in our words: it would print a traceback for every line that is no message."""

from __future__ import annotations

import logging
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from abs_gate.wire.unreadable import one_line

_VALIDATOR = re.compile(r":?\s*\d+ validation errors? for ")
_LOGGER = logging.getLogger("mcp")


class Heard(logging.Handler):
    """Keeps the first thing a server sent that is no MCP message.

    A connection lives on one thread and hears only that.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._thread = threading.get_ident()
        self._first = ""

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        if not self._first and record.thread == self._thread and error is not None:
            self._first = _input_of(error)

    def words(self) -> str:
        """A sentence about it, to follow another; empty where everything was a message."""
        return f" It sent what is no MCP message: {self._first}" if self._first else ""


@contextmanager
def listening() -> Iterator[Heard]:
    """Hear what the SDK logs on this thread. Nothing of it reaches standard error, then or later."""
    _LOGGER.propagate = False
    if not any(isinstance(handler, logging.NullHandler) for handler in _LOGGER.handlers):
        _LOGGER.addHandler(logging.NullHandler())
    heard = Heard()
    _LOGGER.addHandler(heard)
    try:
        yield heard
    finally:
        _LOGGER.removeHandler(heard)


def reason_of(error: BaseException) -> str:
    """An error of the SDK in one line, without what its validator adds for developers."""
    return one_line(_VALIDATOR.split(str(error))[0], 300) or _invalid_place(error) or type(error).__name__


def _invalid_place(error: BaseException) -> str:
    """The first place of a message that is not as the protocol has it; empty for any error that is none of those."""
    errors = getattr(error, "errors", None)
    if not callable(errors):
        return ""
    first: Mapping[str, Any] = next(iter(errors()), {})
    place = ".".join(str(step) for step in first.get("loc", ()) if not (isinstance(step, str) and "[" in step))
    return one_line(f"the answer is not as the protocol has it: `{place}`: {first.get('msg', '')}", 300)


def _input_of(error: BaseException) -> str:
    """What a validation error of the SDK was about, quoted on one line; empty for any other error."""
    errors = getattr(error, "errors", None)
    if not callable(errors):
        return ""
    first: Mapping[str, Any] = next(iter(errors()), {})
    found = first.get("input")
    text = found.decode("utf-8", "replace") if isinstance(found, bytes) else found
    return f"`{one_line(text, 120)}`." if text is not None else ""
