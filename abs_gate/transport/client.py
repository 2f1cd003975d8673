"""The one HTTP client: safe repeats, redirects within an origin, credentials on the first hop only."""

from __future__ import annotations

import hashlib
import json
import re
import threading
import time
from collections.abc import Mapping
from types import TracebackType
from typing import Self
from urllib.parse import urljoin, urlsplit

from abs_gate import __version__
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.sources.redaction import Redactor, is_sensitive_name
from abs_gate.transport.credentials import Credentials
from abs_gate.transport.deadlines import Watchdog
from abs_gate.transport.destinations import check_url, origin_of, shown_url
from abs_gate.transport.failures import NotReceived
from abs_gate.transport.lane import Hop, Lane, Limits
from abs_gate.transport.retries import MAX_WAIT_S, RETRIED_STATUSES, wait_before
from abs_gate.wire.base import HttpRequest, HttpResponse

MAX_BODY_BYTES = 8 * 1024 * 1024
"""Largest answer read, after decompression."""
MAX_REDIRECTS = 5
_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_PLAIN_KEY = re.compile(r"[A-Za-z0-9._:/-]{1,200}")


class Transport:
    """Sends requests for any number of threads; each thread has its own client and keeps its connections.

    Any status is a response, and what it means is for the caller; everything else is an error in words.
    """

    def __init__(
        self,
        *,
        redactor: Redactor | None = None,
        max_body_bytes: int = MAX_BODY_BYTES,
        try_host_gateway: bool = False,
    ) -> None:
        self.redactor = redactor or Redactor()
        self._max_body_bytes = max_body_bytes
        self._try_host_gateway = try_host_gateway
        self._watchdog = Watchdog()
        self._lanes = threading.local()
        self._stopped = threading.Event()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the waits between attempts and the watchdog. Connections close with their threads."""
        self._stopped.set()
        self._watchdog.close()

    def send(
        self,
        request: HttpRequest,
        *,
        timeout_s: float = 60.0,
        deadline_s: float | None = None,
        retries: int = 2,
        idempotency_key: str = "",
        credentials: Credentials | None = None,
    ) -> HttpResponse:
        """Send a request and read the whole answer.

        Args:
            request: What to send. A body of bytes is sent as it is, anything else as JSON.
            timeout_s: Seconds for one attempt, from connecting to the last byte.
            deadline_s: Seconds for all attempts and waits together.
            retries: Further attempts, made only after a refused connection, 429 or 503.
            idempotency_key: Sent as Idempotency-Key, the same on every attempt.
            credentials: Headers for the first hop; they are not sent on after a redirect.

        Raises:
            ConfigurationError: the address may not be asked at all.
            AgentUnavailable: no answer could be had.
        """
        lane = self._lane()
        lane.check(request.url)
        end = time.monotonic() + deadline_s if deadline_s is not None else None
        headers = _headers(request, idempotency_key)
        body = _body(request)
        attempt = 1
        may_renew = credentials is not None
        while True:
            secret = credentials.headers() if credentials is not None else {}
            first = Hop(method=request.method, url=request.url, headers={**headers, **secret}, body=body)
            outcome: HttpResponse | NotReceived
            try:
                outcome = self._follow(lane, first, secret, _limits(timeout_s, end))
            except NotReceived as error:
                outcome = error
            if isinstance(outcome, HttpResponse):
                if outcome.status == 401 and may_renew and credentials is not None:
                    may_renew = False
                    if credentials.renew(secret):
                        continue
                if outcome.status not in RETRIED_STATUSES:
                    return outcome
            wait = wait_before(attempt, outcome.headers if isinstance(outcome, HttpResponse) else {})
            if attempt > retries or wait > MAX_WAIT_S or (end is not None and time.monotonic() + wait >= end):
                if isinstance(outcome, HttpResponse):
                    return outcome
                raise outcome.explained
            if self._stopped.wait(wait):
                raise AgentUnavailable("The run was cancelled.")
            attempt += 1

    def _lane(self) -> Lane:
        lane: Lane | None = getattr(self._lanes, "lane", None)
        if lane is None:
            lane = Lane(max_body_bytes=self._max_body_bytes, try_host_gateway=self._try_host_gateway)
            self._watchdog.add(lane.watch)
            self._lanes.lane = lane
        return lane

    def _follow(self, lane: Lane, hop: Hop, secret: Mapping[str, str], limits: Limits) -> HttpResponse:
        """One attempt, with the redirects that stay within its origin."""
        for _ in range(MAX_REDIRECTS + 1):
            response = lane.ask(hop, limits)
            location = response.headers.get("location", "")
            if response.status not in _REDIRECTS or not location:
                return response
            hop = _next_hop(hop, response.status, location, secret)
        raise AgentUnavailable(f"{shown_url(hop.url)} redirects more than {MAX_REDIRECTS} times.")


def _next_hop(hop: Hop, status: int, location: str, secret: Mapping[str, str]) -> Hop:
    """The request a redirect leads to: same origin only, without credentials, as GET unless 307 or 308."""
    target = urljoin(hop.url, location)
    try:
        parts = check_url(target)
    except ConfigurationError as error:
        raise AgentUnavailable(f"{shown_url(hop.url)} redirects to where nothing is sent. {error.message}") from error
    if origin_of(parts) != origin_of(urlsplit(hop.url)):
        raise AgentUnavailable(
            f"{shown_url(hop.url)} redirects to another origin ({shown_url(target)}); that is not followed.",
            hint="Use the final address, if it is the right one.",
        )
    headers = {name: value for name, value in hop.headers.items() if name not in secret and not is_sensitive_name(name)}
    if status >= 307 or hop.method in ("GET", "HEAD"):
        return Hop(method=hop.method, url=target, headers=headers, body=hop.body)
    headers.pop("Content-Type", None)
    return Hop(method="GET", url=target, headers=headers, body=None)


def _limits(timeout_s: float, end: float | None) -> Limits:
    due = time.monotonic() + timeout_s
    session_over = end is not None and end < due
    return Limits(due=end if session_over and end is not None else due, timeout_s=timeout_s, session_over=session_over)


def _headers(request: HttpRequest, idempotency_key: str) -> Mapping[str, str]:
    headers = {
        "User-Agent": f"abs-gate/{__version__}",
        "Accept": "application/json, text/event-stream",
        "Accept-Encoding": "gzip, deflate",
    }
    if request.body is not None:
        headers["Content-Type"] = "application/json"
    if idempotency_key:
        headers["Idempotency-Key"] = (
            idempotency_key
            if _PLAIN_KEY.fullmatch(idempotency_key)
            else hashlib.sha256(idempotency_key.encode("utf-8", "replace")).hexdigest()
        )
    headers.update(request.headers)
    return headers


def _body(request: HttpRequest) -> bytes | None:
    if request.body is None or isinstance(request.body, bytes):
        return request.body
    return json.dumps(request.body, separators=(",", ":"), allow_nan=False).encode()
