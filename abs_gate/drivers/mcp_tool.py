"""A tool of an MCP server, over stdio or streamable HTTP, through the official SDK."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import ExitStack

from abs_gate.drivers.envelopes import no_answer
from abs_gate.drivers.mcp_connection import McpConnection
from abs_gate.findings import Json
from abs_gate.verification.model import NO_CONTEXT, ToolAnswer


class McpServers:
    """Connections to the MCP servers of a suite: tools of one server share one."""

    def __init__(self, closing: ExitStack) -> None:
        self._closing = closing
        self._servers: dict[str, McpConnection] = {}

    def server(
        self,
        *,
        command: str | None,
        url: str | None,
        cwd: str,
        env: Mapping[str, str],
        headers: Mapping[str, str],
    ) -> McpConnection:
        """The connection to a server; it is opened by the first call."""
        key = json.dumps([command, url, cwd, sorted(env.items()), sorted(headers.items())])
        if key not in self._servers:
            connection = McpConnection(command=command, url=url, cwd=cwd, env=env, headers=headers)
            self._closing.callback(connection.close)
            self._servers[key] = connection
        return self._servers[key]


class McpTool:
    """One tool of a server."""

    is_concurrent = True

    def __init__(self, server: McpConnection, name: str, *, timeout_s: float) -> None:
        self.name = name
        self._server = server
        self._timeout_s = timeout_s

    @property
    def can_lose_answers(self) -> bool:
        return self._server.url is not None and self._server.url.startswith("http:")

    def call(
        self, arguments: Mapping[str, Json], *, key: str | None = None, context: Mapping[str, Json] = NO_CONTEXT
    ) -> ToolAnswer:
        meta = {**context, **({} if key is None else {"idempotency_key": key})}
        return self._server.call(self.name, dict(arguments), meta, self._timeout_s)

    def call_and_lose(self, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer:
        if not self.can_lose_answers:
            self.call(arguments, key=key)
            return no_answer("the answer was thrown away")
        meta = {} if key is None else {"idempotency_key": key}
        return self._server.call_and_lose(self.name, dict(arguments), meta, self._timeout_s)

    def is_declared_read_only(self) -> bool:
        """Whether the server says that the tool only reads. Raises CannotVerify."""
        return self._server.is_read_only(self.name)

    def close(self) -> None:
        """The connection is the server's."""
