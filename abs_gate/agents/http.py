"""An agent behind an HTTP address."""

from __future__ import annotations

from abs_gate.agents.stateless import StatelessConnection
from abs_gate.agents.turns import settle
from abs_gate.conversation import AgentRequest, AgentTurn
from abs_gate.errors import AgentUnavailable
from abs_gate.settings.model import AgentSettings
from abs_gate.transport import Credentials, Transport
from abs_gate.transport.failures import explain_status
from abs_gate.wire.base import Codec, HttpRequest, WireOptions


class HttpAgent:
    """Speaks one format to one address. Conversations share the transport's connections, never state."""

    def __init__(
        self, *, url: str, codec: Codec, settings: AgentSettings, transport: Transport, credentials: Credentials
    ) -> None:
        self._url = url
        self._codec = codec
        self._options = WireOptions(model=settings.model, stream=settings.stream)
        self._headers = dict(settings.headers)
        self._timeout_s = settings.timeout
        self._retries = settings.retries
        self._transport = transport
        self._credentials = credentials

    def connect(self, session_key: str) -> StatelessConnection:
        return StatelessConnection(self.ask)

    def ask(self, request: AgentRequest) -> AgentTurn:
        """One turn. Raises AgentUnavailable, its message free of secrets."""
        encoded = self._codec.encode(request, self._url, self._options)
        if self._headers:
            encoded = HttpRequest(
                method=encoded.method, url=encoded.url, headers={**encoded.headers, **self._headers}, body=encoded.body
            )
        try:
            response = self._transport.send(
                encoded,
                timeout_s=self._timeout_s,
                deadline_s=request.deadline_s,
                retries=self._retries,
                idempotency_key=request.turn_key,
                credentials=self._credentials,
            )
            if not 200 <= response.status < 300:
                raise explain_status(response, self._url)
            return settle(self._codec.decode(response), request)
        except AgentUnavailable as error:
            redact = self._transport.redactor.redact
            raise AgentUnavailable(redact(error.message), hint=redact(error.hint)) from None
