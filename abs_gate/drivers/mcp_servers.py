"""How an MCP server is started through the official SDK and spoken to on stdio."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import IO, Any

from msgspec import Struct

from abs_gate.errors import CannotVerify, ConfigurationError
from abs_gate.transport.children import split_command

_LAUNCHER = Path(__file__).with_name("mcp_launcher.py")


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
