"""One worker thread's HTTP client: keeps its connections, reads bounded answers, meets hard deadlines."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import requests
from msgspec import Struct
from urllib3.exceptions import HTTPError

from abs_gate.errors import AgentUnavailable
from abs_gate.transport.connections import DestinationRefused, open_session
from abs_gate.transport.deadlines import TICK_S, Watch
from abs_gate.transport.destinations import Origin, check_url, is_loopback, origin_of, shown_url
from abs_gate.transport.failures import NotReceived, explain, explain_timeout, was_refused
from abs_gate.transport.gateway import host_gateway_candidates
from abs_gate.wire.base import HttpResponse

CONNECT_TIMEOUT_S = 10.0
IDLE_LIMIT_S = 4.0
"""A connection idle for longer is not reused: many servers close theirs after 5 s, and a request sent into
that moment would be lost in a way that may not be repeated."""
LAST_EVENT_GRACE_S = 0.5
"""How long the end of a stream may take after its last event, so that its connection can be used again."""
_READ_CHUNK = 16 * 1024
_LAST_EVENT = re.compile(
    rb"(?:\A|[\r\n])(?:data: ?\[DONE\]|event: ?(?:message_stop|response\.(?:completed|incomplete|failed))[ \r\n])"
)
"""The beginning of the last event of a stream of OpenAI's, Anthropic's or the Responses API."""
_BLANK_LINE = re.compile(rb"\n\n|\r\n\r\n")
_LONGEST_MARK = 64


class Hop(Struct, frozen=True, kw_only=True):
    """One request to one address."""

    method: str
    url: str
    headers: Mapping[str, str]
    body: bytes | None


class Limits(Struct, frozen=True, kw_only=True):
    """How long one attempt may last, redirects included."""

    due: float
    """Monotonic seconds."""
    timeout_s: float
    """What the user set, for the message."""
    session_over: bool
    """Whether it is the session's time that ends first."""


class Lane:
    """A client for one thread. Nothing in it is shared."""

    def __init__(self, *, max_body_bytes: int, try_host_gateway: bool) -> None:
        self.watch = Watch()
        self._max_body_bytes = max_body_bytes
        self._try_host_gateway = try_host_gateway
        self._session = open_session(self.watch)
        self._checked: set[str] = set()
        self._environment: dict[Origin, Mapping[str, Any]] = {}
        self._gateways: dict[Origin, str] = {}
        self._last_used = time.monotonic()

    def check(self, url: str) -> None:
        """Raises ConfigurationError for an address that may not be asked."""
        if url not in self._checked:
            check_url(url)
            self._checked.add(url)

    def ask(self, hop: Hop, limits: Limits) -> HttpResponse:
        """One request and its whole answer, no more.

        Raises:
            NotReceived: nothing listened, so it is safe to ask again.
            AgentUnavailable: any other way of not getting an answer.
        """
        remaining = limits.due - time.monotonic()
        if remaining <= 0:
            raise _overdue(hop, limits, None)
        answer: requests.Response | None = None
        self.watch.begin(limits.due)
        try:
            answer = self._open(hop, remaining)
            body, is_whole = self._read(answer)
        except (requests.RequestException, HTTPError, DestinationRefused, OSError, ValueError) as error:
            self._give_up(answer)
            # The socket's own timeout may come a moment before the watchdog's.
            if self.watch.end() or time.monotonic() >= limits.due - TICK_S:
                raise _overdue(hop, limits, answer) from error
            explained = explain(error, hop.url)
            if was_refused(error):
                raise NotReceived(explained) from error
            raise explained from error
        except BaseException:
            self._give_up(answer)
            self.watch.end()
            raise
        if self.watch.end() and not is_whole:
            self._give_up(answer)
            raise _overdue(hop, limits, answer)
        self._last_used = time.monotonic()
        return HttpResponse(
            status=answer.status_code,
            headers={name.lower(): value for name, value in answer.headers.items()},
            body=body,
        )

    def _give_up(self, answer: requests.Response | None) -> None:
        """Close the connection of an answer that was not read to its end."""
        if answer is not None:
            answer.close()

    def _open(self, hop: Hop, remaining: float) -> requests.Response:
        """Send and read the head of the answer, by the container's host where that is asked for and needed."""
        origin = origin_of(urlsplit(hop.url))
        gateway = self._gateways.get(origin)
        if gateway is not None:
            return self._send(_at_host(hop, gateway), remaining)
        try:
            return self._send(hop, remaining)
        except requests.ConnectionError as error:
            if not (self._try_host_gateway and is_loopback(origin[1]) and was_refused(error)):
                raise
            for candidate in host_gateway_candidates():
                try:
                    answer = self._send(_at_host(hop, candidate), remaining)
                except requests.ConnectionError:
                    continue
                self._gateways[origin] = candidate
                return answer
            raise

    def _send(self, hop: Hop, remaining: float) -> requests.Response:
        if time.monotonic() - self._last_used > IDLE_LIMIT_S:
            self._session.close()
        prepared = requests.PreparedRequest()
        prepared.prepare(method=hop.method, url=hop.url, headers=dict(hop.headers), data=hop.body)
        return self._session.send(
            prepared,
            stream=True,
            allow_redirects=False,
            timeout=(min(CONNECT_TIMEOUT_S, remaining), remaining),
            **self._surroundings(hop.url),
        )

    def _surroundings(self, url: str) -> Mapping[str, Any]:
        """Proxies and certificates from the environment, looked up once an origin."""
        origin = origin_of(urlsplit(url))
        found = self._environment.get(origin)
        if found is None:
            merged = self._session.merge_environment_settings(url, {}, True, None, None)
            found = {name: merged[name] for name in ("proxies", "verify", "cert")}
            self._environment[origin] = found
        return found

    def _read(self, answer: requests.Response) -> tuple[bytes, bool]:
        """The body, decompressed, up to the cap; and whether its last event says that it is whole.

        A stream whose last event has come is not waited for: some servers keep the connection open after it.
        """
        if "," in answer.headers.get("content-encoding", ""):
            raise AgentUnavailable(f"The answer of {shown_url(answer.url)} is compressed several times over.")
        is_stream = "text/event-stream" in answer.headers.get("content-type", "").lower()
        is_whole = False
        last_event: int | None = None
        received = bytearray()
        try:
            for chunk in answer.raw.stream(_READ_CHUNK, decode_content=True):
                before = len(received)
                received += chunk
                if len(received) > self._max_body_bytes:
                    limit = f"{self._max_body_bytes:,}"
                    raise AgentUnavailable(
                        f"The answer of {shown_url(answer.url)} is larger than {limit} bytes; the rest was not read."
                    )
                if not is_stream or is_whole:
                    continue
                if last_event is None:
                    found = _LAST_EVENT.search(received, max(0, before - _LONGEST_MARK))
                    last_event = found.end() if found else None
                if last_event is not None and _BLANK_LINE.search(received, max(last_event - 1, before - 4)):
                    is_whole = True
                    self.watch.begin(time.monotonic() + LAST_EVENT_GRACE_S)
        except (HTTPError, OSError):
            if not is_whole:
                raise
            answer.close()
        return bytes(received), is_whole


def _overdue(hop: Hop, limits: Limits, answer: requests.Response | None) -> AgentUnavailable:
    return explain_timeout(hop.url, limits.timeout_s, session_over=limits.session_over, began=answer is not None)


def _at_host(hop: Hop, host: str) -> Hop:
    """The same request by way of another host, which still sees the name it was meant for."""
    parts = urlsplit(hop.url)
    port = f":{parts.port}" if parts.port is not None else ""
    url = urlunsplit((parts.scheme, f"{host}{port}", parts.path, parts.query, ""))
    return Hop(method=hop.method, url=url, headers={**hop.headers, "Host": parts.netloc}, body=hop.body)
