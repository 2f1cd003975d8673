"""Plays a conformance case: a document, scripted replies, and what must come of it.

A case file holds `rule` (the sentence it proves), `session` (the document) and `variants`: each a name with
`agent` (scripted replies) and `expected`. Keys of a variant replace those of the file. Further keys:

    files      data sets and the like, by name
    row        not needed with a data set; `variables` are given as by --var
    options    fields of RunOptions (aliases, handoff_tools, unexpected_calls, write_tools, example_results, ...)
    judge      answers of a text judge, in order

`expected` may hold `outcome` (of all trials together), `behaviors` and `evaluations` (outcomes of the first trial),
`step_evaluations` (by behavior index), `reason` (words of some reason), `sent` (new user texts of each request),
`requests` (how many), `unexpected`, `trials`, `warning`, and `error` (words of a configuration error: nothing is sent).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from abs_gate.agents import build_agent
from abs_gate.documents.case_check import check_variables
from abs_gate.documents.datasets import iterate_cases
from abs_gate.documents.load import LoadOptions, load_sessions
from abs_gate.documents.variables import Scope
from abs_gate.errors import ConfigurationError
from abs_gate.evaluators import evaluator_shapes
from abs_gate.evaluators.judged import JudgePanel
from abs_gate.runner.loop import run_trial
from abs_gate.runner.options import RunOptions
from abs_gate.runner.result import TrialResult
from abs_gate.settings.model import AgentSettings
from abs_gate.sources.located import parse_documents
from abs_gate.sources.redaction import Redactor
from abs_gate.transport import Transport

from .agent import ScriptedAgentServer

CASES = Path(__file__).parent / "cases"
_WORST_FIRST = ("failed", "unverified", "passed")


@dataclass(frozen=True)
class Variant:
    """One variant of a case file."""

    file: str
    name: str
    fields: Mapping[str, Any]

    @property
    def expected(self) -> Mapping[str, Any]:
        return self.fields["expected"]


@dataclass(frozen=True)
class Played:
    """What a variant came to."""

    results: tuple[TrialResult, ...]
    error: str
    requests: tuple[Mapping[str, Any], ...]


def load_variants() -> Iterator[Variant]:
    """Every variant of every case file, in order."""
    for path in sorted(CASES.glob("*.yaml")):
        (located,) = parse_documents(path.read_bytes(), path.name)
        document = dict(located.value)
        variants = document.pop("variants")
        for name, fields in variants.items():
            yield Variant(file=path.stem, name=str(name), fields={**document, **fields})


def play(variant: Variant, server: ScriptedAgentServer, transport: Transport) -> Played:
    """Load, check and run a variant against the scripted agent over HTTP."""
    fields = variant.fields
    server.script(fields.get("agent", [{"text": "ok"}]))
    files = _Files({"s.abs.yaml": fields["session"], **fields.get("files", {})})
    results: tuple[TrialResult, ...] = ()
    error = ""
    try:
        results = tuple(_run(fields, files, server, transport))
    except ConfigurationError as raised:
        error = "\n".join(str(finding) for finding in raised.findings) or str(raised)
    return Played(results=results, error=error, requests=tuple(server.requests))


def check(variant: Variant, played: Played) -> list[str]:
    """Everything in which a variant did not come to what is expected of it."""
    expected = variant.expected
    if "error" in expected:
        if not played.error:
            return ["loaded, though it must be refused"]
        wrong = [
            f"the error does not say {word!r}: {played.error}"
            for word in _listed(expected["error"])
            if word not in played.error
        ]
        return wrong + (["something was sent"] if played.requests else [])
    if played.error:
        return [f"refused: {played.error}"]
    return list(_differences(expected, played))


def _differences(expected: Mapping[str, Any], played: Played) -> Iterator[str]:
    first = played.results[0]
    observed: dict[str, Any] = {
        "outcome": min((str(result.outcome) for result in played.results), key=_WORST_FIRST.index),
        "behaviors": [str(behavior.outcome) for behavior in first.behaviors],
        "evaluations": [str(evaluation.outcome) for evaluation in first.evaluations],
        "step_evaluations": {
            str(b.index): [str(e.outcome) for e in b.evaluations] for b in first.behaviors if b.evaluations
        },
        "requests": len(played.requests),
        "sent": sent(played.requests),
        "unexpected": list(first.unexpected_calls),
        "trials": len(played.results),
    }
    words = "\n".join(_reasons(played.results))
    for key, wanted in expected.items():
        if key == "reason":
            yield from (f"no reason says {word!r}:\n{words}" for word in _listed(wanted) if word not in words)
        elif key == "warning":
            warnings = "\n".join(first.warnings)
            yield from (f"no warning says {word!r}: {warnings}" for word in _listed(wanted) if word not in warnings)
        elif observed[key] != wanted:
            yield f"{key}: expected {wanted}, came to {observed[key]}\n{words}"
    if any("{{" in str(message.get("content")) for request in played.requests for message in request["messages"]):
        yield "a placeholder was sent as it stands"


def sent(requests: Sequence[Mapping[str, Any]]) -> list[list[str]]:
    """The texts of the user and the system that each request added."""
    texts = [[m["content"] for m in r["messages"] if m["role"] in ("user", "system")] for r in requests]
    return [
        now[len(before) :] if now[: len(before)] == before else now
        for before, now in zip([[], *texts], texts, strict=False)
    ]


def _run(
    fields: Mapping[str, Any], files: _Files, server: ScriptedAgentServer, transport: Transport
) -> Iterator[TrialResult]:
    shapes = evaluator_shapes()
    judges = JudgePanel({"default": _Judge(fields["judge"])}) if "judge" in fields else None
    adapters = frozenset(judges.names if judges is not None else ())
    options = LoadOptions(evaluators=shapes, actions=fields.get("actions", {}), adapters=adapters)
    (session,) = load_sessions(files, ["s.abs.yaml"], options).sessions
    scope = Scope(variables=fields.get("variables", {}))
    cases = list(iterate_cases(session, files, dataset=None, filters=()))
    findings = tuple(finding for case in cases for finding in check_variables(case, scope, shapes))
    if findings:
        raise ConfigurationError(findings=findings)
    run = RunOptions(scope=scope, judges=judges, trial_key="conformance", **_run_options(fields.get("options", {})))
    settings = AgentSettings(url=server.url, format="openai", timeout=5.0, retries=0)
    with build_agent(settings, transport, allow_commands=False, redactor=Redactor()) as agent:
        for case in cases:
            yield run_trial(case, agent, run)


def _run_options(fields: Mapping[str, Any]) -> dict[str, Any]:
    read = {"handoff_tools": frozenset, "write_tools": frozenset}
    options = {name: read.get(name, lambda value: value)(value) for name, value in fields.items()}
    if "aliases" in options:
        options["aliases"] = {target: tuple(names) for target, names in options["aliases"].items()}
    return options


def _reasons(results: Sequence[TrialResult]) -> Iterator[str]:
    for result in results:
        yield result.reason
        for behavior in result.behaviors:
            yield behavior.reason
            yield from (evaluation.reason for evaluation in behavior.evaluations)
        yield from (evaluation.reason for evaluation in result.evaluations)


def _listed(value: Any) -> list[str]:
    return value if isinstance(value, list) else [value]


class _Judge:
    def __init__(self, answers: Sequence[str]) -> None:
        self._answers = list(answers)

    def ask(self, prompt: str) -> str:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]


class _Files:
    """The files of a case, in memory."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = {name: text.encode() for name, text in files.items()}

    def read_bytes(self, path: str, *, limit: int = 0) -> bytes:
        return self._files[path]

    def read_chunks(self, path: str) -> Iterator[bytes]:
        yield self._files[path]

    def is_file(self, path: str) -> bool:
        return path in self._files

    def is_directory(self, path: str) -> bool:
        return path == "."

    def list_files(self, path: str) -> tuple[str, ...]:
        return tuple(sorted(self._files))
