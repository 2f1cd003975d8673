"""Opens everything that a suite runs on, and ends all of it for certain."""

from __future__ import annotations

import re
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

from msgspec import Struct

from abs_gate.contracts.model import ToolContract
from abs_gate.documents.variables import Scope, VariableError
from abs_gate.drivers.command_tool import CommandTool
from abs_gate.drivers.http_tool import HttpTool
from abs_gate.drivers.mcp_tool import McpServers, McpTool
from abs_gate.drivers.probes import FileProbe, HttpProbe, SqliteProbe, ToolProbe
from abs_gate.drivers.python_tool import PythonTool, find_function
from abs_gate.drivers.stand_in import StandInServer
from abs_gate.errors import CannotVerify, ConfigurationError
from abs_gate.findings import Json
from abs_gate.settings.model import StartSettings
from abs_gate.settings.values import NotShown, header_value
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport
from abs_gate.transport.children import Child, child_environment
from abs_gate.transport.started import StartedServer
from abs_gate.verification.canaries import Canaries
from abs_gate.verification.model import AnswerKind, Probe, StandIn, ToolDriver
from abs_gate.verification.run_suite import PlannedSuite
from abs_gate.verification.suite import Means
from abs_gate.wire.base import HttpRequest

_FROM_ENVIRONMENT = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_STEP_TIMEOUT_S = 30.0


class Surroundings(Struct, frozen=True, kw_only=True):
    """What opening a bench needs besides the suite."""

    root: Path
    transport: Transport
    redactor: Redactor
    environ: Mapping[str, str]
    scope: Scope
    """Values given outside the suite."""
    secrets_allowed: bool
    """Whether a suite may name variables of the environment that go into headers."""


@contextmanager
def open_bench(planned: PlannedSuite, around: Surroundings) -> Iterator[OpenBench]:
    """Start what the suite starts, and give what it runs on.

    Raises:
        ConfigurationError: a command, module or address is wrong.
        CannotVerify: a service did not get ready.
    """
    with ExitStack() as closing:
        bench = OpenBench(planned, around, closing)
        for service in planned.suite.start:
            bench.start(service)
        yield bench


class OpenBench:
    """What one suite runs on."""

    def __init__(self, planned: PlannedSuite, around: Surroundings, closing: ExitStack) -> None:
        self._suite = planned.suite
        self._contracts = planned.contracts
        self._around = around
        self._closing = closing
        self._directory = around.root / planned.suite.directory
        self._tools: dict[str, ToolDriver] = {}
        self._probes: dict[str, Probe] = {}
        self.canaries = Canaries()
        self._tmp: Path | None = None
        if "tmp" in self._suite.uses:
            self._tmp = Path(tempfile.mkdtemp(prefix="abs-gate-verify-")).resolve()
            closing.callback(shutil.rmtree, self._tmp, ignore_errors=True)
        self._server: StandInServer | None = None
        self._mcp = McpServers(closing)
        self.scope = self._values()

    @property
    def stand_in(self) -> StandIn:
        """Started when it is first asked for."""
        if self._server is None:
            self._server = StandInServer()
            self._closing.callback(self._server.close)
        return self._server

    def driver(self, tool_id: str) -> ToolDriver:
        """How a tool of the suite is called."""
        if tool_id not in self._tools:
            means = self._suite.tools[tool_id].driver
            self._tools[tool_id] = self._tool(means, self._contracts[tool_id])
        return self._tools[tool_id]

    def probe(self, name: str) -> Probe:
        """A probe of the suite."""
        if name not in self._probes:
            self._probes[name] = self._probe(self._suite.probes[name])
        return self._probes[name]

    def start(self, service: Means) -> None:
        """Start a service and wait until it is ready. Raises CannotVerify."""
        options = self._resolved(service)
        server = StartedServer(
            StartSettings(
                command=options["command"],
                ready=options.get("ready"),
                timeout=float(options.get("timeout", 30)),
                cwd=self._cwd(options),
                env=self._variables(options),
            ),
            url=None,
            transport=self._around.transport,
            redactor=self._around.redactor,
            root=str(self._around.root),
            environ=self._around.environ,
            what="The service",
            hint="Check `ready` under `start`, or raise its timeout.",
        )
        self._closing.enter_context(server)

    def do(self, step: Means) -> None:
        """One step of a provider state. Raises CannotVerify: it failed."""
        options = self._resolved(step)
        try:
            if step.kind == "http":
                self._do_http(options)
            elif step.kind == "command":
                self._child(options).run(b"", timeout_s=float(options.get("timeout") or _STEP_TIMEOUT_S))
            else:
                answer = self._python(options).call({})
                if answer.kind is not AnswerKind.RESULT:
                    raise CannotVerify(answer.message or "it failed")
        except CannotVerify as problem:
            raise CannotVerify(f"{step.location}: the step did not succeed: {problem.message}") from problem

    def _do_http(self, options: Mapping[str, Json]) -> None:
        request = HttpRequest(
            method=options.get("method", "POST"),
            url=options["url"],
            headers=self._headers(options),
            body=options.get("body"),
        )
        timeout_s = float(options.get("timeout") or _STEP_TIMEOUT_S)
        response = self._around.transport.send(request, timeout_s=timeout_s, retries=0)
        if not 200 <= response.status < 300:
            raise CannotVerify(f"status {response.status}: {response.body[:200].decode('utf-8', 'replace')}")

    def _tool(self, means: Means, contract: ToolContract) -> ToolDriver:
        options = self._resolved(means)
        tool: HttpTool | McpTool | CommandTool | PythonTool
        if means.kind == "http":
            tool = HttpTool(options, self._around.transport, self._headers(options))
        elif means.kind == "mcp":
            tool = self._mcp_tool(options, options.get("tool") or contract.name)
        elif means.kind == "command":
            tool = CommandTool(
                contract.name,
                lambda: self._child(options),
                timeout_s=float(options.get("timeout") or 10),
                concurrent=options.get("concurrent", False),
            )
        else:
            tool = self._python(options)
        self._closing.callback(tool.close)
        return tool

    def _probe(self, means: Means) -> Probe:
        options = self._resolved(means)
        if means.kind == "http":
            return HttpProbe(options, self._around.transport, self._headers(options))
        if means.kind == "sqlite":
            return SqliteProbe(self._file(options["file"]), options["query"])
        if means.kind == "file":
            return FileProbe(self._file(options["path"]), options.get("as", "hash"), options.get("at") or "")
        tool = self._mcp_tool(options, options["tool"])
        self._closing.callback(tool.close)
        return ToolProbe(tool, options.get("arguments") or {}, options.get("at") or "", lambda: self._only_reads(tool))

    def _only_reads(self, tool: McpTool) -> None:
        """Raises CannotVerify: neither the server nor a contract says that a probe's tool only reads."""
        contract = next((each for each in self._contracts.values() if each.name == tool.name), None)
        declared = contract is not None and contract.policy.effect == "read_only"
        if not declared and not tool.is_declared_read_only():
            raise CannotVerify(
                f"The probe's tool {tool.name} is not declared read-only, so it is not called.",
                hint="Give it readOnlyHint: true, or a contract with effect: read_only.",
            )

    def _mcp_tool(self, options: Mapping[str, Json], name: str) -> McpTool:
        return McpTool(
            self._mcp.server(
                command=options.get("command"),
                url=options.get("url"),
                cwd=str(self._around.root / self._cwd(options)),
                env=child_environment(self._around.environ, self._variables(options)),
                headers=self._headers(options),
            ),
            name,
            timeout_s=float(options.get("timeout") or 10),
        )

    def _python(self, options: Mapping[str, Json]) -> PythonTool:
        return PythonTool(
            find_function(options["function"], self._directory),
            options.get("with") or {},
            shown=options["function"],
            timeout_s=float(options.get("timeout") or 10),
        )

    def _child(self, options: Mapping[str, Json]) -> Child:
        return Child(
            options["run"],
            cwd=str(self._around.root / self._cwd(options)),
            env=child_environment(self._around.environ, self._variables(options)),
        )

    def _cwd(self, options: Mapping[str, Json]) -> str:
        """Relative to the root: beside the suite, or where the options say from there."""
        place = (self._directory / str(options.get("cwd") or ".")).resolve()
        if not place.is_relative_to(self._around.root.resolve()) or not place.is_dir():
            raise ConfigurationError(
                f"The directory {options.get('cwd')} of {self._suite.file} is not in the workspace."
            )
        return str(place.relative_to(self._around.root.resolve()))

    def _file(self, name: str) -> Path:
        """A file beside the suite or in the run's own directory. Raises ConfigurationError: it lies elsewhere."""
        place = (self._directory / name).resolve()
        allowed = (self._around.root.resolve(), self._tmp)
        if any(root is not None and place.is_relative_to(root) for root in allowed):
            return place
        raise ConfigurationError(f"The file {name} of {self._suite.file} lies outside the workspace.")

    def _variables(self, options: Mapping[str, Json]) -> dict[str, str]:
        own = {name: str(value) for name, value in (options.get("env") or {}).items()}
        asked = [name for value in own.values() for name in _FROM_ENVIRONMENT.findall(value)]
        self._around.redactor.learn(*(self._around.environ.get(name, "") for name in asked))
        return {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1", **own}

    def _headers(self, options: Mapping[str, Json]) -> dict[str, str]:
        return {name: self._header(name, str(value)) for name, value in (options.get("headers") or {}).items()}

    def _header(self, name: str, value: str) -> str:
        def put_in(match: re.Match[str]) -> str:
            if not self._around.secrets_allowed:
                raise ConfigurationError(
                    f"{self._suite.file}: the header {name} asks for the environment variable {match[1]}, which is "
                    "not given to files that a pull request can change.",
                    hint="Set allow-commands to true if everyone who can change them may see it.",
                )
            if match[1] not in self._around.environ:
                raise ConfigurationError(f"{self._suite.file}: the environment variable {match[1]} is not set.")
            self._around.redactor.learn(self._around.environ[match[1]])
            return self._around.environ[match[1]]

        try:
            return header_value(_FROM_ENVIRONMENT.sub(put_in, value))
        except NotShown as problem:
            raise ConfigurationError(f"{self._suite.file}: the header {name} cannot be sent: {problem}") from None

    def _resolved(self, means: Means) -> Mapping[str, Json]:
        try:
            return self.scope.resolve(means.options)  # type: ignore[no-any-return]
        except VariableError as wrong:
            raise ConfigurationError(f"{means.location}: {wrong}") from wrong

    def _values(self) -> Scope:
        suite = self._suite
        built_in: dict[str, Json] = {
            "python": sys.executable,
            "canary": dict(self.canaries.values),
            "receipt": "{{receipt}}",
            "fresh": "{{fresh}}",
        }
        if self._tmp is not None:
            built_in["tmp"] = str(self._tmp)
        if "stand_in" in suite.uses:
            built_in["stand_in"] = self.stand_in.url
        built_in |= {name: _free_port() for name in suite.uses if name.startswith("port.")}
        values: dict[str, Json] = dict(built_in)
        outside = self._around.scope
        for name, value in suite.variables.items():
            try:
                values[name] = Scope(configuration=values).resolve(value)
            except VariableError as wrong:
                raise ConfigurationError(f"{suite.file}: {wrong}") from wrong
        return Scope(variables=outside.variables, environment=outside.environment, configuration=values)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
