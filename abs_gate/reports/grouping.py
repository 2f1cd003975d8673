"""Failures with the same cause together, so that three hundred failing behaviors read as a handful of causes."""

from __future__ import annotations

import re
from collections.abc import Sequence

from msgspec import Struct

from abs_gate.reports.failures import Failure

_VALUES = re.compile(r'"[^"]*"|\'[^\']*\'|`[^`]*`|\d+')


class FailureGroup(Struct, frozen=True, kw_only=True):
    """Failures whose reasons differ at most in quoted values and numbers."""

    failures: Sequence[Failure]

    @property
    def first(self) -> Failure:
        """The one to show."""
        return self.failures[0]

    @property
    def sessions(self) -> int:
        """How many sessions it spans."""
        return len({(failure.session["path"], failure.session["name"]) for failure in self.failures})


def group_failures(failures: Sequence[Failure]) -> list[FailureGroup]:
    """Groups in the order of their first failure: what gates stays before what does not."""
    groups: dict[tuple[str, bool], list[Failure]] = {}
    for failure in failures:
        shape = _VALUES.sub("?", failure.reason[:2000]) or failure.behavior["label"]
        groups.setdefault((shape, failure.gates), []).append(failure)
    made = [FailureGroup(failures=members) for members in groups.values()]
    return sorted(made, key=lambda group: (not group.first.gates, -len(group.failures)))
