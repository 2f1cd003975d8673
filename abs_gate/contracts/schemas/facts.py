"""Reads the keywords that speak about a value itself: type, enum, numbers, strings, sizes."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from abs_gate.contracts.schemas import build
from abs_gate.contracts.schemas.dialects import Dialect
from abs_gate.contracts.schemas.nodes import ItemCount, Length, MemberCount, Node
from abs_gate.contracts.schemas.regular.syntax import InvalidPattern, IrregularPattern, parse
from abs_gate.contracts.schemas.values import ARRAY, BOOLEAN, NULL, NUMBER, OBJECT, STRING, exact, type_of
from abs_gate.findings import Json

Schema = dict[str, Json]


class Malformed(ValueError):
    """A keyword whose value is not one its dialect allows; the message completes "must be"."""


_TYPES = {"null": NULL, "boolean": BOOLEAN, "number": NUMBER, "string": STRING, "array": ARRAY, "object": OBJECT}


def _number(value: Json) -> Fraction:
    if type_of(value) != NUMBER:
        raise Malformed("a number")
    try:
        return exact(value)
    except (ValueError, OverflowError):
        raise Malformed("a finite number") from None


def count(value: Json) -> int:
    """Return a size. Raises Malformed for anything but a whole number that is not negative."""
    number = _number(value)
    if number.denominator != 1 or number < 0:
        raise Malformed("a whole number, zero or more")
    return number.numerator


def names(value: Json) -> list[str]:
    """Return a list of names. Raises Malformed."""
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise Malformed("a list of names")
    return value


def pattern(value: Json) -> str:
    """Return a pattern that is a regular expression, whether or not it can be reasoned about. Raises Malformed."""
    if not isinstance(value, str):
        raise Malformed("a regular expression")
    try:
        parse(value)
    except IrregularPattern:
        return value
    except InvalidPattern as error:
        raise Malformed(f"a regular expression: {error}") from None
    return value


def _type(schema: Schema, dialect: Dialect) -> Node:
    declared = schema["type"]
    listed = [declared] if isinstance(declared, str) else declared
    if not isinstance(listed, list) or not listed or not all(isinstance(name, str) for name in listed):
        raise Malformed("a type name or a list of them")
    unknown = [name for name in listed if name not in _TYPES and name != "integer"]
    if unknown:
        raise Malformed(f'one of null, boolean, integer, number, string, array, object; "{unknown[0][:40]}" is not')
    types = frozenset(_TYPES[name] for name in listed if name != "integer")
    if "integer" in listed and NUMBER not in types:
        return build.every([build.kinds(types | {NUMBER}), build.multiple(Fraction(1))])
    return build.kinds(types)


def _enum(schema: Schema, dialect: Dialect) -> Node:
    if not isinstance(schema["enum"], list):
        raise Malformed("a list of values")
    return _constants(schema["enum"])


def _const(schema: Schema, dialect: Dialect) -> Node:
    return _constants([schema["const"]])


def _constants(values: list[Json]) -> Node:
    try:
        return build.constants(values)
    except RecursionError:
        raise Malformed("a value that is not nested so deep") from None
    except (TypeError, ValueError):
        raise Malformed("JSON") from None


def _multiple_of(schema: Schema, dialect: Dialect) -> Node:
    of = _number(schema["multipleOf"])
    if of <= 0:
        raise Malformed("a number greater than zero")
    return build.multiple(of)


def _draft4_open(schema: Schema, keyword: str) -> bool:
    value = schema.get(keyword, False)
    if not isinstance(value, bool):
        raise Malformed(f"beside a {keyword} that is true or false in draft-04")
    return value


def _minimum(schema: Schema, dialect: Dialect) -> Node:
    is_open = dialect is Dialect.DRAFT4 and _draft4_open(schema, "exclusiveMinimum")
    return build.bounds(_number(schema["minimum"]), None, low_open=is_open)


def _maximum(schema: Schema, dialect: Dialect) -> Node:
    is_open = dialect is Dialect.DRAFT4 and _draft4_open(schema, "exclusiveMaximum")
    return build.bounds(None, _number(schema["maximum"]), high_open=is_open)


def _exclusive_minimum(schema: Schema, dialect: Dialect) -> Node:
    if dialect is Dialect.DRAFT4:
        _draft4_open(schema, "exclusiveMinimum")
        return build.EVERYTHING
    return build.bounds(_number(schema["exclusiveMinimum"]), None, low_open=True)


def _exclusive_maximum(schema: Schema, dialect: Dialect) -> Node:
    if dialect is Dialect.DRAFT4:
        _draft4_open(schema, "exclusiveMaximum")
        return build.EVERYTHING
    return build.bounds(None, _number(schema["exclusiveMaximum"]), high_open=True)


def _pattern(schema: Schema, dialect: Dialect) -> Node:
    return build.matches(pattern(schema["pattern"]))


def _unique_items(schema: Schema, dialect: Dialect) -> Node:
    if not isinstance(schema["uniqueItems"], bool):
        raise Malformed("true or false")
    return build.DISTINCT if schema["uniqueItems"] else build.EVERYTHING


def _required(schema: Schema, dialect: Dialect) -> Node:
    return build.every(build.has(name) for name in names(schema["required"]))


def _dependent_required(schema: Schema, dialect: Dialect) -> Node:
    dependencies = schema["dependentRequired"]
    if not isinstance(dependencies, dict):
        raise Malformed("an object of lists of names")
    return build.every(requires(name, needed) for name, needed in dependencies.items())


def requires(name: str, needed: Json) -> Node:
    """Return the objects that have the needed members if they have the named one. Raises Malformed."""
    return build.dependency(name, build.every(build.has(other) for other in names(needed)))


def _at_least(
    keyword: str, kind: type[Length] | type[ItemCount] | type[MemberCount]
) -> Callable[[Schema, Dialect], Node]:
    return lambda schema, dialect: build.sized(kind, count(schema[keyword]), None)


def _at_most(
    keyword: str, kind: type[Length] | type[ItemCount] | type[MemberCount]
) -> Callable[[Schema, Dialect], Node]:
    return lambda schema, dialect: build.sized(kind, 0, count(schema[keyword]))


FACTS: dict[str, Callable[[Schema, Dialect], Node]] = {
    "type": _type,
    "enum": _enum,
    "const": _const,
    "multipleOf": _multiple_of,
    "minimum": _minimum,
    "maximum": _maximum,
    "exclusiveMinimum": _exclusive_minimum,
    "exclusiveMaximum": _exclusive_maximum,
    "minLength": _at_least("minLength", Length),
    "maxLength": _at_most("maxLength", Length),
    "pattern": _pattern,
    "minItems": _at_least("minItems", ItemCount),
    "maxItems": _at_most("maxItems", ItemCount),
    "uniqueItems": _unique_items,
    "minProperties": _at_least("minProperties", MemberCount),
    "maxProperties": _at_most("maxProperties", MemberCount),
    "required": _required,
    "dependentRequired": _dependent_required,
}
"""Readers of the keywords that hold no subschema. Each raises Malformed."""
