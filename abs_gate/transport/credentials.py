"""Credentials of a request: headers that go on the first hop only and can be renewed when refused."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Protocol


class Credentials(Protocol):
    """What proves who is asking. Thread-safe."""

    def headers(self) -> Mapping[str, str]:
        """Headers to send now. Raises AgentUnavailable when none can be had."""
        ...

    def renew(self, refused: Mapping[str, str]) -> bool:
        """Called once after a 401 with the headers that were refused; True when others can now be sent."""
        ...


class StaticCredentials:
    """Headers that stay as they are: an API key, a bearer token, any other header."""

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._headers = MappingProxyType(dict(headers))

    def headers(self) -> Mapping[str, str]:
        return self._headers

    def renew(self, refused: Mapping[str, str]) -> bool:
        return False
