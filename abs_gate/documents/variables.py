"""Values for placeholders, and the order in which sources are asked.

Nearest earlier capture > dataset row > `--var` > `ABS_VAR_*` > configuration; a bare column name comes last, where no
other variable has the name. Values are put in once: what a value itself holds is never expanded.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate.documents.model import Case
from abs_gate.documents.placeholders import OPENING, Placeholder, split_template
from abs_gate.findings import Json
from abs_gate.sources.suggest import did_you_mean, nearest

ENVIRONMENT_PREFIX = "ABS_VAR_"
_MISSING = object()
_SPECIAL = re.compile(r"[\\.+*?()|\[\]{}^$\-#&~]")


class VariableError(ValueError):
    """A placeholder that cannot be resolved, in words."""


class UnknownVariable(VariableError):
    """No source has the variable."""

    def __init__(self, name: str, nearest: str | None = None) -> None:
        self.name = name
        self.nearest = nearest
        hint = did_you_mean(name, (nearest,)) if nearest else ""
        super().__init__(f"No value for the variable `{name[:80]}`.{hint}")


class BadPlaceholder(VariableError):
    """Double braces that are no placeholder."""

    def __init__(self, text: str) -> None:
        super().__init__(
            f"`{text[:40]}` is not a placeholder: write `{{{{name}}}}` with letters, digits, `_`, `.`, `-`."
        )


class Scope(Struct, frozen=True, kw_only=True):
    """Every source of variables at one point of a session."""

    captures: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    row: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Columns of the dataset row, by plain column name."""
    dataset_id: str | None = None
    """The namespace of the columns: `{{cases.id}}`."""
    variables: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """Given by `--var`."""
    environment: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    """`ABS_VAR_*`, the prefix removed."""
    configuration: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))

    def for_case(self, case: Case) -> Scope:
        """The scope in which a case begins: its row, and no captures."""
        dataset = case.session.dataset
        return replace(self, captures={}, row=case.values, dataset_id=dataset.id if dataset else None)

    def with_captures(self, captured: Mapping[str, Json]) -> Scope:
        """The scope after a behavior captured values; a name captured again takes its new value."""
        return replace(self, captures={**self.captures, **captured}) if captured else self

    def lookup(self, name: str) -> Json:
        """The value of a variable. A dotted name may reach into an object, or by number into a list.

        Raises:
            UnknownVariable: no source has it.
        """
        for source, key in self._sources(name):
            value = _find(source, key)
            if value is not _MISSING:
                return value
        raise UnknownVariable(name, nearest(name, self.names()))

    def names(self) -> Iterator[str]:
        """Every name that `lookup` knows, nested ones left out."""
        yield from self.captures
        if self.dataset_id is not None:
            yield from (f"{self.dataset_id}.{column}" for column in self.row)
        for source in (self.variables, self.environment, self.configuration, self.row):
            yield from source

    def values(self) -> dict[str, Json]:
        """Name to value for every name in scope."""
        return {name: self.lookup(name) for name in self.names()}

    def resolve(self, value: Json) -> Json:
        """The value with every placeholder replaced, at any depth, in keys too.

        A text that is exactly one placeholder becomes the variable's value, type kept; inside a longer text the
        value is rendered as text.

        Raises:
            VariableError: a variable without a source, or braces that are no placeholder.
        """
        if isinstance(value, str):
            if OPENING not in value:
                return value
            parts = split_template(value)
            if len(parts) == 1:
                return self._value(parts[0])
            return "".join(part if isinstance(part, str) else as_text(self._value(part)) for part in parts)
        if isinstance(value, list | tuple):
            return [self.resolve(item) for item in value]
        if isinstance(value, Mapping):
            return self._resolve_mapping(value)
        return value

    def resolve_text(self, text: str) -> str:
        """The text with every placeholder replaced, always as text."""
        return as_text(self.resolve(text))

    def resolve_pattern(self, pattern: str) -> str:
        """The pattern with every placeholder replaced; values inside a longer pattern count as literal text.

        A pattern that is exactly one placeholder is taken from its variable as it is.
        """
        parts = split_template(pattern)
        if len(parts) == 1:
            return self.resolve_text(pattern)
        return "".join(part if isinstance(part, str) else escape_pattern(as_text(self._value(part))) for part in parts)

    def _sources(self, name: str) -> Iterator[tuple[Mapping[str, Json], str]]:
        yield self.captures, name
        if self.dataset_id is not None and name.startswith(f"{self.dataset_id}."):
            yield self.row, name[len(self.dataset_id) + 1 :]
        for source in (self.variables, self.environment, self.configuration, self.row):
            yield source, name

    def _value(self, part: str | Placeholder) -> Json:
        if isinstance(part, str):
            return part
        if not part.is_valid:
            raise BadPlaceholder(part.text)
        return self.lookup(part.name)

    def _resolve_mapping(self, value: Mapping[str, Json]) -> dict[str, Json]:
        resolved: dict[str, Json] = {}
        for key, child in value.items():
            name = self.resolve_text(key)
            if name in resolved:
                raise VariableError(f"Two keys come to the same name `{name[:60]}` once variables are put in.")
            resolved[name] = self.resolve(child)
        return resolved


def _find(source: Mapping[str, Json], name: str) -> Json:
    """The longest name that the source has, and from there the rest of the dotted path; or _MISSING."""
    if name in source:
        return source[name]
    head = name
    while "." in head:
        head = head.rpartition(".")[0]
        if head in source:
            value = _reach(source[head], name[len(head) + 1 :])
            if value is not _MISSING:
                return value
    return _MISSING


def _reach(value: Json, path: str) -> Json:
    if isinstance(value, Mapping):
        return _find(value, path)
    if isinstance(value, list | tuple):
        index, _, rest = path.partition(".")
        if index.isascii() and index.isdigit() and len(index) < 10 and int(index) < len(value):
            item = value[int(index)]
            return _reach(item, rest) if rest else item
    return _MISSING


def as_text(value: Json) -> str:
    """A value inside a text: text as it is, everything else as JSON (`true`, `null`, `1.5`, `{"a": 1}`)."""
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=dict)


def escape_pattern(text: str) -> str:
    """The text as a pattern that matches just it, in every pattern engine (`re.escape` also escapes blanks)."""
    return _SPECIAL.sub(r"\\\g<0>", text)


def environment_variables(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables given as `ABS_VAR_name=value`."""
    return {
        name.removeprefix(ENVIRONMENT_PREFIX): value
        for name, value in environ.items()
        if name.startswith(ENVIRONMENT_PREFIX) and name != ENVIRONMENT_PREFIX
    }
