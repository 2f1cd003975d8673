"""What the stand-in provider answers: scripts as pure functions of a request."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping, Sequence

from abs_gate.findings import Json
from abs_gate.verification.model import ProviderAnswer, ProviderRequest

Script = Callable[[ProviderRequest], ProviderAnswer]
RECEIPT = "{{receipt}}"


def read_answer(value: Mapping[str, Json]) -> ProviderAnswer:
    """An answer as suites write it."""
    return ProviderAnswer(
        status=value.get("status", 200),
        headers={name: str(text) for name, text in (value.get("headers") or {}).items()},
        body=value.get("body"),
        delay=float(value.get("delay", 0)),
        cut=value.get("cut"),
    )


def always(answer: ProviderAnswer) -> Script:
    """The same answer to everything."""
    return lambda _: answer


def answers_in_turn(values: Sequence[Mapping[str, Json]]) -> Script:
    """The answers one after the other; the last one again and again."""
    answers = [read_answer(value) for value in values]
    lock, turns = threading.Lock(), itertools.count()

    def play(_: ProviderRequest) -> ProviderAnswer:
        with lock:
            return answers[min(next(turns), len(answers) - 1)]

    return play


class Ledger:
    """A provider that keeps its promise: one effect for a key, the first receipt for its repeats."""

    def __init__(
        self,
        success: Mapping[str, Json],
        *,
        duplicate: Mapping[str, Json] | None = None,
        key_at: Mapping[str, Json] | None = None,
        first: ProviderAnswer | None = None,
    ) -> None:
        """`first` is answered to the first request instead of its receipt; the effect happens all the same."""
        self._success, self._duplicate, self._key_at = success, duplicate, key_at or {}
        self._first = first
        self._lock = threading.Lock()
        self._receipts: dict[str, str] = {}
        self.effects = 0
        self.requests = 0

    def __call__(self, request: ProviderRequest) -> ProviderAnswer:
        """Answer one request."""
        if request.method in ("GET", "HEAD", "OPTIONS"):
            return read_answer(_with_receipt(self._success, f"rcpt-{max(self.effects, 1)}"))
        with self._lock:
            self.requests += 1
            key = self._key(request)
            known = key is not None and key in self._receipts
            if not known:
                self.effects += 1
                receipt = f"rcpt-{self.effects}"
                self._receipts[key if key is not None else f" {self.effects}"] = receipt
            else:
                receipt = self._receipts[str(key)]
            is_first = self.requests == 1
        if is_first and self._first is not None:
            return self._first
        answer = self._duplicate if known and self._duplicate is not None else self._success
        return read_answer(_with_receipt(answer, receipt))

    def _key(self, request: ProviderRequest) -> str | None:
        if "header" in self._key_at:
            return request.headers.get(str(self._key_at["header"]).lower())
        if "body" in self._key_at:
            found = resolve_pointer(request.body, str(self._key_at["body"]))
            return None if found is None else str(found)
        return request.headers.get("idempotency-key")


def resolve_pointer(value: Json, pointer: str) -> Json:
    """What a JSON pointer (RFC 6901) leads to; None where it leads nowhere. Without a leading `/` one is assumed."""
    for token in pointer.removeprefix("/").split("/") if pointer.strip("/") else ():
        step = token.replace("~1", "/").replace("~0", "~")
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and step.isdigit() and int(step) < len(value):
            value = value[int(step)]
        else:
            return None
    return value


def _with_receipt(value: Json, receipt: str) -> Json:
    if isinstance(value, str):
        return value.replace(RECEIPT, receipt)
    if isinstance(value, list):
        return [_with_receipt(item, receipt) for item in value]
    if isinstance(value, Mapping):
        return {name: _with_receipt(item, receipt) for name, item in value.items()}
    return value
