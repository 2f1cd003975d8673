"""A tool that is a Python function: `function(arguments, **with)` gives the result, or raises or returns an error."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from abs_gate.drivers.envelopes import no_answer, read_value
from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.findings import Json
from abs_gate.transport.callables import call_within, load_callable
from abs_gate.verification.model import NO_CONTEXT, AnswerKind, ToolAnswer
from abs_gate.wire.unreadable import one_line

_PREFIX = "abs_gate_suite_"
_importing = threading.Lock()


class PythonTool:
    """Calls a function of this process. An exception with a `code` is an error of the tool in its own words."""

    can_lose_answers = False
    is_concurrent = True

    def __init__(
        self, function: Callable[..., Any], given: Mapping[str, Json], *, shown: str, timeout_s: float
    ) -> None:
        self._function = function
        self._given = given
        self._shown = shown
        self._timeout_s = timeout_s

    def call(
        self, arguments: Mapping[str, Json], *, key: str | None = None, context: Mapping[str, Json] = NO_CONTEXT
    ) -> ToolAnswer:
        more = {**self._given, **context, **({} if key is None else {"key": key})}
        try:
            value = call_within(
                lambda: self._function(json.loads(json.dumps(dict(arguments))), **more),
                seconds=self._timeout_s,
                shown=self._shown,
            )
            return read_value(json.loads(json.dumps(value)))
        except AgentUnavailable as problem:
            cause = problem.__cause__
            if cause is None:
                return no_answer(problem.message)
            return _raised(cause)
        except (TypeError, ValueError, RecursionError):
            message = f"{self._shown} returned something that is not JSON"
            return ToolAnswer(kind=AnswerKind.PROTOCOL_ERROR, message=message, raw=message)

    def call_and_lose(self, arguments: Mapping[str, Json], *, key: str | None = None) -> ToolAnswer:
        self.call(arguments, key=key)
        return no_answer("the answer was thrown away")

    def close(self) -> None:
        """Nothing is kept."""


def find_function(reference: str, directory: Path) -> Callable[..., Any]:
    """The function that `module:function` names: of a file beside the suite, else of what is installed.

    A file is loaded under a name of its own, so that two suites may have modules of the same name, and without
    leaving compiled files beside it.

    Raises:
        ConfigurationError: there is none.
    """
    module_name, _, attribute = reference.partition(":")
    file = directory / (module_name.replace(".", "/") + ".py")
    if not file.is_file():
        return load_callable(reference, root=str(directory))
    name = f"{_PREFIX}{hashlib.sha256(str(file).encode()).hexdigest()[:12]}_{file.stem}"
    with _importing, _looking_in(directory):
        module = sys.modules.get(name)
        if module is None:
            spec = importlib.util.spec_from_file_location(name, file)
            assert spec is not None and spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module
            try:
                spec.loader.exec_module(module)
            except Exception as error:
                del sys.modules[name]
                raise ConfigurationError(
                    f"Importing {file.name} failed: {type(error).__name__}: {one_line(str(error))}."
                ) from error
    found = getattr(module, attribute, None)
    if not callable(found):
        raise ConfigurationError(f"{file.name} has no function {one_line(attribute, 80)}.")
    function: Callable[..., Any] = found
    return function


@contextmanager
def _looking_in(directory: Path) -> Iterator[None]:
    """Modules beside a suite are found while it is imported, and forgotten afterwards."""
    before, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    known = set(sys.modules)
    sys.path.insert(0, str(directory))
    try:
        yield
    finally:
        sys.dont_write_bytecode = before
        sys.path.remove(str(directory))
        for name in set(sys.modules) - known:
            place = getattr(sys.modules[name], "__file__", None)
            if place and not name.startswith(_PREFIX) and Path(place).is_relative_to(directory):
                del sys.modules[name]


def _raised(error: BaseException) -> ToolAnswer:
    code = getattr(error, "code", None)
    retryable = getattr(error, "retryable", None)
    text = str(error)
    if isinstance(code, str):
        return ToolAnswer(
            kind=AnswerKind.TOOL_ERROR,
            content={"code": code, "message": text},
            code=code,
            message=text,
            retryable=retryable if isinstance(retryable, bool) else None,
            raw=f"{code}: {text}",
        )
    message = f"{type(error).__name__}: {text}"
    return ToolAnswer(kind=AnswerKind.PROTOCOL_ERROR, message=message, raw=message)
