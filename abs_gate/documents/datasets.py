"""Cases of a session: one for each row of its data set, or one alone."""

from __future__ import annotations

import hashlib
import json
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from abs_gate.documents.load import SESSION_SUFFIXES
from abs_gate.documents.model import Case, Session
from abs_gate.documents.rows import DATASET_SUFFIXES, Row, read_rows
from abs_gate.documents.variables import Scope, UnknownVariable, as_text
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.workspace import Workspace

_SEEN_BITS = 1 << 23
"""Size of the filter that tells repeated rows: 1 MiB, whatever the number of rows."""


def iterate_cases(
    session: Session,
    workspace: Workspace,
    *,
    dataset: str | None = None,
    filters: Sequence[tuple[str, str]] = (),
) -> Iterator[Case]:
    """The cases of a session, streamed in the order of the rows; a session without a data set is one case.

    Args:
        session: What to run.
        workspace: Where data sets are read from.
        dataset: A file that takes the place of the session's own, or a directory that holds `name.json`, `name.jsonl`
            or `name.csv` for `name.abs.yaml`. The session's `dataset.id` is kept.
        filters: Column and value pairs that a row must have, compared as text.

    Raises:
        ConfigurationError: a data set that is absent, outside the workspace, empty, or has a bad row; filters that
            leave no row.
    """
    file = find_dataset(session, workspace, dataset)
    if file is None:
        yield Case(session=session, id=_case_id(session, None))
        return
    _check_columns(filters)
    seen = _SeenRows()
    rows = taken = 0
    for row in read_rows(workspace.read_chunks(file), file):
        values = MappingProxyType(row.values)
        identity = _case_id(session, row)
        if seen.add(identity):
            identity = f"{identity}-{rows}"
        if all(_fits(session, values, column, wanted) for column, wanted in filters):
            taken += 1
            yield Case(session=session, row=rows, values=values, id=identity)
        rows += 1
    if not rows:
        raise _error(
            "empty-dataset", Location(file=file), "The data set has no rows.", "An empty run would prove nothing."
        )
    if not taken:
        shown = " ".join(f"{column}:{value}"[:60] for column, value in filters)
        raise _error(
            "filter-matches-nothing",
            Location(file=file),
            f"None of {rows:,} rows fits the filter {excerpt(shown)}.",
            "Columns and values are compared as text, letter case included.",
        )


def find_dataset(session: Session, workspace: Workspace, dataset: str | None = None) -> str | None:
    """The data set file of a session, or None when it has none.

    Raises:
        ConfigurationError: it is absent or outside the workspace, or a directory holds two for this session.
    """
    if dataset is not None:
        place = posixpath.normpath(dataset)
        if not workspace.is_directory(place):
            return _existing(workspace, place, Location(file=dataset))
        paired = _paired(session, workspace, place)
        if paired is not None:
            return paired
    if session.dataset is None:
        return None
    own = session.dataset
    return _existing(
        workspace, posixpath.normpath(posixpath.join(posixpath.dirname(session.file), own.path)), own.location
    )


def _existing(workspace: Workspace, file: str, location: Location) -> str:
    if file.startswith(("../", "/")) or file == "..":
        raise _error("outside-workspace", location, f"The data set {excerpt(file)} lies outside the workspace.")
    if not workspace.is_file(file):
        raise _error(
            "no-such-file",
            location,
            f"There is no data set {excerpt(file)}.",
            "`dataset.path` counts from the session's own directory.",
        )
    return file


def _paired(session: Session, workspace: Workspace, directory: str) -> str | None:
    name = posixpath.basename(session.file)
    lowered = name.lower()
    suffix = next((end for end in (*SESSION_SUFFIXES, ".yaml", ".yml", ".json") if lowered.endswith(end)), "")
    stem = name[: len(name) - len(suffix)]
    candidates = [posixpath.join(directory, stem + end) for end in DATASET_SUFFIXES]
    found = [file for file in candidates if file != session.file and workspace.is_file(file)]
    if len(found) > 1:
        raise _error(
            "ambiguous-dataset",
            Location(file=session.file),
            f"Two data sets belong to this session: {' and '.join(found[:2])}.",
            "Keep one of them.",
        )
    return found[0] if found else None


def _check_columns(filters: Sequence[tuple[str, str]]) -> None:
    for column, _ in filters:
        if not column.strip():
            raise ConfigurationError("A filter has no column.", hint="Write --filter column:value.")


def _fits(session: Session, values: Mapping[str, Json], column: str, wanted: str) -> bool:
    dataset_id = session.dataset.id if session.dataset else None
    try:
        return as_text(Scope(row=values, dataset_id=dataset_id).lookup(column)) == wanted
    except UnknownVariable:
        return False


def _case_id(session: Session, row: Row | None) -> str:
    """Hash over the session's file and name and the row's content: the same wherever the row stands."""
    parts = [session.file, session.name, session.occurrence, row.values if row is not None else None]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()[:16]


class _SeenRows:
    """Remembers rows in fixed memory. May take a new row for a repeated one, never the other way round."""

    def __init__(self) -> None:
        self._bits = bytearray(_SEEN_BITS // 8)

    def add(self, identity: str) -> bool:
        """Note a row; True when it was (or seems to have been) noted before."""
        number = int(identity, 16)
        known = True
        for place in (number % _SEEN_BITS, (number >> 32) % _SEEN_BITS):
            mask = 1 << (place & 7)
            known &= bool(self._bits[place >> 3] & mask)
            self._bits[place >> 3] |= mask
        return known


def _error(rule: str, location: Location, message: str, hint: str = "") -> ConfigurationError:
    finding = Finding(rule=rule, severity=Severity.ERROR, message=message, hint=hint, location=location)
    return ConfigurationError(findings=(finding,))
