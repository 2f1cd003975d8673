"""The conversation between the gate and an agent, one trial of one case."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate.conversation import Agent, AgentRequest, Connection, Message, Role, ToolCall, ToolResult, Usage
from abs_gate.documents.model import Behavior, Case, Session
from abs_gate.documents.variables import VariableError
from abs_gate.errors import AgentUnavailable
from abs_gate.evaluators.values import clip
from abs_gate.findings import Json
from abs_gate.outcomes import Outcome
from abs_gate.runner.assess import assess
from abs_gate.runner.expectation import Asked
from abs_gate.runner.options import RunOptions
from abs_gate.runner.recording import Recording, RecordingEnded
from abs_gate.runner.result import TrialResult
from abs_gate.runner.sending import CannotSend, message_of, render_message
from abs_gate.runner.tracelog import TraceLog
from abs_gate.runner.walk import BehaviorMatch, Due, Progress, Walk
from abs_gate.trace import StepKind


def run_trial(case: Case, agent: Agent, options: RunOptions) -> TrialResult:
    """Play a case against an agent once and judge what happened.

    An agent that cannot be reached gives an unverified trial; what was proven before stays proven.
    """
    conversation = _Conversation(case, options)
    try:
        with agent.connect(options.trial_key) as connection:
            conversation.play(connection)
    except AgentUnavailable as error:
        conversation.break_off(str(error))
    return conversation.finish()


def judge_trace(case: Case, messages: Sequence[Message], options: RunOptions) -> TrialResult:
    """Judge a recorded conversation against a case, without an agent.

    Recorded messages answer the session's in order, whatever their wording (a difference is a warning).
    What the session has beyond the recording did not happen, and fails.
    """
    conversation = _Conversation(case, options, supplies_results=False)
    recording = Recording(messages, has_system=any(b.actor == "system" for b in case.session.behaviors))
    if not _agent_speaks_first(case.session):
        conversation.add_lead(recording.lead())
    conversation.play(recording)
    conversation.add_rest(recording.rest())
    return replace(conversation.finish(), agent_calls=0)


class _Stop(Exception):
    """The conversation cannot go on."""

    def __init__(self, reason: str, outcome: Outcome, *, is_sent: bool = True) -> None:
        super().__init__(reason)
        self.reason = reason
        self.outcome = outcome
        """What this makes of everything that is still open."""
        self.is_sent = is_sent
        """Whether the message went out, so that there is a turn to look at."""


class _Counters(Struct):
    agent_calls: int = 0
    usage: Usage = field(default_factory=Usage)
    model: str | None = None
    warnings: list[str] = field(default_factory=list)


class _Conversation:
    """One trial while it runs."""

    def __init__(self, case: Case, options: RunOptions, *, supplies_results: bool = True) -> None:
        self._case = case
        self._options = options
        self._supplies_results = supplies_results
        self._names = options.names
        self._started = options.clock()
        self._log = TraceLog()
        self._messages: list[Message] = []
        self._progress = Progress(case.session, options.scope.for_case(case))
        self._counters = _Counters()
        self._complete = True
        self._is_over = False

    def play(self, connection: Connection) -> None:
        """Send, receive and match until the session ends or cannot go on."""
        speaks_first = _agent_speaks_first(self._case.session)
        sends = [] if speaks_first else self._advance()
        while sends or speaks_first:
            speaks_first = False
            try:
                self._play_turn(connection, sends)
            except _Stop as stop:
                self._end(stop, sends)
                break
            sends = self._advance()
        self._is_over = True

    def break_off(self, reason: str) -> None:
        """The agent cannot be reached at all: what is not decided yet stays unverified."""
        if not self._is_over:
            self._end(_unreachable(reason, is_sent=False), ())

    def add_lead(self, messages: Sequence[Message]) -> None:
        """What a recorded agent said before anyone spoke to it: part of the trace, answering nothing."""
        self._log.add_reply(messages)

    def add_rest(self, messages: Sequence[Message]) -> None:
        """What a recording holds beyond the session's end: part of the trace, answering nothing."""
        if messages:
            self._warn("the recording goes on after the end of the session")
            self._log.add_reply(messages)

    def finish(self) -> TrialResult:
        """Evaluate and sum up."""
        duration = self._options.clock() - self._started
        return replace(
            assess(self._case, self._progress, self._log.steps, self._options, complete=self._complete),
            duration_ms=round(duration * 1000),
            agent_calls=self._counters.agent_calls,
            usage=self._counters.usage,
            model=self._counters.model,
            warnings=tuple(self._counters.warnings),
        )

    def _advance(self) -> list[Due]:
        """Match the turn for good. Returns the messages to send next."""
        walk = self._walk()
        self._progress.take(walk)
        return walk.sends

    def _walk(self, broken: str = "") -> Walk:
        asked = Asked(judges=self._options.judges, steps=self._log.steps)
        return Walk(self._progress, self._log.turn_steps, self._names, asked, broken=broken).run()

    def _play_turn(self, connection: Connection, sends: Sequence[Due]) -> None:
        self._send(sends)
        try:
            waiting = self._request(connection)
        except RecordingEnded as error:
            self._log.forget_sent(len(sends))
            raise _Stop(str(error), Outcome.FAILED, is_sent=False) from error
        rounds = 0
        while waiting and self._supplies_results:
            rounds += 1
            if rounds > self._options.max_rounds:
                raise _Stop(
                    f"the agent called tools {self._options.max_rounds} times in a row without answering",
                    Outcome.FAILED,
                )
            self._supply(waiting)
            waiting = self._request(connection)

    def _send(self, sends: Sequence[Due]) -> None:
        """Write down the messages, all or none."""
        try:
            texts = [render_message(due.behavior, due.scope) for due in sends]
        except (CannotSend, VariableError) as error:
            raise _Stop(f"the message could not be sent: {error}", Outcome.UNVERIFIED, is_sent=False) from error
        for due, text in zip(sends, texts, strict=True):
            self._messages.append(message_of(due.behavior, text))
            self._log.add_sent(due.behavior, text)
            step, after = len(self._log.steps) - 1, self._progress.scope
            sent = BehaviorMatch(outcome=Outcome.PASSED, step=step, before=due.scope, after=after)
            uncaptured = self._progress.matches.get(due.behavior.index)
            self._progress.matches[due.behavior.index] = replace(uncaptured, step=step) if uncaptured else sent

    def _request(self, connection: Connection) -> tuple[ToolCall, ...]:
        """One request with the whole conversation. Returns the calls that wait for a result."""
        left = self._options.session_timeout_s - (self._options.clock() - self._started)
        if left <= 0:
            raise _Stop(f"the session ran longer than {self._options.session_timeout_s:g} s", Outcome.UNVERIFIED)
        self._counters.agent_calls += 1
        request = AgentRequest(
            messages=tuple(self._messages),
            tools=self._options.tools,
            turn_key=f"{self._options.run_id}{self._options.trial_key}-{self._counters.agent_calls}",
            deadline_s=left,
        )
        try:
            turn = connection.reply(request)
        except AgentUnavailable as error:
            raise _unreachable(str(error)) from error
        self._counters.usage += turn.usage
        self._counters.model = turn.model or self._counters.model
        for warning in turn.warnings:
            self._warn(warning)
        if any(message.truncated for message in turn.messages):
            self._warn(f"the agent's reply was cut short (turn {self._log.turn})")
        self._messages.extend(turn.messages)
        return self._log.add_reply(turn.messages)

    def _supply(self, waiting: Sequence[ToolCall]) -> None:
        """Answer every waiting call in one message, each with its own result."""
        due = list(self._walk().results)
        results = [self._answer(call, due) for call in waiting]
        self._messages.append(Message(role=Role.TOOL, results=tuple(results)))

    def _answer(self, call: ToolCall, due: list[Due]) -> ToolResult:
        declared = next((d for d in due if self._is_for(call, d)), None)
        actor, content, found = "tool", None, False
        if declared is not None:
            due.remove(declared)
            actor = declared.behavior.actor
            content, found = self._declared_content(declared)
        if not found:
            content, found = self._example(call.name)
        if not found:
            self._warn(f"{clip(call.name, 60)} was called, and the session declares no result for it")
            content = f"The tool {clip(call.name, 60)} is not available in this session."
        step = self._log.add_result(call.name, call.id, content, is_error=not found, supplied=True, actor=actor)
        if declared is not None:
            self._note_supplied(declared.behavior, step, found=found)
        return ToolResult(call_id=call.id, name=call.name, content=content, is_error=not found)

    def _is_for(self, call: ToolCall, due: Due) -> bool:
        target = due.behavior.target
        try:
            return target is None or self._names.means(call.name, call.arguments, due.scope.resolve_text(target))
        except VariableError:
            return False

    def _declared_content(self, due: Due) -> tuple[Json, bool]:
        if due.behavior.content is None:
            return None, False
        try:
            return due.scope.resolve(due.behavior.content), True
        except VariableError as error:
            self._progress.matches[due.behavior.index] = BehaviorMatch(outcome=Outcome.UNVERIFIED, reason=str(error))
            return None, False

    def _example(self, name: str) -> tuple[Json, bool]:
        examples = self._options.example_results
        key = next((known for known in examples if self._names.stands_for(name, known)), None)
        return (None, False) if key is None else (examples[key], True)

    def _note_supplied(self, behavior: Behavior, step: int, *, found: bool) -> None:
        if found:
            self._progress.supplied[behavior.index] = step
        elif behavior.index not in self._progress.matches:
            reason = "the agent waits for this result, and neither `content` nor a contract's example says what it is"
            unknown = BehaviorMatch(outcome=Outcome.UNVERIFIED, step=step, reason=reason)
            self._progress.matches[behavior.index] = unknown

    def _warn(self, text: str) -> None:
        if text not in self._counters.warnings:
            self._counters.warnings.append(text)

    def _end(self, stop: _Stop, sends: Sequence[Due]) -> None:
        """Decide everything that is still open. The cause is told once, where it happened."""
        is_cut_off = stop.outcome is Outcome.UNVERIFIED
        self._complete = not is_cut_off
        behaviors, matches = self._case.session.behaviors, self._progress.matches
        culprit = sends[-1].behavior if sends else next((b for b in behaviors if b.index not in matches), None)
        where = "" if culprit is None else f"the conversation ended at behavior {culprit.index + 1} ({culprit.label})"
        if stop.is_sent:
            broken = f"not reached: {where}" if sends else stop.reason
            self._progress.take(self._walk(broken=broken if is_cut_off else ""))
        reason = self._call_in_vain() + stop.reason if stop.is_sent and is_cut_off else stop.reason
        for due in sends[-1:] if stop.is_sent else sends:
            step = matches[due.behavior.index].step if stop.is_sent else None
            matches[due.behavior.index] = BehaviorMatch(outcome=stop.outcome, step=step, reason=reason)
        for behavior in behaviors:
            if behavior.index not in matches:
                reason = stop.reason if behavior is culprit else f"not reached: {where}"
                is_skipped = behavior.optional and not is_cut_off
                outcome = Outcome.SKIPPED if is_skipped else stop.outcome
                matches[behavior.index] = BehaviorMatch(outcome=outcome, reason=reason)

    def _call_in_vain(self) -> str:
        """What the agent called in this turn instead of what was expected: often the cause of what came then."""
        matches = self._progress.matches
        taken = {match.step for match in matches.values() if match.outcome is Outcome.PASSED}
        missed = next((m for _, m in sorted(matches.items()) if m.outcome is Outcome.UNVERIFIED and m.observed), None)
        in_vain = any(step.kind is StepKind.CALL and step.index not in taken for step in self._log.turn_steps)
        if missed is None or not in_vain:
            return ""
        return f"expected {missed.expected}; observed {missed.observed}; then "


def _unreachable(reason: str, *, is_sent: bool = True) -> _Stop:
    return _Stop(f"the agent gave no answer that can be used: {reason}", Outcome.UNVERIFIED, is_sent=is_sent)


def _agent_speaks_first(session: Session) -> bool:
    for behavior in session.behaviors:
        if behavior.is_sent:
            return False
        if behavior.actor == "assistant":
            return True
    return False
