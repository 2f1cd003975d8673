"""Takes the tools of a live MCP server, through the official SDK, and writes them as a contract file."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from abs_gate.drivers.mcp_http import HttpServer, status_text
from abs_gate.drivers.mcp_log import listening, reason_of
from abs_gate.drivers.mcp_servers import StdioServer, require_sdk, root_cause
from abs_gate.drivers.mcp_stderr import StandardError
from abs_gate.errors import CannotVerify, ConfigurationError
from abs_gate.findings import Json
from abs_gate.sources.redaction import Redactor
from abs_gate.transport.children import child_environment
from abs_gate.transport.destinations import check_url, shown_url
from abs_gate.wire.unreadable import one_line

MAX_PAGES = 1_000
MAX_TOOLS = 100_000
_NO_CREDENTIAL = "Give the credential with --header NAME=VALUE."
_WRONG_SERVER = "Is it an MCP server, over that transport?"
_TOOL_KEYS = (
    "name",
    "title",
    "description",
    "inputSchema",
    "outputSchema",
    "annotations",
    "execution",
    "icons",
    "_meta",
)


class PulledTools(Struct, frozen=True, kw_only=True):
    """What a server said of itself."""

    tools: tuple[Mapping[str, Json], ...]
    """As `tools/list` gave them, secrets taken out, sorted by name."""
    instructions: str | None = None
    server_name: str | None = None
    server_version: str | None = None
    protocol_version: str | None = None


def pull_tools(
    *,
    command: str | None = None,
    url: str | None = None,
    headers: Mapping[str, str] = MappingProxyType({}),
    environment_names: Sequence[str] = (),
    timeout_s: float = 30.0,
) -> PulledTools:
    """List every tool of a server, page by page.

    A command is started without a shell, with the listed environment only (PATH and the like, and
    `environment_names`), and ended with its whole process group. `timeout_s` bounds all of it but the ending.

    Raises:
        ConfigurationError: no SDK, a command that cannot be started, an address that may not be asked.
        CannotVerify: the server could not be reached, did not answer in time, or answered otherwise.
    """
    require_sdk()
    if (command is None) == (url is None):
        raise ConfigurationError("Give either a command or an address of the MCP server.")
    environment = child_environment(os.environ, {name: f"${{{name}}}" for name in environment_names})
    redactor = Redactor([*headers.values(), *(environment[name] for name in environment_names)])
    opener: StdioServer | HttpServer
    with StandardError() as errors, listening() as heard:
        if command is not None:
            shown = "The MCP server"
            opener = StdioServer(command, environment, errors.file)
        else:
            assert url is not None
            check_url(url)
            shown = f"The MCP server at {shown_url(url)}"
            opener = HttpServer(url, headers)
        try:
            pulled = asyncio.run(asyncio.wait_for(_list_all(opener, timeout_s), timeout_s))
        except TimeoutError:
            sent, said = redactor.redact(heard.words()), errors.words(redactor, how_it_ended=False)
            raise CannotVerify(
                f"{shown} did not list its tools within {timeout_s:g} s.{sent}{said}",
                hint="Does it start in that time? Raise --timeout, or install it beforehand.",
            ) from None
        except Exception as error:
            cause = root_cause(error)
            if isinstance(cause, CannotVerify | ConfigurationError):
                raise cause from None
            status = opener.status if isinstance(opener, HttpServer) else None
            reason = redactor.redact(reason_of(cause) if status is None else status_text(status))
            sent = redactor.redact(heard.words())
            said = errors.words(redactor, how_it_ended="closed" in reason.lower())
            raise CannotVerify(
                f"{shown} did not list its tools: {reason.rstrip('.')}.{sent}{said}",
                hint=_NO_CREDENTIAL if status in (401, 403) else _WRONG_SERVER,
            ) from None
    if not pulled.tools:
        raise CannotVerify(
            f"{shown} lists no tools, so there is nothing to write.",
            hint="Some servers offer tools only to whom they know: see --env and --header.",
        )
    return _without_secrets(pulled, redactor)


def write_snapshot(pulled: PulledTools) -> str:
    """Return the text of a contract file: JSON that is the same for the same tools and differs line by line."""
    document: dict[str, Json] = {}
    if pulled.instructions:
        document["instructions"] = pulled.instructions
    document["tools"] = [
        {key: _sorted(tool[key]) for key in (*_TOOL_KEYS, *sorted(tool.keys() - set(_TOOL_KEYS))) if key in tool}
        for tool in pulled.tools
    ]
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


async def _list_all(opener: StdioServer | HttpServer, timeout_s: float) -> PulledTools:
    from mcp import Client

    async with AsyncExitStack() as stack:
        transport = await opener.open(stack)
        client = await stack.enter_async_context(Client(transport, read_timeout_seconds=timeout_s, cache=None))
        tools = await _pages(client)
        info = client.server_info
        return PulledTools(
            tools=tuple(sorted(tools, key=lambda tool: str(tool.get("name")))),
            instructions=client.instructions,
            server_name=info.name if info else None,
            server_version=info.version if info else None,
            protocol_version=client.protocol_version,
        )


async def _pages(client: Any) -> list[dict[str, Json]]:
    tools: list[dict[str, Json]] = []
    cursor: str | None = None
    seen: set[str] = set()
    for _ in range(MAX_PAGES):
        page = await client.list_tools(cursor=cursor)
        for tool in page.tools:
            written = tool.model_dump(mode="json", by_alias=True, exclude_unset=True)
            _check_numbers(tool)
            tools.append({key: value for key, value in written.items() if value is not None})
        cursor = page.next_cursor
        if len(tools) > MAX_TOOLS:
            raise CannotVerify(f"The MCP server lists more than {MAX_TOOLS:,} tools.")
        if not cursor:
            return tools
        if cursor in seen:
            raise CannotVerify("The MCP server's pages lead in a circle: a cursor came twice.")
        seen.add(cursor)
    raise CannotVerify(f"The MCP server lists its tools on more than {MAX_PAGES:,} pages.")


def _check_numbers(tool: Any) -> None:
    """Raises CannotVerify: a number that JSON does not have, which would be written as null."""
    try:
        json.dumps([tool.input_schema, tool.output_schema], allow_nan=False, default=str)
    except ValueError:
        name = one_line(str(tool.name), 80)
        raise CannotVerify(
            f"The schema of the tool `{name}` holds NaN or Infinity, which JSON does not have."
        ) from None


def _without_secrets(pulled: PulledTools, redactor: Redactor) -> PulledTools:
    return PulledTools(
        tools=tuple(redactor.redact_json(dict(tool)) for tool in pulled.tools),
        instructions=redactor.redact(pulled.instructions) if pulled.instructions else None,
        server_name=pulled.server_name,
        server_version=pulled.server_version,
        protocol_version=pulled.protocol_version,
    )


def _sorted(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {key: _sorted(value[key]) for key in sorted(value)}
    return [_sorted(item) for item in value] if isinstance(value, list) else value
