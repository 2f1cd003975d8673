"""Provider wire formats: pure codecs between the neutral conversation and HTTP bodies."""

from abs_gate.wire.codecs import CODECS

__all__ = ["CODECS"]
