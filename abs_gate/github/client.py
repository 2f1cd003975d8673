"""A small typed client for GitHub's REST API: pagination, rate limits, bounded repeats, errors in words.

Requests go through a `Sender`, in production the program's one transport. A repeat is only made where it is
safe: a read, a replacement, or a write that GitHub says it did not carry out.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Protocol
from urllib.parse import parse_qsl, urlencode, urlsplit

from msgspec import Struct

from abs_gate import __version__
from abs_gate.errors import AbsGateError
from abs_gate.findings import Json
from abs_gate.github.errors import Forbidden, GitHubError, NotFound, RateLimited, Rejected, Unreachable
from abs_gate.wire.base import HttpRequest, HttpResponse

API_VERSION = "2022-11-28"
JSON_MEDIA_TYPE = "application/vnd.github+json"
RAW_MEDIA_TYPE = "application/vnd.github.raw+json"

REQUEST_TIMEOUT_S = 20.0
MAX_ATTEMPTS = 5
MAX_WAIT_S = 120.0
"""Longest time all waits of one call add up to. A secondary limit without Retry-After asks for a minute."""
SECONDARY_WAIT_S = 60.0
MAX_PAGES = 300
PER_PAGE = 100

_SAFE_TO_REPEAT = frozenset({"GET", "PATCH", "PUT", "DELETE"})
_LINK = re.compile(r"<([^<>]*)>((?:\s*;[^,;<]*)*)")
_SECONDARY = re.compile(r"secondary rate limit|abuse detection", re.IGNORECASE)


class Sender(Protocol):
    """What carries requests; `abs_gate.transport.Transport` is one."""

    def send(self, request: HttpRequest, *, timeout_s: float, retries: int) -> HttpResponse:
        """Any status is an answer. Raises AbsGateError where there is none."""
        ...


class Answer(Struct, frozen=True, kw_only=True):
    """A successful response."""

    status: int
    headers: Mapping[str, str]
    """Lower-cased names."""
    body: bytes

    def json(self) -> Json:
        """The body as JSON; None where there is none.

        Raises:
            Unreachable: it is not JSON, so it is not GitHub's.
        """
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except (ValueError, RecursionError) as error:
            raise Unreachable("GitHub's API address answered with something that is not JSON.") from error


class GitHubClient:
    """Calls to one GitHub instance with one token."""

    def __init__(
        self,
        sender: Sender,
        *,
        token: str,
        api_url: str = "https://api.github.com",
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._sender = sender
        self._token = token
        self._api_url = api_url.rstrip("/")
        self._sleep = sleep
        self._now = now

    def get(self, path: str, *, query: Mapping[str, str] | None = None, accept: str = JSON_MEDIA_TYPE) -> Answer:
        """Read one thing. Raises GitHubError."""
        return self.request("GET", path, query=query, accept=accept)

    def pages(self, path: str, *, query: Mapping[str, str] | None = None) -> Iterator[Json]:
        """The items of a list, over all its pages. Raises GitHubError."""
        wanted = {"per_page": str(PER_PAGE), **(query or {})}
        for _ in range(MAX_PAGES):
            answer = self.get(path, query=wanted)
            items = answer.json()
            if not isinstance(items, list):
                raise Unreachable(f"GitHub answered `GET {path}` with something that is not a list.")
            yield from items
            following = _next_query(answer.headers.get("link", ""))
            if following is None:
                return
            # Only the query of the link is used: the address stays ours, whoever wrote the header.
            wanted = following
        raise Unreachable(f"`GET {path}` has more than {MAX_PAGES} pages.")

    def request(
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Json = None,
        accept: str = JSON_MEDIA_TYPE,
    ) -> Answer:
        """One call, repeated where that is safe and promises to help.

        Args:
            method: HTTP method.
            path: Below the API's address, beginning with `/`, quoted.
            query: Query parameters.
            body: JSON to send.
            accept: Media type asked for.

        Raises:
            GitHubError: see `github.errors`.
        """
        return self._call(method, self._api_url + path, path, query=query, body=body, accept=accept)

    def viewer(self) -> str | None:
        """Who this token speaks as (`github-actions[bot]`), or None where GitHub does not say."""
        try:
            answer = self._call(
                "POST", _graphql_url(self._api_url), "/graphql", body={"query": "query { viewer { login } }"}
            )
            found = answer.json()
            login = found["data"]["viewer"]["login"]
        except (GitHubError, KeyError, TypeError):
            return None
        return login if isinstance(login, str) and login else None

    def _call(
        self,
        method: str,
        url: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Json = None,
        accept: str = JSON_MEDIA_TYPE,
    ) -> Answer:
        full = f"{url}?{urlencode(query)}" if query else url
        request = HttpRequest(method=method, url=full, headers=self._headers(accept), body=body)
        waited = 0.0
        for attempt in range(1, MAX_ATTEMPTS + 1):
            failure: GitHubError
            wait: float | None
            try:
                response = self._sender.send(request, timeout_s=REQUEST_TIMEOUT_S, retries=0)
            except AbsGateError as error:
                failure = Unreachable(f"GitHub could not be reached for `{method} {path}`: {error.message}")
                wait = _backoff(attempt) if method in _SAFE_TO_REPEAT else None
            else:
                if response.status < 300:
                    return Answer(status=response.status, headers=response.headers, body=response.body)
                failure, wait = self._judge(method, path, response, attempt)
            if wait is None or attempt == MAX_ATTEMPTS or waited + wait > MAX_WAIT_S:
                raise failure
            self._sleep(wait)
            waited += wait
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _headers(self, accept: str) -> dict[str, str]:
        headers = {
            "Accept": accept,
            "User-Agent": f"abs-gate/{__version__}",
            "X-GitHub-Api-Version": API_VERSION,
        }
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers

    def _judge(self, method: str, path: str, response: HttpResponse, attempt: int) -> tuple[GitHubError, float | None]:
        """What an unsuccessful response means, and how long to wait before a repeat (None: no repeat)."""
        status, said = response.status, _message(response.body)
        call = f"`{method} {path}`"
        if status in (403, 429) and (wait := self._limit_wait(response, said, attempt)) is not None:
            return RateLimited(f"GitHub's rate limit stopped {call}: {said}"), wait
        if status >= 500:
            repeat = _backoff(attempt) if method in _SAFE_TO_REPEAT else None
            return Unreachable(f"GitHub answered {call} with {status}: {said}"), repeat
        if status in (401, 403):
            permissions = _permissions(response.headers.get("x-accepted-github-permissions", ""))
            return Forbidden(f"GitHub refused {call} ({status}): {said}", permissions=permissions), None
        if status in (404, 410):
            return NotFound(f"GitHub answered {call} with {status}: {said}"), None
        if status in (400, 409, 422):
            return Rejected(f"GitHub rejected {call} ({status}): {said}"), None
        return Unreachable(f"GitHub answered {call} with {status}: {said}"), None

    def _limit_wait(self, response: HttpResponse, said: str, attempt: int) -> float | None:
        """Seconds until a limit is over; None where the response is about something else."""
        after = response.headers.get("retry-after", "")
        if after.isascii() and after.isdigit():
            return float(after)
        if response.headers.get("x-ratelimit-remaining") == "0":
            reset = response.headers.get("x-ratelimit-reset", "")
            if reset.isascii() and reset.isdigit():
                return max(float(reset) - self._now(), 0.0) + 1.0
            return SECONDARY_WAIT_S
        if response.status == 429 or _SECONDARY.search(said):
            return SECONDARY_WAIT_S * attempt
        return None


def _backoff(attempt: int) -> float:
    return float(2 ** (attempt - 1))


def _next_query(link: str) -> dict[str, str] | None:
    for url, parameters in _LINK.findall(link):
        if re.search(r';\s*rel="?next"?\s*(?:;|$)', parameters):
            return dict(parse_qsl(urlsplit(url).query))
    return None


def _message(body: bytes) -> str:
    """GitHub's own words, bounded and on one line."""
    try:
        found = json.loads(body[:20_000])
    except (ValueError, RecursionError):
        found = None
    text = found.get("message") if isinstance(found, dict) else None
    if isinstance(found, dict) and isinstance(found.get("errors"), list):
        details = [error.get("message") for error in found["errors"] if isinstance(error, dict)]
        text = ": ".join(str(part) for part in (text, *details) if part)
    return " ".join(text.split())[:300] if isinstance(text, str) and text else "no explanation"


def _permissions(header: str) -> str:
    """`issues=write; pull_requests=write` as a workflow would write it, alternatives joined by `or`."""
    wanted = [part.strip() for part in header.replace(",", ";").split(";") if "=" in part]
    return " or ".join(part.replace("_", "-").replace("=", ": ") for part in wanted)[:200]


def _graphql_url(api_url: str) -> str:
    """GitHub's own API has it beside the rest, an Enterprise server at `/api/graphql` beside `/api/v3`."""
    return f"{api_url.removesuffix('/v3')}/graphql"
