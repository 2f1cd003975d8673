"""What a recording gives, and how one says that it gives nothing."""

from __future__ import annotations

from msgspec import Struct

from abs_gate.conversation import Message, Usage

NO_USAGE = Usage()


class RecordedConversation(Struct, frozen=True, kw_only=True):
    """One conversation as it was recorded."""

    name: str
    """As the recording names it, else by its place in the file."""
    messages: tuple[Message, ...]
    """In order; every call has an id, every result the id and name of its call as far as they are known."""
    form: str
    """What kind of recording it came from, in words."""
    model: str | None = None
    usage: Usage = NO_USAGE


class NotUnderstood(ValueError):
    """A value that is no recording of a conversation; the message is a clause that says what it is instead."""
