"""Instances checked with the `jsonschema` library: the second opinion every witness needs before it is shown.

Formats are not asserted and nothing is ever fetched. Patterns are not given to the library, which would search them
with a backtracking engine: the pattern keywords are replaced by the package's own matching.
"""

from __future__ import annotations

import json
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from functools import cached_property, lru_cache
from importlib import import_module
from typing import Any
from urllib.parse import quote

from abs_gate.contracts.schemas.budget import Meter
from abs_gate.contracts.schemas.dialects import Dialect
from abs_gate.contracts.schemas.references import Pointer
from abs_gate.contracts.schemas.regular.matching import found_in
from abs_gate.contracts.schemas.regular.syntax import is_tame
from abs_gate.findings import Json

_CLASSES = {
    Dialect.DRAFT4: ("Draft4Validator", "DRAFT4"),
    Dialect.DRAFT6: ("Draft6Validator", "DRAFT6"),
    Dialect.DRAFT7: ("Draft7Validator", "DRAFT7"),
    Dialect.DRAFT2019: ("Draft201909Validator", "DRAFT201909"),
    Dialect.DRAFT2020: ("Draft202012Validator", "DRAFT202012"),
}


_KEYWORDS_BETWEEN = 8
"""Keywords inside one another between two looks at the interpreter's stack; each takes seven frames at most."""
_RESERVED_FRAMES = 100
_LONGEST_TEXT = 1_000
_MOST_FAILURES = 5
"""Times the library may fail to come to an answer before it is not asked about a document any more."""


class _Undecided(Exception):
    """A pattern could not be matched in bounded time, or the library would run out of stack."""


class Validation:
    """The library's validator for one document."""

    def __init__(self, schema: Json, dialect: Dialect | None, meter: Meter) -> None:
        self._schema = schema
        self._dialect = dialect
        self._meter = meter
        self._validators: dict[Pointer, Any] = {}
        self._answers: dict[tuple[Pointer, str], bool] = {}
        self._depth = 0
        self._failures = 0

    def accepts(self, pointer: Pointer, instance: Json) -> bool | None:
        """Return whether a subschema accepts an instance; None when the library cannot be asked or cannot tell."""
        if self._dialect is None or self._failures >= _MOST_FAILURES or not self._askable:
            return None
        self._depth = 0
        asking = _ASKING.set(self)
        try:
            question = pointer, json.dumps(instance)
            if question not in self._answers:
                if pointer not in self._validators:
                    self._validators[pointer] = self._validator(pointer)
                self._answers[question] = bool(self._validators[pointer].is_valid(instance))
            return self._answers[question]
        except Exception:  # whatever a hostile schema makes the library raise is no answer
            self._failures += 1
            return None
        finally:
            _ASKING.reset(asking)

    def enter_keyword(self) -> None:
        """Count one keyword, whose rule runs until `leave_keyword`. Raises BudgetExhausted and _Undecided."""
        self._meter.check()
        self._depth += 1
        if self._depth % _KEYWORDS_BETWEEN == 0 and _frames() > sys.getrecursionlimit() - _RESERVED_FRAMES:
            raise _Undecided

    def leave_keyword(self) -> None:
        """Note that the rule of a keyword has run to its end."""
        self._depth -= 1

    @cached_property
    def _askable(self) -> bool:
        """Whether no part of the document would bring back the library's own patterns or another dialect."""
        try:
            text = json.dumps(self._schema)
        except (RecursionError, TypeError, ValueError):
            return False
        own = 1 if isinstance(self._schema, dict) and "$schema" in self._schema else 0
        if text.count('"$schema": "') > own:
            return False
        return "unevaluatedProperties" not in text or all(map(is_tame, _property_patterns(self._schema)))

    def _validator(self, pointer: Pointer) -> Any:
        import referencing  # start-up speed
        import referencing.jsonschema

        assert self._dialect is not None
        specification = getattr(referencing.jsonschema, _CLASSES[self._dialect][1])
        root = self._schema
        if isinstance(root, dict):
            root = {keyword: value for keyword, value in root.items() if keyword != "$schema"}
        resource = specification.create_resource(root)
        uri = resource.id() or "urn:abs-gate:schema"
        registry = referencing.Registry().with_resource(uri, resource)
        fragment = "".join("/" + quote(token.replace("~", "~0").replace("/", "~1"), safe="~") for token in pointer)
        return _class_of(self._dialect)({"$ref": f"{uri}#{fragment}"}, registry=registry)


_ASKING: ContextVar[Validation] = ContextVar("_ASKING")
"""Whose question the library is answering."""


@lru_cache(maxsize=len(_CLASSES))
def _class_of(dialect: Dialect) -> Any:
    validators = import_module("jsonschema.validators")
    library = getattr(validators, _CLASSES[dialect][0])
    keywords = {**library.VALIDATORS, **_REPLACED}
    return validators.extend(library, {name: _counted(rule) for name, rule in keywords.items()})


def _counted(rule: Callable[..., Any]) -> Callable[..., Any]:
    def checked(*arguments: Any) -> Iterator[Any]:
        validation = _ASKING.get()
        validation.enter_keyword()
        yield from rule(*arguments) or ()
        validation.leave_keyword()

    return checked


def _frames() -> int:
    """Return how deep the interpreter's stack is."""
    frame, count = sys._getframe(), 0
    while frame.f_back is not None:
        frame, count = frame.f_back, count + 1
    return count


def _property_patterns(schema: Json) -> Iterator[str]:
    pending = [schema]
    while pending:
        value = pending.pop()
        if isinstance(value, dict):
            if isinstance(value.get("patternProperties"), dict):
                yield from value["patternProperties"]
            pending.extend(value.values())
        elif isinstance(value, list):
            pending.extend(value)


def _found(pattern: str, text: str) -> bool:
    found = found_in(pattern, text)
    if found is None or found is not _found_by_library(pattern, text, found):
        raise _Undecided
    return found


def _found_by_library(pattern: str, text: str, found: bool) -> bool:
    """Return what the library itself would say, where asking it is safe: a witness must be one for its users too."""
    if len(text) > _LONGEST_TEXT or not is_tame(pattern):
        return found
    compiled = _compiled(pattern)
    return found if compiled is None else compiled.search(text) is not None


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return re.compile(pattern)
        except re.error:
            return None


def _error(message: str) -> Any:
    from jsonschema.exceptions import ValidationError  # start-up speed

    return ValidationError(message)


def _pattern(validator: Any, pattern: str, instance: Json, schema: dict[str, Json]) -> Iterator[Any]:
    if isinstance(instance, str) and not _found(pattern, instance):
        yield _error("pattern")


def _pattern_properties(validator: Any, patterns: dict[str, Json], instance: Json, schema: Json) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    for pattern, subschema in patterns.items():
        for name, value in instance.items():
            if _found(pattern, name):
                yield from validator.descend(value, subschema)


def _additional_properties(validator: Any, additional: Json, instance: Json, schema: dict[str, Json]) -> Iterator[Any]:
    if not isinstance(instance, dict):
        return
    named, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    for name, value in instance.items():
        if name not in named and not any(_found(pattern, name) for pattern in patterns):
            yield from validator.descend(value, additional)


_REPLACED = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
