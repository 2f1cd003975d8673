"""Evaluators: one observed step or a whole trace, and one evaluation, give a result with a reason.

Importing this package fills `EVALUATORS`: each family module registers its own.
"""

from __future__ import annotations

from abs_gate.evaluators import (
    calls,
    chain,
    composition,
    consistency,
    judged,
    step,
    text_metrics,
)
from abs_gate.evaluators.base import EVALUATORS, EvalContext, EvalResult
from abs_gate.evaluators.evaluate import evaluate, evaluator_shapes

__all__ = [
    "EVALUATORS",
    "EvalContext",
    "EvalResult",
    "calls",
    "chain",
    "composition",
    "consistency",
    "evaluate",
    "evaluator_shapes",
    "judged",
    "step",
    "text_metrics",
]
