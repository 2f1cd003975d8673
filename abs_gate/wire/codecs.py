"""Every codec by its name in `agent.format`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from abs_gate.wire.base import Codec
from abs_gate.wire.claude import ClaudeCodec
from abs_gate.wire.gemini import GeminiCodec
from abs_gate.wire.messages import MessagesCodec
from abs_gate.wire.openai import OpenAICodec
from abs_gate.wire.responses import ResponsesCodec

CODECS: Mapping[str, Codec] = MappingProxyType(
    {codec.name: codec for codec in (OpenAICodec(), MessagesCodec(), ResponsesCodec(), ClaudeCodec(), GeminiCodec())}
)
