"""The vendor-free conversation: what is said, called and answered between the gate and an agent.

Codecs in `wire` turn these values into provider JSON and back; nothing here knows a provider.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from types import MappingProxyType, TracebackType
from typing import Any, Protocol, Self, TypeAlias

from msgspec import Struct, field

from abs_gate.findings import Json


class Role(StrEnum):
    """Who a message is from, in the neutral model."""

    SYSTEM = "system"
    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


class ToolCall(Struct, frozen=True, kw_only=True):
    """A request by the agent to run a tool."""

    id: str
    name: str
    arguments: Mapping[str, Json] | None
    """The arguments as an object; None when the text received is not a JSON object."""
    raw_arguments: str = ""
    """The arguments as received, when they came as text."""


class ToolResult(Struct, frozen=True, kw_only=True):
    """The answer to one tool call, given by the gate or reported by an agent that runs its own tools."""

    call_id: str
    name: str
    content: Json
    is_error: bool = False


class Message(Struct, frozen=True, kw_only=True):
    """One message. Assistant messages may hold text and calls; tool messages hold results."""

    role: Role
    text: str | None = None
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    refusal: bool = False
    truncated: bool = False
    native: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    """Provider data that must be passed back unchanged (thinking blocks, signatures), keyed by codec name."""


class Usage(Struct, frozen=True, kw_only=True):
    """Tokens as the provider counted them; zero where it said nothing."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )


class AgentTurn(Struct, frozen=True, kw_only=True):
    """What one reply of the agent held, in order: assistant messages, and results of tools it ran itself."""

    messages: tuple[Message, ...]
    usage: Usage = Usage()
    model: str | None = None
    warnings: tuple[str, ...] = ()


class ToolOffer(Struct, frozen=True, kw_only=True):
    """A tool definition shown to a raw model endpoint."""

    name: str
    description: str
    input_schema: Mapping[str, Json]
    strict: bool = False


class AgentRequest(Struct, frozen=True, kw_only=True):
    """Everything one request to an agent needs. The whole conversation is sent each time."""

    messages: tuple[Message, ...]
    tools: tuple[ToolOffer, ...] = ()
    turn_key: str = ""
    """Idempotency key: the same for every attempt at this turn, different for every turn and trial."""
    deadline_s: float | None = None
    """Seconds left in the session; the transport uses the smaller of this and its own timeout."""


class Connection(Protocol):
    """One session's conversation with an agent. Used by one thread."""

    def reply(self, request: AgentRequest) -> AgentTurn:
        """Send the conversation and return what the agent produced.

        Raises:
            AgentUnavailable: no answer, a transport error after the safe retries, or an answer
                that cannot be read.
        """
        ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class Agent(Protocol):
    """The thing under test. Thread-safe: `connect` is called from many threads at once."""

    def connect(self, session_key: str) -> Connection:
        """Open a conversation. `session_key` is stable for one trial of one case."""
        ...


class Judge(Protocol):
    """A text judge: asked a prompt, answers text. Thread-safe."""

    def ask(self, prompt: str) -> str:
        """Raises JudgeUnavailable when no answer can be had."""
        ...


class ScoringJudge(Protocol):
    """A judge that is handed the inputs and gives a verdict itself (python: and command: judges).

    The answer is an object with `score` (0..1) and/or `passed`, and optionally `reason`; it is
    validated by `evaluators.judged`, not by the adapter.
    """

    def score(self, kind: str, inputs: Mapping[str, Json]) -> Json:
        """Raises JudgeUnavailable when no answer can be had."""
        ...


AnyJudge: TypeAlias = Judge | ScoringJudge
