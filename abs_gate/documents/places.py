"""A value under construction: where it stands in which document, and the errors found on the way."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from msgspec import Struct

from abs_gate.errors import ConfigurationError
from abs_gate.findings import Finding, Json, Location, Severity, sort_findings
from abs_gate.sources.excerpt import excerpt, type_name
from abs_gate.sources.located import LocatedDocument
from abs_gate.sources.suggest import did_you_mean


class Problems:
    """Collects findings over all files of a load; the same one found twice counts once."""

    MAX_ERRORS = 200

    def __init__(self) -> None:
        self._errors: dict[tuple[str, str, str], Finding] = {}
        self._warnings: dict[tuple[str, str, str], Finding] = {}

    def error(self, rule: str, location: Location, message: str, hint: str = "", *, subject: str = "") -> None:
        """Note something that makes the load fail."""
        self.add(
            Finding(rule=rule, severity=Severity.ERROR, message=message, hint=hint, location=location, subject=subject)
        )

    def warn(self, rule: str, location: Location, message: str, hint: str = "", *, subject: str = "") -> None:
        """Note something that is probably not meant."""
        self.add(
            Finding(
                rule=rule, severity=Severity.WARNING, message=message, hint=hint, location=location, subject=subject
            )
        )

    def add(self, finding: Finding) -> None:
        """Note a finding made elsewhere."""
        found = self._errors if finding.severity is Severity.ERROR else self._warnings
        found.setdefault((finding.rule, str(finding.location), finding.message), finding)
        if len(self._errors) >= self.MAX_ERRORS:
            self.raise_errors()

    def raise_errors(self) -> None:
        """Raises ConfigurationError with every error noted, if any; at the two-hundredth without being asked."""
        if self._errors:
            raise ConfigurationError(findings=sort_findings(self._errors.values()))

    @property
    def warnings(self) -> tuple[Finding, ...]:
        return sort_findings(self._warnings.values())


class Place(Struct, frozen=True):
    """One value of a document."""

    document: LocatedDocument
    path: tuple[str | int, ...]
    value: Json

    @classmethod
    def of(cls, document: LocatedDocument) -> Place:
        """The whole document."""
        return cls(document, (), document.value)

    @property
    def location(self) -> Location:
        return self.document.location(self.path)

    @property
    def key_location(self) -> Location:
        return self.document.key_location(self.path)

    def get(self, key: str) -> Place | None:
        """The value under a key of a mapping, or None."""
        if isinstance(self.value, dict) and key in self.value:
            return Place(self.document, (*self.path, key), self.value[key])
        return None

    def entries(self) -> Iterator[tuple[str, Place]]:
        """The keys of a mapping with their values' places."""
        for key, value in self.value.items():
            yield key, Place(self.document, (*self.path, key), value)

    def items(self) -> Iterator[Place]:
        """The entries of a list."""
        for index, value in enumerate(self.value):
            yield Place(self.document, (*self.path, index), value)


class Reader:
    """Typed reading of a mapping's keys. Every misfit is noted, and reading goes on."""

    def __init__(self, problems: Problems) -> None:
        self.problems = problems

    def mapping(self, place: Place, what: str) -> bool:
        """Whether the value is a mapping; notes that it is none."""
        return self._is(place, dict, what, "a mapping")

    def unknown_keys(self, place: Place, known: Collection[str], what: str) -> None:
        """Note every key that has no meaning here, with the nearest that has one."""
        for key, child in place.entries():
            if key not in known:
                hint = did_you_mean(key, known).strip()
                self.problems.error(
                    "unknown-key",
                    child.key_location,
                    f"Unknown key {excerpt(key)} in {what}.",
                    hint or f"Keys here: {', '.join(known)}.",
                )

    def text(self, place: Place, key: str, what: str, *, required: bool = False) -> str | None:
        """A text, or None when absent or not a text."""
        child = place.get(key)
        if child is None:
            if required:
                self.missing(place, key, what)
            return None
        if not isinstance(child.value, str):
            quote = isinstance(child.value, int | float)
            hint = "Put it in quotes if it is meant as text." if quote else ""
            self.wrong_type(child, f"`{key}` of {what}", "text", hint)
            return None
        if not child.value.strip():
            self.problems.error("empty-value", child.location, f"`{key}` of {what} is empty.")
            return None
        return child.value

    def flag(self, place: Place, key: str, what: str) -> bool:
        """A true or false; False when absent or neither."""
        child = place.get(key)
        if child is None:
            return False
        if not isinstance(child.value, bool):
            hint = ""
            if isinstance(child.value, str) and child.value.lower() in ("yes", "no", "on", "off", "y", "n"):
                hint = "In YAML 1.2 yes, no, on and off are text: write true or false."
            self.wrong_type(child, f"`{key}` of {what}", "true or false", hint)
            return False
        return child.value

    def list_of(self, place: Place, key: str, what: str, *, required: bool = False) -> list[Place]:
        """The entries of a list; none when absent or no list."""
        child = place.get(key)
        if child is None:
            if required:
                self.missing(place, key, what)
            return []
        if not self._is(child, list, f"`{key}` of {what}", "a list"):
            return []
        return list(child.items())

    def map_of(self, place: Place, key: str, what: str) -> dict[str, Json] | None:
        """A mapping, or None when absent or no mapping."""
        child = place.get(key)
        if child is None or not self._is(child, dict, f"`{key}` of {what}", "a mapping"):
            return None
        value: dict[str, Json] = child.value
        return value

    def missing(self, place: Place, key: str, what: str) -> None:
        """Note a key that must be there."""
        self.problems.error("missing-key", place.location, f"`{key}` is missing in {what}.")

    def wrong_type(self, place: Place, what: str, wanted: str, hint: str = "") -> None:
        """Note a value of the wrong kind."""
        found = type_name(place.value)
        shown = "" if place.value is None or isinstance(place.value, list | dict) else f" ({excerpt(place.value, 40)})"
        if found == "true or false":
            found, shown = excerpt(place.value), ""
        self.problems.error("wrong-type", place.location, f"{what} must be {wanted}, not {found}{shown}.", hint)

    def _is(self, place: Place, kind: type, what: str, wanted: str) -> bool:
        if isinstance(place.value, kind):
            return True
        self.wrong_type(place, what, wanted)
        return False
