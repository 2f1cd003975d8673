"""An MCP server with a write and two reads over a file: stdio, or with a port streamable HTTP."""

import asyncio
import json
import sys
from pathlib import Path

from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

LEDGER = Path(sys.argv[1])
ANY = {"type": "object"}
TOOLS = [
    types.Tool(name="add", description="Add.", input_schema=ANY),
    types.Tool(
        name="list",
        description="List.",
        input_schema=ANY,
        annotations=types.ToolAnnotations(read_only_hint=True),
    ),
    types.Tool(name="slow", description="Slow.", input_schema=ANY),
]


async def list_tools(context, parameters):
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(context, parameters):
    if parameters.name == "add":
        with LEDGER.open("a") as file:
            file.write(json.dumps(parameters.arguments) + "\n")
        return result({"added": parameters.arguments})
    if parameters.name == "list":
        return result({"entries": [json.loads(line) for line in LEDGER.read_text().splitlines()]})
    if parameters.name == "slow":
        await asyncio.sleep(30)
    return result({"code": "NO_SUCH_TOOL", "message": "there is none", "retryable": False}, is_error=True)


def result(value, is_error=False):
    content = [types.TextContent(type="text", text=json.dumps(value))]
    return types.CallToolResult(content=content, structured_content=value, is_error=is_error)


server = Server("ledger", version="1", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve():
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


LEDGER.touch()
if len(sys.argv) > 2:
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=int(sys.argv[2]), log_level="error")
else:
    asyncio.run(serve())
