"""The adapter as an MCP server, over stdio or streamable HTTP.

PROVIDER_URL=http://127.0.0.1:8080 python mcp_server.py [--port 8090]
"""

import argparse
import asyncio
import json
import os
from functools import partial

import adapter
from mcp import types
from mcp.server import Server
from mcp.server.stdio import stdio_server

PROVIDER_URL = os.environ.get("PROVIDER_URL", "http://127.0.0.1:8080")
FAULT = os.environ.get("FAULT", "none")
REFUND = {
    "type": "object",
    "properties": {
        "order_id": {"type": "string", "pattern": r"^ORD-\d{4}$"},
        "amount_cents": {"type": "integer", "minimum": 1, "maximum": 100000},
        "reason": {"type": "string", "enum": ["damaged", "late", "wrong_item", "duplicate_charge"]},
        "action_id": {"type": "string", "minLength": 8, "maxLength": 80},
    },
    "required": ["order_id", "amount_cents", "reason", "action_id"],
    "additionalProperties": False,
}
TOOLS = [
    types.Tool(
        name="issue_refund",
        description="Issue one refund for an eligible order after approval.",
        input_schema=REFUND,
        annotations=types.ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=True),
    ),
    types.Tool(
        name="list_refunds",
        description="Every refund in the ledger.",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
        annotations=types.ToolAnnotations(read_only_hint=FAULT != "probe-may-write"),
    ),
]


async def list_tools(context, parameters):
    return types.ListToolsResult(tools=TOOLS)


async def call_tool(context, parameters):
    if parameters.name == "list_refunds":
        return result(await in_thread(read_ledger))
    arguments = parameters.arguments or {}
    return result(await in_thread(partial(adapter.issue_refund, arguments, PROVIDER_URL, FAULT)))


async def in_thread(work):
    return await asyncio.get_running_loop().run_in_executor(None, work)


def read_ledger():
    with adapter._opener.open(f"{PROVIDER_URL}/ledger", timeout=2) as response:
        return json.loads(response.read())


def result(value):
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=json.dumps(value))],
        structured_content=value,
        is_error=value.get("isError") is True,
    )


server = Server("billing", version="1.0.0", on_list_tools=list_tools, on_call_tool=call_tool)


async def serve_stdio():
    async with stdio_server() as (reading, writing):
        await server.run(reading, writing, server.create_initialization_options())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, help="serve streamable HTTP here instead of stdio")
    options = parser.parse_args()
    if options.port is None:
        asyncio.run(serve_stdio())
        return
    import uvicorn

    uvicorn.run(server.streamable_http_app(), host="127.0.0.1", port=options.port, log_level="error")


if __name__ == "__main__":
    main()
