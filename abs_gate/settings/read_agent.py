"""The agent under test and the judges, from the configuration."""

from __future__ import annotations

from collections.abc import Mapping

from abs_gate.settings import values
from abs_gate.settings.model import AgentSettings, AuthSettings, JudgeSettings, Secret, StartSettings
from abs_gate.settings.options import AGENT_FORMATS, AUTH_TYPES, JUDGE_FORMATS
from abs_gate.settings.reader import Section

_CREDENTIAL_HEADERS = frozenset({"authorization", "proxy-authorization", "cookie", "x-api-key", "api-key"})
_NEEDED = {
    "api_key": ("token",),
    "bearer": ("token",),
    "header": ("header", "token"),
    "oauth2": ("token_url",),
    "none": (),
}
_JUDGE_KEYS = (
    ("openai", ("OPENAI_API_KEY",)),
    ("claude", ("ANTHROPIC_API_KEY",)),
    ("gemini", ("GEMINI_API_KEY", "GOOGLE_API_KEY")),
)
"""The usual variables of each provider's own key, used only at the provider's own address."""

_IN_A_FILE = "Write `{}` in abs-gate.yaml, or in a file given with -c; there is no flag for it."


def read_agent(section: Section) -> AgentSettings:
    """Everything under `agent:`."""
    replay = section.get("replay", values.text, None)
    declared = section.get("format", values.choice(*AGENT_FORMATS), "openai")
    agent_format = "replay" if section.given("replay") is not None else declared
    headers, header_secrets = _headers(section)
    start = section.section("start")
    agent = AgentSettings(
        url=section.get("url", values.url, None),
        format=agent_format,
        model=section.get("model", values.text, None),
        auth=_auth(section.section("auth")),
        headers=headers,
        header_secrets=header_secrets,
        timeout=section.get("timeout", values.seconds, 60.0),
        session_timeout=section.get("session_timeout", values.seconds, 300.0),
        retries=section.get("retries", values.whole_number(0, 10), 2),
        tools=section.get("tools", values.choice("contracts", "none"), "none"),
        stream=section.get("stream", values.boolean, False),
        max_rounds=section.get("max_rounds", values.whole_number(1, 1000), 16),
        command=section.get("command", values.text, None),
        start=_start(start) if isinstance(start.value, Mapping) and "command" in start.value else None,
        replay=replay,
        record=section.get("record", values.text, None),
        url_origin=section.origin("url"),
        secret_names=section.secret_names(),
        location=section.location() if section.value is not None else None,
    )
    if agent.format in ("command", "python") and agent.command is None:
        what = "a command line" if agent.format == "command" else "module:function"
        section.refuse(
            "format", f"Format {agent.format} needs `command`: {what}.", hint=_IN_A_FILE.format("agent.command")
        )
    if agent.format == "replay" and replay is None:
        section.refuse("format", "Format replay needs `replay`: the directory of recorded exchanges.")
    return agent


def read_judges(root: Section) -> tuple[JudgeSettings, ...]:
    """Every judge: those of the file, the one given outside, or the provider whose usual key is set."""
    default = Section(source=root.source, path=("judges",), option_path="judges.default")
    judges: dict[str, JudgeSettings] = {}
    for entry in root.entries("judges"):
        name = entry.from_file("name", values.text, "default")
        if name in judges:
            entry.refuse("name", f"There is a second judge named {values.shown(name)}. Names must differ.")
        section = (
            entry
            if name != "default"
            else Section(source=root.source, path=entry.path, value=entry.value, option_path="judges.default")
        )
        judges[name] = _judge(section, name)
    given = [key for key in ("url", "format", "model", "token") if default.given(key) is not None]
    if "default" not in judges and given:
        judges["default"] = _judge(default, "default")
    if not judges:
        judges.update(_judge_of_environment(root))
    return tuple(judges.values())


def _judge(section: Section, name: str) -> JudgeSettings:
    judge = JudgeSettings(
        name=name,
        format=section.get("format", values.choice(*JUDGE_FORMATS), "openai"),
        url=section.get("url", values.url, None),
        model=section.get("model", values.text, None),
        token=section.secret("token"),
        command=section.get("command", values.text, None),
        votes=section.get("votes", values.whole_number(1, 99), 1),
        timeout=section.get("timeout", values.seconds, 60.0),
        url_origin=section.origin("url"),
        secret_names=section.secret_names(),
        location=section.location() if section.value is not None else None,
    )
    if judge.format in ("command", "python") and judge.command is None:
        section.refuse(
            "format", f"A judge of format {judge.format} needs `command`.", hint=_IN_A_FILE.format("judges[].command")
        )
    if judge.votes % 2 == 0:
        section.refuse("votes", f"{judge.votes} votes can tie. Write an odd number.")
    return judge


def _judge_of_environment(root: Section) -> dict[str, JudgeSettings]:
    for judge_format, names in _JUDGE_KEYS:
        for name in names:
            value = root.source.environ.get(name, "").strip()
            if value:
                token = None
                if root.source.resolve_secrets:
                    token = root.secret_from(name, key="judges", value=value)
                return {"default": JudgeSettings(format=judge_format, token=token, url_origin="environment")}
    return {}


def _auth(section: Section) -> AuthSettings:
    token = section.secret("token")
    default = "bearer" if token is not None else "none"
    auth = AuthSettings(
        type=section.get("type", values.choice(*AUTH_TYPES), default),
        token=token,
        header=section.get("header", values.header_name, None),
        token_url=section.get("token_url", values.url, None),
        endpoint_origin=section.origin("token_url"),
        client_id=section.get("client_id", values.text, None),
        client_secret=section.secret("client_secret", str.strip),
        refresh_token=section.secret("refresh_token", str.strip),
        scope=section.get("scope", values.text, None),
    )
    for need in _NEEDED[auth.type]:
        named = section.raw(f"{need}_env") is not None
        if getattr(auth, need) is None and not named and section.raw(need) is None:
            write = f"`{need}_env`" if need == "token" else f"`{need}`"
            section.refuse("type", f"Authentication by {auth.type} needs {write}.")
    return auth


def _headers(section: Section) -> tuple[Mapping[str, str], Mapping[str, Secret]]:
    """Plain headers, and those that may hold a credential: given outside, or named in headers_env."""
    plain: dict[str, str] = dict(section.from_file("headers", values.headers, {}))
    for name in [name for name in plain if name.lower() in _CREDENTIAL_HEADERS]:
        del plain[name]
        section.refuse(
            "headers",
            f"{name} carries a credential, and a secret may not stand in this file.",
            hint=f"Write headers_env: {{{name}: NAME_OF_A_VARIABLE}}.",
        )
    secrets: dict[str, Secret] = {}
    named = section.raw("headers_env")
    for name, variable in named.items() if isinstance(named, Mapping) else ():
        secret = section.secret_named("headers_env", variable)
        if secret is not None:
            secrets[name] = secret
    given = section.given("headers")
    for name, value in given.value.items() if given is not None else ():
        plain.pop(name, None)
        secrets[name] = Secret(value, given.name if given is not None else "")
        section.source.secrets.append(secrets[name])
    return plain, secrets


def _start(section: Section) -> StartSettings:
    return StartSettings(
        command=section.get("command", values.text, ""),
        ready=section.get("ready", values.url, None),
        timeout=section.get("timeout", values.seconds, 60.0),
        cwd=section.get("cwd", values.text, "."),
        env=section.get("env", values.as_is, {}),
    )
