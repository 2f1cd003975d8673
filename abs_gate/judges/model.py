"""A judge that is a model behind an OpenAI-compatible, Anthropic or Gemini API."""

from __future__ import annotations

from abs_gate.conversation import AgentRequest, Message, Role
from abs_gate.errors import AgentUnavailable, JudgeUnavailable
from abs_gate.transport import Credentials, Transport
from abs_gate.transport.failures import explain_status
from abs_gate.wire.base import Codec, HttpResponse, WireOptions

_HINT = "Check the judge's address, model and token."


class ModelJudge:
    """Asks the model with temperature 0. Thread-safe."""

    def __init__(
        self,
        *,
        name: str,
        url: str,
        codec: Codec,
        model: str | None,
        timeout_s: float,
        transport: Transport,
        credentials: Credentials,
    ) -> None:
        self._name = name
        self._url = url
        self._codec = codec
        self._model = model
        self._timeout_s = timeout_s
        self._transport = transport
        self._credentials = credentials
        self._temperature: float | None = 0.0

    def ask(self, prompt: str) -> str:
        try:
            response = self._send(prompt)
            if response.status == 400 and self._temperature is not None and b"temperature" in response.body:
                # Reasoning models take no temperature. Nothing was judged, so asking again is safe.
                self._temperature = None
                response = self._send(prompt)
            if not 200 <= response.status < 300:
                raise explain_status(response, self._url)
            messages = self._codec.decode(response).messages
        except AgentUnavailable as error:
            reason = self._transport.redactor.redact(error.message)
            raise JudgeUnavailable(f"The judge {self._name} gave no judgement. {reason}", hint=_HINT) from None
        text = "\n".join(message.text for message in messages if message.text)
        if not text:
            raise JudgeUnavailable(f"The judge {self._name} answered without a text.", hint=_HINT)
        return text

    def _send(self, prompt: str) -> HttpResponse:
        request = AgentRequest(messages=(Message(role=Role.USER, text=prompt),))
        options = WireOptions(model=self._model, temperature=self._temperature)
        return self._transport.send(
            self._codec.encode(request, self._url, options),
            timeout_s=self._timeout_s,
            credentials=self._credentials,
        )
