"""What the YAML parser's complaints usually mean, for people who do not write YAML every day."""

from __future__ import annotations

_EXPLANATIONS: tuple[tuple[str, str, str], ...] = (
    (
        "mapping values are not allowed",
        "A `: ` is not expected here.",
        "Text that holds `: ` needs quotes around it; else check the indentation of this line and the one above.",
    ),
    (
        "could not find expected ':'",
        "A key without a colon.",
        "Write `key: value`; a text that goes on over several lines needs quotes or `|`.",
    ),
    (
        "did not find expected key",
        "This line does not fit the mapping it stands in.",
        "Usually its indentation differs from the lines beside it, or a quote above is not closed.",
    ),
    (
        "did not find expected '-' indicator",
        "This line does not fit the list it stands in.",
        "Every entry of a list begins with `- ` at the same indentation.",
    ),
    ("did not find expected ',' or ']'", "A list in brackets is not closed.", "Add `]`, or a comma between entries."),
    ("did not find expected ',' or '}'", "A mapping in braces is not closed.", "Add `}`, or a comma between entries."),
    ("did not find expected node content", "A value is missing here.", "Close brackets and braces that are open."),
    (
        "did not find expected <document start>",
        "Something stands after the end of the document.",
        "Indent it if it belongs to the value above; a new document begins with a line `---`.",
    ),
    (
        "block sequence entries are not allowed",
        "A list entry (`- `) is not expected here.",
        "Begin the list on a line of its own below its key.",
    ),
    (
        "block mapping",
        "A key is not expected here.",
        "Check the indentation of this line and the one above.",
    ),
    (
        "found character that cannot start any token",
        "This character cannot begin a value.",
        "Quote texts that begin with @, ` or %; indent with spaces, never with tabs.",
    ),
    (
        "violates indentation",
        "A tab is used where spaces are needed.",
        "Indent with spaces, never with tabs.",
    ),
    ("found a tab character", "A tab is used where spaces are needed.", "Indent with spaces, never with tabs."),
    ("unexpected end of stream", "A quoted text is not closed before the end of the file.", "Add the closing quote."),
    (
        "found unexpected document indicator",
        "A line that begins with `---` or `...` ends the document inside a quoted text.",
        "Indent that line, or close the quote before it.",
    ),
    (
        "found unknown escape character",
        "A backslash in double quotes begins an escape that does not exist.",
        "Write `\\\\` for a backslash, or use single quotes (usual for patterns).",
    ),
    (
        "invalid Unicode character escape",
        "An escape does not name a character.",
        'Write characters beyond U+FFFF as one escape, such as "\\U0001F600", or as themselves.',
    ),
    (
        "hexdecimal number",
        "An escape in double quotes does not name a character.",
        "Write `\\\\` for a backslash, or use single quotes (usual for patterns).",
    ),
    (
        "did not find expected comment or line break",
        "Text stands behind `|` or `>`.",
        "Begin it in the next line; a text that itself begins with one of them needs quotes.",
    ),
    ("maximum nesting depth", "Nested too deeply.", ""),
    ("found incompatible YAML document", "Only YAML 1.1 and 1.2 can be read.", "Remove the `%YAML` line."),
    (
        "did not find expected alphabetic or numeric character",
        "`*` and `&` begin an alias or anchor, but no name follows.",
        "Quote texts that begin with `*` or `&`.",
    ),
)


_BEHIND_A_VALUE = (
    "Something stands behind a value that is complete.",
    "A single quote inside single quotes is written twice (`'it''s'`); check the indentation too.",
)
_TAB = ("A tab is used where spaces are needed.", "Indent with spaces, never with tabs.")
_ABOUT_THE_OPENING = ("',' or ']'", "',' or '}'", "unexpected end of stream", "unexpected document indicator")


def is_about_opening(problem: str) -> bool:
    """Whether the place to show is where the bracket or quote was opened, not where its end was missed."""
    return any(fragment in problem for fragment in _ABOUT_THE_OPENING)


def explain(problem: str, text: str, offset: int) -> tuple[str, str]:
    """A sentence and a hint for the parser's complaint at an offset; never any text of the file."""
    if text[offset : offset + 1] == "\t":
        return _TAB
    if "did not find expected key" in problem and text[text.rfind("\n", 0, offset) + 1 : offset].strip():
        return _BEHIND_A_VALUE
    for fragment, message, hint in _EXPLANATIONS:
        if fragment in problem:
            return message, hint
    return f"This is not YAML: {problem or 'unreadable'}.", ""
