"""How an MCP server is reached through the official SDK: started on stdio, or asked over streamable HTTP."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from abs_gate.errors import CannotVerify, ConfigurationError
from abs_gate.sources.redaction import Redactor
from abs_gate.transport.children import split_command

_LAUNCHER = Path(__file__).with_name("mcp_launcher.py")
_SAID = 300
"""Characters of the server's standard error that a message quotes."""


def require_sdk() -> None:
    """Raises ConfigurationError: the SDK is not installed."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        raise ConfigurationError(
            "The MCP SDK is not installed, so no MCP server can be asked.",
            hint="Install it with: pip install 'abs-gate[mcp]'",
        ) from None


class StdioServer(Struct, frozen=True):
    """A server that a command starts, ended with its whole process group."""

    command: str
    environment: Mapping[str, str]
    errors: IO[str]
    """Takes what it writes to standard error."""
    cwd: str | None = None

    async def open(self, _: AsyncExitStack) -> AbstractAsyncContextManager[Any]:
        """The SDK's transport. Raises ConfigurationError: there is no such program."""
        from mcp.client.stdio import StdioServerParameters, stdio_client

        words = split_command(self.command)
        program = shutil.which(words[0], path=self.environment.get("PATH"))
        if program is None:
            raise ConfigurationError(
                f"There is no program `{words[0][:100]}` to start the MCP server with.",
                hint="Is it installed, and on the PATH of the gate?",
            )
        server = StdioServerParameters(
            command=sys.executable,
            args=["-I", str(_LAUNCHER), program, *words[1:]],
            env=dict(self.environment),
            cwd=self.cwd,
        )
        return stdio_client(server, errlog=self.errors)  # type: ignore[arg-type]


class HttpServer(Struct, frozen=True):
    """A server at an address."""

    url: str
    headers: Mapping[str, str]

    async def open(self, stack: AsyncExitStack) -> AbstractAsyncContextManager[Any]:
        """The SDK's transport; `stack` closes what it needs."""
        from mcp.client.streamable_http import streamable_http_client
        from mcp.shared._httpx_utils import create_mcp_http_client

        client = await stack.enter_async_context(create_mcp_http_client(headers=dict(self.headers)))
        return streamable_http_client(self.url, http_client=client)


def root_cause(error: BaseException) -> BaseException:
    """Return the one error that tells most out of a group: ours before the SDK's."""
    leaves = list(_leaves(error))
    return next((leaf for leaf in leaves if isinstance(leaf, CannotVerify | ConfigurationError)), leaves[0])


def _leaves(error: BaseException) -> Iterable[BaseException]:
    if isinstance(error, BaseExceptionGroup):
        for each in error.exceptions:
            yield from _leaves(each)
    else:
        yield error


def said(errors: IO[str], redactor: Redactor) -> str:
    """Return the end of what a server wrote to standard error, for a message."""
    errors.seek(0, os.SEEK_END)
    errors.seek(max(0, errors.tell() - 4_000))
    text = _last_sentences(redactor.redact(errors.read()))
    return f" It said: {text}" if text else ""


def _last_sentences(text: str) -> str:
    """The last lines that fit, each as a sentence; of a line too long for that its last words."""
    kept: list[str] = []
    for line in reversed([" ".join(line.split()) for line in text.splitlines()]):
        sentence = line if not line or line.endswith((".", "!", "?", ":")) else f"{line}."
        room = _SAID - sum(len(each) + 1 for each in kept)
        if len(sentence) > room:
            if not kept:
                kept.append(f"… {sentence[-room:].partition(' ')[2] or sentence[-room:]}")
            break
        if sentence:
            kept.append(sentence)
    return " ".join(reversed(kept))
