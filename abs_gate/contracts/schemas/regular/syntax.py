"""Reads a regular expression of the ECMA-262 dialect into a tree.

What is legal but not regular, or not worth the rules (backreferences, look-around in the middle, word boundaries,
Unicode properties), raises IrregularPattern; what is no regular expression raises InvalidPattern.
"""

from __future__ import annotations

import re
from functools import lru_cache

from msgspec import Struct

from abs_gate.contracts.schemas.regular import charsets
from abs_gate.contracts.schemas.regular.charsets import CharSet


class InvalidPattern(ValueError):
    """Not a regular expression; the message says why."""


class IrregularPattern(ValueError):
    """A regular expression outside the subset that is reasoned about."""


class Chars(Struct, frozen=True):
    """One character of a set."""

    chars: CharSet


class Sequence(Struct, frozen=True):
    """Parts one after the other."""

    parts: tuple[Tree, ...]


class Alternatives(Struct, frozen=True):
    """Any one of the parts."""

    parts: tuple[Tree, ...]


class Repeat(Struct, frozen=True):
    """A part several times; `most` None is without end."""

    part: Tree
    least: int
    most: int | None


class Start(Struct, frozen=True):
    """The start of the text."""


class End(Struct, frozen=True):
    """The end of the text."""


class LookAhead(Struct, frozen=True):
    """What must, or must not, follow."""

    part: Tree
    wanted: bool


Tree = Chars | Sequence | Alternatives | Repeat | Start | End | LookAhead

_ESCAPED_SETS = {
    "d": charsets.DIGIT,
    "D": charsets.complement(charsets.DIGIT),
    "w": charsets.WORD,
    "W": charsets.complement(charsets.WORD),
    "s": charsets.SPACE,
    "S": charsets.complement(charsets.SPACE),
}
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "v": "\v"}
_LONGEST = 2_000
_DEEPEST = 50
_QUANTIFIER = re.compile(r"\{(\d+)(,(\d*))?\}", re.ASCII)
_HEX = re.compile(r"x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\}")
_GROUP_NAME = re.compile(r"<[A-Za-z_$][A-Za-z0-9_$]*>")


@lru_cache(maxsize=1024)
def parse(pattern: str) -> Tree:
    """Return the tree of a pattern. Raises InvalidPattern, or IrregularPattern."""
    if len(pattern) > _LONGEST:
        raise IrregularPattern("longer than is reasoned about")
    reader = _Reader(pattern)
    tree = reader.alternatives(0)
    if reader.place < len(pattern):
        raise InvalidPattern(f"unmatched ) at character {reader.place + 1}")
    return tree


class _Reader:
    def __init__(self, pattern: str) -> None:
        self.pattern = pattern
        self.place = 0

    def peek(self) -> str:
        return self.pattern[self.place : self.place + 1]

    def take(self, text: str) -> bool:
        if self.pattern.startswith(text, self.place):
            self.place += len(text)
            return True
        return False

    def alternatives(self, depth: int) -> Tree:
        if depth > _DEEPEST:
            raise IrregularPattern("nested deeper than is reasoned about")
        parts = [self.sequence(depth)]
        while self.take("|"):
            parts.append(self.sequence(depth))
        return parts[0] if len(parts) == 1 else Alternatives(tuple(parts))

    def sequence(self, depth: int) -> Tree:
        parts: list[Tree] = []
        while self.peek() not in {"", "|", ")"}:
            parts.append(self.quantified(depth))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def quantified(self, depth: int) -> Tree:
        start = self.place
        part = self.atom(depth)
        bounds = self.quantifier()
        if bounds is None:
            return part
        if isinstance(part, LookAhead):
            raise IrregularPattern(f"a repeated assertion at character {start + 1}")
        least, most = bounds
        if most is not None and most < least:
            raise InvalidPattern(f"numbers out of order in {{}} at character {start + 1}")
        self.take("?")
        if self.peek() == "+":
            raise IrregularPattern("a possessive quantifier")
        if self.peek() in {"*", "?"} or _QUANTIFIER.match(self.pattern, self.place):
            raise InvalidPattern(f"nothing to repeat at character {self.place + 1}")
        return Repeat(part, least, most)

    def quantifier(self) -> tuple[int, int | None] | None:
        for sign, bounds in (("*", (0, None)), ("+", (1, None)), ("?", (0, 1))):
            if self.take(sign):
                return bounds
        found = _QUANTIFIER.match(self.pattern, self.place)
        if not found:
            return None
        if max(len(found[1]), len(found[3] or "")) > 5:
            raise IrregularPattern("a repetition too long to be reasoned about")
        self.place = found.end()
        least = int(found[1])
        if found[2] is None:
            return least, least
        return least, int(found[3]) if found[3] else None

    def atom(self, depth: int) -> Tree:
        start = self.place
        character = self.peek()
        self.place += 1
        match character:
            case "(":
                return self.group(depth, start)
            case "[":
                return Chars(self.character_class(start))
            case ".":
                return Chars(charsets.complement(charsets.LINE_END))
            case "^":
                return Start()
            case "$":
                return End()
            case "\\":
                return Chars(self.escape(in_class=False))
            case "*" | "+" | "?":
                raise InvalidPattern(f"nothing to repeat at character {start + 1}")
            case "{":
                # Engines disagree about a brace that is no quantifier, {,3} above all.
                raise IrregularPattern(f"a lone {{ at character {start + 1}")
        return Chars(charsets.single(character))

    def group(self, depth: int, start: int) -> Tree:
        look: bool | None = None
        if self.take("?"):
            if self.take("="):
                look = True
            elif self.take("!"):
                look = False
            elif not self.take(":"):
                name = _GROUP_NAME.match(self.pattern, self.place)
                if not name:
                    raise IrregularPattern(f"a special group at character {start + 1}")
                self.place = name.end()
        inner = self.alternatives(depth + 1)
        if not self.take(")"):
            raise InvalidPattern(f"the group at character {start + 1} is not closed")
        return inner if look is None else LookAhead(inner, look)

    def escape(self, *, in_class: bool) -> CharSet:
        character = self.peek()
        if not character:
            raise InvalidPattern("a \\ at the end")
        if character in _ESCAPED_SETS:
            self.place += 1
            return _ESCAPED_SETS[character]
        if character in _CONTROLS:
            self.place += 1
            return charsets.single(_CONTROLS[character])
        code = _HEX.match(self.pattern, self.place)
        if code:
            self.place = code.end()
            point = int(code[1] or code[2] or code[3], 16)
            if point > charsets.LAST:
                raise InvalidPattern("a character beyond Unicode")
            if 0xD800 <= point <= 0xDFFF:
                raise IrregularPattern("half of a surrogate pair")
            return charsets.single(chr(point))
        if in_class and character == "b":
            self.place += 1
            return charsets.single("\b")
        if character == "0" and not self.pattern[self.place + 1 : self.place + 2].isdigit():
            self.place += 1
            return charsets.single("\0")
        if character.isalnum():
            raise IrregularPattern(f"\\{character} at character {self.place}")
        self.place += 1
        return charsets.single(character)

    def character_class(self, start: int) -> CharSet:
        negated = self.take("^")
        if self.peek() == "]":
            # Empty or everything in ECMA-262, a literal elsewhere.
            raise IrregularPattern("an empty character class")
        members: list[CharSet] = []
        while not self.take("]"):
            low = self.class_member(start)
            if self.peek() == "-" and self.pattern[self.place + 1 : self.place + 2] not in {"]", ""}:
                self.place += 1
                high = self.class_member(start)
                if len(low) != 1 or low[0][0] != low[0][1] or len(high) != 1 or high[0][0] != high[0][1]:
                    raise IrregularPattern("a range between sets")
                if low[0][0] > high[0][0]:
                    raise InvalidPattern(f"a range out of order at character {self.place}")
                low = ((low[0][0], high[0][0]),)
            members.append(low)
        chars = charsets.union(members)
        return charsets.complement(chars) if negated else chars

    def class_member(self, start: int) -> CharSet:
        character = self.peek()
        if not character:
            raise InvalidPattern(f"the character class at character {start + 1} is not closed")
        self.place += 1
        if character == "\\":
            return self.escape(in_class=True)
        return charsets.single(character)


@lru_cache(maxsize=512)
def is_tame(pattern: str) -> bool:
    """Return whether a backtracking engine cannot be made to try again and again: no repetition inside another."""
    try:
        tree = parse(pattern)
    except ValueError:
        return False
    pending: list[tuple[Tree, bool]] = [(tree, False)]
    while pending:
        part, repeated = pending.pop()
        match part:
            case Repeat(part=inner):
                if repeated:
                    return False
                pending.append((inner, True))
            case Alternatives(parts=parts):
                if repeated:
                    return False
                pending.extend((inner, repeated) for inner in parts)
            case Sequence(parts=parts):
                pending.extend((inner, repeated) for inner in parts)
            case LookAhead(part=inner):
                pending.append((inner, repeated))
    return True
