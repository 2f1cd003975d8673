"""Evaluators of a text against a reference text: f1, bleu, rouge."""

from __future__ import annotations

from abs_gate.documents.model import Evaluation
from abs_gate.evaluators.base import EvalContext, EvalResult, evaluator
from abs_gate.evaluators.metrics import measure_bleu, measure_f1, measure_rouge
from abs_gate.evaluators.observed import observed_text
from abs_gate.evaluators.references import ReferenceMissing, last_answer, resolve_reference
from abs_gate.evaluators.results import scored, unverified
from abs_gate.evaluators.values import as_text
from abs_gate.findings import Json

_FIELDS: dict[str, dict[str, Json]] = {"ground_truth": {}, "response": {}}


@evaluator("f1", levels=("step", "session"), fields=_FIELDS, required=("ground_truth",), scores=True)
def f1(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """Harmonic mean of unigram precision and recall."""
    try:
        overlap = measure_f1(*_texts(evaluation, context))
    except ReferenceMissing as error:
        return unverified(str(error))
    details = {"precision": overlap.precision, "recall": overlap.recall, "f1": overlap.f1}
    return scored(evaluation, overlap.f1, f"precision {overlap.precision:.4g}, recall {overlap.recall:.4g}", **details)


@evaluator("bleu", levels=("step", "session"), fields=_FIELDS, required=("ground_truth",), scores=True)
def bleu(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """BLEU up to 4-grams, smoothed, with brevity penalty."""
    try:
        score, precisions, penalty = measure_bleu(*_texts(evaluation, context))
    except ReferenceMissing as error:
        return unverified(str(error))
    reason = f"{len(precisions)} orders, brevity penalty {penalty:.4g}"
    return scored(evaluation, score, reason, precisions=list(precisions), brevity_penalty=penalty)


@evaluator(
    "rouge",
    levels=("step", "session"),
    fields={
        **_FIELDS,
        "variant": {"enum": ["rouge1", "rouge2", "rougeL"]},
        "metric": {"enum": ["precision", "recall", "f1"]},
    },
    required=("ground_truth",),
    scores=True,
)
def rouge(evaluation: Evaluation, context: EvalContext) -> EvalResult:
    """ROUGE-1, -2 or -L (default) by precision, recall or f1 (default)."""
    variant = evaluation.fields.get("variant", "rougeL")
    metric = evaluation.fields.get("metric", "f1")
    try:
        overlap = measure_rouge(*_texts(evaluation, context), variant)
    except ReferenceMissing as error:
        return unverified(str(error))
    details = {"precision": overlap.precision, "recall": overlap.recall, "f1": overlap.f1}
    return scored(evaluation, details[metric], f"{variant} {metric}", variant=variant, metric=metric, **details)


def _texts(evaluation: Evaluation, context: EvalContext) -> tuple[str, str]:
    """What was observed, and what it is compared with; `ground_truth: self` is the behavior's own content."""
    return _response(evaluation, context), _ground_truth(evaluation, context)


def _response(evaluation: Evaluation, context: EvalContext) -> str:
    reference = evaluation.fields.get("response", "self")
    if reference != "self" or context.step is not None:
        return resolve_reference(reference, context)
    answer = last_answer(context)
    if answer is None:
        raise ReferenceMissing("no text of the agent was observed")
    return observed_text(answer)


def _ground_truth(evaluation: Evaluation, context: EvalContext) -> str:
    reference = evaluation.fields["ground_truth"]
    if reference != "self":
        text = resolve_reference(reference, context)
    else:
        declared = None if context.behavior is None else context.behavior.content
        text = as_text(context.scope.resolve(declared) if context.scope is not None else declared)
    if not text.strip():
        raise ReferenceMissing("there is no reference text to compare with: `ground_truth` is empty")
    return text
