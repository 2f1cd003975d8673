"""`--watch`: after the first run, only what changed is run again, until Ctrl-C."""

from __future__ import annotations

import contextlib
import datetime
import posixpath
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate.app.loading import load_run
from abs_gate.cli import output as out
from abs_gate.cli.clock import SystemClock
from abs_gate.cli.gate import Request, read_settings, run
from abs_gate.cli.places import here
from abs_gate.cli.wiring import environment
from abs_gate.documents.datasets import find_dataset
from abs_gate.documents.rows import DATASET_SUFFIXES
from abs_gate.errors import AbsGateError, Interrupted
from abs_gate.reports.untrusted import one_line
from abs_gate.settings.load import DEFAULT_FILES
from abs_gate.settings.model import ReportSettings, Settings
from abs_gate.vcs.worktree import WorkTree

POLL_S = 0.4
"""Between looks at the files; a change is taken up when two looks show the same."""
MOST_NAMED = 5
_SIGNAL_CODES = (130, 143)

Stamps = Mapping[str, tuple[int, int, int]]
"""File to its inode, size and time of change."""


class Narrowing(Struct, frozen=True, kw_only=True):
    """The part of a configuration that is run again. The verdict over a part is shown and written nowhere."""

    files: tuple[str, ...]
    """Session files."""
    names: frozenset[str]
    """Of the sessions in them."""
    verifies: bool
    """Whether contracts or verification cases changed. Contracts are always compared: sessions rest on them."""

    def __call__(self, settings: Settings) -> Settings:
        selected = tuple(name for name in settings.sessions.select if name in self.names)
        return replace(
            settings,
            sessions=replace(settings.sessions, paths=self.files, select=selected, resume=False),
            verify=settings.verify if self.verifies else {},
            report=ReportSettings(),
        )


class _View(Struct, frozen=True, kw_only=True):
    """What the files were, and what each of them belongs to."""

    stamps: Stamps = field(default_factory=lambda: MappingProxyType({}))
    sessions: Mapping[str, Mapping[str, None]] = field(default_factory=lambda: MappingProxyType({}))
    """A file (of a session or a data set) to the session files that rest on it."""
    names: Mapping[str, frozenset[str]] = field(default_factory=lambda: MappingProxyType({}))
    """Session file to the names of its sessions."""
    contracts: frozenset[str] = frozenset()
    configuration: frozenset[str] = frozenset(DEFAULT_FILES)
    offers_contracts: bool = False
    """Whether the agent is handed the contracts, so that a change of them may change every session."""
    is_known: bool = False
    """False where the configuration could not be read: then everything runs again."""

    def changed_since(self, before: _View) -> frozenset[str]:
        """Files that changed, came or went."""
        return frozenset(name for name, _ in self.stamps.items() ^ before.stamps.items())

    def narrowing(self, before: _View) -> Narrowing | None:
        """What rests on the files that changed; None for everything."""
        changed = self.changed_since(before)
        about_contracts = bool(changed & (self.contracts | before.contracts))
        if not (self.is_known and before.is_known) or changed & self.configuration:
            return None
        if about_contracts and self.offers_contracts:
            return None
        files = dict.fromkeys(file for name in sorted(changed) for file in self.sessions.get(name, ()))
        names = frozenset(name for file in files for name in self.names[file])
        return Narrowing(files=tuple(files), names=names, verifies=about_contracts)


def watch(request: Request) -> int:
    """Run, and run again what changed, until a signal ends it. Gives the exit code of the signal."""
    view, narrowing = _look(request), None
    while True:
        if narrowing is None or narrowing.files or narrowing.verifies:
            code = _run(request if narrowing is None else replace(request, narrow=narrowing, output=None))
            if code in _SIGNAL_CODES:
                return code
            out.error(f"\nWatching {len(view.stamps):,} files. Ctrl-C ends it.")
        _wait(request, view.stamps)
        before, view = view, _look(request)
        narrowing = view.narrowing(before)
        changed = sorted(view.changed_since(before))
        more = f" and {len(changed) - MOST_NAMED} more" if len(changed) > MOST_NAMED else ""
        out.error(f"\n{_clock()} changed: {', '.join(map(one_line, changed[:MOST_NAMED]))}{more}")


def _run(request: Request) -> int:
    """One run; what is wrong with a file that is being written is said and waited out."""
    try:
        return run(request)
    except Interrupted:
        raise
    except AbsGateError as wrong:
        out.error(str(wrong))
        return wrong.exit_code


def _wait(request: Request, known: Stamps) -> None:
    """Wait until files have changed and then have settled."""
    latest = known
    while True:
        time.sleep(POLL_S)
        before, latest = latest, _stamps(request)
        if latest == before and latest != known:
            return


def _look(request: Request) -> _View:
    """The files as they are now, with what rests on them as far as they can be read."""
    stamps = _stamps(request)
    try:
        environ = environment()
        worktree, settings = read_settings(request, environ)
        loaded = load_run(worktree, settings, environ=environ, today=SystemClock().today())
        contracts = _below(worktree, _contract_paths(settings))
    except Interrupted:
        raise
    except AbsGateError:
        return _View(stamps=stamps)
    sessions: dict[str, dict[str, None]] = {}
    names: dict[str, frozenset[str]] = {}
    for plan in loaded.plans:
        session = plan.session
        names[session.file] = names.get(session.file, frozenset()) | {session.name}
        for file in (session.file, find_dataset(session, worktree, settings.sessions.dataset)):
            if file is not None:
                sessions.setdefault(file, {})[session.file] = None
    return _View(
        stamps=stamps,
        sessions=sessions,
        names=names,
        contracts=frozenset(contracts),
        configuration=frozenset({settings.file} if settings.file else DEFAULT_FILES),
        offers_contracts=settings.agent.tools == "contracts",
        is_known=True,
    )


def _stamps(request: Request) -> Stamps:
    """Every file that is looked at, as it is now; only the configuration where that cannot be read."""
    root = here()
    try:
        root, settings = read_settings(request, environment())
        sessions = settings.sessions
        paths = [*sessions.paths, *_contract_paths(settings), *filter(None, (sessions.dataset, settings.file))]
        files = [*_below(root, paths), *_data_sets(root, sessions.paths)]
    except Interrupted:
        raise
    except AbsGateError:
        files = [request.config] if request.config else list(DEFAULT_FILES)
        files += list(request.session_paths)
    stamps = {}
    for file in files:
        with contextlib.suppress(OSError):
            found = (Path(root.root) / file).stat()
            stamps[file] = (found.st_ino, found.st_size, found.st_mtime_ns)
    return stamps


def _contract_paths(settings: Settings) -> Iterator[str]:
    yield from settings.contracts.paths
    if settings.contracts.acknowledgements:
        yield settings.contracts.acknowledgements
    verified = settings.verify.get("paths")
    yield from (path for path in verified if isinstance(path, str)) if isinstance(verified, list) else ()


def _below(root: WorkTree, paths: Iterable[str]) -> Iterator[str]:
    for path in paths:
        if root.is_directory(path):
            yield from root.list_files(path)
        elif root.is_file(path):
            yield path


def _data_sets(root: WorkTree, paths: Iterable[str]) -> Iterator[str]:
    """Files beside sessions that are named one by one: their data sets are likely to lie there."""
    for directory in dict.fromkeys(posixpath.dirname(path) or "." for path in paths if root.is_file(path)):
        yield from (file for file in root.list_files(directory) if file.endswith(DATASET_SUFFIXES))


def _clock() -> str:
    return datetime.datetime.now().astimezone().strftime("%H:%M:%S")
