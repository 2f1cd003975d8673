"""Reads entries of `evaluations:`. Which types exist and what they hold is told by the evaluators' shapes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from abs_gate.documents.json_schema_check import check_json_schema
from abs_gate.documents.model import Evaluation
from abs_gate.documents.options import EvaluatorShape, LoadOptions
from abs_gate.documents.pattern_check import check_pattern
from abs_gate.documents.placeholders import has_placeholder
from abs_gate.documents.places import Place, Reader
from abs_gate.documents.vocabulary import COMPOSITIONS, EVALUATION_KEYS, OPEN_EVALUATOR, SHARED_FIELDS, SINCE_0_2
from abs_gate.documents.when import parse_when
from abs_gate.findings import Json, Location
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.schema_errors import find_schema_errors
from abs_gate.sources.suggest import did_you_mean, nearest

_LABELLED_BY = (
    "value",
    "pattern",
    "criteria",
    "target",
    "variable",
    "behavior",
    "id",
    "match",
    "order",
    "ground_truth",
)


MAX_ORDER = 1_000
"""Most entries of a `sequence`."""


class EvaluationReader:
    """Reads the evaluations of one document."""

    def __init__(self, reader: Reader, options: LoadOptions, version: str) -> None:
        self._reader = reader
        self._problems = reader.problems
        self._options = options
        self._version = version

    def read_all(self, place: Place, level: str, what: str) -> tuple[Evaluation, ...]:
        """The evaluations under a behavior (`step`) or a session (`session`)."""
        read = (self._read(entry, level) for entry in self._reader.list_of(place, "evaluations", what))
        return tuple(evaluation for evaluation in read if evaluation is not None)

    def _read(self, place: Place, level: str | None) -> Evaluation | None:
        if not self._reader.mapping(place, "An evaluation"):
            return None
        kind = self._reader.text(place, "type", "an evaluation", required=True)
        if kind is None:
            return None
        shape = self._shape(place, kind, level)
        if shape is None:
            return None
        what = f"`{kind}`"
        self._check_keys(place, kind, shape)
        fields = {key: value for key, value in place.value.items() if key not in (*EVALUATION_KEYS, "evaluations")}
        self._check_fields(place, kind, shape, fields)
        return Evaluation(
            type=kind,
            fields=MappingProxyType(fields),
            when=self._when(place, what),
            blocking=self._reader.flag(place, "blocking", what),
            threshold=self._threshold(place, what),
            adapter=self._adapter(place, what),
            children=self._children(place, what) if kind in COMPOSITIONS else (),
            location=place.location,
            label=_label(kind, place.value),
            places=places_of(place),
        )

    def _shape(self, place: Place, kind: str, level: str | None) -> EvaluatorShape | None:
        at = place.get("type")
        assert at is not None
        shape = self._options.evaluators.get(kind)
        if shape is None:
            self._problems.error(
                "unknown-evaluator",
                at.location,
                f"No evaluator is called {excerpt(kind)}.",
                did_you_mean(kind, self._options.evaluators).strip()
                or f"There are: {', '.join(sorted(self._options.evaluators))}.",
            )
            return None
        self._since_0_2(kind, at)
        if level is not None and level not in shape.levels:
            where = "under a behavior" if level == "step" else "under the session"
            other = "under the session, beside `behaviors:`" if level == "step" else "under the behavior it is about"
            self._problems.error(
                "wrong-level", at.location, f"`{kind}` cannot stand {where}.", f"Move it to `evaluations:` {other}."
            )
        return shape

    def _since_0_2(self, word: str, place: Place) -> None:
        if self._version == "0.1" and word in SINCE_0_2:
            self._problems.error(
                "needs-0.2",
                place.key_location if place.path[-1] == word else place.location,
                f"`{word}` exists since ABS 0.2, and this document is 0.1.",
                'Set abs_version: "0.2".',
            )

    def _check_keys(self, place: Place, kind: str, shape: EvaluatorShape) -> None:
        known = dict.fromkeys((*EVALUATION_KEYS, *shape.fields, *SHARED_FIELDS))
        if kind in COMPOSITIONS:
            known["evaluations"] = None
        if kind == OPEN_EVALUATOR:  # what its judge is handed besides is the author's; a slip of the pen is not
            known |= dict.fromkeys(key for key in place.value if nearest(key, known) is None)
        self._reader.unknown_keys(place, tuple(known), f"`{kind}`")

    def _check_fields(self, place: Place, kind: str, shape: EvaluatorShape, fields: dict[str, Json]) -> None:
        needed = (*shape.required, "evaluations") if kind in COMPOSITIONS else shape.required
        for key in dict.fromkeys(needed):
            if key not in place.value:
                self._problems.error("missing-key", place.location, f"`{kind}` needs `{key}`.")
        schemas = {key: schema for key, schema in shape.fields.items() if key in fields}
        if schemas:
            for finding in find_schema_errors(
                place.document,
                {"properties": schemas},
                rule="invalid-evaluation",
                path=place.path,
                accept=has_placeholder,
            ):
                self._problems.add(finding)
        at = place.get("pattern")
        if at is not None and isinstance(at.value, str):
            check_pattern(at, self._problems)
        at = place.get("variable")
        if kind == "variable_consistency" and at is not None and has_placeholder(at.value):
            message = f"`variable` takes a name, not a placeholder: {excerpt(at.value)}."
            self._problems.error("invalid-name", at.location, message, "Write it without braces.")
        at = place.get("schema")
        if at is not None and isinstance(at.value, dict | bool):
            check_json_schema(at, self._problems)
        at = place.get("order")
        if at is not None and at.value == []:
            self._problems.error("empty-value", at.location, f"`order` of `{kind}` is empty: it would check nothing.")
        if at is not None and isinstance(at.value, list) and len(at.value) > MAX_ORDER:
            self._problems.error("too-many-values", at.location, f"`order` has more than {MAX_ORDER:,} entries.")
            fields.pop("order")

    def _when(self, place: Place, what: str) -> str | None:
        at = place.get("when")
        if at is None:
            return None
        self._since_0_2("when", at)
        if isinstance(at.value, bool):  # `when: true` is a condition all the same
            return "true" if at.value else "false"
        text = self._reader.text(place, "when", what)
        if text is not None:
            try:
                parse_when(text)
            except ValueError as error:
                self._problems.error("invalid-when", at.location, f"`when` cannot be read: {error}")
        return text

    def _threshold(self, place: Place, what: str) -> float | None:
        at = place.get("threshold")
        if at is None:
            return None
        if isinstance(at.value, bool) or not isinstance(at.value, int | float):
            self._reader.wrong_type(at, f"`threshold` of {what}", "a number from 0 to 1")
            return None
        if not 0 <= at.value <= 1:
            self._problems.error(
                "invalid-evaluation",
                at.location,
                f"`threshold` of {what} must be from 0 to 1, not {excerpt(at.value)}.",
                "Scores are 0 to 1 whatever scale a judge uses.",
            )
            return None
        return float(at.value)

    def _adapter(self, place: Place, what: str) -> str | None:
        adapter = self._reader.text(place, "adapter", what)
        at = place.get("adapter")
        if adapter is None or at is None:
            return None
        if has_placeholder(adapter):
            self._problems.error("invalid-evaluation", at.location, "`adapter` cannot hold a placeholder.")
        elif self._options.adapters is not None and adapter not in self._options.adapters:
            known = ", ".join(sorted(self._options.adapters)) or "none"
            hint = did_you_mean(adapter, self._options.adapters).strip() or f"Judges configured: {known}."
            self._problems.error("unknown-adapter", at.location, f"No judge is called {excerpt(adapter)}.", hint)
        return adapter

    def _children(self, place: Place, what: str) -> tuple[Evaluation, ...]:
        entries = self._reader.list_of(place, "evaluations", what)
        at = place.get("evaluations")
        if at is not None and at.value == []:
            self._problems.error("empty-value", at.location, f"{what} holds no evaluations: it would check nothing.")
        children = (self._read(entry, None) for entry in entries)
        return tuple(child for child in children if child is not None)


def places_of(place: Place) -> Mapping[str, Location]:
    """The place of each key's value."""
    return MappingProxyType({key: child.location for key, child in place.entries()})


def walk_evaluations(evaluations: tuple[Evaluation, ...]) -> Iterator[Evaluation]:
    """Every evaluation, those nested in compositions included, parents first."""
    for evaluation in evaluations:
        yield evaluation
        yield from walk_evaluations(evaluation.children)


def _label(kind: str, value: Mapping[str, Json]) -> str:
    if kind in COMPOSITIONS and isinstance(value.get("evaluations"), list):
        return f"{kind} of {len(value['evaluations'])}"
    for key in _LABELLED_BY:
        if key in value:
            shown = _label_argument(value[key])
            return f"{kind} {shown}" if shown else kind
    return kind


def _label_argument(value: Json) -> str:
    if isinstance(value, dict):
        words = [part for key in ("actor", "action", "target", "id") if isinstance(part := value.get(key), str)]
        return " ".join(words)[:60]
    if isinstance(value, list):
        return " → ".join(filter(None, (_label_argument(item) for item in value[:4])))[:80]
    return excerpt(" ".join(value.split()) if isinstance(value, str) else value, 50)
