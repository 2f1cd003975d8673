"""One connection to an MCP server through the official SDK, usable from threads."""

from __future__ import annotations

import asyncio
import concurrent.futures
import json
import threading
from collections.abc import Callable, Coroutine, Mapping
from contextlib import AsyncExitStack, suppress
from typing import IO, Any
from urllib.parse import urlsplit, urlunsplit

from abs_gate.drivers.envelopes import MOST_RAW, no_answer, read_error
from abs_gate.drivers.fault_proxy import FaultProxy
from abs_gate.drivers.mcp_http import HttpServer, status_text
from abs_gate.drivers.mcp_log import Heard, listening, reason_of
from abs_gate.drivers.mcp_servers import StdioServer, require_sdk, root_cause
from abs_gate.drivers.mcp_stderr import StandardError
from abs_gate.errors import CannotVerify, ConfigurationError
from abs_gate.findings import Json
from abs_gate.transport.destinations import check_url, shown_url
from abs_gate.verification.model import AnswerKind, ToolAnswer
from abs_gate.wire.unreadable import one_line

_CONNECT_S = 30.0
_END_S = 10.0


class McpConnection:
    """Opened by the first call, on an event loop of its own thread; ended by `close`."""

    def __init__(
        self,
        *,
        command: str | None,
        url: str | None,
        cwd: str,
        env: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> None:
        self.url = url
        if url is not None:
            check_url(url)
        self._command = command or ""
        self._shown = shown_url(url) if url is not None else one_line(self._command, 80)
        self._cwd, self._env, self._headers = cwd, dict(env), dict(headers)
        self._lock = threading.Lock()
        self._opened: concurrent.futures.Future[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._client: Any = None
        self._stop: asyncio.Event | None = None
        self._tools: dict[str, Any] | None = None
        self._heard: Heard | None = None
        self._http: HttpServer | None = None

    def call(self, tool: str, arguments: dict[str, Json], meta: Mapping[str, Json], timeout_s: float) -> ToolAnswer:
        """Call a tool. Raises CannotVerify: the server cannot be reached at all."""
        self._open()
        return self._ask(lambda: self._client.call_tool(tool, arguments, meta=dict(meta) or None), timeout_s)

    def call_and_lose(
        self, tool: str, arguments: dict[str, Json], meta: Mapping[str, Json], timeout_s: float
    ) -> ToolAnswer:
        """Call a tool over HTTP on a connection that is cut once the server answers the call."""
        assert self.url is not None
        parts = urlsplit(self.url)
        proxy = FaultProxy(parts.hostname or "", parts.port or 80, after=b"tools/call")
        through = urlunsplit((parts.scheme, f"127.0.0.1:{proxy.port}", parts.path, parts.query, ""))
        lost = McpConnection(
            command=None, url=through, cwd=self._cwd, env=self._env, headers={**self._headers, "Host": parts.netloc}
        )
        try:
            return lost.call(tool, arguments, meta, min(timeout_s, 3.0))
        finally:
            proxy.close()
            lost.close()

    def is_read_only(self, tool: str) -> bool:
        """Whether the server's list says that a tool only reads. Raises CannotVerify."""
        self._open()
        if self._tools is None:
            try:
                listed = self._run(self._client.list_tools(), _CONNECT_S)
            except Exception as error:
                reason = f"{reason_of(error).rstrip('.')}.{self._sent()}"
                raise CannotVerify(f"The MCP server {self._shown} did not list its tools: {reason}") from error
            self._tools = {each.name: each for each in listed.tools}
        found = self._tools.get(tool)
        annotations = getattr(found, "annotations", None)
        return getattr(annotations, "read_only_hint", getattr(annotations, "readOnlyHint", None)) is True

    def close(self) -> None:
        """End the connection and the server it started."""
        with self._lock:
            loop, thread, stop = self._loop, self._thread, self._stop
            self._loop = self._thread = self._opened = None
        if loop is not None and thread is not None and stop is not None:
            with suppress(RuntimeError):
                loop.call_soon_threadsafe(stop.set)
            thread.join(timeout=_END_S)

    def _ask(self, call: Callable[[], Coroutine[Any, Any, Any]], timeout_s: float) -> ToolAnswer:
        from mcp import MCPError

        try:
            return _read(self._run(call(), timeout_s))
        except MCPError as error:
            text = reason_of(error)
            if "timed out" in text.lower() or "closed" in text.lower():
                return no_answer(f"{text.rstrip('.')}.{self._sent()}".rstrip("."))
            return ToolAnswer(kind=AnswerKind.PROTOCOL_ERROR, message=text, raw=text)
        except (TimeoutError, concurrent.futures.TimeoutError):
            return no_answer(f"the MCP server did not answer within {timeout_s:g} s.{self._sent()}".rstrip("."))
        except Exception as error:
            return no_answer(f"the MCP server gave no answer ({type(error).__name__}: {one_line(str(error), 200)})")

    def _run(self, work: Coroutine[Any, Any, Any], timeout_s: float) -> Any:
        assert self._loop is not None
        future = asyncio.run_coroutine_threadsafe(asyncio.wait_for(work, timeout_s), self._loop)
        return future.result(timeout_s + 5)

    def _open(self) -> None:
        """Open it once; every thread waits for that. Raises CannotVerify, ConfigurationError."""
        require_sdk()
        with self._lock:
            if self._opened is None:
                self._opened = concurrent.futures.Future()
                self._thread = threading.Thread(target=self._live, args=(self._opened,), name="mcp", daemon=True)
                self._thread.start()
        try:
            self._opened.result(_CONNECT_S)
        except Exception as error:
            cause = root_cause(error)
            if isinstance(cause, ConfigurationError):
                raise cause from None
            status = self._http.status if self._http is not None else None
            reason = reason_of(cause) if str(cause) else "it did not answer in time"
            reason = reason if status is None else status_text(status)
            raise CannotVerify(f"The MCP server {self._shown} could not be reached: {reason}.{self._sent()}") from error

    def _sent(self) -> str:
        return self._heard.words() if self._heard is not None else ""

    def _live(self, opened: concurrent.futures.Future[None]) -> None:
        async def live() -> None:
            self._loop, self._stop = asyncio.get_running_loop(), asyncio.Event()
            async with AsyncExitStack() as stack:
                server = self._server(stack.enter_context(StandardError()).file)
                from mcp import Client

                transport = await server.open(stack)
                self._client = await stack.enter_async_context(Client(transport, cache=None))
                opened.set_result(None)
                await self._stop.wait()

        try:
            with listening() as self._heard:
                asyncio.run(live())
        except BaseException as error:
            if not opened.done():
                opened.set_exception(error)

    def _server(self, errors: IO[str]) -> StdioServer | HttpServer:
        if self.url is not None:
            self._http = HttpServer(self.url, self._headers)
            return self._http
        return StdioServer(self._command, self._env, errors, self._cwd)


def _read(result: Any) -> ToolAnswer:
    """A CallToolResult: structured content where there is some, else its text, as JSON where it is some."""
    texts = [block.text for block in result.content or () if getattr(block, "type", "") == "text"]
    structured = getattr(result, "structured_content", None)
    text = "\n".join(texts)
    raw = "\n".join([text, json.dumps(structured, ensure_ascii=False, default=str) if structured is not None else ""])
    content = structured if structured is not None else _parsed(text)
    if getattr(result, "is_error", False):
        answer = read_error(content if isinstance(content, Mapping) else None, raw[:MOST_RAW], {})
        return ToolAnswer(
            kind=AnswerKind.TOOL_ERROR,
            content=content,
            code=answer.code,
            message=answer.message or text,
            retryable=answer.retryable,
            raw=raw[:MOST_RAW],
        )
    return ToolAnswer(kind=AnswerKind.RESULT, content=content, raw=raw[:MOST_RAW])


def _parsed(text: str) -> Json:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text
