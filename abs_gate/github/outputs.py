"""Step outputs and the job summary: the two files this appends to. `GITHUB_ENV` and `GITHUB_PATH` are never written."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Mapping
from pathlib import Path

from abs_gate.errors import DeliveryFailed

MAX_SUMMARY_BYTES = 1024 * 1024
"""A step's summary beyond this is dropped whole by GitHub."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*\Z")
_CUT_NOTE = "\n\n_The summary was cut here: GitHub shows at most 1 MiB._\n"


def write_outputs(
    environ: Mapping[str, str],
    values: Mapping[str, str],
    *,
    new_delimiter: Callable[[], str] = lambda: f"abs-gate-{secrets.token_hex(16)}",
) -> bool:
    """Append step outputs to the file that `GITHUB_OUTPUT` names.

    Args:
        environ: The environment.
        values: Output name to value; a value may hold anything, line ends included.
        new_delimiter: Where delimiters come from; one that occurs in the value is not used.

    Returns:
        False where there is no such file: outside a workflow.

    Raises:
        ValueError: a name is not an output's name.
        DeliveryFailed: the file cannot be written.
    """
    text = "".join(_entry(name, value, new_delimiter) for name, value in values.items())
    return _append(environ.get("GITHUB_OUTPUT"), text.encode("utf-8", "replace"))


def append_summary(environ: Mapping[str, str], markdown: str) -> bool:
    """Append to the job summary, cut at a line end so that the file stays within GitHub's limit.

    Returns:
        False where there is no summary file, or no room left in it.

    Raises:
        DeliveryFailed: the file cannot be written.
    """
    name = environ.get("GITHUB_STEP_SUMMARY")
    if not name:
        return False
    used = Path(name).stat().st_size if Path(name).is_file() else 0
    data = _fit(markdown.rstrip("\n").encode("utf-8", "replace") + b"\n", MAX_SUMMARY_BYTES - used)
    return bool(data) and _append(name, data)


def _entry(name: str, value: str, new_delimiter: Callable[[], str]) -> str:
    if not _NAME.match(name):
        raise ValueError(f"`{name[:80]}` is not the name of an output.")
    delimiter = new_delimiter()
    while delimiter in value:
        delimiter = new_delimiter()
    return f"{name}<<{delimiter}\n{value}\n{delimiter}\n"


def _fit(data: bytes, room: int) -> bytes:
    if len(data) <= room:
        return data
    note = _CUT_NOTE.encode()
    cut = data[: max(room - len(note) - len(b"\n```\n"), 0)]
    cut = cut[: cut.rfind(b"\n") + 1]
    if not cut:
        return b""
    fences = [line for line in cut.split(b"\n") if line.startswith(b"```")]
    return cut + (b"\n```\n" if len(fences) % 2 else b"") + note


def _append(name: str | None, data: bytes) -> bool:
    if not name:
        return False
    try:
        with Path(name).open("ab") as file:
            file.write(data)
    except OSError as error:
        raise DeliveryFailed(
            f"{Path(name).name} could not be written: {error.strerror}.",
            hint="The runner names this file for outputs or the summary; the verdict stands.",
        ) from error
    return True
