"""All settings of a run: file, environment, inputs and flags, checked in one go.

Strongest first: command-line flag, action input, environment variable, file, default.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from importlib.resources import files

from msgspec.structs import replace

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Severity, sort_findings
from abs_gate.settings import values
from abs_gate.settings.fingerprint import policy_fingerprint
from abs_gate.settings.given import Flags, Given, read_given, warn_unread
from abs_gate.settings.model import Secret, Settings
from abs_gate.settings.read_agent import read_agent, read_judges
from abs_gate.settings.read_rest import (
    KnownRules,
    read_budget,
    read_canary,
    read_contracts,
    read_evidence,
    read_lists,
    read_report,
)
from abs_gate.settings.read_sessions import read_sessions
from abs_gate.settings.reader import Section, Source
from abs_gate.sources.located import LocatedDocument, parse_documents
from abs_gate.sources.schema_errors import find_schema_errors
from abs_gate.sources.workspace import Workspace

DEFAULT_FILES = ("abs-gate.yaml", "abs-gate.yml")
_READ_IN_WORDS = ("rate", "open_rate", "amount", "seconds", "date", "url", "env_name", "variables")
"""Definitions of the schema whose values `values` reads: its messages say what to write."""
_SECRET_KEYS = {"token", "api_key", "password", "secret", "client_secret", "refresh_token"}
_SECRET_PLACES = (("agent",), ("agent", "auth"), ("judges",))
_CREDENTIAL_NAME = re.compile(r"token|secret|passw|api_?key|credential|auth", re.IGNORECASE)


def load_settings(
    workspace: Workspace,
    file: str | None,
    *,
    flags: Flags | None = None,
    inputs: Mapping[str, str] | None = None,
    environ: Mapping[str, str] | None = None,
    known_rules: KnownRules | None = None,
    use_default_file: bool = True,
    resolve_secrets: bool = True,
) -> Settings:
    """The settings of a run.

    `file` None: the file that a flag, input or variable names, else abs-gate.yaml or abs-gate.yml where there is
    one and `use_default_file` allows it, else none. `flags` are keyed as typed (`--trials`), `inputs` as in
    action.yml. `resolve_secrets` False leaves secrets unread, for commands that only check files.

    Raises:
        ConfigurationError: with every problem of every source.
    """
    environ = environ or {}
    given, findings = read_given(flags or {}, inputs or {}, environ)
    problems = list(findings)
    document = None
    name = _file_name(workspace, file, given, use_default_file=use_default_file)
    if name is not None:
        try:
            document = _document(workspace, name)
        except ConfigurationError as wrong:
            problems += wrong.findings or (_problem(str(wrong)),)
    if document is not None:
        problems += _file_problems(document)
    source = Source(document=document, given=given, environ=environ, resolve_secrets=resolve_secrets, findings=[])
    settings = _build(source, known_rules)
    for finding in source.findings:
        # One problem a place: a value that cannot be read would otherwise be refused again for what replaces it.
        if finding.location is None or all(finding.location != other.location for other in problems):
            problems.append(finding)
    if problems:
        raise ConfigurationError(findings=sort_findings(problems))
    warnings = (*settings.warnings, *warn_unread(environ, frozenset(source.named)))
    return replace(settings, file=name, fingerprint=policy_fingerprint(settings), warnings=warnings)


def settings_schema() -> Mapping[str, Json]:
    """The JSON Schema of the file, as shipped."""
    schema: Mapping[str, Json] = json.loads(files(__package__).joinpath("settings.schema.json").read_text("utf-8"))
    return schema


def _build(source: Source, known_rules: KnownRules | None) -> Settings:
    root = Section(source=source, value=source.document.value if source.document is not None else None)
    sessions = read_sessions(root.section("sessions"))
    settings = Settings(
        agent=read_agent(root.section("agent")),
        sessions=sessions,
        contracts=read_contracts(root.section("contracts"), known_rules),
        verify=root.from_file("verify", values.as_is, {}),
        judges=read_judges(root),
        targets=root.from_file("targets", read_lists, {}),
        budget=read_budget(root.section("budget")),
        report=read_report(root.section("report")),
        canary=read_canary(root.section("canary")),
        evidence=read_evidence(root.section("evidence")),
        allow_commands=root.get("allow_commands", values.boolean, source.environ.get("GITHUB_ACTIONS") != "true"),
        threshold_policy=root.from_file("threshold_policy", values.choice("note", "block"), "note"),
        github_token=root.secret("github_token"),
        warnings=tuple(_policy_warnings(root)),
    )
    secrets = {secret.value: secret for secret in (*source.secrets, *_credential_variables(sessions.variables))}
    return replace(settings, secrets=tuple(secrets.values()))


def _file_name(
    workspace: Workspace, file: str | None, given: Mapping[str, Given], *, use_default_file: bool
) -> str | None:
    if file:
        return file
    if "file" in given:
        return str(given["file"].value)
    if use_default_file:
        return next((name for name in DEFAULT_FILES if workspace.is_file(name)), None)
    return None


def _document(workspace: Workspace, name: str) -> LocatedDocument:
    documents = parse_documents(workspace.read_bytes(name), name)
    if len(documents) != 1 or not isinstance(documents[0].value, dict):
        what = "is empty" if not documents else "is not one mapping of settings"
        raise ConfigurationError(f"{name} {what}.", hint="A configuration starts with `version: 1`.")
    return documents[0]


def _file_problems(document: LocatedDocument) -> list[Finding]:
    """Secrets written down, then everything else that the schema refuses."""
    secrets = list(_written_secrets(document))
    places = {finding.location for finding in secrets}
    schema = dict(settings_schema())
    schema["$defs"] = {**schema["$defs"], **dict.fromkeys(_READ_IN_WORDS, True)}
    found = find_schema_errors(document, schema, rule="wrong-setting")
    return secrets + [finding for finding in found if finding.location not in places]


def _written_secrets(document: LocatedDocument) -> Iterator[Finding]:
    for place in _SECRET_PLACES:
        value = document.value
        for step in place:
            value = value.get(step) if isinstance(value, dict) else None
        entries = [((*place, i), item) for i, item in enumerate(value)] if isinstance(value, list) else [(place, value)]
        for path, mapping in entries:
            for key in mapping if isinstance(mapping, dict) else ():
                if key in _SECRET_KEYS:
                    yield Finding(
                        rule="written-secret",
                        severity=Severity.ERROR,
                        message=f"`{key}`: a secret may not stand in this file.",
                        location=document.key_location((*path, key)),
                        subject=".".join(map(str, (*path, key))),
                        hint=f"Put it in an environment variable and name that in {key}_env.",
                    )


def _policy_warnings(root: Section) -> Iterator[Finding]:
    for entry in root.section("sessions").entries("policy", option_path="sessions.policy.*"):
        if entry.raw("pass_rate") in (0, "0", "0%"):
            yield Finding(
                rule="policy-never-fails",
                severity=Severity.WARNING,
                message="A pass_rate of 0 lets every trial fail.",
                location=entry.location("pass_rate"),
                subject="sessions.policy",
                hint="Use quarantine to run a session without gating.",
            )


def _credential_variables(variables: Mapping[str, Json]) -> Iterator[Secret]:
    for name, value in variables.items():
        if _CREDENTIAL_NAME.search(name) and isinstance(value, str) and len(value) >= 6:
            yield Secret(value, f"variable {name}")


def _problem(message: str) -> Finding:
    return Finding(rule="wrong-setting", severity=Severity.ERROR, message=message)
