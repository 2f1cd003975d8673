"""Where the host of a container can be reached from inside it."""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path

_ROUTES = Path("/proc/net/route")


def host_gateway_candidates(routes: str | None = None) -> tuple[str, ...]:
    """Names and addresses under which the container's host may answer, the likeliest first.

    `host.docker.internal` where it resolves, then the gateway of the default route. `routes` is the content of
    /proc/net/route and is read from there when not given; its numbers are hexadecimal, lowest byte first.
    """
    found: list[str] = []
    with suppress(OSError):
        socket.getaddrinfo("host.docker.internal", None)
        found.append("host.docker.internal")
    if routes is None:
        with suppress(OSError):
            routes = _ROUTES.read_text(encoding="ascii", errors="replace")
    for line in (routes or "").splitlines()[1:]:
        fields = line.split()
        if len(fields) >= 3 and fields[1] == "00000000" and fields[2] != "00000000":
            with suppress(ValueError):
                found.append(socket.inet_ntoa(bytes.fromhex(fields[2])[::-1]))
    return tuple(dict.fromkeys(found))
