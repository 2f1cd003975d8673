"""A cursor over the configuration: every value from its strongest source, every problem kept with its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

from msgspec import Struct, field

from abs_gate.findings import Finding, Json, Location, Severity
from abs_gate.settings import values
from abs_gate.settings.given import Given
from abs_gate.settings.model import Secret
from abs_gate.sources.located import LocatedDocument

Value = TypeVar("Value")
Path = tuple[str | int, ...]


class Source(Struct, frozen=True, kw_only=True):
    """Everything settings are read from, and where what is wrong is collected."""

    document: LocatedDocument | None
    given: Mapping[str, Given]
    environ: Mapping[str, str]
    resolve_secrets: bool
    findings: list[Finding]
    secrets: list[Secret] = field(default_factory=list)
    named: set[str] = field(default_factory=set)
    """Environment variables that the file names."""


class Section(Struct, frozen=True, kw_only=True):
    """One mapping of the configuration."""

    source: Source
    path: Path = ()
    value: Json = None
    """The mapping as the file has it; anything else counts as empty, as the schema has already refused it."""
    option_path: str = ""
    """The same place in the table of options; entries of the policy share one."""

    def get(self, key: str, read: Callable[[Json], Json], default: Value) -> Value:
        """The value of a key: given outside, else from the file, else the default."""
        given = self.given(key)
        if given is not None:
            return given.value  # type: ignore[no-any-return]
        return self.from_file(key, read, default)

    def from_file(self, key: str, read: Callable[[Json], Json], default: Value) -> Value:
        """The value of a key as the file has it; null counts as not written."""
        raw = self.raw(key)
        if raw is None:
            return default
        try:
            return read(raw)  # type: ignore[no-any-return]
        except ValueError as problem:
            self.refuse(key, str(problem))
            return default

    def given(self, key: str) -> Given | None:
        """What was given for a key as flag, input or environment."""
        return self.source.given.get(f"{self.option_path}.{key}".lstrip("."))

    def raw(self, key: str) -> Json:
        """The value as the file has it, or None."""
        return self.value.get(key) if isinstance(self.value, Mapping) else None

    def section(self, key: str) -> Section:
        """A mapping inside this one; an empty one where there is none."""
        return Section(
            source=self.source,
            path=(*self.path, key),
            value=self.raw(key),
            option_path=f"{self.option_path}.{key}".lstrip("."),
        )

    def entries(self, key: str, option_path: str = "") -> Iterator[Section]:
        """The mappings of a list."""
        items = self.raw(key)
        for index, item in enumerate(items if isinstance(items, (list, tuple)) else ()):
            yield Section(source=self.source, path=(*self.path, key, index), value=item, option_path=option_path)

    def location(self, *steps: str | int) -> Location | None:
        """The place of a value in this section; None when settings come from no file."""
        document = self.source.document
        return document.location((*self.path, *steps)) if document is not None else None

    def origin(self, key: str) -> str:
        """Who gave a key: flag, input, environment or file."""
        given = self.given(key)
        return given.kind if given is not None else "file"

    def refuse(self, key: str, problem: str, *, hint: str = "") -> None:
        """Note that a key's value is wrong, under the name and at the place it came from."""
        given = self.given(key)
        written = isinstance(self.value, Mapping) and key in self.value
        place = self.location(key) if written and given is None else None
        if place is None and given is None:
            place = self.location() if self.value is not None else None
        name = given.name if given is not None else _dotted((*self.path, key))
        self.source.findings.append(
            Finding(
                rule="wrong-setting",
                severity=Severity.ERROR,
                message=f"{name}: {problem}",
                location=place,
                subject=f"{self.option_path}.{key}".lstrip("."),
                hint=hint,
            )
        )

    def secret(self, key: str, read: Callable[[Json], str] = values.header_value) -> Secret | None:
        """A secret: given directly, or from the environment variable that the file names in `<key>_env`."""
        given = self.given(key)
        if given is not None:
            return self._keep(Secret(str(given.value), given.name))
        return self.secret_named(f"{key}_env", self.raw(f"{key}_env"), read)

    def secret_named(self, key: str, name: Json, read: Callable[[Json], str] = values.header_value) -> Secret | None:
        """The value of the environment variable that a key names; missing and unfit ones are reported."""
        if name is None:
            return None
        try:
            values.environment_name(name)
        except ValueError as problem:
            self.refuse(key, str(problem))
            return None
        self.source.named.add(name)
        if not self.source.resolve_secrets:
            return None
        value = self.source.environ.get(name, "")
        if not value.strip():
            self.refuse(
                key,
                f"The environment variable {name[:80]} is not set, or is empty.",
                hint="Pass the secret to the step as that variable; pull requests from forks do not have it.",
            )
            return None
        return self.secret_from(name, key=key, value=value, read=read)

    def secret_from(
        self, name: str, *, key: str, value: str, read: Callable[[Json], str] = values.header_value
    ) -> Secret | None:
        """The value of an environment variable as a secret; an unfit one is reported at `key`, and never shown."""
        try:
            return self._keep(Secret(read(value), f"env:{name}"))
        except values.NotShown as problem:
            self.refuse(key, f"The environment variable {name[:80]} cannot be used: {problem}")
            return None

    def secret_names(self) -> frozenset[str]:
        """The environment variables that this mapping and those in it name as secrets."""
        return frozenset(_named(self.value))

    def _keep(self, secret: Secret) -> Secret:
        self.source.secrets.append(secret)
        return secret


def _named(value: Json) -> Iterator[str]:
    for key, item in value.items() if isinstance(value, Mapping) else ():
        if key.endswith("_env"):
            names = item.values() if isinstance(item, Mapping) else (item,)
            yield from (name for name in names if isinstance(name, str))
        else:
            yield from _named(item)


def _dotted(path: Path) -> str:
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).lstrip(".")
