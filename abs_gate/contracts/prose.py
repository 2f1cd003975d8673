"""Text that models read: what changed in it, and what does not belong in it."""

from __future__ import annotations

import re
import unicodedata
from difflib import SequenceMatcher

from msgspec import Struct

from abs_gate.contracts.wording import clean, show

_WORDS = re.compile(r"\S+")
_NUMBERS = re.compile(r"(?<![\w.])-?\d+(?:[.,]\d+)*(?![\w])")
_URL = r"(?i)\b(?:https?|ftp|wss?)://[^\s\"'<>)\]]+"
_MAX_DIFF_WORDS = 2_000
"""Longer texts are not compared word by word: the comparison grows with the square of their length."""

_IMPERATIVE = (
    r"(?i)\b(?:(?:must|always|never) (?:call|invoke|run|send|read)"
    r"|(?:call|use|run|invoke) this (?:tool|function)? ?(?:first|before|always|immediately)"
    r"|ignore (?:all |any |the |your )?(?:previous|prior|above|other)|disregard"
    r"|(?:do not|don't) (?:tell|mention|inform|reveal|ask)|without (?:telling|asking|informing)"
    r"|instead of (?:the|any) other"
)
_OBLIGATION = r"|you (?:must|have to|need to|should always)|(?:must|always|never) (?:use|include|pass)"
"""What an argument's description may say of the argument itself: when to give it."""

_HIDDEN = (
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f"
    "\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
"""Zero-width, bidirectional and other invisible characters, tags, terminal escapes; not tab and line ends."""


class ProseChange(Struct, frozen=True, kw_only=True):
    """A change of text in words."""

    summary: str
    """A sentence with the words that changed."""
    notes: tuple[str, ...]
    """What deserves a second look: numbers, instructions, addresses, hidden characters, growth."""


def same_prose(before: str | None, after: str | None) -> bool:
    """Tell whether two texts differ in white space at most; none is the empty text."""
    return (before or "").split() == (after or "").split()


def describe_change(before: str | None, after: str | None) -> ProseChange:
    """Describe how a text changed, with what deserves a second look."""
    old, new = before or "", after or ""
    return ProseChange(summary=_summary(old, new), notes=tuple(_notes(old, new)))


def find_imperatives(text: str, *, of_argument: bool = False) -> tuple[str, ...]:
    """Return the phrases that order the model about rather than describe the tool, or the argument."""
    pattern = f"{_IMPERATIVE}{'' if of_argument else _OBLIGATION})\\b"
    return tuple(dict.fromkeys(match[0].lower() for match in re.finditer(pattern, text)))


def find_urls(text: str) -> tuple[str, ...]:
    """Return the addresses in a text."""
    return tuple(dict.fromkeys(match[0].rstrip(".,;") for match in re.finditer(_URL, text)))


def find_hidden(text: str) -> tuple[str, ...]:
    """Return the characters a reviewer does not see and a model does, as code points."""
    return tuple(dict.fromkeys(f"U+{ord(char):04X}" for char in re.findall(_HIDDEN, text)))


def find_scripts(name: str) -> tuple[str, ...]:
    """Return those of the easily confused scripts that the letters of a name belong to."""
    if name.isascii():
        return ()
    scripts = {unicodedata.name(char, "").partition(" ")[0] for char in name if char.isalpha()}
    return tuple(sorted(scripts & {"LATIN", "CYRILLIC", "GREEK", "ARMENIAN", "CHEROKEE", "FULLWIDTH", "MATHEMATICAL"}))


def _summary(old: str, new: str) -> str:
    if not old.strip():
        return f"The text was added: {show(new)}."
    if not new.strip():
        return f"The text was removed: {show(old)}."
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    if len(before) + len(after) > _MAX_DIFF_WORDS:
        return f"The text changed: {len(before)} words became {len(after)}."
    pieces: list[str] = []
    for tag, i1, i2, j1, j2 in SequenceMatcher(a=before, b=after, autojunk=False).get_opcodes():
        removed, added = " ".join(before[i1:i2]), " ".join(after[j1:j2])
        if tag == "insert":
            pieces.append(f"[+{_cut(added)}+]")
        elif tag == "delete":
            pieces.append(f"[-{_cut(removed)}-]")
        elif tag == "replace":
            pieces.append(f"[-{_cut(removed)}-] [+{_cut(added)}+]")
    more = f" and {len(pieces) - 6} more" if len(pieces) > 6 else ""
    return f"The text changed: {' … '.join(pieces[:6])}{more}."


def _notes(old: str, new: str) -> list[str]:
    notes: list[str] = []
    before, after = set(_NUMBERS.findall(old)), set(_NUMBERS.findall(new))
    if before != after and (before or after):
        gone, come = sorted(before - after), sorted(after - before)
        notes.append(
            f"Numbers in the text: {', '.join(gone[:8]) or 'none'} went, {', '.join(come[:8]) or 'none'} came; "
            "limits and defaults may stand only here."
        )
    imperatives = [phrase for phrase in find_imperatives(new) if phrase not in find_imperatives(old)]
    if imperatives:
        notes.append(f"New orders to the model: {', '.join(clean(phrase) for phrase in imperatives[:5])}.")
    urls = [url for url in find_urls(new) if url not in find_urls(old)]
    if urls:
        notes.append(f"New addresses in the text: {', '.join(clean(url)[:100] for url in urls[:5])}.")
    hidden = [code for code in find_hidden(new) if code not in find_hidden(old)]
    if hidden:
        notes.append(f"Hidden characters that a reviewer does not see: {', '.join(hidden[:8])}.")
    if len(old) >= 40 and len(new) > 2 * len(old):
        notes.append(f"The text grew from {len(old)} to {len(new)} characters; the model reads it with every request.")
    return notes


def _cut(text: str, width: int = 300) -> str:
    """Both ends of a text: what is hidden in a long one stands at its end as a rule."""
    text = clean(text)
    half = width // 2
    return text if len(text) <= width else f"{text[:half]} … {text[-half:]}"
