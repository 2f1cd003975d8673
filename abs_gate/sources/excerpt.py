"""Short, one-line renderings of a user's values for messages: never more than a few words of a file."""

from __future__ import annotations

import json

from abs_gate.findings import Json

_TYPE_NAMES = {
    bool: "true or false",
    int: "a number",
    float: "a number",
    str: "text",
    list: "a list",
    dict: "a mapping",
}


def type_name(value: Json) -> str:
    """What a value is, in words: `text`, `a number`, `true or false`, `a list`, `a mapping`, `null`."""
    return "null" if value is None else _TYPE_NAMES.get(type(value), type(value).__name__)


def excerpt(value: Json, limit: int = 60) -> str:
    """The value on one line, control characters escaped, cut to `limit` characters.

    Text is quoted; a list or mapping is named by its size, so that no more of a file is shown than needed.
    """
    if isinstance(value, str):
        cut = value if len(value) <= limit else value[: limit - 1] + "…"
        return json.dumps(cut, ensure_ascii=False).replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")
    if isinstance(value, list):
        return f"a list of {len(value)}"
    if isinstance(value, dict):
        return f"a mapping of {len(value)}"
    if isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 4 * limit:
        return "a very long number"
    return json.dumps(value)


def cut_at_word(text: str, limit: int) -> str:
    """The text, or its first whole words and an ellipsis, `limit` characters at most."""
    if len(text) <= limit:
        return text
    kept = text[: limit - 1]
    whole = kept if text[limit - 1].isspace() else kept.rpartition(" ")[0]
    return f"{(whole or kept).rstrip()}…"
