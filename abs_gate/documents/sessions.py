"""Reads the documents of one file into sessions."""

from __future__ import annotations

import hashlib
import json
from collections import Counter

from abs_gate.documents.behaviors import BehaviorReader
from abs_gate.documents.cross_references import check_references
from abs_gate.documents.evaluations import EvaluationReader
from abs_gate.documents.fragments import Fragments
from abs_gate.documents.model import DatasetRef, Session
from abs_gate.documents.options import LoadOptions
from abs_gate.documents.placeholders import is_variable_name
from abs_gate.documents.places import Place, Problems, Reader
from abs_gate.documents.vocabulary import DATASET_KEYS, LATEST_VERSION, LIBRARY_KEYS, SESSION_KEYS, VERSIONS
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.located import LocatedDocument

_WHAT = "the document"


class FileReader:
    """Reads one file's documents in order, so that fragments serve the documents after them."""

    def __init__(self, options: LoadOptions, problems: Problems) -> None:
        self._options = options
        self._problems = problems
        self._reader = Reader(problems)
        self._fragments = Fragments(self._reader)
        self._names: Counter[str] = Counter()

    def read(self, document: LocatedDocument) -> Session | None:
        """The session of a document; None when it only serves fragments, or cannot be read at all."""
        place = Place.of(document)
        if not self._reader.mapping(place, "A document"):
            return None
        version = self._version(place)
        self._fragments.declare(place)
        behaviors = BehaviorReader(self._reader, self._options, version)
        for entry in self._fragments.behaviors_of(place):
            behaviors.read(entry, 0)
        if "fragments" in place.value and not {"session", "behaviors"} & place.value.keys():
            self._reader.unknown_keys(place, LIBRARY_KEYS, "a document of fragments")
            return None
        return self._session(place, version, behaviors)

    def _session(self, place: Place, version: str, behaviors: BehaviorReader) -> Session:
        reader = self._reader
        reader.unknown_keys(place, SESSION_KEYS, _WHAT)
        name = reader.text(place, "session", _WHAT, required=True) or ""
        if "abs_version" not in place.value and name:
            self._problems.warn(
                "missing-version",
                place.location,
                "`abs_version` is missing; 0.2 is taken.",
                'Write abs_version: "0.2".',
                subject=name,
            )
        entries = reader.list_of(place, "behaviors", _WHAT, required=True)
        at = place.get("behaviors")
        if at is not None and at.value == []:
            self._problems.error("empty-value", at.location, "`behaviors` is empty: there is nothing to run.")
        expanded = self._fragments.expand(entries)
        read = tuple(behaviors.read(entry, index) for index, entry in enumerate(expanded))
        evaluations = EvaluationReader(reader, self._options, version).read_all(place, "session", _WHAT)
        check_references(read, evaluations, self._problems)
        self._names[name] += 1
        return Session(
            name=name,
            file=place.document.file,
            behaviors=read,
            evaluations=evaluations,
            description=reader.text(place, "description", _WHAT) or "",
            abs_version=version,
            dataset=self._dataset(place),
            location=place.location,
            sha256=_digest(place, expanded),
            occurrence=self._names[name],
        )

    def _version(self, place: Place) -> str:
        at = place.get("abs_version")
        if at is None:
            return LATEST_VERSION
        if at.value in VERSIONS and isinstance(at.value, str):
            return str(at.value)
        supported = " and ".join(f'"{version}"' for version in VERSIONS)
        hint = ""
        if isinstance(at.value, float) and str(at.value) in VERSIONS:
            hint = f'Put it in quotes: abs_version: "{at.value}".'
        self._problems.error(
            "unknown-version", at.location, f"`abs_version` {excerpt(at.value)} is not one of {supported}.", hint
        )
        return LATEST_VERSION

    def _dataset(self, place: Place) -> DatasetRef | None:
        at = place.get("dataset")
        if at is None or not self._reader.mapping(at, "`dataset`"):
            return None
        self._reader.unknown_keys(at, DATASET_KEYS, "`dataset`")
        identity = self._reader.text(at, "id", "`dataset`", required=True)
        path = self._reader.text(at, "path", "`dataset`", required=True)
        id_at, path_at = at.get("id"), at.get("path")
        if identity is not None and id_at is not None and not is_variable_name(identity):
            self._problems.error(
                "invalid-name",
                id_at.location,
                f"{excerpt(identity)} cannot be the id of a data set.",
                "Use letters, digits, `_`, `.` and `-`.",
            )
        if identity is None or path is None or path_at is None:
            return None
        return DatasetRef(id=identity, path=path, location=path_at.location)


def _digest(place: Place, expanded: list[Place]) -> str:
    """Hash of the document's text and of the behaviors that come from elsewhere, line endings aside."""
    digest = hashlib.sha256("\n".join(place.document.text.splitlines()).encode())
    for entry in expanded:
        if entry.document is not place.document:
            digest.update(json.dumps(entry.value, sort_keys=True).encode())
    return digest.hexdigest()
