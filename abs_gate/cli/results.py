"""Reading result documents that the user names."""

from __future__ import annotations

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


def read_result(path: str, *, import_outcomes: bool = False) -> ResultDocument:
    """A result.json, or with `import_outcomes` also the trial outcomes of another tool.

    Raises:
        ConfigurationError: it is neither, or was written only in part.
    """
    from abs_gate.gate.document import load_result
    from abs_gate.gate.imported import import_result, is_outcomes

    text = read_text(path, "result file")
    if import_outcomes and is_outcomes(text):
        return import_result(text, path)
    return load_result(text, path)
