"""How an MCP server is asked over streamable HTTP, through the official SDK."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from typing import Any

MAX_ANSWER = 64 * 1024 * 1024
"""Bytes of one answer; a longer one is not read to its end."""
_MEANINGS = {
    401: "the server wants to know who asks",
    403: "the server refuses whoever asks",
    404: "there is no such address on the server",
    407: "a proxy wants to know who asks",
    429: "the server was asked too often",
}


class HttpServer:
    """A server at an address."""

    def __init__(self, url: str, headers: Mapping[str, str]) -> None:
        self._url = url
        self._headers = headers
        self.status: int | None = None
        """The status of the last answer, where it is an error."""

    async def open(self, stack: AsyncExitStack) -> AbstractAsyncContextManager[Any]:
        """The SDK's transport; `stack` closes what it needs."""
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        client = await stack.enter_async_context(create_mcp_http_client(headers=dict(self._headers)))
        client.event_hooks["response"].append(self._watch)
        return streamable_http_client(self._url, http_client=client)

    async def _watch(self, response: Any) -> None:
        if response.request.method == "POST":  # others are refused by servers that have no stream or no session
            self.status = response.status_code if response.status_code >= 400 else None
        response.stream = _bounded(response.stream)


def status_text(status: int) -> str:
    """A status that is an error, and what it means."""
    meaning = _MEANINGS.get(status, "the server failed" if status >= 500 else "the server refuses")
    return f"HTTP status {status}, {meaning}"


def _bounded(stream: Any) -> Any:
    import httpx2

    class Bounded(httpx2.AsyncByteStream):
        async def __aiter__(self) -> AsyncIterator[bytes]:
            left = MAX_ANSWER
            async for some in stream:
                left -= len(some)
                if left < 0:
                    raise httpx2.StreamError(f"the answer is longer than {MAX_ANSWER:,} bytes")
                yield some

        async def aclose(self) -> None:
            await stream.aclose()

    return Bounded()
