"""Recorded conversations in the agent's place: which conversation is a trial of which case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from abs_gate.conversation import Message
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Severity
from abs_gate.gate.plan import SessionPlan
from abs_gate.wire.recorded import RecordedConversation


class AssignedTraces(Struct, frozen=True, kw_only=True):
    """The plans with as many trials as were recorded, and the recordings of each."""

    plans: tuple[SessionPlan, ...]
    messages: Mapping[str, tuple[tuple[Message, ...], ...]]
    """Session key to its conversations, trials of one case after another."""

    def find(self, plan: SessionPlan, position: int, trial: int) -> tuple[Message, ...]:
        """The conversation of a trial; `position` is the place of its case in the session."""
        return self.messages[plan.key][position * plan.deciding.trials + trial]


def assign_traces(conversations: Sequence[RecordedConversation], plans: Sequence[SessionPlan]) -> AssignedTraces:
    """Give every conversation its session: the only one there is, else the one of the same name.

    A session with rows takes its conversations in the order of the rows, the same number for each.

    Raises:
        ConfigurationError: a conversation without a session, a session without one, or a number that does not
            fit the rows. Nothing is silently left out.
    """
    found: dict[str, list[tuple[Message, ...]]] = {plan.key: [] for plan in plans}
    names = {plan.session.name: plan.key for plan in plans}
    faults = []
    for conversation in conversations:
        key = plans[0].key if len(plans) == 1 else names.get(conversation.name)
        if key is None:
            faults.append(f"The recorded conversation `{conversation.name[:80]}` belongs to no session.")
        else:
            found[key].append(conversation.messages)
    planned = []
    for plan in plans:
        count = len(found[plan.key])
        if not count:
            faults.append(f"No conversation of the session `{plan.session.name}` was recorded.")
        elif count % plan.cases:
            faults.append(
                f"{count} conversations of `{plan.session.name}` were recorded for {plan.cases} rows: they cannot be "
                "told apart."
            )
        else:
            planned.append(replace(plan, deciding=replace(plan.deciding, trials=count // plan.cases)))
    if faults:
        hint = "With one session every conversation is a trial of it; with several they are told apart by name."
        raise ConfigurationError(
            findings=[
                Finding(rule="unassigned-trace", severity=Severity.ERROR, message=fault, hint=hint)
                for fault in faults[:20]
            ]
        )
    return AssignedTraces(plans=tuple(planned), messages={key: tuple(messages) for key, messages in found.items()})
