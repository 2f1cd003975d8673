"""The providers' own addresses, and a base address made whole.

A base ends where the provider's SDKs end it (`https://host`, `.../v1`); anything longer is taken as it is.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from urllib.parse import urlsplit, urlunsplit

from msgspec import Struct

_VERSION = re.compile(r"/v[0-9]+[a-z0-9]*$")


class Provider(Struct, frozen=True, kw_only=True):
    """One provider's public API."""

    base: str
    """Scheme and host."""
    version: str
    """The first part of every path."""
    method: str
    """What follows the version; empty where the model stands in the path."""
    key_header: str
    key_prefix: str
    keys: tuple[str, ...]
    """The usual environment variables of its key, the first that is set counts."""
    model: str
    """The model asked when none is named: small, current, good enough to judge."""


PROVIDERS: Mapping[str, Provider] = MappingProxyType(
    {
        "openai": Provider(
            base="https://api.openai.com",
            version="/v1",
            method="/chat/completions",
            key_header="Authorization",
            key_prefix="Bearer ",
            keys=("OPENAI_API_KEY",),
            model="gpt-4.1-mini",
        ),
        "claude": Provider(
            base="https://api.anthropic.com",
            version="/v1",
            method="/messages",
            key_header="x-api-key",
            key_prefix="",
            keys=("ANTHROPIC_API_KEY",),
            model="claude-haiku-4-5",
        ),
        "gemini": Provider(
            base="https://generativelanguage.googleapis.com",
            version="/v1beta",
            method="",
            key_header="x-goog-api-key",
            key_prefix="",
            keys=("GEMINI_API_KEY", "GOOGLE_API_KEY"),
            model="gemini-2.5-flash",
        ),
    }
)


def complete_url(url: str | None, provider: Provider) -> str:
    """The full address: the provider's own when there is none, a base with its path added, a full one unchanged."""
    parts = urlsplit(url or provider.base)
    path = parts.path.rstrip("/")
    if not path:
        path = provider.version + provider.method
    elif _VERSION.search(path) or path.endswith("/openai"):
        path += provider.method
    else:
        path = parts.path
    return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))


def is_own_address(url: str | None, provider: Provider) -> bool:
    """Whether an address is the provider's own, where its usual key may go."""
    if url is None:
        return True
    parts, own = urlsplit(url), urlsplit(provider.base)
    return (parts.scheme, parts.hostname, parts.port or 443) == (own.scheme, own.hostname, 443)
