"""How a call to GitHub ends when it does not end well.

GitHubError (3)      anything below; where only a report is delivered it becomes a notice instead
├── Forbidden        the token may not; names the permission that is missing
├── NotFound         absent, or hidden from this token
├── Rejected         GitHub understood the request and refused its content (422)
├── RateLimited      the limit outlasts the time we are willing to wait
└── Unreachable      no answer, a server error that stayed, or an answer that is not GitHub's
"""

from __future__ import annotations

from abs_gate.errors import CannotVerify


class GitHubError(CannotVerify):
    """A call to GitHub's API failed."""


class Forbidden(GitHubError):
    """The token may not do this."""

    def __init__(self, message: str, *, permissions: str = "", hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.permissions = permissions
        """What GitHub says would be enough: `pull-requests: write`; "" where it does not say."""


class NotFound(GitHubError):
    """The thing is not there, or this token may not see it."""


class Rejected(GitHubError):
    """The request's content was refused."""


class RateLimited(GitHubError):
    """Too many requests for longer than we wait."""


class Unreachable(GitHubError):
    """GitHub could not be reached, kept failing, or something else answered in its place."""
