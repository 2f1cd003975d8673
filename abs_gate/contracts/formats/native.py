"""The native artifact: everything an agent relies on, in one reviewed document."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from abs_gate.contracts.effective import UNDO_KEYS
from abs_gate.contracts.formats.entry import Entry
from abs_gate.contracts.model import Effect, ErrorSpec, SourceFormat, ToolContract, ToolPolicy
from abs_gate.contracts.places import Mount, PartPath, Places
from abs_gate.contracts.references import SchemaFiles
from abs_gate.findings import Json
from abs_gate.sources.suggest import did_you_mean

_TOP = frozenset(
    {
        *("tool_id", "tool_version", "provider", "model_surface", "errors", "policy", "runtime"),
        *("compatibility", "migration", "examples", "cases", "annotations"),
    }
)
_SURFACE = frozenset(
    {
        *("name", "title", "description", "examples", "annotations", "strict"),
        *("input_schema", "input_schema_ref", "output_schema", "output_schema_ref"),
    }
)
_POLICY = frozenset(
    {"required_scope", "required_scopes", "scopes", "effect", "approval", "idempotency_key", "tenant_boundary"}
)
_ERROR = frozenset({"code", "retryable", "user_action", "retry_after_source", "message"})
_SPOKEN_OF = frozenset({"errors_closed", "aliases", "deprecated", "deprecation", "sunset"})
"""Further keys that rules know."""
_EXTENSIONS = ("x-", "x_", "$")


def read(entry: Entry) -> ToolContract | None:
    """Read one artifact. Keys that are not known are kept, and named, since one may be a slip."""
    artifact = entry.value
    surface = entry.mapping(artifact, "model_surface")
    tool_id = entry.name(artifact, "tool_id")
    name = entry.name(surface, "model_surface", "name")
    if tool_id is None or name is None:
        return None
    _name_unknown_keys(entry, artifact, _TOP | _SPOKEN_OF)
    _name_unknown_keys(entry, surface, _SURFACE, "model_surface")
    input_schema, input_mounts = _schema(entry, surface, "input")
    output_schema, output_mounts = _schema(entry, surface, "output")
    errors, errors_at = _errors(entry)
    examples_at = ("model_surface", "examples") if "examples" in surface else ("examples",)
    return ToolContract(
        tool_id=tool_id,
        version=_version(entry),
        name=name,
        title=entry.text(surface, "model_surface", "title"),
        description=entry.text(surface, "model_surface", "description") or "",
        examples=surface["examples"] if "examples" in surface else artifact.get("examples"),
        input_schema=input_schema,
        output_schema=output_schema,
        strict=surface.get("strict") is True,
        errors=errors,
        policy=_policy(entry),
        annotations=entry.mapping(surface, "model_surface", "annotations") or entry.mapping(artifact, "annotations"),
        provider=entry.mapping(artifact, "provider"),
        runtime=entry.mapping(artifact, "runtime"),
        compatibility=entry.mapping(artifact, "compatibility"),
        migration=entry.mapping(artifact, "migration"),
        cases=_cases(entry),
        extra=MappingProxyType({**entry.rest(_TOP), **entry.rest(_SURFACE, surface)}),
        source=SourceFormat.NATIVE,
        places=Places(
            entry.document,
            entry.path,
            {
                ("version",): ("tool_version",),
                ("discovery",): ("model_surface",),
                ("discovery", "examples"): examples_at,
                **errors_at,
            },
            (*input_mounts, *output_mounts),
        ),
    )


def _version(entry: Entry) -> int | str | None:
    version = entry.value.get("tool_version")
    if version is None or (isinstance(version, int | str) and not isinstance(version, bool)):
        return version
    if isinstance(version, float):
        return str(version)
    entry.reading.fault(
        entry.document,
        entry.at("tool_version"),
        "contract-invalid",
        "`tool_version` is neither a number nor a text.",
        "Count versions: 1, 2, 3.",
    )
    return None


def _schema(entry: Entry, surface: Mapping[str, Json], side: str) -> tuple[Json, list[Mount]]:
    key, ref_key = f"{side}_schema", f"{side}_schema_ref"
    files = SchemaFiles(reading=entry.reading, prefix=(side,))
    if ref_key in surface and key in surface:
        entry.reading.fault(
            entry.document,
            entry.at("model_surface", ref_key),
            "contract-invalid",
            f"`{key}` and `{ref_key}` are both given: which of them is meant cannot be told.",
            "Keep one of them.",
        )
        return None, []
    if ref_key in surface:
        reference = entry.text(surface, "model_surface", ref_key)
        path = entry.at("model_surface", ref_key)
        if not reference:
            if reference == surface[ref_key]:
                entry.reading.fault(
                    entry.document,
                    path,
                    "contract-invalid",
                    f"`model_surface.{ref_key}` names no file.",
                    f"Name the file of the schema, or write the schema as `{key}`.",
                )
            return None, []
        return files.by_reference(entry.document, path, reference), files.mounts
    schema = entry.schema(surface, "model_surface", key, needed=side == "input")
    path = entry.at("model_surface", key)
    return files.inline(entry.document, path, schema), files.mounts


def _errors(entry: Entry) -> tuple[tuple[ErrorSpec, ...], dict[PartPath, PartPath]]:
    written = entry.value.get("errors")
    items: list[tuple[PartPath, str | None, Json]] = []
    if isinstance(written, Mapping):
        items = [(("errors", str(code)), str(code), spec if spec is not None else {}) for code, spec in written.items()]
    elif isinstance(written, list):
        items = [(("errors", index), None, spec) for index, spec in enumerate(written)]
    elif written is not None:
        entry.reading.fault(
            entry.document, entry.at("errors"), "contract-invalid", "`errors` is no list.", "Write `- code: NAME`."
        )
    errors: list[ErrorSpec] = []
    places: dict[PartPath, PartPath] = {("errors",): ("errors",)}
    seen: set[str] = set()
    for at, code, spec in items:
        error = _error(entry, at, code, spec)
        if error is None:
            continue
        if error.code in seen:
            entry.reading.fault(
                entry.document,
                entry.at(*at),
                "contract-invalid",
                f"The error code `{error.code}` is declared twice.",
                "Keep one declaration.",
            )
        seen.add(error.code)
        errors.append(error)
        places["errors", error.code] = at
    return tuple(errors), places


def _error(entry: Entry, at: PartPath, code: str | None, spec: Json) -> ErrorSpec | None:
    if isinstance(spec, str) and code is None:
        spec = {"code": spec}
    if isinstance(spec, Mapping):
        code = code if code is not None else spec.get("code")
    if not isinstance(spec, Mapping) or not isinstance(code, str) or not code.strip():
        entry.reading.fault(
            entry.document, entry.at(*at), "contract-invalid", "An error has no `code`.", "Write `code: NAME`."
        )
        return None
    retryable = spec.get("retryable")
    if retryable is not None and not isinstance(retryable, bool):
        entry.reading.fault(
            entry.document,
            entry.at(*at, "retryable"),
            "contract-invalid",
            f"`retryable` of error `{code}` is neither true nor false.",
            "Write true or false.",
        )
        retryable = None
    return ErrorSpec(
        code=code,
        retryable=retryable,
        user_action=entry.text(spec, *map(str, at), "user_action"),
        retry_after_source=entry.text(spec, *map(str, at), "retry_after_source"),
        message=entry.text(spec, *map(str, at), "message"),
        extra=entry.rest(_ERROR, spec),
    )


def _policy(entry: Entry) -> ToolPolicy:
    policy = entry.mapping(entry.value, "policy")
    _name_unknown_keys(entry, policy, _POLICY | {*UNDO_KEYS}, "policy")
    return ToolPolicy(
        required_scopes=_scopes(entry, policy),
        effect=_effect(entry, policy),
        approval=policy.get("approval"),
        idempotency_key=policy.get("idempotency_key"),
        tenant_boundary=entry.text(policy, "policy", "tenant_boundary"),
        extra=entry.rest(_POLICY, policy),
    )


def _scopes(entry: Entry, policy: Mapping[str, Json]) -> tuple[str, ...]:
    scopes: list[str] = []
    for key in ("required_scope", "required_scopes", "scopes"):
        value = policy.get(key)
        texts = [value] if isinstance(value, str) else value or []
        if not isinstance(texts, list) or not all(isinstance(scope, str) for scope in texts):
            entry.reading.fault(
                entry.document,
                entry.at("policy", key),
                "contract-invalid",
                f"`policy.{key}` is neither a scope nor a list of scopes.",
                "Write each scope as a text.",
            )
            continue
        scopes += [word for text in texts for word in text.split()]
    return tuple(sorted(set(scopes)))


def _effect(entry: Entry, policy: Mapping[str, Json]) -> Effect | None:
    effect = policy.get("effect")
    if effect is None:
        return None
    if isinstance(effect, str) and effect in set(Effect):
        return Effect(effect)
    word = str(effect)[:100]
    entry.reading.fault(
        entry.document,
        entry.at("policy", "effect"),
        "contract-invalid",
        f"`policy.effect` is `{word}`, which is no effect.{did_you_mean(word, list(Effect))}",
        f"Use one of: {', '.join(Effect)}.",
    )
    return None


def _cases(entry: Entry) -> tuple[Json, ...]:
    cases = entry.value.get("cases")
    if cases is None:
        return ()
    if isinstance(cases, list):
        return tuple(cases)
    entry.reading.fault(
        entry.document, entry.at("cases"), "contract-invalid", "`cases` is no list.", "Write `- name: ...`."
    )
    return ()


def _name_unknown_keys(entry: Entry, holder: Mapping[str, Json], known: frozenset[str], *steps: str) -> None:
    for key in holder:
        if key not in known and not str(key).startswith(_EXTENSIONS):
            where = f"`{'.'.join((*steps, str(key)[:100]))}`"
            entry.reading.oddity(
                entry.document,
                entry.at(*steps, key),
                "contract-unknown-key",
                f"{where} is no key of a tool contract, so nothing reads it.{did_you_mean(str(key), known)}",
                "Correct it, or begin it with `x-` if it is your own.",
            )
