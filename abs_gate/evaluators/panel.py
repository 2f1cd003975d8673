"""All judges of a run: chosen by name, asked once for the same question, counted by votes."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Mapping
from concurrent.futures import Future
from typing import TypeAlias

from msgspec import Struct

from abs_gate.conversation import AnyJudge
from abs_gate.errors import JudgeUnavailable
from abs_gate.evaluators.values import json_text
from abs_gate.evaluators.verdicts import Judgement, UnreadableVerdict, read_scored_verdict, read_text_verdict
from abs_gate.findings import Json

Answer: TypeAlias = "Judgement | UnreadableVerdict"


class Question(Struct, frozen=True, kw_only=True):
    """One question for a judge: as a prompt for those that read text, as inputs for those that score."""

    kind: str
    """The evaluation's type."""
    prompt: str
    inputs: Mapping[str, Json]


class JudgePanel:
    """All judges of a run by name. Thread-safe.

    The same question to the same judge is asked once in a run, however many trials and threads come to it;
    a judge that could not be reached is asked again.
    """

    def __init__(
        self, judges: Mapping[str, AnyJudge], default: str | None = None, votes: int | Mapping[str, int] = 1
    ) -> None:
        self._judges = dict(judges)
        self._default = default if default is not None or len(judges) != 1 else next(iter(judges))
        self._votes = votes
        self._answers: dict[str, Future[Answer]] = {}
        self._lock = threading.Lock()

    @property
    def names(self) -> tuple[str, ...]:
        """What `adapter:` may say."""
        return tuple(self._judges)

    def ask(self, question: Question, adapter: str | None = None) -> tuple[Answer, ...]:
        """The answers of one judge, one a vote; unreadable ones are among them.

        Raises:
            JudgeUnavailable: no such judge, or it could not answer.
        """
        name = adapter if adapter is not None else self._default
        if name is None or name not in self._judges:
            known = ", ".join(sorted(self._judges)) or "none"
            wanted = f'no judge is called "{adapter}"' if adapter else "there is no default judge: name one `default`"
            raise JudgeUnavailable(f"{wanted} (known: {known})")
        votes = self._votes if isinstance(self._votes, int) else self._votes.get(name, 1)
        return tuple(self._ask_once(name, question, vote) for vote in range(max(1, votes)))

    def _ask_once(self, name: str, question: Question, vote: int) -> Answer:
        judge = self._judges[name]
        content = json_text([name, question.kind, vote, question.prompt, question.inputs])
        key = hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()
        with self._lock:
            future = self._answers.get(key)
            is_first = future is None
            if future is None:
                future = self._answers[key] = Future()
        if not is_first:
            return future.result()
        try:
            answer = _ask(judge, question)
        except BaseException as error:
            with self._lock:
                del self._answers[key]
            future.set_exception(error)
            raise
        future.set_result(answer)
        return answer


def _ask(judge: AnyJudge, question: Question) -> Answer:
    try:
        if hasattr(judge, "score"):
            return read_scored_verdict(judge.score(question.kind, question.inputs))
        return read_text_verdict(judge.ask(question.prompt))
    except UnreadableVerdict as unreadable:
        return unreadable
