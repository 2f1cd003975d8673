"""Every codec by its name in `agent.format`."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from abs_gate.wire.base import Codec
from abs_gate.wire.messages import MessagesCodec
from abs_gate.wire.openai import OpenAICodec

CODECS: Mapping[str, Codec] = MappingProxyType({codec.name: codec for codec in (OpenAICodec(), MessagesCodec())})
