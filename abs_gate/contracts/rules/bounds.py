"""Bounds of numbers, lengths and counts: one pair of rules for each kind of bound."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from abs_gate.contracts.facts import Fact, SchemaPair
from abs_gate.contracts.plain import Plain
from abs_gate.contracts.rules.registry import COMPATIBLE, UNCHANGED, Direction, schema_rule
from abs_gate.contracts.schemas.values import exact
from abs_gate.contracts.wording import show
from abs_gate.findings import Json

SAFE_INTEGER = 2**53 - 1


class _Bound(NamedTuple):
    """One bound: its keywords, what it bounds in words, what tighter and looser ones do, its two rules."""

    area: str
    keyword: str
    exclusive: str | None
    is_lower: bool
    what: str
    smaller: str
    """The values on its far side, in words."""
    holder: Json
    """A schema the bound can stand in, for the examples."""
    narrow: str
    wide: str

    @property
    def of(self) -> str:
        """What it bounds: `imum` of numbers, `Length`, `Items`, ..."""
        return self.keyword[3:]


_LIST = {"type": "array", "items": {"type": "string"}}
_TYPES = {"numbers": "number", "strings": "string", "lists": "array", "objects": "object"}
_HOLDERS: Mapping[str, Json] = {
    "numbers": {"type": "number"},
    "strings": {"type": "string"},
    "lists": _LIST,
    "objects": {"type": "object"},
    "contains": {**_LIST, "contains": {"const": "x"}},
}


def _bound(keyword: str, what: str, smaller: str, name: str, *, area: str, example: str = "") -> _Bound:
    is_lower = keyword.startswith("min")
    names = (f"{name}_raised", f"{name}_lowered") if is_lower else (f"{name}_lowered", f"{name}_raised")
    exclusive = {"minimum": "exclusiveMinimum", "maximum": "exclusiveMaximum"}.get(keyword)
    return _Bound(area, keyword, exclusive, is_lower, what, smaller, _HOLDERS[example or area], *names)


_BOUNDS = (
    _bound("minimum", "The smallest accepted number", "smaller numbers", "minimum", area="numbers"),
    _bound("maximum", "The largest accepted number", "larger numbers", "maximum", area="numbers"),
    _bound("minLength", "The least length of the text", "shorter texts", "min_length", area="strings"),
    _bound("maxLength", "The greatest length of the text", "longer texts", "max_length", area="strings"),
    _bound("minItems", "The least number of items", "shorter lists", "min_items", area="lists"),
    _bound("maxItems", "The greatest number of items", "longer lists", "max_items", area="lists"),
    _bound(
        "minContains", "The least number of matches", "other lists", "min_contains", area="lists", example="contains"
    ),
    _bound("maxContains", "The most matches", "other lists", "max_contains", area="lists", example="contains"),
    _bound("minProperties", "The least number of properties", "smaller objects", "min_properties", area="objects"),
    _bound("maxProperties", "The greatest number of properties", "larger objects", "max_properties", area="objects"),
)


def _limit(form: Plain, bound: _Bound) -> tuple[Json, bool] | None:
    """Return the effective bound and whether it is exclusive, None without one."""
    inclusive = form.scalars.get(bound.keyword)
    exclusive = form.scalars.get(bound.exclusive) if bound.exclusive else None
    written: tuple[tuple[Json, bool], ...] = ((inclusive, False), (exclusive, True))
    candidates = [(value, flag) for value, flag in written if _is_number(value)]
    if not candidates:
        return None
    sign = 1 if bound.is_lower else -1
    return max(candidates, key=lambda candidate: (sign * exact(candidate[0]), candidate[1]))


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _compare(pair: SchemaPair, bound: _Bound) -> tuple[str, str, bool] | None:
    """Return the bound on both sides in words and whether it is tighter now; None when it stayed."""
    old, new = _limit(pair.old, bound), _limit(pair.new, bound)
    if _came_from_generator(pair, bound.keyword):
        return None
    if old == new or (old and new and exact(old[0]) == exact(new[0]) and old[1] == new[1]):
        return None
    if bound.keyword.endswith("Contains") and {"contains"} - (pair.old.single.keys() & pair.new.single.keys()):
        return None
    if old is None or new is None:
        is_tighter = old is None
        if bound.keyword == "minContains":
            # Without the keyword at least one item has to match.
            is_tighter = exact((new or old or (1, False))[0]) > 1 if old is None else exact(old[0]) < 1
    else:
        sign = 1 if bound.is_lower else -1
        is_tighter = (sign * exact(new[0]), new[1]) > (sign * exact(old[0]), old[1])
    return _words(old), _words(new), is_tighter


def _is_empty(form: Plain, bound: _Bound) -> bool:
    """Tell whether the lower bound has passed the upper one."""
    opposite = next((each for each in _BOUNDS if each.of == bound.of and each.is_lower is not bound.is_lower), bound)
    limits = _limit(form, bound), _limit(form, opposite)
    lower, upper = limits if bound.is_lower else limits[::-1]
    if lower is None or upper is None:
        return False
    low, high = exact(lower[0]), exact(upper[0])
    return low > high or (low == high and (lower[1] or upper[1]))


def _words(limit: tuple[Json, bool] | None) -> str:
    if limit is None:
        return "none"
    return f"{show(limit[0])}{' (itself excluded)' if limit[1] else ''}"


def _value(form: Plain, bound: _Bound) -> Json:
    limit = _limit(form, bound)
    return None if limit is None else limit[0]


def is_safe_integer_bound(form: Plain, keyword: str) -> bool:
    """Tell whether a bound is the one that generators write for whole numbers a double holds exactly."""
    return form.scalars.get(keyword) == {"maximum": SAFE_INTEGER, "minimum": -SAFE_INTEGER}.get(keyword, "")


def _came_from_generator(pair: SchemaPair, keyword: str) -> bool:
    """Tell whether a bound of safe integers came or went where there is no other."""
    before, after = pair.scalar(keyword)
    return (before is None and is_safe_integer_bound(pair.new, keyword)) or (
        after is None and is_safe_integer_bound(pair.old, keyword)
    )


def _finder(bound: _Bound, *, tighter: bool) -> Callable[[SchemaPair], Iterator[Fact]]:
    def find(pair: SchemaPair) -> Iterator[Fact]:
        change = _compare(pair, bound)
        if change and change[2] is tighter:
            yield Fact(
                message=f"{bound.what} went from {change[0]} to {change[1]}.",
                before=_value(pair.old, bound),
                after=_value(pair.new, bound),
                keywords=(bound.keyword, *([bound.exclusive] if bound.exclusive else [])),
                notes=("Nothing can satisfy this any more.",) if tighter and _is_empty(pair.new, bound) else (),
            )

    effect = f"{bound.smaller} {'are refused' if tighter else 'are accepted, and may come in results'}"
    verb = "was raised or set" if tighter is bound.is_lower else "was lowered or set"
    verb = verb if tighter else verb.replace("set", "dropped")
    who = (
        "What models and saved calls sent within the old bound is refused."
        if tighter
        else "Harmless for arguments; consumers of results have to expect it."
    )
    find.__doc__ = f"{bound.what} (`{bound.keyword}`) {verb}: {effect}.\n\n{who}"
    return find


def _enter(bound: _Bound) -> None:
    loose, tight = (1, 3) if bound.is_lower else (3, 1)
    loose_schema, tight_schema = ({**bound.holder, bound.keyword: value} for value in (loose, tight))
    same = {**bound.holder, bound.keyword: float(loose)}
    schema_rule(
        bound.narrow,
        area=bound.area,
        direction=Direction.NARROWS,
        of=_TYPES[bound.area],
        mirror=bound.wide,
        fix="Keep accepting what was accepted, or tighten the bound in a new tool version.",
        bad=(loose_schema, tight_schema),
        good=(loose_schema, same),
    )(_finder(bound, tighter=True))
    schema_rule(
        bound.wide,
        area=bound.area,
        direction=Direction.WIDENS,
        of=_TYPES[bound.area],
        mirror=bound.narrow,
        fix="For results: keep the promise, or announce the wider range in a new tool version.",
        bad=(tight_schema, loose_schema),
        good=(same, loose_schema),
    )(_finder(bound, tighter=False))


for _each in _BOUNDS:
    _enter(_each)


@schema_rule(
    "safe_integer_bound_changed",
    area="numbers",
    grades=(COMPATIBLE, UNCHANGED),
    of="number",
    no_mirror="its own opposite",
    fix="Nothing: the bound comes from a schema generator.",
    bad=({"type": "integer"}, {"type": "integer", "maximum": SAFE_INTEGER}),
    good=({"type": "integer"}, {"type": "integer"}),
)
def safe_integer_bound_changed(pair: SchemaPair) -> Iterator[Fact]:
    """The bound 9007199254740991 (largest whole number a double holds exactly) came or went.

    Schema generators write it of their own accord. Formally it narrows; no caller sends larger numbers.
    """
    for keyword in ("minimum", "maximum"):
        before, after = pair.scalar(keyword)
        if _came_from_generator(pair, keyword):
            yield Fact(
                message=f"`{keyword}` {show(after if before is None else before)} "
                f"{'came' if before is None else 'went'}: a generator's bound.",
                before=before,
                after=after,
            )


@schema_rule(
    "multiple_of_changed",
    area="numbers",
    direction=Direction.EITHER,
    of="number",
    no_mirror="its own opposite",
    fix="Accept every number that was accepted, and round in the tool.",
    bad=({"type": "integer", "multipleOf": 4}, {"type": "integer", "multipleOf": 6}),
    good=({"type": "integer"}, {"type": "number", "multipleOf": 1}),
)
def multiple_of_changed(pair: SchemaPair) -> Iterator[Fact]:
    """`multipleOf` was set, dropped or changed.

    Numbers that are no multiple of the new step are refused; what the old step ruled out may come in results.
    """
    before, after = pair.scalar("multipleOf")
    is_same = _is_number(before) and _is_number(after) and exact(before) == exact(after)
    if before != after and not is_same:
        yield Fact(
            message=f"`multipleOf` went from {_step(before)} to {_step(after)}.",
            before=before,
            after=after,
            keywords=("multipleOf",),
        )


def _step(value: Json) -> str:
    return "none" if value is None else show(value)
