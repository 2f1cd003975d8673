"""Schemas in plain form: what they say with references followed, wraps opened and spellings evened out.

Plain forms are read to *explain* what changed. Whether it changed what is accepted is for the engine in
`contracts.schemas` to say, so a construct that is left as it stands here is only explained less well.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType

from msgspec import Struct, field
from msgspec.structs import replace

from abs_gate.contracts.keywords import TEXTS
from abs_gate.contracts.schema_nodes import schema_nodes
from abs_gate.contracts.schemas import Dialect, SchemaDocument
from abs_gate.contracts.schemas.references import References, UnresolvedReference
from abs_gate.contracts.schemas.values import canonical, same, type_of
from abs_gate.findings import Json

Pointer = tuple[str, ...]

ANNOTATIONS = (
    *("title", "description", "default", "examples", "deprecated", "readOnly", "writeOnly"),
    *("format", "nullable", "contentEncoding", "contentMediaType", "x-mcp-header"),
)
LOWER = ("minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties", "minContains")
UPPER = ("maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties", "maxContains")
SCALARS = (*LOWER, *UPPER, "multipleOf", "pattern", "uniqueItems", "dependentRequired")
SINGLE = (
    *("additionalProperties", "items", "contains", "propertyNames", "not", "if", "then", "else"),
    *("unevaluatedProperties", "unevaluatedItems"),
)
"""Keywords that hold one subschema."""
NAMED = ("properties", "patternProperties", "dependentSchemas")
"""Keywords that hold subschemas by name."""
_TYPES = frozenset({"null", "boolean", "integer", "number", "string", "array", "object"})
_IDENTITY = frozenset(
    {
        "$schema",
        "$id",
        "id",
        "$anchor",
        "$dynamicAnchor",
        "$recursiveAnchor",
        "$comment",
        "$defs",
        "definitions",
        "$vocabulary",
    }
)
_KNOWN = (
    frozenset({*ANNOTATIONS, *SCALARS, *SINGLE, *NAMED, "type", "enum", "const", "required", "prefixItems"})
    | frozenset({"allOf", "anyOf", "oneOf", "$ref", "additionalItems", "dependencies"})
    | _IDENTITY
)
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
"""Those that are dynamic are read as if they led where they stand; whether that is so the engine leaves open."""
_MAX_DEPTH = 64
"""References and wraps opened for one plain form; deeper ones are left to the engine."""


class Plain(Struct, frozen=True, kw_only=True):
    """What one schema says at its own level; subschemas stay pointers into the document."""

    pointer: Pointer
    """Where the schema that says it stands, references followed."""
    types: frozenset[str] | None = None
    """None: any type."""
    enum: tuple[Json, ...] | None = None
    """None: any value."""
    is_never: bool = False
    """Accepts nothing: `false`, or `not: {}`."""
    required: frozenset[str] = frozenset()
    forbidden: frozenset[str] = frozenset()
    """Properties with a schema that accepts nothing."""
    scalars: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    single: Mapping[str, Pointer] = field(default_factory=lambda: MappingProxyType({}))
    named: Mapping[str, Mapping[str, Pointer]] = field(default_factory=lambda: MappingProxyType({}))
    prefix: tuple[Pointer, ...] = ()
    branches: tuple[Pointer, ...] = ()
    branch_keyword: str = ""
    """`anyOf` or `oneOf`, where there are branches."""
    all_of: tuple[Pointer, ...] = ()
    """Members of `allOf` that could not be merged in."""
    annotations: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    texts: frozenset[str] = frozenset()
    """Descriptions of parts that were merged in or are not compared, besides the one among the annotations."""
    unknown: Mapping[str, Json] = field(default_factory=lambda: MappingProxyType({}))
    definitions: tuple[str, ...] = ()
    """Names of the definitions that references led through."""

    @property
    def properties(self) -> Mapping[str, Pointer]:
        """The properties by name."""
        return self.named.get("properties", {})

    @property
    def all_texts(self) -> frozenset[str]:
        """Every description that says something of the value, white space evened out."""
        own = self.annotations.get("description")
        return self.texts | ({" ".join(own.split())} if isinstance(own, str) and own.strip() else frozenset())

    def allows(self, kind: str) -> bool:
        """Tell whether values of a JSON type may be accepted, as far as types and listed values say."""
        kinds = frozenset({"number", "integer"} if kind == "number" else {kind})
        if self.enum is not None:
            return any(has_type(value, kinds) for value in self.enum)
        return not self.is_never and (self.types is None or bool(self.types & kinds))

    @property
    def is_closed(self) -> bool:
        """No property but the declared ones is accepted."""
        return any(f"_{key}" in self.scalars for key in ("additionalProperties", "unevaluatedProperties"))


class SchemaReader:
    """Reads plain forms out of one document, each once."""

    def __init__(self, document: SchemaDocument) -> None:
        self.document = document
        self._dialect = document.dialect or Dialect.DRAFT2020
        self._places = References(document.schema, self._dialect)
        self._read: dict[Pointer, Plain] = {}
        self._open: list[Pointer] = []
        """The pointers being read, outermost first."""

    def read(self, pointer: Pointer = ()) -> Plain:
        """Return the plain form of the schema at a pointer; one that leads back to itself stays unopened."""
        if pointer not in self._read:
            if pointer in self._open or len(self._open) > _MAX_DEPTH:
                return Plain(pointer=pointer)
            self._open.append(pointer)
            self._read[pointer] = self._plain(pointer)
            self._open.pop()
        return self._read[pointer]

    def raw(self, pointer: Pointer) -> Json:
        """Return the schema at a pointer as written; one that leads nowhere says nothing."""
        try:
            return self.document.view(*pointer).schema
        except KeyError:
            return True

    def _plain(self, pointer: Pointer) -> Plain:
        schema = self.raw(pointer)
        if schema is False:
            return Plain(pointer=pointer, is_never=True)
        if not isinstance(schema, dict):
            return Plain(pointer=pointer)
        plain = self._own(schema, pointer)
        for keyword in sorted(_REFERENCES & schema.keys()):
            target = self._target(schema[keyword], pointer)
            if target is None:
                continue
            referred = self.read(target)
            if target:
                referred = replace(referred, definitions=(target[-1], *referred.definitions))
            if self._dialect.ignores_ref_siblings:
                # Validators ignore what stands beside it; models and adapters read it all the same.
                return merge(Plain(pointer=pointer, annotations=plain.annotations), referred) or referred
            plain = self._joined(plain, referred, target)
        members = schema.get("allOf")
        for index in range(len(members)) if isinstance(members, list) else ():
            at = (*pointer, "allOf", str(index))
            plain = self._joined(plain, self.read(at), at)
        if _is_double_negation(schema.get("not")):
            at = (*pointer, "not", "not")
            rest = {key: where for key, where in plain.single.items() if key != "not"}
            plain = merge(replace(plain, single=rest), self.read(at)) or plain
        return self._with_branches(plain, schema, pointer)

    def _target(self, reference: Json, pointer: Pointer) -> Pointer | None:
        """Return where a reference leads, None where it leads nowhere in the document."""
        try:
            return self._places.resolve(reference, pointer) if isinstance(reference, str) else None
        except UnresolvedReference:
            return None

    def _joined(self, plain: Plain, other: Plain, at: Pointer) -> Plain:
        return merge(plain, other) or replace(plain, all_of=(*plain.all_of, at))

    def _with_branches(self, plain: Plain, schema: Mapping[str, Json], pointer: Pointer) -> Plain:
        for keyword in ("anyOf", "oneOf"):
            written = schema.get(keyword)
            if not isinstance(written, list) or not written:
                continue
            branches = self._flat(pointer, keyword)
            forms = [self.read(branch) for branch in branches]
            opened = _opened(forms)
            joined = merge(plain, opened) if opened else None
            if joined is not None:
                plain = joined
            elif plain.branches:
                plain = replace(plain, all_of=(*plain.all_of, *branches))
            else:
                plain = replace(plain, branches=tuple(branches), branch_keyword=keyword)
        return plain

    def _flat(self, pointer: Pointer, keyword: str, depth: int = _MAX_DEPTH) -> list[Pointer]:
        """List the branches of a choice, those of an `anyOf` that is all a branch says in its place."""
        flat: list[Pointer] = []
        for index, branch in enumerate(self.raw((*pointer, keyword))):
            at = (*pointer, keyword, str(index))
            is_choice = isinstance(branch, dict) and set(branch) == {"anyOf"} and isinstance(branch["anyOf"], list)
            flat += self._flat(at, "anyOf", depth - 1) if is_choice and keyword == "anyOf" and depth > 0 else [at]
        return flat

    def _own(self, schema: Mapping[str, Json], pointer: Pointer) -> Plain:
        """Read the keywords of one mapping, its spellings brought to 2020-12."""
        scalars = {key: schema[key] for key in SCALARS if key in schema}
        for plain_key, exclusive_key in (("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")):
            if isinstance(scalars.get(exclusive_key), bool):
                is_exclusive = scalars.pop(exclusive_key)
                if is_exclusive and plain_key in scalars:
                    scalars[exclusive_key] = scalars.pop(plain_key)
        single = {key: (*pointer, key) for key in SINGLE if key in schema and isinstance(schema[key], dict | bool)}
        named = {
            key: {str(name): (*pointer, key, str(name)) for name in schema[key]}
            for key in NAMED
            if isinstance(schema.get(key), dict)
        }
        prefix = _tuple(schema, "prefixItems", pointer)
        if isinstance(schema.get("items"), list):
            prefix = _tuple(schema, "items", pointer)
            if isinstance(schema.get("additionalItems"), dict | bool):
                single["items"] = (*pointer, "additionalItems")
        _split_dependencies(schema, pointer, scalars, named)
        _drop_idle(schema, scalars, single)
        required = schema.get("required")
        return _with_values(
            Plain(
                pointer=pointer,
                types=_types(schema.get("type")),
                is_never=_is_nothing(schema),
                required=frozenset(map(str, required)) if isinstance(required, list) else frozenset(),
                forbidden=frozenset(
                    name for name in named.get("properties", {}) if _is_nothing(schema["properties"][name])
                ),
                scalars=scalars,
                single=single,
                named=named,
                prefix=prefix,
                annotations={key: schema[key] for key in ANNOTATIONS if key in schema},
                texts=frozenset(_unaligned_texts(schema)),
                unknown={key: value for key, value in schema.items() if key not in _KNOWN},
            ),
            schema,
        )


def _unaligned_texts(schema: Mapping[str, Json]) -> Iterator[str]:
    """Yield the descriptions in what is not compared part by part: a negation, a condition."""
    for key in ("not", "if"):
        for node in schema_nodes(schema[key]) if key in schema else ():
            text = node.schema.get("description")
            if isinstance(text, str) and text.strip():
                yield " ".join(text.split())


def _is_double_negation(negated: Json) -> bool:
    return isinstance(negated, dict) and negated.keys() - TEXTS == {"not"} and isinstance(negated["not"], dict)


def _is_nothing(schema: Json) -> bool:
    return schema is False or (isinstance(schema, dict) and "not" in schema and schema["not"] in ({}, True))


def merge(left: Plain, right: Plain) -> Plain | None:
    """Return the plain form of both at once, None where one form cannot say it. Annotations: the left's first."""
    if left.branches and right.branches:
        return None
    if any(key in left.single and key in right.single for key in SINGLE) or (left.prefix and right.prefix):
        return None
    if any(left.named.get(key, {}).keys() & right.named.get(key, {}).keys() for key in NAMED):
        return None
    scalars = dict(left.scalars)
    for key, value in right.scalars.items():
        if key not in scalars or same(scalars[key], value):
            scalars[key] = value
        elif key in LOWER and _is_number(scalars[key]) and _is_number(value):
            scalars[key] = max(scalars[key], value)
        elif key in UPPER and _is_number(scalars[key]) and _is_number(value):
            scalars[key] = min(scalars[key], value)
        else:
            return None
    is_wrap = left == Plain(pointer=left.pointer, annotations=left.annotations)
    return _filtered(
        Plain(
            pointer=right.pointer if is_wrap else left.pointer,
            types=intersect_types(left.types, right.types),
            enum=_intersect_values(left.enum, right.enum),
            is_never=left.is_never or right.is_never,
            required=left.required | right.required,
            forbidden=left.forbidden | right.forbidden,
            scalars=scalars,
            single={**left.single, **right.single},
            named={
                key: {**left.named.get(key, {}), **right.named.get(key, {})}
                for key in NAMED
                if key in left.named or key in right.named
            },
            prefix=left.prefix or right.prefix,
            branches=left.branches or right.branches,
            branch_keyword=left.branch_keyword or right.branch_keyword,
            all_of=tuple(dict.fromkeys(left.all_of + right.all_of)),
            annotations={**right.annotations, **left.annotations},
            texts=left.all_texts | right.all_texts,
            unknown={**right.unknown, **left.unknown},
            definitions=tuple(dict.fromkeys(left.definitions + right.definitions)),
        )
    )


def intersect_types(left: frozenset[str] | None, right: frozenset[str] | None) -> frozenset[str] | None:
    """Return the types both allow; an integer is a number."""
    if left is None or right is None:
        return right if left is None else left
    both = left & right
    if "integer" in left | right and "number" in left | right:
        both |= {"integer"} if ("integer" in left or "integer" in right) and not {"number"} <= both else frozenset()
    return both


def _intersect_values(left: tuple[Json, ...] | None, right: tuple[Json, ...] | None) -> tuple[Json, ...] | None:
    if left is None or right is None:
        return right if left is None else left
    wanted = {canonical(value) for value in right}
    return tuple(value for value in left if canonical(value) in wanted)


def has_type(value: Json, types: frozenset[str]) -> bool:
    """Tell whether a value is of one of the types."""
    kind = type_of(value)
    if kind != "number":
        return kind in types
    return "number" in types or ("integer" in types and float(value).is_integer())


def _opened(forms: list[Plain]) -> Plain | None:
    """Return one form for a choice that is one form with null, or plain types, or plain values; else None."""
    rest = [form for form in forms if not _is_null(form)]
    texts = frozenset[str]().union(*(form.all_texts for form in forms))
    if len(rest) == 1 and len(rest) < len(forms):
        return _nullable(replace(rest[0], texts=texts))
    if len(forms) == 1:
        return forms[0]
    bare = [form for form in forms if _says_only_types_or_values(form)]
    if len(bare) < len(forms) or len({form.enum is None for form in forms}) > 1:
        return None
    if forms[0].enum is not None:
        values = {canonical(value): value for form in forms for value in form.enum or ()}
        return Plain(pointer=forms[0].pointer, enum=tuple(values.values()), texts=texts)
    if any(form.types is None for form in forms):
        return None
    types = frozenset[str]().union(*(form.types or () for form in forms))
    return Plain(pointer=forms[0].pointer, types=_without_integer(types), texts=texts)


def _says_only_types_or_values(form: Plain) -> bool:
    bare = Plain(pointer=form.pointer, types=form.types, enum=form.enum)
    return replace(bare, annotations=form.annotations, texts=form.texts) == form and "format" not in form.annotations


def _is_null(form: Plain) -> bool:
    if form.enum is not None:
        return list(form.enum) == [None]
    return form.types == frozenset({"null"})


def _nullable(form: Plain) -> Plain | None:
    if form.branches or form.all_of or form.is_never:
        return None
    if form.enum is not None:
        return replace(form, enum=(*(value for value in form.enum if value is not None), None))
    return replace(form, types=form.types | {"null"}) if form.types is not None and not form.single.get("not") else None


def _with_values(plain: Plain, schema: Mapping[str, Json]) -> Plain:
    values: list[Json] | None = None
    if isinstance(schema.get("enum"), list):
        values = list({canonical(value): value for value in schema["enum"]}.values())
    if "const" in schema:
        const = schema["const"]
        values = [const] if values is None or canonical(const) in map(canonical, values) else []
    if values is None:
        return plain
    return _filtered(replace(plain, enum=tuple(values)))


def _filtered(plain: Plain) -> Plain:
    """Drop values that are of none of the types; the types then say nothing of their own."""
    if plain.enum is None:
        return plain
    kept = tuple(value for value in plain.enum if plain.types is None or has_type(value, plain.types))
    return replace(plain, enum=kept, types=None)


def _types(written: Json) -> frozenset[str] | None:
    names = [written] if isinstance(written, str) else written
    if not isinstance(names, list):
        return None
    known = frozenset(name for name in names if isinstance(name, str) and name in _TYPES)
    return None if known >= _TYPES - {"integer"} else _without_integer(known)


def _without_integer(types: frozenset[str]) -> frozenset[str]:
    return types - {"integer"} if "number" in types else types


def _tuple(schema: Mapping[str, Json], key: str, pointer: Pointer) -> tuple[Pointer, ...]:
    items = schema.get(key)
    return tuple((*pointer, key, str(index)) for index in range(len(items))) if isinstance(items, list) else ()


def _split_dependencies(
    schema: Mapping[str, Json],
    pointer: Pointer,
    scalars: dict[str, Json],
    named: dict[str, dict[str, Pointer]],
) -> None:
    dependencies = schema.get("dependencies")
    if not isinstance(dependencies, dict):
        return
    lists = {key: value for key, value in dependencies.items() if isinstance(value, list)}
    if lists:
        scalars["dependentRequired"] = {**lists, **scalars.get("dependentRequired", {})}
    for name, value in dependencies.items():
        if isinstance(value, dict | bool):
            named.setdefault("dependentSchemas", {})[str(name)] = (*pointer, "dependencies", str(name))


def _drop_idle(schema: Mapping[str, Json], scalars: dict[str, Json], single: dict[str, Pointer]) -> None:
    """Leave out what says nothing, and note under `_keyword` what closes an object or a list."""
    for key in ("minLength", "minItems", "minProperties"):
        if scalars.get(key) == 0:
            del scalars[key]
    if scalars.get("uniqueItems") is False:
        del scalars["uniqueItems"]
    for key in ("additionalProperties", "unevaluatedProperties", "items", "unevaluatedItems", "propertyNames"):
        if key in single and _at(schema, key) in (True, False, {}):
            del single[key]
            if _at(schema, key) is False:
                scalars[f"_{key}"] = False
    if schema.get("not") in ({}, True, False):
        single.pop("not", None)
    if "if" not in single:
        single.pop("then", None)
        single.pop("else", None)
    elif "then" not in single and "else" not in single:
        del single["if"]


def _at(schema: Mapping[str, Json], key: str) -> Json:
    return schema["additionalItems"] if key == "items" and isinstance(schema["items"], list) else schema[key]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
