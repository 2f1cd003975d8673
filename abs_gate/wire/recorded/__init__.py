"""Recorded conversations of many forms, read into neutral messages."""

from abs_gate.wire.recorded.load import MAX_TRACE_BYTES, load_traces
from abs_gate.wire.recorded.model import RecordedConversation

__all__ = ["MAX_TRACE_BYTES", "RecordedConversation", "load_traces"]
