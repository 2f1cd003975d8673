"""A small MCP server for the tests. `stdio` or `http PORT`; what it does else comes by flags.

--pages N     lists its tools on pages of N
--circle      gives the same cursor for ever
--child FILE  starts a process that outlives it and writes its id to FILE
--echo-env    names every variable it was given in a tool's description
--mute        starts and never answers
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.stdio import stdio_server

NAMES = ("refund_order", "get_order", "cancel_order", "list_orders", "ship_order")


def tools(description: str) -> list[types.Tool]:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"order_id": {"type": "string"}, "amount": {"type": "integer"}},
        "required": ["order_id"],
    }
    return [types.Tool(name=name, description=description, input_schema=schema) for name in NAMES]


def build(arguments: argparse.Namespace) -> Server[Any]:
    description = "Works on one order."
    if arguments.echo_env:
        description = " ".join(f"{name}={value}" for name, value in sorted(os.environ.items()))
    every = tools(description)

    async def list_tools(_context: Any, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        if arguments.circle:
            return types.ListToolsResult(tools=every[:1], next_cursor="again")
        if not arguments.pages:
            return types.ListToolsResult(tools=every)
        start = int(params.cursor) if params and params.cursor else 0
        end = start + arguments.pages
        return types.ListToolsResult(tools=every[start:end], next_cursor=str(end) if end < len(every) else None)

    return Server("demo", version="7", instructions="Look before you write.", on_list_tools=list_tools)


async def serve_stdio(server: Server[Any]) -> None:
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def serve_http(server: Server[Any], port: int, token: str | None) -> None:
    import uvicorn
    from starlette.responses import PlainTextResponse

    app = server.streamable_http_app()

    async def guarded(scope: Any, receive: Any, send: Any) -> None:
        headers = dict(scope.get("headers", []))
        if token and scope["type"] == "http" and headers.get(b"x-token") != token.encode():
            await PlainTextResponse("who are you?", status_code=401)(scope, receive, send)
            return
        await app(scope, receive, send)

    uvicorn.run(guarded, host="127.0.0.1", port=port, log_level="error")


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("transport", choices=["stdio", "http"])
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--token")
    parser.add_argument("--pages", type=int, default=0)
    parser.add_argument("--circle", action="store_true")
    parser.add_argument("--child")
    parser.add_argument("--echo-env", action="store_true")
    parser.add_argument("--mute", action="store_true")
    arguments = parser.parse_args()
    if arguments.child:
        outliving = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"])
        Path(arguments.child).write_text(str(outliving.pid))
    if arguments.mute:
        sys.stderr.write("thinking about it\n")
        sys.stderr.flush()
        time.sleep(300)
    server = build(arguments)
    if arguments.transport == "stdio":
        asyncio.run(serve_stdio(server))
    else:
        serve_http(server, arguments.port, arguments.token)


if __name__ == "__main__":
    main()
