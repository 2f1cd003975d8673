"""Where requests may go: http and https, no credentials in the address, never to metadata services.

A cloud machine's metadata service hands out credentials to whoever asks from inside, so its addresses and
every other link-local one are refused: by name, by number in any spelling, and again after the name was
resolved (RFC 3927, RFC 4291 section 2.5.6; the single addresses are those the cloud vendors document).
"""

from __future__ import annotations

import ipaddress
import re
import socket
from urllib.parse import SplitResult, urlsplit, urlunsplit

from abs_gate.errors import ConfigurationError

METADATA_HOSTS = frozenset(
    {"metadata", "metadata.google.internal", "metadata.goog", "instance-data", "instance-data.ec2.internal"}
)
METADATA_ADDRESSES = frozenset(
    ipaddress.ip_address(address)
    for address in ("100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254", "fd20:ce::254")
)
LOOPBACK_NAMES = frozenset({"localhost", "localhost.localdomain", "ip6-localhost"})
_DEFAULT_PORTS = {"http": 80, "https": 443}
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ILLEGAL = re.compile(r"[\x00-\x20\x7f\\<>\"{}|^`]")

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Origin = tuple[str, str, int]


def check_url(url: str) -> SplitResult:
    """The parts of an address that may be asked.

    Raises:
        ConfigurationError: not an http or https address, credentials inside, or a refused host.
    """
    shown = shown_url(url)
    if _ILLEGAL.search(url):
        raise ConfigurationError(
            f"{shown} is not an address: it holds a blank or another character that may not be there."
        )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigurationError(f"{shown} is not an address: {error}.") from error
    if parts.scheme.lower() not in _DEFAULT_PORTS:
        raise ConfigurationError(
            f"{shown} is not an http or https address.", hint="Write it whole, like https://staging.example.com/chat."
        )
    if not parts.hostname:
        raise ConfigurationError(f"{shown} names no host.")
    if parts.username is not None or parts.password is not None:
        raise ConfigurationError(
            f"{shown} holds a user name or password, which would end up in logs.",
            hint="Give the credential through `auth` and an environment variable.",
        )
    if port == 0:
        raise ConfigurationError(f"{shown} has port 0, which nothing can listen on.")
    if refused_host(parts.hostname):
        raise ConfigurationError(refusal(parts.hostname))
    return parts


def refusal(host: str) -> str:
    """The sentence for a refused host."""
    return (
        f"Requests to {host[:100]} are refused: it is a link-local or cloud-metadata address, "
        "which hands credentials of this machine to whoever asks."
    )


def refused_host(host: str) -> bool:
    """Whether a host name or number is a metadata service or link-local, without resolving names."""
    name = host.rstrip(".").lower()
    if name in METADATA_HOSTS:
        return True
    address = _literal(name)
    return address is not None and refused_address(address)


def refused_address(address: IpAddress) -> bool:
    """Whether an address is link-local or a metadata service, IPv4 inside IPv6 included."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return refused_address(inner)
    return address.is_link_local or address in METADATA_ADDRESSES


def is_loopback(host: str) -> bool:
    """Whether a host is this machine itself (inside a container: the container)."""
    name = host.rstrip(".").lower()
    if name in LOOPBACK_NAMES or name.endswith(".localhost"):
        return True
    address = _literal(name)
    return address is not None and (address.is_loopback or address.is_unspecified)


def origin_of(parts: SplitResult) -> Origin:
    """Scheme, host and port: what a secret or a redirect is bound to."""
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").rstrip(".").lower(), parts.port or _DEFAULT_PORTS.get(scheme, 0)


def shown_url(url: str) -> str:
    """The address as messages show it: no user information, no query values, bounded, one line."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = f":{parts.port}" if parts.port is not None else ""
    except ValueError:
        return "The address"
    if ":" in host:
        host = f"[{host}]"
    query = "..." if parts.query else ""
    text = urlunsplit((parts.scheme, host + port, parts.path, query, "")) or "The address"
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", "?", text)[:200]


def _literal(name: str) -> IpAddress | None:
    """An address written as a number, in the old spellings too (`2852039166`, `0xa9fea9fe`, `169.254.43518`)."""
    try:
        return ipaddress.ip_address(name.split("%", 1)[0])
    except ValueError:
        pass
    if re.fullmatch(r"[0-9a-fx.]+", name) and any(char.isdigit() for char in name):
        try:
            return ipaddress.IPv4Address(socket.inet_aton(name))
        except (OSError, ValueError):
            return None
    return None
