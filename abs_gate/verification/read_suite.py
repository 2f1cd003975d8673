"""Reads suite documents: every fault with its place, all at once, before anything is started."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from importlib import resources

from abs_gate.documents.placeholders import find_placeholders
from abs_gate.documents.variables import Scope
from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Severity
from abs_gate.sources.located import LocatedDocument, parse_documents
from abs_gate.sources.schema_errors import find_schema_errors
from abs_gate.sources.suggest import did_you_mean
from abs_gate.sources.workspace import Workspace
from abs_gate.verification.probe_rules import probe_fault
from abs_gate.verification.suite import (
    BUILT_IN,
    DERIVED,
    AdapterSpec,
    CaseSpec,
    Means,
    RunCall,
    RunSpec,
    Said,
    StateSpec,
    Suite,
    ToolSpec,
)

RULE = "verification-suite"
Path = tuple[str | int, ...]


def is_suite_shape(value: Json) -> bool:
    """Whether a document is a verification suite."""
    return isinstance(value, Mapping) and "verification" in value and "version" not in value


def load_suite_file(workspace: Workspace, file: str, scope: Scope) -> tuple[Suite, ...]:
    """Every suite of a file.

    Raises:
        ConfigurationError: with every fault of the file.
    """
    documents = parse_documents(workspace.read_bytes(file), file)
    faults: list[Finding] = []
    suites: list[Suite] = []
    for document in documents:
        found = _document_faults(document, scope)
        faults += found
        if not found:
            suites.append(_suite(document))
    if not documents:
        faults.append(_fault(None, "The file holds no verification suite.", "Begin it with `verification: NAME`."))
    if faults:
        raise ConfigurationError(findings=faults)
    return tuple(suites)


def read_contract_case(value: Json, tool_id: str, document: LocatedDocument, path: Path, suite: Suite) -> CaseSpec:
    """One entry of `cases:` in a contract, to be run with a suite.

    Raises:
        ConfigurationError: it is no case.
    """
    schema = {"$ref": "#/$defs/case", "$defs": _schema()["$defs"]}
    faults = list(find_schema_errors(document, schema, rule=RULE, path=path))
    if not faults:
        faults += _placeholder_faults(document, path, value, {*BUILT_IN, *suite.variables})
        state = value.get("state")
        if state is not None and state not in suite.states:
            message = f"`{state}` is no state of the suite {suite.file}.{did_you_mean(state, suite.states)}"
            faults.append(_fault(document.location((*path, "state")), message, "Describe it under `states:` there."))
    if faults:
        raise ConfigurationError(findings=faults)
    return _case(document, path, {"tool": tool_id, **value})


def _document_faults(document: LocatedDocument, scope: Scope) -> list[Finding]:
    if not is_suite_shape(document.value):
        place = document.location()
        return [_fault(place, "This is no verification suite.", "A suite begins with `verification: NAME`.")]
    faults = list(find_schema_errors(document, _schema(), rule=RULE))
    faults += _name_faults(document)
    faults += _variable_faults(document, scope)
    faults += _means_faults(document)
    return faults


def _name_faults(document: LocatedDocument) -> Iterator[Finding]:
    value = document.value
    known = {kind: list(_mapping(value.get(kind))) for kind in ("tools", "probes", "states")}
    run = _mapping(value.get("run"))
    uses: list[tuple[str, Path]] = []
    for name in known["tools"]:
        uses += [("probes", ("tools", name, "probe")), ("states", ("tools", name, "state"))]
    for kind in ("cases", "adapter"):
        for index in range(len(_list(value.get(kind)))):
            uses += [("tools", (kind, index, "tool")), ("states", (kind, index, "state"))]
    uses += [("probes", ("run", "probe")), ("states", ("run", "state"))]
    uses += [("tools", ("run", "calls", index, "tool")) for index in range(len(_list(run.get("calls"))))]
    for kind, path in uses:
        name = _at(value, path)
        if isinstance(name, str) and name not in known[kind]:
            hint = did_you_mean(name, known[kind])
            message = f"`{name}` is none of the {kind} of this suite.{hint}"
            yield _fault(document.location(path), message, f"Describe it under `{kind}:`.")
    for index, case in enumerate(_list(value.get("cases"))):
        if isinstance(case, Mapping) and "tool" not in case:
            yield _fault(document.location(("cases", index)), "The case names no tool.", "Write `tool: TOOL_ID`.")
        yield from _effect_faults(document, index, _mapping(case), known["probes"])
    yield from _run_faults(document, run)


def _effect_faults(
    document: LocatedDocument, index: int, case: Mapping[str, Json], probes: Sequence[str]
) -> Iterator[Finding]:
    effects = _mapping(case.get("expect")).get("effects")
    if isinstance(effects, Mapping) and not effects.keys() & {"added", "removed"}:
        for name in effects:
            if name not in probes:
                place = document.key_location(("cases", index, "expect", "effects", name))
                yield _fault(place, f"There is no probe `{name}`.{did_you_mean(name, probes)}", "See `probes:`.")


def _run_faults(document: LocatedDocument, run: Mapping[str, Json]) -> Iterator[Finding]:
    seen: list[str] = []
    for index, call in enumerate(_list(run.get("calls"))):
        path: Path = ("run", "calls", index)
        name, repeated = _mapping(call).get("id"), _mapping(call).get("retries")
        if name in seen:
            yield _fault(document.location((*path, "id")), f"Two calls are named `{name}`.", "Name it otherwise.")
        if isinstance(repeated, str) and repeated not in seen:
            message = f"`{repeated}` is no earlier call of this run.{did_you_mean(repeated, seen)}"
            yield _fault(document.location((*path, "retries")), message, "A call repeats one that stands before it.")
        if isinstance(name, str):
            seen.append(name)


def _variable_faults(document: LocatedDocument, scope: Scope) -> Iterator[Finding]:
    given = {*BUILT_IN, *scope.names()}
    own = list(_mapping(document.value.get("variables")))
    for key, value in document.value.items():
        if key != "variables":
            yield from _placeholder_faults(document, (key,), value, {*given, *own})
    for number, name in enumerate(own):
        value = document.value["variables"][name]
        yield from _placeholder_faults(document, ("variables", name), value, {*given, *own[:number]})


def _placeholder_faults(
    document: LocatedDocument, path: Path, value: Json, known: Collection[str]
) -> Iterator[Finding]:
    for place, text in _texts(value, path):
        for placeholder in find_placeholders(text):
            name = placeholder.name
            if not placeholder.is_valid:
                yield _fault(document.location(place), f"`{placeholder.text}` is no variable.", "Write `{{name}}`.")
            elif not name.startswith("port.") and name.partition(".")[0] not in known and name not in known:
                message = f"No value for the variable `{name}`.{did_you_mean(name, known)}"
                yield _fault(document.location(place), message, "Give it under `variables:`, or as ABS_VAR_NAME.")


def _means_faults(document: LocatedDocument) -> Iterator[Finding]:
    """What the means themselves forbid; a probe that the schema refuses already is left alone."""
    schema = {"$ref": "#/$defs/probe", "$defs": _schema()["$defs"]}
    for name, probe in _mapping(document.value.get("probes")).items():
        if find_schema_errors(document, schema, rule=RULE, path=("probes", name)):
            continue
        ((kind, options),) = probe.items()
        wrong = probe_fault(kind, options)
        if wrong is not None:
            key, message, hint = wrong
            yield _fault(document.location(("probes", name, kind, key)), f"The probe `{name}` {message}", hint)
    for name in _mapping(document.value.get("tools")):
        driver = _mapping(_at(document.value, ("tools", name, "driver")))
        kind, options = next(iter(driver.items()), ("", None))
        if isinstance(options, Mapping) and kind == "mcp" and ("command" in options) == ("url" in options):
            place = document.location(("tools", name, "driver", "mcp"))
            yield _fault(place, "An MCP server has either a `command` or a `url`.", "Give one of them.")


def _suite(document: LocatedDocument) -> Suite:
    value = document.value
    directory = posixpath.dirname(document.file)
    return Suite(
        name=value["verification"],
        file=document.file,
        directory=directory,
        contracts=tuple(posixpath.normpath(posixpath.join(directory, path)) for path in value.get("contracts") or ()),
        variables=value.get("variables") or {},
        start=tuple(
            Means(kind="service", options=service, location=document.location(("start", index)))
            for index, service in enumerate(value.get("start") or ())
        ),
        tools={name: _tool(document, name) for name in value.get("tools") or {}},
        probes={name: _means(document, ("probes", name)) for name in value.get("probes") or {}},
        states={name: _state(document, name) for name in value.get("states") or {}},
        cases=tuple(_case(document, ("cases", i), case) for i, case in enumerate(value.get("cases") or ())),
        adapters=tuple(_adapter(document, i) for i in range(len(value.get("adapter") or ()))),
        run=_run(document) if "run" in value else None,
        uses=frozenset(placeholder.name for placeholder in find_placeholders(value)),
        location=document.location(("verification",)),
    )


def _means(document: LocatedDocument, path: Path) -> Means:
    ((kind, options),) = _at(document.value, path).items()
    return Means(kind=kind, options=options, location=document.location((*path, kind)))


def _tool(document: LocatedDocument, name: str) -> ToolSpec:
    value = document.value["tools"][name]
    return ToolSpec(
        tool_id=name,
        driver=_means(document, ("tools", name, "driver")),
        probe=value.get("probe"),
        valid=value.get("valid"),
        vary=value.get("vary"),
        state=value.get("state"),
        refusal=value.get("refusal"),
        derive=tuple(value.get("derive", DERIVED)),
        location=document.key_location(("tools", name)),
    )


def _state(document: LocatedDocument, name: str) -> StateSpec:
    value = document.value["states"][name]

    def steps(key: str) -> tuple[Means, ...]:
        return tuple(_means(document, ("states", name, key, index)) for index in range(len(value.get(key) or ())))

    return StateSpec(setup=steps("setup"), teardown=steps("teardown"))


def _case(document: LocatedDocument, path: Path, value: Mapping[str, Json]) -> CaseSpec:
    provider = value.get("provider") or ()
    return CaseSpec(
        name=value["name"],
        tool=value["tool"],
        kind=value.get("kind") or ("adapter" if provider else "provider"),
        state=value.get("state"),
        arguments=value.get("arguments"),
        key=value.get("key"),
        repeat=value.get("repeat", 1),
        at_once=value.get("at_once", False),
        lose_answer=value.get("lose_answer", False),
        context=value.get("context") or {},
        provider=tuple(provider) if isinstance(provider, list | tuple) else (provider,),
        expect=value.get("expect") or {},
        location=document.location(path),
    )


def _adapter(document: LocatedDocument, index: int) -> AdapterSpec:
    value = document.value["adapter"][index]
    return AdapterSpec(**{"expect": {}, **value, "location": document.location(("adapter", index))})


def _run(document: LocatedDocument) -> RunSpec:
    value = document.value["run"]
    calls = [
        RunCall(**{"arguments": {}, **call, "location": document.location(("run", "calls", index))})
        for index, call in enumerate(value["calls"])
    ]
    said = [
        Said(**{**entry, "location": document.location(("run", "said", index))})
        for index, entry in enumerate(value.get("said") or ())
    ]
    return RunSpec(
        calls=tuple(calls),
        said=tuple(said),
        unit=value.get("unit", "effect"),
        probe=value.get("probe"),
        state=value.get("state"),
    )


def _texts(value: Json, path: Path = ()) -> Iterator[tuple[Path, str]]:
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, child in value.items():
            yield from _texts(child, (*path, key))
    elif isinstance(value, list):
        for index, child in enumerate(value):
            yield from _texts(child, (*path, index))


def _mapping(value: Json) -> Mapping[str, Json]:
    return value if isinstance(value, Mapping) else {}


def _list(value: Json) -> Sequence[Json]:
    return value if isinstance(value, list) else ()


def _at(value: Json, path: Path) -> Json:
    for step in path:
        if isinstance(value, Mapping):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _fault(location: object, message: str, hint: str) -> Finding:
    return Finding(rule=RULE, severity=Severity.ERROR, message=message, hint=hint, location=location)  # type: ignore[arg-type]


@lru_cache(maxsize=1)
def _schema() -> Mapping[str, Json]:
    text = resources.files("abs_gate.verification").joinpath("suite.schema.json").read_text("utf-8")
    return json.loads(text)  # type: ignore[no-any-return]
