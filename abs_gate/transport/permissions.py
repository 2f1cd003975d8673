"""What a run may do with what files say: where secrets go, and whether commands run.

A workflow gives secrets; files come from the pull request under test, whose author may write any address
into them. So a secret that the workflow gave goes to an address that the workflow (a flag, an input, the
environment) or the base branch's file named, never to one that stands only in a file of the pull request.
Where the base branch names the address, it names the variables too whose values go there: a pull request
could otherwise send another secret of the job to an agent that is built from it.
On a command line the files are the user's own, and everything may go where they say.
"""

from __future__ import annotations

from collections.abc import Iterable

from abs_gate.errors import ConfigurationError
from abs_gate.settings.model import Secret
from abs_gate.transport.destinations import shown_url

TRUSTED_ORIGINS = frozenset({"flag", "input", "environment", "base"})
"""Who may name an address that secrets go to, wherever the run is."""


def may_send_secret(url_origin: str, *, files_trusted: bool) -> bool:
    """Whether a secret may be sent to an address named by `url_origin` (as AgentSettings.url_origin)."""
    return files_trusted or url_origin in TRUSTED_ORIGINS


def require_may_send(
    secrets: Iterable[Secret | None],
    url: str,
    url_origin: str,
    *,
    files_trusted: bool,
    setting: str,
    named: frozenset[str] = frozenset(),
) -> None:
    """Refuse to send secrets to an address from a file that the pull request may have changed.

    `named` are the variables that such a file names; at an address of the base branch theirs are refused as well.

    Raises:
        ConfigurationError: there is a secret, and it may not go there. `setting` names the address's setting.
    """
    given = [secret for secret in secrets if secret is not None and secret.value]
    if given and not may_send_secret(url_origin, files_trusted=files_trusted):
        origin = given[0].origin or "the workflow"
        raise ConfigurationError(
            f"The secret from {origin} is not sent to {shown_url(url)}: that address stands in a file which this "
            f"pull request can change, so its author could have the secret sent anywhere.",
            hint=f"Give the address where the secret is given: as an action input, a flag or an environment variable "
            f"({setting}), or have it in the base branch first.",
        )
    chosen = [secret for secret in given if secret.origin in {f"env:{name}" for name in named}]
    if chosen and url_origin == "base" and not files_trusted:
        raise ConfigurationError(
            f"The secret from {chosen[0].origin} is not sent to {shown_url(url)}: the base branch's file does not name "
            f"that variable for this address, so the pull request could pick any secret of the job.",
            hint=f"Have the name in the base branch first, or give the address as an action input, a flag or an "
            f"environment variable ({setting}).",
        )


def require_commands_allowed(what: str, *, allowed: bool) -> None:
    """Refuse to run what a file names unless that was allowed.

    Raises:
        ConfigurationError: it was not.
    """
    if not allowed:
        raise ConfigurationError(
            f"{what} is named in a file, and running it is not allowed here.",
            hint="Set allow-commands to true if everyone who can change that file may run commands in this workflow.",
        )
