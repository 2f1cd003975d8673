"""The grammar of `when`: a small language of its own, parsed here and never executed as code.

    condition  = conjunction { ("||" | "or") conjunction }
    conjunction = negation { ("&&" | "and") negation }
    negation   = { "!" | "not" } comparison
    comparison = operand [ ("==" | "!=" | "===" | "!==" | "<" | "<=" | ">" | ">=") operand ]
    operand    = number | text in quotes | true | false | null | {{name}} | "(" condition ")"

A placeholder in quotes is the text of its value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import TypeAlias

from msgspec import Struct

from abs_gate.documents.placeholders import Placeholder, find_placeholders, split_template
from abs_gate.findings import Json
from abs_gate.sources.excerpt import excerpt
from abs_gate.sources.scalars import parse_number

MAX_LENGTH = 2_000
"""Characters of a condition."""
MAX_DEPTH = 50
"""Nested parentheses and negations."""


class Literal(Struct, frozen=True):
    """A value written in the condition."""

    value: Json


class Reference(Struct, frozen=True):
    """`{{name}}`: a variable's value, type kept."""

    name: str


class Template(Struct, frozen=True):
    """A quoted text with placeholders in it."""

    parts: tuple[str | Placeholder, ...]


class Comparison(Struct, frozen=True):
    """Two operands and how they are compared."""

    symbol: str
    left: Condition
    right: Condition
    position: int


class Negation(Struct, frozen=True):
    """True when its operand is false."""

    operand: Condition
    position: int


class Junction(Struct, frozen=True):
    """`and` or `or` over two operands or more."""

    is_and: bool
    operands: tuple[Condition, ...]
    position: int


Condition: TypeAlias = Literal | Reference | Template | Comparison | Negation | Junction


class When(Struct, frozen=True):
    """A parsed condition."""

    text: str
    root: Condition

    @property
    def names(self) -> tuple[str, ...]:
        """Every variable the condition reads, in order."""
        return tuple(dict.fromkeys(part.name for part in find_placeholders(self.text) if part.is_valid))

    def comparisons(self) -> Iterator[Comparison]:
        """Every comparison in the condition."""
        pending: list[Condition] = [self.root]
        while pending:
            node = pending.pop()
            if isinstance(node, Comparison):
                yield node
                pending.extend((node.right, node.left))
            elif isinstance(node, Negation):
                pending.append(node.operand)
            elif isinstance(node, Junction):
                pending.extend(reversed(node.operands))


_TOKEN = re.compile(
    r"""
    (?P<blank> \s+ )
  | (?P<reference> \{\{[^{}]*\}\} )
  | (?P<number> -?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?(?![\w.]) )
  | (?P<quoted> '(?:[^'\\]|\\[\s\S])*+' | "(?:[^"\\]|\\[\s\S])*+" )
  | (?P<comparison> ===|!==|==|!=|<=|>=|<|> )
  | (?P<and> && ) | (?P<or> \|\| ) | (?P<not> ! )
  | (?P<open> \( ) | (?P<close> \) )
  | (?P<word> [^\W\d]\w* )
    """,
    re.VERBOSE,
)
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None, "none": None}
_OPERATORS = frozenset({"and", "or", "not"})


class _Token(Struct, frozen=True):
    kind: str
    text: str
    position: int
    """Counts from 1."""


@lru_cache(maxsize=1024)
def parse_when(text: str) -> When:
    """A condition, ready to be evaluated for many rows.

    Raises:
        ValueError: saying what is wrong at which character.
    """
    if len(text) > MAX_LENGTH:
        raise ValueError(f"a condition of {len(text):,} characters is longer than {MAX_LENGTH:,}")
    return When(text, _Parser(_tokens(text), len(text) + 1).parse())


def _tokens(text: str) -> list[_Token]:
    tokens: list[_Token] = []
    at = 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise ValueError(_misread(text, at))
        kind = match.lastgroup or ""
        if kind == "word" and match[0].lower() in _OPERATORS:
            kind = match[0].lower()
        if kind != "blank":
            tokens.append(_Token(kind, match[0], at + 1))
        at = match.end()
    return tokens


def _misread(text: str, at: int) -> str:
    char = text[at]
    place = f"at character {at + 1}"
    if char in "'\"":
        return f"the quote {place} is not closed"
    if char == "{":
        return f"`{{{{` {place} does not begin a placeholder; write {{{{name}}}}"
    if char == "=":
        return f"`=` {place}: write `==` to compare"
    if char in "&|":
        return f"`{char}` {place}: write `{char * 2}`"
    return f"{excerpt(char)} {place} has no meaning in a condition"


class _Parser:
    """Recursive descent, with its depth bounded."""

    def __init__(self, tokens: list[_Token], end: int) -> None:
        self._tokens = tokens
        self._end = end
        self._at = 0
        self._depth = 0

    def parse(self) -> Condition:
        if not self._tokens:
            raise ValueError("the condition is empty")
        root = self._condition()
        extra = self._peek()
        if extra is not None:
            raise ValueError(self._unexpected(extra))
        return root

    def _peek(self) -> _Token | None:
        return self._tokens[self._at] if self._at < len(self._tokens) else None

    def _take(self, *kinds: str) -> _Token | None:
        token = self._peek()
        if token is None or token.kind not in kinds:
            return None
        self._at += 1
        return token

    def _condition(self) -> Condition:
        return self._junction("or", self._conjunction)

    def _conjunction(self) -> Condition:
        return self._junction("and", self._negation)

    def _junction(self, kind: str, operand: Callable[[], Condition]) -> Condition:
        position = self._position()
        operands = [operand()]
        while self._take(kind):
            operands.append(operand())
        return operands[0] if len(operands) == 1 else Junction(kind == "and", tuple(operands), position)

    def _negation(self) -> Condition:
        sign = self._take("not")
        if sign is None:
            return self._comparison()
        return Negation(self._nested(self._negation, sign), sign.position)

    def _comparison(self) -> Condition:
        left = self._operand()
        sign = self._take("comparison")
        if sign is None:
            return left
        right = self._operand()
        again = self._take("comparison")
        if again is not None:
            raise ValueError(f"`{again.text}` at character {again.position}: join two comparisons with `&&`")
        return Comparison(sign.text, left, right, sign.position)

    def _operand(self) -> Condition:
        token = self._peek()
        if token is None:
            raise ValueError(f"a value is missing at the end (character {self._end})")
        self._at += 1
        if token.kind == "open":
            inner = self._nested(self._condition, token)
            if not self._take("close"):
                raise ValueError(f"the parenthesis at character {token.position} is not closed")
            return inner
        if token.kind == "number":
            return Literal(parse_number(token.text))
        if token.kind == "quoted":
            return _quoted(token)
        if token.kind == "reference":
            name = split_template(token.text)[0]
            if isinstance(name, str) or not name.is_valid:
                raise ValueError(f"{excerpt(token.text)} at character {token.position} is not a variable's name")
            return Reference(name.name)
        if token.kind == "word" and token.text.lower() in _WORDS:
            return Literal(_WORDS[token.text.lower()])
        raise ValueError(self._unexpected(token))

    def _nested(self, read: Callable[[], Condition], token: _Token) -> Condition:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"nested deeper than {MAX_DEPTH} levels at character {token.position}")
        inner = read()
        self._depth -= 1
        return inner

    def _position(self) -> int:
        token = self._peek()
        return token.position if token else self._end

    def _unexpected(self, token: _Token) -> str:
        if token.kind == "word":
            return (
                f"{excerpt(token.text)} at character {token.position}: write {{{{{token.text[:40]}}}}} for a variable, "
                "or put a text in quotes"
            )
        return f"{excerpt(token.text)} is not expected at character {token.position}"


def _quoted(token: _Token) -> Literal | Template:
    text = re.sub(r"\\([\s\S])", r"\1", token.text[1:-1])
    parts = split_template(text)
    broken = next((part for part in parts if isinstance(part, Placeholder) and not part.is_valid), None)
    if broken is not None:
        raise ValueError(f"{excerpt(broken.text)} in the text at character {token.position} is not a placeholder")
    return Template(parts) if any(isinstance(part, Placeholder) for part in parts) else Literal(text)
