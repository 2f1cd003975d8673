"""What a codec is."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Protocol

from msgspec import Struct, field

from abs_gate.conversation import AgentRequest, AgentTurn


class WireOptions(Struct, frozen=True, kw_only=True):
    """Per-agent options a codec may need."""

    model: str | None = None
    stream: bool = False
    max_output_tokens: int | None = None
    temperature: float | None = None


class HttpRequest(Struct, frozen=True, kw_only=True):
    """A request as a value. A body of bytes is sent as it is; anything else is JSON the transport serialises."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    body: Any = None


class HttpResponse(Struct, frozen=True, kw_only=True):
    """A response as a value; the body was read within the size and time caps."""

    status: int
    headers: Mapping[str, str]
    """Lower-cased names."""
    body: bytes


class Codec(Protocol):
    """One provider shape. Stateless."""

    name: str

    def encode(self, request: AgentRequest, url: str, options: WireOptions) -> HttpRequest:
        """Build the request body for the whole conversation."""
        ...

    def decode(self, response: HttpResponse) -> AgentTurn:
        """Read a 2xx response, streamed (SSE) or not.

        Raises:
            AgentUnavailable: the body is not this format's answer; the message says what came instead, bounded.
        """
        ...
