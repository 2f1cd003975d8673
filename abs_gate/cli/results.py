"""Reading result documents that the user names."""

from __future__ import annotations

import json
from pathlib import Path

from abs_gate.errors import ConfigurationError
from abs_gate.gate.result import ResultDocument

MAX_RESULT_BYTES = 512 * 1024 * 1024


def read_text(path: str, what: str) -> str:
    """The text of a file the user names.

    Raises:
        ConfigurationError: it cannot be read, is too large or is not UTF-8.
    """
    file = Path(path)
    try:
        if file.stat().st_size > MAX_RESULT_BYTES:
            raise ConfigurationError(f"{path}: a {what} of more than {MAX_RESULT_BYTES // 2**20} MiB is not read.")
        return file.read_text(encoding="utf-8-sig")
    except OSError as problem:
        raise ConfigurationError(f"{path}: cannot be read: {problem.strerror}.", hint=f"Name a {what}.") from None
    except UnicodeDecodeError:
        raise ConfigurationError(f"{path}: is not UTF-8 text.", hint=f"Name a {what}.") from None


def read_result(path: str) -> ResultDocument:
    """A result.json. Raises ConfigurationError: it is none, or was written only in part."""
    from abs_gate.gate.load import load_result

    return load_result(read_text(path, "result file"), name=path)


def read_result_or_outcomes(path: str) -> ResultDocument:
    """A result.json, or the trial outcomes of another tool as a result. Raises ConfigurationError: it is neither."""
    from abs_gate.gate.imported import import_outcomes, looks_like_outcomes

    text = read_text(path, "result file")
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        value = None
    if looks_like_outcomes(value):
        return import_outcomes(value, name=Path(path).name)
    from abs_gate.gate.load import load_result

    return load_result(text, name=path)
