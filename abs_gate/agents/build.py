"""From settings to an agent that can be talked to."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import Self

from msgspec import Struct

from abs_gate.agents.auth import build_credentials
from abs_gate.agents.command import CommandAgent
from abs_gate.agents.http import HttpAgent
from abs_gate.agents.python import PythonAgent
from abs_gate.agents.record import RecordingAgent
from abs_gate.agents.replay import ReplayAgent
from abs_gate.conversation import Agent, Connection
from abs_gate.errors import ConfigurationError
from abs_gate.settings.model import AgentSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.transport.callables import load_callable
from abs_gate.transport.children import child_environment, inside
from abs_gate.transport.permissions import require_commands_allowed
from abs_gate.transport.started import StartedServer
from abs_gate.wire import CODECS
from abs_gate.wire.unreadable import one_line


class Surroundings(Struct, frozen=True, kw_only=True):
    """What building an agent needs besides its settings."""

    transport: Transport
    redactor: Redactor
    allow_commands: bool
    files_trusted: bool
    root: str
    """The directory that relative paths, commands and modules are looked up in."""
    environ: Mapping[str, str]
    closing: ExitStack
    """Collects what has to be ended with the agent."""


Builder = Callable[[AgentSettings, Surroundings], Agent]


def _http(settings: AgentSettings, surroundings: Surroundings) -> Agent:
    if not settings.url:
        raise ConfigurationError(
            "There is no agent to talk to.",
            hint="Give --agent URL, the input agent-url, or agent.url in abs-gate.yaml.",
        )
    credentials = build_credentials(
        settings, settings.url, surroundings.transport, files_trusted=surroundings.files_trusted
    )
    return HttpAgent(
        url=settings.url,
        codec=CODECS[settings.format],
        settings=settings,
        transport=surroundings.transport,
        credentials=credentials,
    )


def _command(settings: AgentSettings, surroundings: Surroundings) -> Agent:
    command = _needed(settings, "a command line")
    require_commands_allowed(f"The agent's command {one_line(command, 80)}", allowed=surroundings.allow_commands)
    extra = settings.start.env if settings.start is not None else {}
    agent = CommandAgent(
        command,
        cwd=inside(surroundings.root, "."),
        env=child_environment(surroundings.environ, extra),
        timeout_s=settings.timeout,
        redactor=surroundings.redactor,
    )
    surroundings.closing.callback(agent.close)
    return agent


def _python(settings: AgentSettings, surroundings: Surroundings) -> Agent:
    reference = _needed(settings, "module:function")
    require_commands_allowed(f"The agent's function {one_line(reference, 80)}", allowed=surroundings.allow_commands)
    return PythonAgent(
        load_callable(reference, root=surroundings.root),
        shown=one_line(reference, 80),
        timeout_s=settings.timeout,
        redactor=surroundings.redactor,
    )


def _replay(settings: AgentSettings, surroundings: Surroundings) -> Agent:
    if not settings.replay:
        raise ConfigurationError("The agent format replay needs a directory of recordings.", hint="Give --replay DIR.")
    return ReplayAgent(directory=_directory(settings.replay, surroundings), redactor=surroundings.redactor)


AGENTS: Mapping[str, Builder] = MappingProxyType(
    {**dict.fromkeys(CODECS, _http), "command": _command, "python": _python, "replay": _replay}
)
"""How each `agent.format` is built."""


class OpenAgent:
    """An agent with what it needs running. Entering starts `agent.start`; leaving ends every process."""

    def __init__(self, agent: Agent, *, started: StartedServer | None, closing: ExitStack) -> None:
        self._agent = agent
        self._started = started
        self._closing = closing

    def connect(self, session_key: str) -> Connection:
        return self._agent.connect(session_key)

    def __enter__(self) -> Self:
        if self._started is not None:
            self._closing.enter_context(self._started)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self._closing.close()


def build_agent(
    settings: AgentSettings,
    transport: Transport,
    *,
    allow_commands: bool,
    redactor: Redactor,
    files_trusted: bool | None = None,
    root: str = ".",
    environ: Mapping[str, str] | None = None,
) -> OpenAgent:
    """The agent that the settings describe. Nothing runs before it is entered.

    Args:
        settings: The agent's settings.
        transport: Carries HTTP; may be shared with judges.
        allow_commands: Whether commands and Python callables named in files may run.
        redactor: Knows every secret.
        files_trusted: Whether the configuration file may name where secrets go; when not given, as `allow_commands`
            (both hold on a command line, neither in a workflow).
        root: The directory that relative paths, commands and modules are looked up in.
        environ: The gate's environment, of which children see a part; `os.environ` when not given.

    Raises:
        ConfigurationError: something is missing or not allowed.
    """
    builder = AGENTS.get(settings.format)
    if builder is None:
        raise ConfigurationError(
            f"There is no agent format {one_line(settings.format, 40)}.", hint=f"Known: {', '.join(sorted(AGENTS))}."
        )
    surroundings = Surroundings(
        transport=transport,
        redactor=redactor,
        allow_commands=allow_commands,
        files_trusted=allow_commands if files_trusted is None else files_trusted,
        root=root,
        environ=os.environ if environ is None else environ,
        closing=ExitStack(),
    )
    agent = builder(settings, surroundings)
    if settings.record:
        agent = RecordingAgent(agent, directory=_directory(settings.record, surroundings), redactor=redactor)
    return OpenAgent(agent, started=_started(settings, surroundings), closing=surroundings.closing)


def _started(settings: AgentSettings, surroundings: Surroundings) -> StartedServer | None:
    if settings.start is None or settings.format in ("command", "python", "replay"):
        return None
    require_commands_allowed(
        f"The command of agent.start ({one_line(settings.start.command, 80)})", allowed=surroundings.allow_commands
    )
    return StartedServer(
        settings.start,
        url=settings.url,
        transport=surroundings.transport,
        redactor=surroundings.redactor,
        root=surroundings.root,
        environ=surroundings.environ,
    )


def _needed(settings: AgentSettings, what: str) -> str:
    if not settings.command:
        raise ConfigurationError(f"The agent format {settings.format} needs agent.command: {what}.")
    return settings.command


def _directory(path: str, surroundings: Surroundings) -> Path:
    """A directory for recordings; one that a file of a pull request names may not lie outside the workspace."""
    base = Path(surroundings.root).resolve()
    place = (base / path).resolve()
    if not surroundings.files_trusted and not place.is_relative_to(base):
        raise ConfigurationError(f"The directory {one_line(path, 100)} lies outside the workspace.")
    return place
