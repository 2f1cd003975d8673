"""Transport errors in words: what happened, where, the likely cause, what to do."""

from __future__ import annotations

import http
import http.client
import ssl
from collections.abc import Iterator
from pathlib import Path
from socket import gaierror
from urllib.parse import urlsplit

from urllib3.exceptions import DecodeError, ProxyError, ProxySchemeUnknown
from urllib3.exceptions import SSLError as PoolSSLError

from abs_gate.errors import AgentUnavailable
from abs_gate.transport.connections import DestinationRefused
from abs_gate.transport.destinations import is_loopback, refusal, shown_url
from abs_gate.wire.base import HttpResponse
from abs_gate.wire.unreadable import excerpt_of


class NotReceived(Exception):
    """The other end cannot have received the request, so that sending it again is safe."""

    def __init__(self, explained: AgentUnavailable) -> None:
        super().__init__(str(explained))
        self.explained = explained


def root_causes(error: BaseException) -> Iterator[BaseException]:
    """The error and everything it wraps, outermost first; bounded."""
    seen: set[int] = set()
    waiting: list[BaseException] = [error]
    while waiting and len(seen) < 40:
        current = waiting.pop(0)
        if id(current) in seen:
            continue
        seen.add(id(current))
        yield current
        inner = [getattr(current, "reason", None), *current.args, current.__cause__, current.__context__]
        waiting.extend(item for item in inner if isinstance(item, BaseException))


def was_refused(error: BaseException) -> bool:
    """Whether nothing listened at the other end, so that the request was certainly not received."""
    return any(isinstance(cause, ConnectionRefusedError) for cause in root_causes(error))


def explain(error: BaseException, url: str) -> AgentUnavailable:
    """What went wrong below HTTP, as the error to raise."""
    causes = tuple(root_causes(error))
    shown = shown_url(url)
    host = urlsplit(url).hostname or ""
    name = host[:100]
    for cause in causes:
        if isinstance(cause, DestinationRefused):
            return AgentUnavailable(refusal(cause.host))
        if isinstance(cause, ssl.SSLCertVerificationError):
            return AgentUnavailable(
                f"The TLS certificate of {name} could not be verified: {cause.verify_message or cause.reason}.",
                hint="For a private certificate authority set REQUESTS_CA_BUNDLE to its file.",
            )
    if any(isinstance(cause, ssl.SSLError | PoolSSLError) for cause in causes):
        return AgentUnavailable(
            f"No TLS connection to {name} could be made.", hint="Does it speak https on this port? Try http."
        )
    if any(isinstance(cause, ProxyError | ProxySchemeUnknown) for cause in causes):
        return AgentUnavailable(
            f"The proxy for {shown} could not be used.",
            hint="Check HTTP_PROXY and HTTPS_PROXY; hosts reached directly belong in NO_PROXY.",
        )
    if any(isinstance(cause, gaierror) for cause in causes):
        return AgentUnavailable(
            f"The host name {name} was not found.",
            hint="Check the spelling, and that this machine can resolve it (a service in the same network, a VPN).",
        )
    if was_refused(error):
        return AgentUnavailable(f"Nothing listens at {shown}: the connection was refused.", hint=_refused_hint(host))
    if any(isinstance(cause, DecodeError) for cause in causes):
        return AgentUnavailable(f"The answer of {shown} is compressed in a way that cannot be undone.")
    if any(isinstance(cause, TimeoutError) for cause in causes) or "timed out" in str(error):
        return AgentUnavailable(
            f"{shown} could not be connected to in time.", hint="Is the address right and reachable from here?"
        )
    if any(isinstance(cause, ConnectionError | http.client.HTTPException) for cause in causes):
        return AgentUnavailable(
            f"{shown} closed the connection before its answer was complete.",
            hint="It is not asked again, since it may have acted already. See the agent's own log.",
        )
    return AgentUnavailable(f"The request to {shown} failed ({type(causes[-1]).__name__}).")


def explain_timeout(url: str, seconds: float, *, session_over: bool, began: bool) -> AgentUnavailable:
    """A request that did not end in time; `began` when the head of an answer had come."""
    what = "it began to answer" if began else "nothing came"
    if session_over:
        return AgentUnavailable(
            f"The session's time ran out while {shown_url(url)} was answering ({what}).",
            hint="Raise agent.session_timeout when the agent needs longer.",
        )
    return AgentUnavailable(
        f"{shown_url(url)} did not finish its answer within {seconds:g} s ({what}).",
        hint="It is not asked again, since it may have acted already. Raise --timeout when the agent needs longer.",
    )


def explain_status(response: HttpResponse, url: str) -> AgentUnavailable:
    """An answer whose status says that it is not one."""
    status = response.status
    try:
        phrase = f" {http.HTTPStatus(status).phrase}"
    except ValueError:
        phrase = ""
    said = excerpt_of(response, 200)
    return AgentUnavailable(
        f"{shown_url(url)} answered {status}{phrase}{': ' + said if said else '.'}", hint=_status_hint(status)
    )


def inside_container() -> bool:
    """Whether this process runs in a Docker or Podman container."""
    return Path("/.dockerenv").exists() or Path("/run/.containerenv").exists()


def _refused_hint(host: str) -> str:
    if is_loopback(host) and inside_container():
        return (
            "Inside a container, localhost is the container itself. Use host.docker.internal or the host's address, "
            "or let the gate start the agent with agent.start."
        )
    return "Is the agent running, and is the port right?"


def _status_hint(status: int) -> str:
    if status in (401, 403):
        return "Check the agent's token; credentials are never sent on after a redirect."
    if status in (404, 405):
        return "Check the path of the address: it must be the one that takes the conversation by POST."
    if status in (400, 415, 422):
        return "The agent did not understand the request: check agent.format and agent.model."
    if status in (429, 503):
        return "It stayed overloaded over all attempts: lower sessions.concurrency."
    if 300 <= status < 400:
        return "Redirects to another origin are not followed: use the final address."
    return "See the agent's own log." if status >= 500 else ""
