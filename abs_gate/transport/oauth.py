"""OAuth 2.0 for machines: client credentials and refresh tokens (RFC 6749 sections 4.4 and 6), for real.

The access token is fetched on first use, again shortly before it expires, and once when the agent answers
401 to it. Threads that need one at the same time wait for one fetch.
"""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable, Mapping
from urllib.parse import quote_plus, urlencode

from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.findings import Json
from abs_gate.settings.model import AuthSettings
from abs_gate.transport.client import Transport
from abs_gate.transport.destinations import shown_url
from abs_gate.wire.base import HttpRequest, HttpResponse
from abs_gate.wire.json_text import parse_json
from abs_gate.wire.unreadable import one_line
from abs_gate.wire.values import as_mapping, as_text

TOKEN_TIMEOUT_S = 30.0
_LEEWAY_S = 30.0
"""A token is renewed this long before it expires, or a tenth of its life before when that is shorter."""


class OAuth2Credentials:
    """An access token that is kept fresh. Thread-safe."""

    def __init__(
        self,
        auth: AuthSettings,
        transport: Transport,
        *,
        extra_headers: Mapping[str, str],
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        if not auth.token_url:
            raise ConfigurationError("Authentication by oauth2 needs agent.auth.token_url.")
        if auth.refresh_token is None and not (auth.client_id and auth.client_secret):
            raise ConfigurationError(
                "Authentication by oauth2 needs a refresh token, or a client id with its client secret.",
                hint="Set agent.auth.client_id and client_secret_env, or refresh_token_env.",
            )
        self._auth = auth
        self._token_url = auth.token_url
        self._transport = transport
        self._extra_headers = dict(extra_headers)
        self._monotonic = monotonic
        self._lock = threading.Lock()
        self._refresh_token = auth.refresh_token.value if auth.refresh_token else ""
        self._secret_in_body = False
        self._access_token = ""
        self._renew_at: float | None = None

    def headers(self) -> Mapping[str, str]:
        with self._lock:
            expired = self._renew_at is not None and self._monotonic() >= self._renew_at
            if not self._access_token or expired:
                self._fetch()
            return {**self._extra_headers, "Authorization": f"Bearer {self._access_token}"}

    def renew(self, refused: Mapping[str, str]) -> bool:
        with self._lock:
            if refused.get("Authorization") == f"Bearer {self._access_token}":
                self._fetch()
            return True

    def _fetch(self) -> None:
        """Get a new access token: with the refresh token, else (or when that is refused) as the client itself."""
        response: HttpResponse | None = None
        if self._refresh_token:
            response = self._request({"grant_type": "refresh_token", "refresh_token": self._refresh_token})
        if (response is None or response.status >= 400) and self._auth.client_secret is not None:
            response = self._request({"grant_type": "client_credentials"})
        assert response is not None
        answer = self._read(response)
        token = as_text(answer.get("access_token"))
        if not token:
            raise AgentUnavailable(f"The token endpoint {shown_url(self._token_url)} answered without an access_token.")
        self._transport.redactor.learn(token)
        self._access_token = token
        self._renew_at = self._renewal(answer.get("expires_in"))
        rotated = as_text(answer.get("refresh_token"))
        if rotated:
            self._transport.redactor.learn(rotated)
            self._refresh_token = rotated

    def _renewal(self, expires_in: Json) -> float | None:
        try:
            life = float(expires_in)
        except (TypeError, ValueError):
            return None
        if not 0 < life < 10**9:
            return None
        return self._monotonic() + life - min(_LEEWAY_S, life / 10)

    def _request(self, fields: Mapping[str, str]) -> HttpResponse:
        """Ask the token endpoint; a client whose secret is not taken in the header gives it in the body."""
        response = self._send(fields)
        refused = response.status in (400, 401) and b"invalid_client" in response.body
        if refused and self._auth.client_secret is not None and not self._secret_in_body:
            self._secret_in_body = True
            response = self._send(fields)
            self._secret_in_body = response.status < 400
        return response

    def _send(self, fields: Mapping[str, str]) -> HttpResponse:
        body = dict(fields)
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
        client_id = self._auth.client_id or ""
        secret = self._auth.client_secret.value if self._auth.client_secret else ""
        if self._auth.scope:
            body["scope"] = self._auth.scope
        if secret and not self._secret_in_body:
            pair = f"{quote_plus(client_id)}:{quote_plus(secret)}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        elif client_id:
            body["client_id"] = client_id
            if secret:
                body["client_secret"] = secret
        return self._transport.send(
            HttpRequest(method="POST", url=self._token_url, headers=headers, body=urlencode(body).encode()),
            timeout_s=TOKEN_TIMEOUT_S,
        )

    def _read(self, response: HttpResponse) -> Mapping[str, Json]:
        try:
            answer = as_mapping(parse_json(response.body))
        except ValueError:
            answer = {}
        if 200 <= response.status < 300 and answer:
            return answer
        said = one_line(answer.get("error_description") or answer.get("error") or "", 120)
        raise AgentUnavailable(
            f"No access token: {shown_url(self._token_url)} answered {response.status}{': ' + said if said else ''}.",
            hint="Check agent.auth: token_url, client_id, scope, and the secrets it names.",
        )
