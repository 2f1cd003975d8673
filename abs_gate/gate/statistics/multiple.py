"""Adjusting p values over many sessions."""

from __future__ import annotations

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> list[float]:
    """Holm's adjusted p values (1979): any at most alpha keeps the chance of one false alarm within alpha."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Benjamini and Hochberg's adjusted p values (1995): any at most q keeps the share of false alarms within q."""
    order = sorted(range(len(p_values)), key=lambda i: p_values[i], reverse=True)
    adjusted = [0.0] * len(p_values)
    smallest = 1.0
    for rank, i in enumerate(order):
        smallest = min(smallest, p_values[i] * len(p_values) / (len(p_values) - rank))
        adjusted[i] = smallest
    return adjusted
