"""Rows of a data set file, one at a time: JSON (a list or one object), JSON Lines, CSV.

Reads pieces of bytes and never holds more than one row, so that memory does not grow with the file.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import math
import re
from collections.abc import Callable, Iterable, Iterator
from typing import NoReturn

from msgspec import Struct

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.sources.excerpt import excerpt, type_name
from abs_gate.sources.nodes import MAX_DEPTH
from abs_gate.sources.scalars import MAX_NUMBER_LENGTH

MAX_ROW_CHARACTERS = 5 * 1024 * 1024
"""Longest row, in characters."""
_BLANK = " \t\r\n"
_LFS_POINTER = b"version https://git-lfs.github.com/spec/"
_SURROGATE = re.compile("[\ud800-\udfff]")


class Row(Struct, frozen=True):
    """One row and the line it begins in, from 1."""

    values: dict[str, Json]
    line: int


def read_rows(pieces: Iterable[bytes], file: str) -> Iterator[Row]:
    """The rows of a file, by its ending.

    Raises:
        ConfigurationError: an ending that is not known, or a row that cannot be read, with its line.
    """
    for suffix, reader in _READERS.items():
        if file.lower().endswith(suffix):
            yield from reader(_decode(pieces, file), file)
            return
    raise _error(file, None, "A data set is .json, .jsonl or .csv.", rule="dataset-kind")


def _error(
    file: str, line: int | None, message: str, hint: str = "", *, rule: str = "invalid-row"
) -> ConfigurationError:
    location = Location(file=file, line=line)
    finding = Finding(rule=rule, severity=Severity.ERROR, message=message, hint=hint, location=location)
    return ConfigurationError(findings=(finding,))


def _decode(pieces: Iterable[bytes], file: str) -> Iterator[str]:
    """The text of a UTF-8 file in pieces, a byte-order mark removed."""
    decoder = codecs.getincrementaldecoder("utf-8-sig")()
    lines = 1
    for piece in pieces:
        if lines == 1 and piece.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise _error(file, 1, "The file is UTF-16 or UTF-32 text.", "Save it as UTF-8.")
        if lines == 1 and piece.startswith(_LFS_POINTER):
            hint = "Set `lfs: true` on actions/checkout, or run `git lfs pull`."
            raise _error(file, 1, "The file is a Git LFS pointer, not the data set itself.", hint)
        text = _decode_piece(decoder, piece, file, lines)
        lines += text.count("\n")
        if text:
            yield text
    tail = _decode_piece(decoder, b"", file, lines, final=True)
    if tail:
        yield tail


def _decode_piece(
    decoder: codecs.IncrementalDecoder, piece: bytes, file: str, line: int, *, final: bool = False
) -> str:
    try:
        return decoder.decode(piece, final)
    except UnicodeDecodeError as error:
        line += error.object[: error.start].count(b"\n")
        raise _error(file, line, "The line holds bytes that are not UTF-8 text.", "Save the file as UTF-8.") from None


def _lines(pieces: Iterable[str], file: str) -> Iterator[str]:
    """Lines with their line breaks, each bounded."""
    number, parts, length = 1, list[str](), 0
    for piece in pieces:
        for line in io.StringIO(piece, newline="\n"):
            parts.append(line)
            length += len(line)
            if length > MAX_ROW_CHARACTERS:
                raise _error(file, number, f"The line is longer than {MAX_ROW_CHARACTERS // 2**20} Mi characters.")
            if line.endswith("\n"):
                yield "".join(parts)
                number, parts, length = number + 1, [], 0
    if parts:
        yield "".join(parts)


def _read_jsonl(pieces: Iterable[str], file: str) -> Iterator[Row]:
    for number, line in enumerate(_lines(pieces, file), start=1):
        text = line.strip(_BLANK)
        if text:
            value, end = _parse(text, 0, file, number)
            if end < len(text):
                raise _error(file, number, "Something stands after the row's end.", "One JSON object a line.")
            yield _row(value, file, number)


def _read_json(pieces: Iterable[str], file: str) -> Iterator[Row]:
    window = _Window(pieces)
    first = window.peek()
    if first != "[":
        line = window.line
        if first:
            yield _row(_next_value(window, file), file, line)
        if window.peek():
            raise _error(file, window.line, "Something stands after the row's end.", "A list of rows begins with `[`.")
        return
    window.skip()
    if window.peek() == "]":
        window.skip()
    else:
        yield from _read_entries(window, file)
    if window.peek():
        raise _error(file, window.line, "Something stands after the end of the list.")


def _read_entries(window: _Window, file: str) -> Iterator[Row]:
    while True:
        window.peek()
        line = window.line
        yield _row(_next_value(window, file), file, line)
        sign = window.peek()
        if sign not in (",", "]") or not sign:
            raise _error(file, window.line, "Expected a comma or `]` after the row.", "Is the file complete?")
        window.skip()
        if sign == "]":
            return


class _Window:
    """The part of a text that is being read; what was read is dropped."""

    def __init__(self, pieces: Iterable[str]) -> None:
        self._pieces = iter(pieces)
        self.text = ""
        self.at = 0
        self.line = 1

    def peek(self) -> str:
        """The next character that is not blank; empty at the end."""
        while True:
            while self.at < len(self.text) and self.text[self.at] in _BLANK:
                self.line += self.text[self.at] == "\n"
                self.at += 1
            if self.at < len(self.text):
                return self.text[self.at]
            if not self.extend():
                return ""

    def skip(self, characters: int = 1) -> None:
        """Drop characters."""
        self.line += self.text.count("\n", self.at, self.at + characters)
        self.at += characters

    def extend(self) -> bool:
        """Take in at least as much text again as is waiting; False at the end of the file."""
        parts = [self.text[self.at :]]
        wanted = max(len(parts[0]), 1)
        while wanted > 0:
            piece = next(self._pieces, None)
            if piece is None:
                break
            parts.append(piece)
            wanted -= len(piece)
        self.text, self.at = "".join(parts), 0
        return len(parts) > 1


def _next_value(window: _Window, file: str) -> Json:
    """The JSON value that begins here; more of the file is taken in until it is whole."""
    window.peek()
    while True:
        try:
            value, end = _parse(window.text, window.at, file, window.line)
        except ConfigurationError:
            if len(window.text) - window.at > MAX_ROW_CHARACTERS or not window.extend():
                raise
            continue
        if end == len(window.text) and window.extend():
            continue  # a number may go on in the next piece
        window.skip(end - window.at)
        return value


def _parse(text: str, start: int, file: str, line: int) -> tuple[Json, int]:
    """The JSON value at an offset and where it ends."""
    try:
        value, end = _DECODER.raw_decode(text, start)
    except json.JSONDecodeError as error:
        at = line + text.count("\n", start, error.pos)
        raise _error(file, at, f"This is not JSON: {error.msg[:1].lower()}{error.msg[1:]}.") from None
    except ValueError as error:
        raise _error(file, line, str(error)) from None
    except RecursionError:
        raise _error(file, line, f"The row is nested deeper than {MAX_DEPTH} levels.") from None
    return value, end


def _row(value: Json, file: str, line: int) -> Row:
    if not isinstance(value, dict):
        raise _error(file, line, f"A row must be an object of columns, not {type_name(value)}.")
    _check_values(value, file, line)
    return Row(value, line)


def _check_values(row: dict[str, Json], file: str, line: int) -> None:
    """Depth, and texts that could never be sent."""
    pending: list[tuple[Json, int]] = [(row, 1)]
    while pending:
        value, depth = pending.pop()
        if isinstance(value, str):
            if not value.isascii() and _SURROGATE.search(value):
                raise _error(file, line, "A text in this row holds half of a character (a lone surrogate).")
        elif isinstance(value, dict | list):
            if depth > MAX_DEPTH:
                raise _error(file, line, f"The row is nested deeper than {MAX_DEPTH} levels.")
            children = value.values() if isinstance(value, dict) else value
            pending.extend((child, depth + 1) for child in children)
            if isinstance(value, dict):
                pending.extend((key, depth) for key in value)


def _distinct(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    result = dict(pairs)
    if len(result) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"The column {excerpt(twice)} stands twice in this row.")
    return result


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError("The row holds a number that is too large.")
    return number


def _whole(text: str) -> int:
    if len(text) > MAX_NUMBER_LENGTH:
        raise ValueError("The row holds a number that is too long.")
    return int(text)


def _refuse(text: str) -> NoReturn:
    raise ValueError(f"{text} is not a JSON value.")


_DECODER = json.JSONDecoder(object_pairs_hook=_distinct, parse_float=_finite, parse_int=_whole, parse_constant=_refuse)


def _read_csv(pieces: Iterable[str], file: str) -> Iterator[Row]:
    reader = csv.reader(_lines(pieces, file), strict=True)
    header: list[str] | None = None
    line = 1
    try:
        for fields in reader:
            if any(fields) or (header and len(fields) == len(header) > 1):
                if header is None:
                    header = _header(fields, file, line)
                elif len(fields) != len(header):
                    raise _error(
                        file,
                        line,
                        f"The row has {len(fields)} fields, the header {len(header)}.",
                        "A field that holds a comma needs double quotes.",
                    )
                else:
                    yield Row(dict(zip(header, fields, strict=True)), line)
            line = reader.line_num + 1
    except csv.Error as error:
        raise _error(file, line, f"This is not CSV: {error}.", 'A double quote inside a field is written "".') from None


def _header(fields: list[str], file: str, line: int) -> list[str]:
    names = [name.strip() for name in fields]
    if len(names) == 1 and ";" in names[0]:
        raise _error(file, line, "The columns are separated by semicolons.", "Save the file with commas.")
    for name in names:
        if not name:
            raise _error(file, line, "A column has no name.")
        if names.count(name) > 1:
            raise _error(file, line, f"The column {excerpt(name)} stands twice in the header.")
    return names


_READERS: dict[str, Callable[[Iterable[str], str], Iterator[Row]]] = {
    ".jsonl": _read_jsonl,
    ".json": _read_json,
    ".csv": _read_csv,
}
DATASET_SUFFIXES = tuple(_READERS)
