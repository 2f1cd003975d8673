"""Whether a report reached GitHub. It never changes the verdict."""

from __future__ import annotations

from msgspec import Struct

from abs_gate.github.errors import Forbidden, GitHubError, NotFound


class Delivery(Struct, frozen=True, kw_only=True):
    """What became of one report."""

    posted: bool
    url: str | None = None
    """Where it can be seen."""
    notice: str = ""
    """One sentence for the log where there is something to tell; "" where all went well."""


def not_delivered(what: str, error: GitHubError, *, permission: str) -> Delivery:
    """A delivery that failed, in words that name what is missing.

    Args:
        what: The report, as a sentence begins: `The pull request comment`.
        error: Why.
        permission: What the job needs, as a workflow writes it: `pull-requests: write`.
    """
    if isinstance(error, NotFound) or (isinstance(error, Forbidden) and "locked" not in error.message):
        return Delivery(
            posted=False,
            notice=f"{what} was not posted: the job's token lacks `{permission}`. Pull requests from forks and from "
            f"Dependabot never have it. The verdict stands; the whole report is in the job summary. ({error.message})",
        )
    return Delivery(posted=False, notice=f"{what} was not posted: {error.message} The verdict stands.")
