"""Ctrl-C and SIGTERM: raised in the main thread, so that agents are ended and a partial result is written."""

from __future__ import annotations

import signal
from types import FrameType
from typing import NoReturn

from abs_gate.errors import Interrupted


def install() -> None:
    """Turn SIGINT and SIGTERM into Interrupted. The second of them ends the process at once.

    As process 1 of a container nothing would end us otherwise: the kernel ignores signals without a handler there.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _interrupt)


def _interrupt(number: int, frame: FrameType | None) -> NoReturn:
    for each in (signal.SIGINT, signal.SIGTERM):
        signal.signal(each, signal.SIG_DFL)
    raise Interrupted(f"Cancelled by {signal.Signals(number).name}.", signal_number=number)
