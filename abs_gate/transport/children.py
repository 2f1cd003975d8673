"""Child processes: listed variables only, bounded output, and the whole process group ended for certain."""

from __future__ import annotations

import contextlib
import os
import re
import selectors
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import IO

from abs_gate.errors import AgentUnavailable, ConfigurationError
from abs_gate.wire.unreadable import one_line

PASSED_ON = frozenset(
    [
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "LANG",
        "LANGUAGE",
        "TZ",
        "TERM",
        "TMPDIR",
        "TEMP",
        "TMP",
        "CI",
        "SYSTEMROOT",
        "PYTHONPATH",
        "VIRTUAL_ENV",
        "CONDA_PREFIX",
        "NODE_PATH",
        "NODE_EXTRA_CA_CERTS",
        "JAVA_HOME",
        "GOPATH",
        "GOCACHE",
        "SSL_CERT_FILE",
        "SSL_CERT_DIR",
        "REQUESTS_CA_BUNDLE",
        "CURL_CA_BUNDLE",
        "HTTP_PROXY",
        "HTTPS_PROXY",
        "ALL_PROXY",
        "NO_PROXY",
        "http_proxy",
        "https_proxy",
        "all_proxy",
        "no_proxy",
    ]
)
"""Variables a child sees, besides LC_*; tokens of the workflow are not among them."""
WITHHELD_PREFIXES = ("GITHUB_", "ACTIONS_", "INPUT_", "RUNNER_")
"""Variables that are never handed on, even when a file asks for them by name."""
KEPT_OUTPUT_BYTES = 8 * 1024
MAX_ANSWER_BYTES = 8 * 1024 * 1024
EOF_GRACE_S = 0.5
"""How long a child may take to end by itself once its input is closed."""
GRACE_S = 2.0
"""How long it may take once it was asked to (SIGTERM), before it is made to (SIGKILL)."""
_REFERENCE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")


def child_environment(environ: Mapping[str, str], extra: Mapping[str, str] = MappingProxyType({})) -> Mapping[str, str]:
    """The environment of a child: the listed variables of ours, then those the user gave.

    A given value that is exactly `${NAME}` is taken from our environment.

    Raises:
        ConfigurationError: such a variable is not set, or is one of the workflow's own.
    """
    child = {name: value for name, value in environ.items() if name in PASSED_ON or name.startswith("LC_")}
    for name, value in extra.items():
        reference = _REFERENCE.fullmatch(str(value))
        if reference is None:
            child[name] = str(value)
            continue
        wanted = reference[1]
        if wanted.startswith(WITHHELD_PREFIXES):
            raise ConfigurationError(f"{name} asks for {wanted}, which belongs to the workflow and is not handed on.")
        if wanted not in environ:
            raise ConfigurationError(f"{name} asks for the environment variable {wanted}, which is not set.")
        child[name] = environ[wanted]
    return child


def inside(root: str, path: str) -> str:
    """A directory below the root, links resolved.

    Raises:
        ConfigurationError: it lies outside, or is not a directory.
    """
    base = Path(root).resolve()
    place = (base / path).resolve()
    if not place.is_relative_to(base):
        raise ConfigurationError(f"The directory {one_line(path, 100)} lies outside the workspace.")
    if not place.is_dir():
        raise ConfigurationError(f"There is no directory {one_line(path, 100)}.")
    return str(place)


def split_command(command: str) -> list[str]:
    """The words of a command line, as a POSIX shell splits them; no shell runs it.

    Raises:
        ConfigurationError: it is empty, or a quote is not closed.
    """
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigurationError(f"The command {one_line(command, 80)} cannot be read: {error}.") from error
    if not words:
        raise ConfigurationError("The command is empty.")
    return words


class Child:
    """A running command in a process group of its own. Used by one thread.

    With `pipes`, its input and outputs are ours to read and write; without, its output goes to `output`.
    """

    def __init__(self, command: str, *, cwd: str, env: Mapping[str, str], output: IO[bytes] | None = None) -> None:
        self.shown = one_line(command, 80)
        words = split_command(command)
        pipes = output is None
        try:
            self._process = subprocess.Popen(
                words,
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.PIPE if pipes else subprocess.DEVNULL,
                stdout=subprocess.PIPE if pipes else output,
                stderr=subprocess.PIPE if pipes else subprocess.STDOUT,
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            raise ConfigurationError(
                f"The command {self.shown} could not be started: {error.strerror or error}.",
                hint="Is it installed, and is the path right from where the gate runs?",
            ) from error
        self._unread = b""
        self._stderr = bytearray()
        self._ending_lock = threading.Lock()
        if pipes:
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                assert stream is not None
                os.set_blocking(stream.fileno(), False)

    @property
    def group(self) -> int:
        """The process group's id."""
        return self._process.pid

    def has_ended(self) -> bool:
        """Whether the command itself is over; it is not reaped, so that its group's id stays taken."""
        return os.waitid(os.P_PID, self._process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

    def exchange(self, line: bytes, *, timeout_s: float) -> bytes:
        """Write one line and read the one line that answers it.

        Raises:
            AgentUnavailable: no whole line in time, too long a line, or the command ended.
        """
        assert self._process.stdout is not None
        self._unread += _read(self._process.stdout) or b""
        if b"\n" in self._unread:
            line_read = one_line(self._unread.decode("utf-8", "replace"), 80)
            raise AgentUnavailable(
                f"The command {self.shown} wrote a line that nothing had asked for: {line_read}.",
                hint="Standard output is for answers, one line each. Write logs to standard error.",
            )
        answer = self._pump(line + b"\n", deadline=time.monotonic() + timeout_s, timeout_s=timeout_s, whole=False)
        answer, _, self._unread = answer.partition(b"\n")
        return answer

    def run(self, data: bytes, *, timeout_s: float) -> bytes:
        """Write everything, close the input, and read the output to its end.

        Raises:
            AgentUnavailable: not over in time, too much output, or it ended with a status other than 0.
        """
        output = self._pump(data, deadline=time.monotonic() + timeout_s, timeout_s=timeout_s, whole=True)
        if not self._ends_within(GRACE_S):
            raise AgentUnavailable(f"The command {self.shown} closed its output but did not end.")
        self._drain()
        self.close()
        if self._process.returncode != 0:
            raise AgentUnavailable(f"The command {self.shown} {self._ending()}.{self.said()}")
        return output

    def said(self) -> str:
        """The end of what it wrote to standard error, for messages."""
        text = one_line(bytes(self._stderr[-400:]).decode("utf-8", "replace"), 200)
        return f" It said: {text}" if text else ""

    def end(self) -> None:
        """End the command and every process of its group. Any thread may ask; the one that reads sees the end."""
        with self._ending_lock:
            self._end(GRACE_S)

    def close(self) -> None:
        """Close its input, end it with its whole group, and forget it. For the thread that uses it; may be repeated."""
        with self._ending_lock:
            if self._process.returncode is not None:
                return
            for stream in (self._process.stdin, self._process.stdout, self._process.stderr):
                if stream is not None:
                    with contextlib.suppress(OSError):
                        stream.close()
            if self._process.stdin is not None:
                self._ends_within(EOF_GRACE_S)
            self._end(GRACE_S)
            self._process.wait()

    def _end(self, grace_s: float) -> None:
        if self._process.returncode is not None:
            return
        if not self.has_ended():
            self._signal(signal.SIGTERM)
            self._ends_within(grace_s)
        # Also when the command itself is over: what it started may not be.
        self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, number)

    def _ends_within(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        pause = 0.001
        while not self.has_ended():
            if time.monotonic() >= end:
                return False
            time.sleep(pause)
            pause = min(pause * 2, 0.05)
        return True

    def _pump(self, data: bytes, *, deadline: float, timeout_s: float, whole: bool) -> bytes:
        """Write `data` and read until a line (or the whole output) is there, standard error besides."""
        process = self._process
        assert process.stdin is not None and process.stdout is not None and process.stderr is not None
        received = bytearray(self._unread)
        waiting = memoryview(data)
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            if not process.stderr.closed:
                selector.register(process.stderr, selectors.EVENT_READ)
            selector.register(process.stdin, selectors.EVENT_WRITE)
            while True:
                remaining = deadline - time.monotonic()
                if remaining <= 0:
                    raise AgentUnavailable(
                        f"The command {self.shown} did not answer within {timeout_s:g} s.{self.said()}"
                    )
                for key, _ in selector.select(min(remaining, 1.0)):
                    if key.fileobj is process.stdin:
                        waiting = self._write(waiting)
                        if not waiting:
                            selector.unregister(process.stdin)
                            if whole:
                                process.stdin.close()
                        continue
                    chunk = _read(key.fileobj)  # type: ignore[arg-type]
                    if key.fileobj is process.stderr:
                        if chunk == b"":
                            selector.unregister(process.stderr)
                        self._keep(chunk or b"")
                    elif chunk:
                        received += chunk
                        if len(received) > MAX_ANSWER_BYTES:
                            raise AgentUnavailable(
                                f"The command {self.shown} wrote more than {MAX_ANSWER_BYTES:,} bytes in one answer."
                            )
                        if not whole and b"\n" in chunk:
                            return bytes(received)
                    elif chunk == b"":
                        if whole:
                            return bytes(received)
                        raise self._ended()

    def _write(self, waiting: memoryview) -> memoryview:
        assert self._process.stdin is not None
        try:
            written = os.write(self._process.stdin.fileno(), waiting[:65536])
        except BlockingIOError:
            return waiting
        except BrokenPipeError:
            # It no longer listens; whatever it still has to say is read, and its end noticed there.
            return waiting[:0]
        return waiting[written:]

    def _keep(self, chunk: bytes) -> None:
        self._stderr += chunk
        del self._stderr[:-KEPT_OUTPUT_BYTES]

    def _drain(self) -> None:
        """Take in what is left on standard error."""
        assert self._process.stderr is not None
        while chunk := _read(self._process.stderr):
            self._keep(chunk)

    def _ended(self) -> AgentUnavailable:
        self._ends_within(GRACE_S)
        self._drain()
        self.close()
        return AgentUnavailable(f"The command {self.shown} {self._ending()} without answering.{self.said()}")

    def _ending(self) -> str:
        status = self._process.returncode
        if status is not None and status < 0:
            with contextlib.suppress(ValueError):
                return f"was ended by {signal.Signals(-status).name}"
        return f"ended with status {status}"


def _read(stream: IO[bytes]) -> bytes | None:
    """What can be read now; None when there is nothing yet, empty at the end."""
    try:
        return os.read(stream.fileno(), 65536)
    except BlockingIOError:
        return None
    except OSError:
        return b""
