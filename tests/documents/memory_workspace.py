"""A workspace held in memory, and short ways to load documents from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from abs_gate.documents.load import EvaluatorShape, LoadedSessions, LoadOptions, load_sessions
from abs_gate.documents.model import Session
from abs_gate.errors import ConfigurationError

SELECTOR = {
    "type": "object",
    "properties": {key: {"type": "string"} for key in ("actor", "action", "target", "id")},
    "additionalProperties": False,
    "minProperties": 1,
}
STEP, SESSION = frozenset({"step"}), frozenset({"session"})
BOTH = STEP | SESSION


def shape(
    levels: frozenset[str], required: Sequence[str] = (), *, scores: bool = False, **fields: object
) -> EvaluatorShape:
    return EvaluatorShape(levels=levels, fields=fields, required=tuple(required), scores=scores)  # type: ignore[arg-type]


TEXT = {"type": "string"}
CHILDREN = {"type": "array"}
SHAPES: dict[str, EvaluatorShape] = {
    "exact_match": shape(STEP, ["value"], value={}),
    "contains": shape(STEP, ["value"], value={"type": ["string", "number"]}),
    "regex": shape(STEP, ["pattern"], pattern=TEXT),
    "schema": shape(STEP, ["schema"], schema={"type": ["object", "boolean"]}),
    "tool_call": shape(
        BOTH, target=TEXT, ordered={"type": "boolean"}, **{"with": {"type": "object"}, "with_only": {"type": "object"}}
    ),
    "llm_judge": shape(BOTH, ["criteria"], scores=True, criteria=TEXT, query=TEXT, response=TEXT),
    "custom": shape(BOTH, ["id"], scores=True, id=TEXT),
    "Groundedness": shape(BOTH, scores=True, query=TEXT, context=TEXT, response=TEXT),
    "sequence": shape(SESSION, ["order"], order={"type": "array", "items": SELECTOR}),
    "eventually": shape(SESSION, ["match"], match=SELECTOR),
    "never": shape(SESSION, ["match"], match=SELECTOR),
    "count": shape(SESSION, ["match"], match=SELECTOR, min={"type": "integer"}, max={"type": "integer"}),
    "within": shape(
        SESSION, ["match", "after", "max_steps"], match=SELECTOR, after=SELECTOR, max_steps={"type": "integer"}
    ),
    "variable_consistency": shape(SESSION, ["variable"], variable=TEXT),
    "expected": shape(SESSION, ["behavior"], behavior=TEXT, after=SELECTOR, reason=TEXT),
    "all_of": shape(BOTH, ["evaluations"], scores=True, evaluations=CHILDREN),
    "any_of": shape(BOTH, ["evaluations"], scores=True, evaluations=CHILDREN),
    "none_of": shape(BOTH, ["evaluations"], scores=True, evaluations=CHILDREN),
}
OPTIONS = LoadOptions(evaluators=SHAPES)


class MemoryWorkspace:
    """Files by path. Paths that leave the root are refused, as on disk."""

    def __init__(self, files: Mapping[str, str | bytes], piece: int = 7) -> None:
        self.files = {name: data.encode() if isinstance(data, str) else data for name, data in files.items()}
        self.piece = piece

    def _checked(self, path: str) -> str:
        if path.startswith("../"):
            raise ConfigurationError(f"`{path}` leads outside the workspace")
        return path

    def read_bytes(self, path: str, *, limit: int = 5 * 2**20) -> bytes:
        data = self.files[self._checked(path)]
        if len(data) > limit:
            raise ConfigurationError("too large")
        return data

    def read_chunks(self, path: str) -> Iterator[bytes]:
        data = self.files[self._checked(path)]
        for start in range(0, len(data), self.piece):
            yield data[start : start + self.piece]

    def is_file(self, path: str) -> bool:
        return self._checked(path) in self.files

    def is_directory(self, path: str) -> bool:
        prefix = "" if path == "." else f"{path}/"
        return any(name.startswith(prefix) for name in self.files)

    def list_files(self, path: str) -> tuple[str, ...]:
        prefix = "" if path == "." else f"{path}/"
        return tuple(sorted(name for name in self.files if name.startswith(prefix)))


def load_all(text: str | bytes, options: LoadOptions = OPTIONS, file: str = "s.abs.yaml") -> LoadedSessions:
    return load_sessions(MemoryWorkspace({file: text}), [file], options)


def load_one(text: str | bytes, options: LoadOptions = OPTIONS) -> Session:
    (session,) = load_all(text, options).sessions
    return session


def errors_of(text: str | bytes, options: LoadOptions = OPTIONS, file: str = "s.abs.yaml") -> list[str]:
    """Every error of a document, one line each; empty when it loads."""
    try:
        load_all(text, options, file)
    except ConfigurationError as error:
        return [str(finding) for finding in error.findings] or [str(error)]
    return []


def behaviors(body: str, **top: str) -> str:
    """A document around a list of behaviors."""
    lines = [f"{key}: {value}" for key, value in top.items()]
    head = "\n".join(["session: s", 'abs_version: "0.2"', *lines, "behaviors:"])
    return f"{head}\n{body}\n"
