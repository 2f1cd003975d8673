"""What the loader must be told by those above it."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from msgspec import Struct, field


class EvaluatorShape(Struct, frozen=True, kw_only=True):
    """What an evaluation of one type may hold."""

    levels: frozenset[str]
    """`step`, `session` or both."""
    fields: Mapping[str, Mapping[str, Any]] = field(default_factory=lambda: MappingProxyType({}))
    """JSON Schema of each field of its own."""
    required: tuple[str, ...] = ()
    scores: bool = False


class LoadOptions(Struct, frozen=True, kw_only=True):
    """What a run knows that the documents do not say."""

    evaluators: Mapping[str, EvaluatorShape]
    """Every evaluator by its ABS name; a type that is not here is an error in a document."""
    actions: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    """Custom action to its category."""
    adapters: frozenset[str] | None = None
    """Names that `adapter:` may take; None where judges are not known yet."""
