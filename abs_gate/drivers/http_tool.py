"""A tool that is an HTTP operation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from urllib.parse import quote, urlencode, urlsplit, urlunsplit

from abs_gate.drivers.envelopes import no_answer, read_http
from abs_gate.drivers.fault_proxy import FaultProxy
from abs_gate.errors import AgentUnavailable
from abs_gate.findings import Json
from abs_gate.transport import Transport
from abs_gate.verification.model import NO_CONTEXT, ToolAnswer
from abs_gate.wire.base import HttpRequest

_SLOT = re.compile(r"\{(\w[\w.-]*)\}")
TIMEOUT_S = 10.0


class HttpTool:
    """Calls an operation: arguments go into the path, the query, headers or the body."""

    is_concurrent = True

    def __init__(self, options: Mapping[str, Json], transport: Transport, headers: Mapping[str, str]) -> None:
        """`headers` are the suite's, secrets put in."""
        self._options = options
        self._transport = transport
        self._headers = headers
        self._method = str(options.get("method") or "POST")
        self._timeout = float(options.get("timeout") or TIMEOUT_S)
        self._proxy: FaultProxy | None = None

    @property
    def can_lose_answers(self) -> bool:
        return urlsplit(self._options["url"]).scheme == "http"

    def call(
        self, arguments: Mapping[str, Json], *, key: str | None = None, context: Mapping[str, Json] = NO_CONTEXT
    ) -> ToolAnswer:
        return self._send(self._request(arguments, key, context))

    def call_and_lose(self, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer:
        request = self._request(arguments, key, NO_CONTEXT)
        if not self.can_lose_answers:
            self._send(request)
            return no_answer("the answer was thrown away")
        parts = urlsplit(request.url)
        if self._proxy is None:
            self._proxy = FaultProxy(parts.hostname or "", parts.port or 80)
        url = urlunsplit((parts.scheme, f"127.0.0.1:{self._proxy.port}", parts.path, parts.query, ""))
        lost = HttpRequest(
            method=request.method, url=url, headers={**request.headers, "Host": parts.netloc}, body=request.body
        )
        return self._send(lost)

    def close(self) -> None:
        """End the fault proxy, where there is one."""
        if self._proxy is not None:
            self._proxy.close()

    def _send(self, request: HttpRequest) -> ToolAnswer:
        try:
            response = self._transport.send(request, timeout_s=self._timeout, retries=0)
        except AgentUnavailable as problem:
            return no_answer(problem.message)
        return read_http(response, str(self._options.get("result") or ""), self._options.get("error") or {})

    def _request(self, arguments: Mapping[str, Json], key: str | None, context: Mapping[str, Json]) -> HttpRequest:
        used: set[str] = set()

        def slot(match: re.Match[str]) -> str:
            used.add(match[1])
            return quote(_text(arguments.get(match[1], "")), safe="")

        url = _SLOT.sub(slot, self._options["url"])
        headers: dict[str, str] = {}
        for name, template in self._headers.items():
            names = _SLOT.findall(template)
            used.update(names)
            if all(each in arguments for each in names):
                headers[name] = _SLOT.sub(lambda match: _text(arguments[match[1]]), template)
        if key is not None:
            headers[str(self._options.get("key_header") or "Idempotency-Key")] = key
        headers.update({name: str(value) for name, value in context.items()})
        in_query = set(self._options.get("query") or ())
        if self._method in ("GET", "HEAD", "DELETE") and "body" not in self._options:
            in_query |= arguments.keys() - used
        query = {name: _text(arguments[name]) for name in arguments if name in in_query}
        if query:
            url += ("&" if "?" in url else "?") + urlencode(query)
        if "body" in self._options:
            body: Json = _fill(self._options["body"], arguments)
        else:
            rest = {name: value for name, value in arguments.items() if name not in used | in_query}
            body = None if self._method in ("GET", "HEAD", "DELETE") else rest
        return HttpRequest(method=self._method, url=url, headers=headers, body=body)


def _fill(template: Json, arguments: Mapping[str, Json]) -> Json:
    """The template with arguments put in; members whose argument is absent are left out."""
    if isinstance(template, str):
        whole = _SLOT.fullmatch(template)
        if whole:
            return arguments.get(whole[1])
        return _SLOT.sub(lambda match: _text(arguments.get(match[1], "")), template)
    if isinstance(template, list):
        return [_fill(item, arguments) for item in template]
    if isinstance(template, Mapping):
        return {name: _fill(item, arguments) for name, item in template.items() if not _is_absent(item, arguments)}
    return template


def _is_absent(template: Json, arguments: Mapping[str, Json]) -> bool:
    whole = _SLOT.fullmatch(template) if isinstance(template, str) else None
    return whole is not None and whole[1] not in arguments


def _text(value: Json) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else str(value)
