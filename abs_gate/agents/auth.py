"""How the gate proves itself to the agent."""

from __future__ import annotations

from abs_gate.errors import ConfigurationError
from abs_gate.settings.model import AgentSettings, AuthSettings
from abs_gate.transport import Credentials, StaticCredentials, Transport
from abs_gate.transport.oauth import OAuth2Credentials
from abs_gate.transport.permissions import require_may_send

DEFAULT_API_KEY_HEADER = "X-API-Key"


def build_credentials(settings: AgentSettings, url: str, transport: Transport, *, files_trusted: bool) -> Credentials:
    """The credentials of the agent, checked against where they would go.

    Raises:
        ConfigurationError: a secret is missing, or may not be sent to this address.
    """
    auth = settings.auth
    secrets = [auth.token, auth.client_secret, auth.refresh_token, *settings.header_secrets.values()]
    named = settings.secret_names
    require_may_send(secrets, url, settings.url_origin, files_trusted=files_trusted, setting="agent-url", named=named)
    if auth.type == "oauth2" and auth.token_url is not None:
        origin, setting = auth.endpoint_origin, "ABS_GATE_AGENT_REFRESH_URL"
        require_may_send(secrets, auth.token_url, origin, files_trusted=files_trusted, setting=setting, named=named)
    extra = {name: secret.value for name, secret in settings.header_secrets.items()}
    if auth.type == "oauth2":
        return OAuth2Credentials(auth, transport, extra_headers=extra)
    return StaticCredentials({**extra, **_static_headers(auth)})


def _static_headers(auth: AuthSettings) -> dict[str, str]:
    if auth.type == "none":
        return {}
    if auth.token is None or not auth.token.value:
        raise ConfigurationError(
            f"Authentication by {auth.type} needs a token, and there is none.",
            hint="Give --agent-token, the input agent-token, or name a variable in agent.auth.token_env that is set.",
        )
    token = auth.token.value
    if auth.type == "api_key":
        return {auth.header or DEFAULT_API_KEY_HEADER: token}
    if auth.type == "header":
        if not auth.header:
            raise ConfigurationError("Authentication by header needs the header's name in agent.auth.header.")
        return {auth.header: token}
    return {"Authorization": token if token.lower().startswith("bearer ") else f"Bearer {token}"}
