r"""Text metrics against a reference text, as ABS 0.6 defines them: token F1, BLEU-4, ROUGE-1, -2 and -L.

Tokens are lower-cased `\w+` runs: digits and `_` belong to words, punctuation is dropped, nothing is
folded or normalised. Pure functions of two texts; linear or near-linear in their length.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from msgspec import Struct

_TOKEN = re.compile(r"\w+")
_BLEU_ORDERS = (1, 2, 3, 4)


class Overlap(Struct, frozen=True, kw_only=True):
    """Precision, recall and their harmonic mean, each 0..1."""

    precision: float
    recall: float

    @property
    def f1(self) -> float:
        """0 when nothing overlaps."""
        total = self.precision + self.recall
        return 2 * self.precision * self.recall / total if total else 0.0


def tokenise(text: str) -> list[str]:
    """The words of a text, lower-cased."""
    return _TOKEN.findall(text.lower())


def measure_f1(observed: str, reference: str) -> Overlap:
    """Unigrams that both have, each as often as the rarer side has it."""
    return _ngram_overlap(tokenise(observed), tokenise(reference), 1)


def measure_rouge(observed: str, reference: str, variant: str) -> Overlap:
    """`rouge1`, `rouge2`: shared n-grams; `rougeL`: longest common subsequence."""
    mine, theirs = tokenise(observed), tokenise(reference)
    if variant == "rougeL":
        return _overlap(_longest_common_subsequence(mine, theirs), len(mine), len(theirs))
    return _ngram_overlap(mine, theirs, 1 if variant == "rouge1" else 2)


def measure_bleu(observed: str, reference: str) -> tuple[float, tuple[float, ...], float]:
    """Score, the precision of each order used, and the brevity penalty.

    Every order is smoothed by adding one; orders longer than the observed text are left out.
    """
    mine, theirs = tokenise(observed), tokenise(reference)
    if not mine or not theirs:
        return 0.0, (), 0.0
    precisions = []
    for order in _BLEU_ORDERS:
        total = len(mine) - order + 1
        if total <= 0:
            break
        shared = (_ngrams(mine, order) & _ngrams(theirs, order)).total()
        precisions.append((shared + 1) / (total + 1))
    penalty = min(1.0, math.exp(1 - len(theirs) / len(mine)))
    return penalty * math.exp(math.fsum(map(math.log, precisions)) / len(precisions)), tuple(precisions), penalty


def _ngrams(tokens: Sequence[str], order: int) -> Counter[tuple[str, ...]]:
    return Counter(zip(*(tokens[start:] for start in range(order)), strict=False))


def _ngram_overlap(mine: Sequence[str], theirs: Sequence[str], order: int) -> Overlap:
    left, right = _ngrams(mine, order), _ngrams(theirs, order)
    return _overlap((left & right).total(), left.total(), right.total())


def _overlap(shared: int, observed: int, reference: int) -> Overlap:
    return Overlap(
        precision=shared / observed if observed else 0.0,
        recall=shared / reference if reference else 0.0,
    )


def _longest_common_subsequence(left: Sequence[str], right: Sequence[str]) -> int:
    """Length, by the bit-parallel method of Hyyrö (2004): one big-integer step for each token of `left`."""
    positions: dict[str, int] = {}
    for index, token in enumerate(right):
        positions[token] = positions.get(token, 0) | 1 << index
    full = (1 << len(right)) - 1
    row = full
    for token in left:
        matches = row & positions.get(token, 0)
        row = ((row + matches) | (row - matches)) & full
    return len(right) - row.bit_count()
