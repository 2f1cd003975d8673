"""The canonical form is RFC 8785's, whichever way it was written."""

from __future__ import annotations

from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.contracts.fingerprint import canonical_bytes

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**53) + 1, 2**53 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(SCALARS, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner), max_leaves=20)


@given(VALUES)
def test_any_json_value(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        {"\U0001f600": 1, "\ufb33": 2},
        [1.0, 1e21, 5e-324, 0.1, -0.0],
        [9007199254740991, -9007199254740991],
        'a "1.5" in a text \\" 12345678901234567890',
        ["\x00\x1f\x7f\u2028 \b\t\n\f\r"],
        {"b": 1, "a": {"d": True, "c": None}, "": []},
    ],
    ids=str,
)
def test_where_plain_json_would_differ(value: Any) -> None:
    assert canonical_bytes(value) == rfc8785.dumps(value)


def test_what_json_cannot_hold_exactly_is_marked_and_told_apart() -> None:
    assert canonical_bytes([2**60]) == b'["number:1152921504606846976"]'
    assert canonical_bytes([2**60]) != canonical_bytes([2**60 + 1])
