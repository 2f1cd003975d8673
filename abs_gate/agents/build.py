"""From settings to an agent that can be talked to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, TracebackType
from typing import Self

from abs_gate.agents.auth import build_credentials
from abs_gate.agents.http import HttpAgent
from abs_gate.conversation import Agent, Connection
from abs_gate.errors import ConfigurationError
from abs_gate.settings.model import AgentSettings
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.wire import CODECS


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What building an agent needs besides its settings."""

    transport: Transport
    redactor: Redactor
    allow_commands: bool
    files_trusted: bool
    root: str
    """The directory that relative paths, commands and modules are looked up in."""


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


AGENTS: Mapping[str, Builder] = MappingProxyType({**dict.fromkeys(CODECS, _http)})
"""How each `agent.format` is built."""


class OpenAgent:
    """An agent with what it needs running. A context manager; ending it ends every process it started."""

    def __init__(self, agent: Agent) -> None:
        self._agent = agent

    def connect(self, session_key: str) -> Connection:
        return self._agent.connect(session_key)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        pass


def build_agent(
    settings: AgentSettings,
    transport: Transport,
    *,
    allow_commands: bool,
    redactor: Redactor,
    files_trusted: bool | None = None,
    root: str = ".",
) -> OpenAgent:
    """The agent that the settings describe.

    Args:
        settings: The agent's settings.
        transport: Carries HTTP; may be shared with judges.
        allow_commands: Whether commands and Python callables named in files may run.
        redactor: Knows every secret.
        files_trusted: Whether the configuration file may name where secrets go; when not given, as `allow_commands`
            (both hold on a command line, neither in a workflow).
        root: The directory that relative paths, commands and modules are looked up in.

    Raises:
        ConfigurationError: something is missing or not allowed.
    """
    builder = AGENTS.get(settings.format)
    if builder is None:
        raise ConfigurationError(
            f"There is no agent format {settings.format}.", hint=f"Known: {', '.join(sorted(AGENTS))}."
        )
    surroundings = Surroundings(
        transport=transport,
        redactor=redactor,
        allow_commands=allow_commands,
        files_trusted=allow_commands if files_trusted is None else files_trusted,
        root=root,
    )
    return OpenAgent(builder(settings, surroundings))
