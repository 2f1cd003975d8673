"""Judged evaluators: llm_judge, the eight named dimensions, custom. Never a pass without a readable verdict."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence

from abs_gate.documents.model import Evaluation
from abs_gate.errors import JudgeUnavailable
from abs_gate.evaluators.base import EvalContext, EvalResult, Evaluator, evaluator
from abs_gate.evaluators.observed import observed_text, observed_value
from abs_gate.evaluators.panel import Answer, JudgePanel, Question
from abs_gate.evaluators.prompts import build_prompt, render_conversation
from abs_gate.evaluators.references import ReferenceMissing, last_answer, last_message_before, resolve_reference
from abs_gate.evaluators.results import DEFAULT_THRESHOLD, failed, passed, unverified
from abs_gate.evaluators.rubrics import DIMENSIONS
from abs_gate.evaluators.values import as_text
from abs_gate.evaluators.verdicts import Judgement
from abs_gate.findings import Json
from abs_gate.trace import ObservedStep

__all__ = ["JUDGED", "JudgePanel", "judge_text"]

JUDGED = frozenset({"llm_judge", "custom", *DIMENSIONS})
"""The evaluations that ask a judge."""
NO_JUDGE = (
    "no judge is configured: name one under `judges:` in abs-gate.yaml, give --judge URL, "
    "or set a provider's key (such as OPENAI_API_KEY) in the environment"
)

_TEXT = {"type": "string"}
_REFERENCES: dict[str, dict[str, Json]] = {"query": {}, "context": {}, "response": {}, "ground_truth": {}}
_SHARED: dict[str, dict[str, Json]] = {**_REFERENCES, "prompt": _TEXT, "dataset": {}}


@evaluator(
    "llm_judge", levels=("step", "session"), fields={**_SHARED, "criteria": _TEXT}, required=("criteria",), scores=True
)
def llm_judge(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """A judge scores the response against the author's criteria, with the conversation up to it."""
    return _judge(evaluation, context, evaluation.fields["criteria"], with_conversation=True)


@evaluator(
    "custom",
    levels=("step", "session"),
    fields={**_SHARED, "id": _TEXT, "criteria": _TEXT},
    required=("id",),
    scores=True,
)
def custom(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """A judge named by `adapter`, or called like the `id`, or else the default one, scores what `id` stands for."""
    name = evaluation.fields["id"]
    criteria = evaluation.fields.get("criteria") or f"How well the response does by the measure called {name}."
    known = context.judges.names if context.judges is not None else ()
    adapter = evaluation.adapter or (name if name in known else None)
    return _judge(evaluation, context, criteria, with_conversation=True, adapter=adapter)


def _dimension(name: str) -> Evaluator:
    def run(evaluation: Evaluation, context: EvalContext) -> EvalResult:
        criteria = evaluation.fields.get("criteria") or DIMENSIONS[name].rubric
        return _judge(evaluation, context, criteria, with_conversation=False)

    run.__doc__ = f"{name}: {DIMENSIONS[name].rubric}"
    return run


for _name, _definition in DIMENSIONS.items():
    evaluator(
        _name,
        levels=("step", "session"),
        fields={**_SHARED, "criteria": _TEXT},
        required=_definition.needs,
        scores=True,
    )(_dimension(_name))


def judge_text(panel: JudgePanel | None, criteria: str, text: str, steps: Sequence[ObservedStep]) -> EvalResult:
    """Whether a text meets the criteria of a `matches_when`, by the default judge."""
    quoted = {"conversation": render_conversation(steps), "response": text}
    inputs = {"criteria": criteria, "response": text, "conversation": _records(steps)}
    question = Question(kind="llm_judge", prompt=build_prompt(criteria, quoted), inputs=inputs)
    return _ask(panel, question, None, DEFAULT_THRESHOLD)


def _judge(
    evaluation: Evaluation, context: EvalContext, criteria: str, *, with_conversation: bool, adapter: str | None = None
) -> EvalResult:
    steps = context.trace.steps if context.step is None else context.trace.steps[: context.step.index + 1]
    try:
        quoted = _quoted_inputs(evaluation, context)
    except ReferenceMissing as error:
        return unverified(str(error))
    template = evaluation.fields.get("prompt")
    if with_conversation or template is not None:
        quoted = {"conversation": render_conversation(steps), **quoted}
    inputs: dict[str, Json] = {
        **{name: value for name, value in evaluation.fields.items() if name not in _REFERENCES},
        **quoted,
        "criteria": criteria,
        "conversation": _records(steps),
    }
    question = Question(kind=evaluation.type, prompt=build_prompt(criteria, quoted, template), inputs=inputs)
    threshold = DEFAULT_THRESHOLD if evaluation.threshold is None else evaluation.threshold
    return _ask(context.judges, question, adapter or evaluation.adapter, threshold)


def _quoted_inputs(evaluation: Evaluation, context: EvalContext) -> dict[str, str]:
    """The texts a judge is shown: what the evaluation refers to; the query and response by default from the trace."""
    fields = evaluation.fields
    texts = {
        "query": resolve_reference(fields["query"], context) if "query" in fields else last_message_before(context)
    }
    texts |= {name: resolve_reference(fields[name], context) for name in ("context", "ground_truth") if name in fields}
    if "dataset" in fields:
        texts["dataset"] = as_text(fields["dataset"])
    texts["response"] = _response(evaluation, context)
    return texts


def _response(evaluation: Evaluation, context: EvalContext) -> str:
    reference = evaluation.fields.get("response", "self")
    if reference != "self" or context.step is not None:
        return resolve_reference(reference, context)
    answer = last_answer(context)
    if answer is None:
        raise ReferenceMissing("no text of the agent was observed")
    return observed_text(answer)


def _ask(panel: JudgePanel | None, question: Question, adapter: str | None, threshold: float) -> EvalResult:
    if panel is None:
        return unverified(NO_JUDGE)
    try:
        answers = panel.ask(question, adapter)
    except JudgeUnavailable as error:
        return unverified(f"the judge could not be asked: {error}")
    return _decide(answers, threshold)


def _decide(answers: Sequence[Answer], threshold: float) -> EvalResult:
    """By the median; unreadable votes count as the worst and the best they could be, and must not matter."""
    readable = [answer for answer in answers if isinstance(answer, Judgement)]
    unreadable = [answer for answer in answers if not isinstance(answer, Judgement)]
    lowest, highest = (_median(readable, len(unreadable), missing) for missing in (0.0, 1.0))
    if not readable or (lowest < threshold <= highest):
        return unverified(str(unreadable[0]))
    scores = sorted(answer.score for answer in readable)
    median = statistics.median(scores)
    reason = next((answer.reason for answer in readable if answer.score == median), readable[0].reason)
    details: dict[str, object] = {"votes": scores, "unreadable": len(unreadable)} if len(answers) > 1 else {}
    spread = f" (median of {len(scores)} votes, {scores[0]:.4g} to {scores[-1]:.4g})" if len(answers) > 1 else ""
    if lowest >= threshold:
        return passed(f"score {median:.4g}{spread}: {reason}", score=median, **details)
    if median >= threshold:
        return failed(f"judged not to pass{spread}: {reason}", score=median, **details)
    return failed(f"score {median:.4g}{spread} is below {threshold:g}: {reason}", score=median, **details)


def _median(readable: Sequence[Judgement], missing: int, value: float) -> float:
    return statistics.median([0.0 if answer.refused else answer.score for answer in readable] + [value] * missing)


def _records(steps: Sequence[ObservedStep]) -> list[Mapping[str, Json]]:
    return [
        {"actor": step.actor, "action": step.action, "target": step.target, "content": observed_value(step)}
        for step in steps
    ]
