"""From settings to the panel of judges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct

from abs_gate.conversation import AnyJudge
from abs_gate.errors import ConfigurationError
from abs_gate.evaluators.judged import JudgePanel
from abs_gate.judges.model import ModelJudge
from abs_gate.judges.scoring import CommandJudge, PythonJudge
from abs_gate.settings.model import JudgeSettings, Secret
from abs_gate.settings.values import NotShown, header_value
from abs_gate.transport import StaticCredentials, Transport
from abs_gate.transport.callables import load_callable
from abs_gate.transport.children import child_environment, inside
from abs_gate.transport.permissions import require_commands_allowed, require_may_send
from abs_gate.wire import CODECS
from abs_gate.wire.endpoints import PROVIDERS, Provider, complete_url, is_own_address
from abs_gate.wire.unreadable import one_line


class Surroundings(Struct, frozen=True, kw_only=True):
    """What building a judge needs besides its settings."""

    transport: Transport
    environ: Mapping[str, str]
    allow_commands: bool
    files_trusted: bool
    root: str


Builder = Callable[[JudgeSettings, Surroundings], AnyJudge]


def _model(settings: JudgeSettings, surroundings: Surroundings) -> AnyJudge:
    provider = PROVIDERS[settings.format]
    url = complete_url(settings.url, provider)
    token = settings.token or usual_key(settings.url, provider, surroundings.environ)
    if settings.url is None and token is None:
        raise ConfigurationError(
            f"The judge {settings.name} has neither an address nor a key.",
            hint=f"Give --judge URL, or set {provider.keys[0]}.",
        )
    if settings.url is not None:
        require_may_send(
            (token,),
            url,
            settings.url_origin,
            files_trusted=surroundings.files_trusted,
            setting="--judge",
            named=settings.secret_names,
        )
    if token is not None:
        surroundings.transport.redactor.learn(token.value)
    headers = {provider.key_header: provider.key_prefix + token.value} if token is not None else {}
    return ModelJudge(
        name=settings.name,
        url=url,
        codec=CODECS[settings.format],
        model=settings.model or (provider.model if is_own_address(settings.url, provider) else None),
        timeout_s=settings.timeout,
        transport=surroundings.transport,
        credentials=StaticCredentials(headers),
    )


def _python(settings: JudgeSettings, surroundings: Surroundings) -> AnyJudge:
    reference = _needed(settings, "module:function").removeprefix("python:")
    shown = one_line(reference, 80)
    require_commands_allowed(f"The judge's function {shown}", allowed=surroundings.allow_commands)
    return PythonJudge(
        load_callable(reference, root=surroundings.root),
        shown=shown,
        timeout_s=settings.timeout,
        redactor=surroundings.transport.redactor,
    )


def _command(settings: JudgeSettings, surroundings: Surroundings) -> AnyJudge:
    command = _needed(settings, "a command line").removeprefix("command:")
    require_commands_allowed(f"The judge's command {one_line(command, 80)}", allowed=surroundings.allow_commands)
    return CommandJudge(
        command,
        cwd=inside(surroundings.root, "."),
        env=child_environment(surroundings.environ),
        timeout_s=settings.timeout,
        redactor=surroundings.transport.redactor,
    )


JUDGES: Mapping[str, Builder] = MappingProxyType(
    {**dict.fromkeys(PROVIDERS, _model), "python": _python, "command": _command}
)
"""How each judge `format` is built."""


def build_panel(
    judges: Sequence[JudgeSettings],
    transport: Transport,
    *,
    environ: Mapping[str, str],
    allow_commands: bool,
    files_trusted: bool | None = None,
    root: str = ".",
) -> JudgePanel | None:
    """All judges by name; None when there are none.

    Args:
        judges: Their settings. The one named `default`, or else the only one, judges what names no other.
        transport: Carries HTTP; may be shared with the agent.
        environ: The gate's environment: the providers' usual keys, and what children see a part of.
        allow_commands: Whether commands and Python callables named in files may run.
        files_trusted: Whether files may name where secrets go; when not given, as `allow_commands`.
        root: The directory that commands and modules are looked up in.

    Raises:
        ConfigurationError: something is missing or not allowed.
    """
    if not judges:
        return None
    surroundings = Surroundings(
        transport=transport,
        environ=environ,
        allow_commands=allow_commands,
        files_trusted=allow_commands if files_trusted is None else files_trusted,
        root=root,
    )
    built: dict[str, AnyJudge] = {}
    for settings in judges:
        builder = JUDGES.get(settings.format)
        if builder is None:
            raise ConfigurationError(
                f"There is no judge format {one_line(settings.format, 40)}.",
                hint=f"Known: {', '.join(sorted(JUDGES))}.",
            )
        built[settings.name] = builder(settings, surroundings)
    return JudgePanel(
        built,
        "default" if "default" in built else None,
        {settings.name: settings.votes for settings in judges},
    )


def usual_key(url: str | None, provider: Provider, environ: Mapping[str, str]) -> Secret | None:
    """The provider's key from its usual variable, for its own address only."""
    if is_own_address(url, provider):
        for name in provider.keys:
            if environ.get(name, "").strip():
                try:
                    return Secret(header_value(environ[name]), f"env:{name}")
                except NotShown as problem:
                    raise ConfigurationError(f"The environment variable {name} cannot be used: {problem}") from None
    return None


def _needed(settings: JudgeSettings, what: str) -> str:
    if not settings.command:
        raise ConfigurationError(f"The judge {settings.name} of format {settings.format} needs `command`: {what}.")
    return settings.command
