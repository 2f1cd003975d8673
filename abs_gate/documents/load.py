"""Finds and loads session documents. All errors of all files come in one ConfigurationError."""

from __future__ import annotations

import posixpath
from collections.abc import Mapping, Sequence
from types import MappingProxyType

from msgspec import Struct, field

from abs_gate.documents.model import Category, Session
from abs_gate.documents.options import EvaluatorShape, LoadOptions
from abs_gate.documents.places import Problems
from abs_gate.documents.sessions import FileReader
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Location
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.located import LocatedDocument, parse_documents
from abs_gate.sources.workspace import Workspace

__all__ = ["EvaluatorShape", "LoadOptions", "LoadedSessions", "find_session_files", "load_sessions"]

SESSION_SUFFIXES = (".abs.yaml", ".abs.yml", ".abs.json")
"""What a directory is searched for. A path that names a file is loaded whatever its name."""


class LoadedSessions(Struct, frozen=True, kw_only=True):
    """Every session found, in the order of the paths given."""

    sessions: tuple[Session, ...]
    warnings: tuple[Finding, ...] = ()
    documents: Mapping[str, tuple[LocatedDocument, ...]] = field(default_factory=lambda: MappingProxyType({}))
    """The documents as written, by file: what was quoted and what was not."""


def load_sessions(workspace: Workspace, paths: Sequence[str], options: LoadOptions) -> LoadedSessions:
    """Every session of the files and directories named.

    Raises:
        ConfigurationError: with every error of every file, or because there is no session at all.
    """
    problems = Problems()
    _check_actions(options)
    sessions: list[Session] = []
    documents: dict[str, tuple[LocatedDocument, ...]] = {}
    for file in find_session_files(workspace, paths, problems):
        try:
            documents[file] = parse_documents(workspace.read_bytes(file), file)
        except ConfigurationError as error:
            _take(error, file, problems)
            continue
        if not documents[file]:
            problems.error(
                "empty-file", Location(file=file), "The file holds no document.", "Remove it, or write a session."
            )
        reader = FileReader(options, problems)
        read = [reader.read(document) for document in documents[file]]
        sessions.extend(session for session in read if session is not None)
    problems.raise_errors()
    if not sessions:
        raise ConfigurationError(
            f"No sessions found in {', '.join(excerpt(path) for path in paths) or 'no paths'}.",
            hint=f"Directories are searched for {', '.join('*' + suffix for suffix in SESSION_SUFFIXES)}.",
        )
    return LoadedSessions(sessions=tuple(sessions), warnings=problems.warnings, documents=MappingProxyType(documents))


def find_session_files(workspace: Workspace, paths: Sequence[str], problems: Problems) -> tuple[str, ...]:
    """The files that paths stand for, each once: a file is itself, a directory every session file below it, sorted."""
    found: dict[str, None] = {}
    for path in paths:
        try:
            files = _files_at(workspace, path)
        except ConfigurationError as error:
            _take(error, path, problems)
            continue
        if files is None:
            problems.error("no-such-file", Location(file=path), "There is no such file or directory.")
        elif not files:
            names = ", ".join("*" + suffix for suffix in SESSION_SUFFIXES)
            message = "The directory holds no session files."
            problems.error("no-sessions", Location(file=path), message, f"They are called {names}.")
        else:
            found.update(dict.fromkeys(files))
    return tuple(found)


def _files_at(workspace: Workspace, path: str) -> list[str] | None:
    place = posixpath.normpath(path)
    if workspace.is_file(place):
        return [place]
    if not workspace.is_directory(place):
        return None
    return sorted(name for name in workspace.list_files(place) if name.lower().endswith(SESSION_SUFFIXES))


def _check_actions(options: LoadOptions) -> None:
    for action, category in options.actions.items():
        if category not in tuple(Category):
            raise ConfigurationError(
                f"The custom action {excerpt(action)} is mapped to {excerpt(category)}, which is no category.",
                hint=f"Categories are {', '.join(Category)}.",
            )


def _take(error: ConfigurationError, file: str, problems: Problems) -> None:
    for finding in error.findings:
        problems.add(finding)
    if not error.findings:
        problems.error("unreadable-file", Location(file=file), error.message, error.hint)
