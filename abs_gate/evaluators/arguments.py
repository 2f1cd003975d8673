"""Comparing the arguments of a call with `with` and `with_only`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from abs_gate.evaluators.values import clip, show
from abs_gate.findings import Json
from abs_gate.sources.json_values import json_equal, json_type
from abs_gate.trace import ObservedStep

MAX_KEYS_SHOWN = 5


def find_differing_keys(
    step: ObservedStep, with_: Mapping[str, Json] | None, with_only: Mapping[str, Json] | None
) -> Iterator[str]:
    """The keys that keep a call's arguments from matching; "" alone when they are not a JSON object.

    `with` asks for every declared key with an equal value and allows more keys; `with_only` allows no
    others. Without either, nothing is compared.
    """
    expected = with_only if with_only is not None else with_
    if expected is None:
        return
    observed = step.arguments
    if observed is None:
        yield ""
        return
    for key, value in expected.items():
        if key not in observed or not json_equal(value, observed[key]):
            yield key
    if with_only is not None:
        yield from sorted(observed.keys() - expected.keys())


def arguments_match(step: ObservedStep, with_: Mapping[str, Json] | None, with_only: Mapping[str, Json] | None) -> bool:
    """True when nothing differs."""
    return next(find_differing_keys(step, with_, with_only), None) is None


def find_argument_differences(
    step: ObservedStep, with_: Mapping[str, Json] | None, with_only: Mapping[str, Json] | None
) -> tuple[str, ...]:
    """What differs in words, one phrase a key: `orderId "54321" (differs)`; empty when nothing does."""
    expected = (with_only if with_only is not None else with_) or {}
    observed = step.arguments
    if observed is None:
        unreadable = f"arguments that are not a JSON object: {clip(step.raw_arguments) or '(nothing)'}"
        return () if arguments_match(step, with_, with_only) else (unreadable,)
    return tuple(_phrase(key, expected, observed) for key in find_differing_keys(step, with_, with_only))


def describe_arguments(with_: Mapping[str, Json] | None, with_only: Mapping[str, Json] | None) -> str:
    """The expectation in words: ` with orderId "12345"`, ` with only a 1, b 2`, ` without arguments`."""
    expected = with_only if with_only is not None else with_
    if expected is None:
        return ""
    if not expected:
        return " without arguments" if with_only is not None else ""
    word = "with only" if with_only is not None else "with"
    return f" {word} {_join([f'{key} {show(value)}' for key, value in expected.items()])}"


def describe_call(step: ObservedStep, differences: tuple[str, ...] = ()) -> str:
    """A call as it was observed: `get_order with orderId "54321" (differs)`."""
    return f"{step.target} with {_join(differences)}" if differences else f"{step.target}"


def _phrase(key: str, expected: Mapping[str, Json], observed: Mapping[str, Json]) -> str:
    name = clip(key, 60)
    if key not in observed:
        return f"{name} (missing)"
    if key not in expected:
        return f"{name} {show(observed[key])} (not declared)"
    return f"{name} {show(observed[key])} ({_how_it_differs(expected[key], observed[key], key)})"


def _how_it_differs(expected: Json, observed: Json, key: str) -> str:
    kinds = json_type(expected), json_type(observed)
    if kinds[0] != kinds[1]:
        return f"{_article(kinds[1])}, expected {_article(kinds[0])}"
    path = _first_difference(expected, observed, key)
    return "differs" if path == key else f"differs at {clip(path, 80)}"


def _first_difference(expected: Json, observed: Json, path: str) -> str:
    """The deepest place both sides share that is not equal."""
    while True:
        step = None
        if isinstance(expected, Mapping) and isinstance(observed, Mapping):
            keys = [key for key in expected if key in observed and not json_equal(expected[key], observed[key])]
            keys += [key for key in expected if key not in observed] + [key for key in observed if key not in expected]
            if keys:
                step = (f"{path}.{keys[0]}", keys[0])
        elif isinstance(expected, list | tuple) and isinstance(observed, list | tuple):
            pairs = enumerate(zip(expected, observed, strict=False))
            index = next((i for i, (a, b) in pairs if not json_equal(a, b)), None)
            if index is not None:
                step = (f"{path}[{index}]", index)
        if step is None:
            return path
        path = step[0]
        try:
            expected, observed = expected[step[1]], observed[step[1]]
        except (KeyError, IndexError):
            return path


def _join(parts: tuple[str, ...] | list[str]) -> str:
    shown = ", ".join(parts[:MAX_KEYS_SHOWN])
    return shown if len(parts) <= MAX_KEYS_SHOWN else f"{shown} and {len(parts) - MAX_KEYS_SHOWN} more"


def _article(kind: str) -> str:
    return "null" if kind == "null" else f"{'an' if kind in ('object', 'array') else 'a'} {kind}"
