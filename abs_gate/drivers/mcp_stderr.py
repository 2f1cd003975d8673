"""The end of what an MCP server writes to standard error, for a message."""

from __future__ import annotations

import os
import re
import threading
from typing import IO

from abs_gate.sources.redaction import Redactor

_KEPT = 16_000
"""Bytes that are kept, the last ones; a server may write without end."""
_SAID = 300
"""Characters that a message quotes."""
_ENDED = re.compile(r"\s*The server (?:ended with status \d+|was ended by \w+)\.\s*\Z")
"""What the launcher adds when the server ends."""


class StandardError:
    """Takes what a server writes and keeps the end of it."""

    def __enter__(self) -> StandardError:
        reading, writing = os.pipe()
        self.file: IO[str] = os.fdopen(writing, "w")
        self._kept = b""
        self._thread = threading.Thread(target=self._drain, args=(reading,), name="mcp-stderr", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def words(self, redactor: Redactor, *, how_it_ended: bool) -> str:
        """A sentence or two of it, to follow another, once the server is gone.

        How it ended is part of that only where it ended by itself; otherwise we ended it.
        """
        self.file.close()
        self._thread.join(1.0)
        text = self._kept.decode("utf-8", "replace")
        if not how_it_ended:
            text = _ENDED.sub("", text)
        said = _last_sentences(redactor.redact(text))
        return f" It said: {said}" if said else ""

    def _drain(self, reading: int) -> None:
        with os.fdopen(reading, "rb", buffering=0) as pipe:
            while some := pipe.read(65_536):
                self._kept = (self._kept + some)[-_KEPT:]


def _last_sentences(text: str) -> str:
    """The last lines that fit, each as a sentence; of a line too long for that its last words."""
    kept: list[str] = []
    for line in reversed([" ".join(line.split()) for line in text.splitlines()]):
        sentence = line if not line or line.endswith((".", "!", "?", ":")) else f"{line}."
        room = _SAID - sum(len(each) + 1 for each in kept)
        if len(sentence) > room:
            if not kept:
                kept.append(f"… {sentence[-room:].partition(' ')[2] or sentence[-room:]}")
            break
        if sentence:
            kept.append(sentence)
    return " ".join(reversed(kept))
