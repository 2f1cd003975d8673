"""Conversations put together from single requests, each of which repeats the conversation so far."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

from msgspec import Struct, field

from abs_gate.conversation import Message, Role, Usage
from abs_gate.wire.pieces import pieces_of
from abs_gate.wire.recorded.model import NO_USAGE

_LONGEST_OVERLAP = 500
"""Most pieces in which a request is looked for at the end of what its group said before."""


class Thread(Struct, eq=False):
    """A conversation that grows."""

    messages: list[Message]
    name: str = ""
    group: str = ""
    model: str | None = None
    usage: Usage = NO_USAGE
    response_id: str = ""
    marks: list[bytes] = field(default_factory=list)
    """Running hash over what was said, called and answered, one after each piece."""


class Threads:
    """Sorts exchanges into threads: each continues the one whose whole content it repeats, or begins another."""

    def __init__(self) -> None:
        self.all: list[Thread] = []
        self._by_mark: dict[bytes, list[Thread]] = {}

    def add(
        self,
        sent: Sequence[Message],
        answered: Sequence[Message],
        *,
        name: str = "",
        group: str = "",
        model: str | None = None,
        usage: Usage = NO_USAGE,
        response_id: str = "",
        previous_id: str = "",
    ) -> None:
        """Add one request and its answer.

        Args:
            sent: The messages of the request.
            answered: The messages of the answer.
            name: What a thread that begins here is called.
            group: Requests of one group may send only what is new (some instrumentations record no more).
            model: The model that answered.
            usage: Its tokens.
            response_id: The provider's id of the answer.
            previous_id: The id of the answer that this request continues without repeating it.
        """
        thread, known = self._find(sent, group, previous_id)
        if thread is None:
            thread = Thread(messages=[], name=name, group=group)
            self.all.append(thread)
            known = 0
            thread.messages.extend(message for message in sent if message.role is Role.SYSTEM)
        else:
            self._forget(thread)
        fresh = _skip_pieces([message for message in sent if message.role is not Role.SYSTEM], known)
        for message in (*fresh, *answered):
            thread.messages.append(message)
            for piece in pieces_of([message]):
                thread.marks.append(_mark(thread.marks[-1] if thread.marks else b"", piece))
        if thread.marks:
            self._by_mark.setdefault(thread.marks[-1], []).append(thread)
        thread.model = model or thread.model
        thread.usage = thread.usage + usage
        thread.response_id = response_id

    def _find(self, sent: Sequence[Message], group: str, previous_id: str) -> tuple[Thread | None, int]:
        """The thread that a request continues, and how many of its pieces that thread already holds."""
        if previous_id:
            for thread in reversed(self.all):
                if thread.response_id == previous_id:
                    return thread, 0
        found: tuple[Thread | None, int] = (None, 0)
        mark = b""
        for count, piece in enumerate(_all_pieces(sent), start=1):
            mark = _mark(mark, piece)
            waiting = self._by_mark.get(mark)
            if waiting:
                found = waiting[0], count
        if found[0] is None and group:
            return self._find_in_group(sent, group)
        return found

    def _find_in_group(self, sent: Sequence[Message], group: str) -> tuple[Thread | None, int]:
        system = [message.text for message in sent if message.role is Role.SYSTEM]
        for thread in reversed(self.all):
            known = [message.text for message in thread.messages if message.role is Role.SYSTEM]
            if thread.group == group and (not system or system == known):
                said, asked = list(_all_pieces(thread.messages)), list(_all_pieces(sent))
                return thread, len(asked) if said[: len(asked)] == asked else _overlap(said, asked)
        return None, 0

    def _forget(self, thread: Thread) -> None:
        if thread.marks:
            waiting = self._by_mark.get(thread.marks[-1], [])
            if thread in waiting:
                waiting.remove(thread)


def _all_pieces(messages: Sequence[Message]) -> Iterator[str]:
    return pieces_of(message for message in messages if message.role is not Role.SYSTEM)


def _mark(before: bytes, piece: str) -> bytes:
    return hashlib.sha256(before + piece.encode("utf-8", "replace")).digest()


def _overlap(known: list[str], sent: list[str]) -> int:
    """How many pieces at the beginning of `sent` are the last ones of `known`."""
    for count in range(min(len(known), len(sent), _LONGEST_OVERLAP), 0, -1):
        if known[-count:] == sent[:count]:
            return count
    return 0


def _skip_pieces(messages: Sequence[Message], count: int) -> list[Message]:
    """The messages after the first `count` pieces. A message that is partly known is taken as known."""
    rest = list(messages)
    while rest and count > 0:
        count -= sum(1 for _ in pieces_of(rest[:1]))
        rest.pop(0)
    while rest and not any(True for _ in pieces_of(rest[:1])):
        rest.pop(0)
    return rest
