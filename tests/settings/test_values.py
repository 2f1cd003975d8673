"""Single values, as files, flags, inputs and variables give them."""

from __future__ import annotations

import contextlib
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from abs_gate.settings import values


@pytest.mark.parametrize(
    ("written", "rate"),
    [
        (0.9, "9/10"),
        ("0.9", "9/10"),
        (".9", "9/10"),
        ("90%", "9/10"),
        ("90 %", "9/10"),
        ("9/10", "9/10"),
        ("99.95%", "1999/2000"),
        (1, "1"),
        (1.0, "1"),
        ("1", "1"),
        ("100%", "1"),
        (0, "0"),
        (0.28, "7/25"),
        (0.07, "7/100"),
    ],
)
def test_rates_are_exact(written, rate):
    assert values.rate(written) == Fraction(rate)


@pytest.mark.parametrize(
    "written",
    [90, "90", 1.5, "101%", "-1", -0.1, "-5%", "NaN", float("nan"), float("inf"), "1/0", "3/2", "0.9.9", "", "%",
     "nine", True, None, [0.9], {"rate": 1}, "1e999", "0x1", "９０%", "0,9", "90%%"],
)  # fmt: skip
def test_what_is_no_rate_is_refused_in_words(written):
    with pytest.raises(ValueError) as refused:
        values.rate(written)
    assert len(str(refused.value)) > 20


def test_a_bare_percentage_says_what_to_write():
    with pytest.raises(ValueError, match=r"0\.9, a percentage such as 90%"):
        values.rate(90)


@given(st.integers(0, 10_000))
def test_percentages_fractions_and_quotients_agree(units):
    as_decimal = f"{units / 10_000:.4f}"
    assert values.rate(as_decimal) == values.rate(f"{units}/10000") == Fraction(units, 10_000)
    assert values.rate(f"{units // 100}.{units % 100:02d}%") == Fraction(units, 10_000)
    assert values.rate(units / 10_000) == Fraction(units, 10_000)


@given(st.one_of(st.text(max_size=12), st.floats(), st.integers(), st.binary(), st.none()))
def test_a_rate_is_read_or_refused_never_worse(written):
    with contextlib.suppress(ValueError):
        assert 0 <= values.rate(written) <= 1


@pytest.mark.parametrize(
    ("written", "seconds"),
    [(60, 60.0), ("60", 60.0), (0.5, 0.5), ("500ms", 0.5), ("2m", 120.0), ("1h", 3600.0), ("30 s", 30.0)],
)
def test_durations(written, seconds):
    assert values.seconds(written) == seconds


@pytest.mark.parametrize("written", [0, -1, "0s", "1d", "25h", "soon", True, None, "1..5", float("inf")])
def test_what_is_no_duration_is_refused(written):
    with pytest.raises(ValueError, match=r"duration|number"):
        values.seconds(written)


@pytest.mark.parametrize("written", ["yes", "no", "on", 1, 0, "True", "", None])
def test_booleans_are_only_true_and_false(written):
    with pytest.raises(ValueError, match="true or false"):
        values.boolean(written)
    assert values.boolean("true") is values.boolean(True) is True
    assert values.boolean("false") is values.boolean(False) is False


@pytest.mark.parametrize("written", ["1.5", 1.5, True, "ten", "", "1_000", "0", -1, "99999999999"])
def test_whole_numbers(written):
    with pytest.raises(ValueError):
        values.whole_number(1, 1000)(written)
    assert values.whole_number(1, 1000)("17") == values.whole_number(1, 1000)(17) == 17


def test_dates():
    assert values.iso_date("2027-01-31") == "2027-01-31"
    for wrong in ("2027-02-30", "31.01.2027", "tomorrow", 5, None):
        with pytest.raises(ValueError, match="2027-01-31"):
            values.iso_date(wrong)


def test_a_misspelt_word_gets_its_nearest():
    with pytest.raises(ValueError, match='Did you mean "demonstrated"'):
        values.choice("observed", "demonstrated")("demonstarted")


@pytest.mark.parametrize(
    "written",
    [
        "ftp://x",
        "staging.example.com",
        "http://",
        "//host",
        "https://user:pass@host",
        "http://${HOST}/",
        5,
        "http://[::1",
    ],
)
def test_what_is_no_address_is_refused(written):
    with pytest.raises(ValueError) as refused:
        values.url(written)
    assert "pass@" not in str(refused.value)


def test_variables_are_text_unless_json_is_asked_for():
    assert values.assignments(("order=12345", "count:=3", 'empty:={"a": []}', "eq=a=b")) == {
        "order": "12345",
        "count": 3,
        "empty": {"a": []},
        "eq": "a=b",
    }
    for wrong in ("order", "=5", "n:=NaN", "n:={", "bad name=1"):
        with pytest.raises(ValueError):
            values.assignments((wrong,))


def test_filters_headers_shards():
    assert values.filters("tier:gold\ncountry: DE") == (("tier", "gold"), ("country", "DE"))
    assert values.headers(("X-Team=a=b",)) == {"X-Team": "a=b"}
    assert values.shard("2/8") == (2, 8)
    for wrong in ("0/8", "9/8", "2", "2/8/1", "a/b", 2):
        with pytest.raises(ValueError, match="2/8"):
            values.shard(wrong)
    with pytest.raises(ValueError, match="Name=value"):
        values.headers(("secret-without-a-name",))


@pytest.mark.parametrize("name", ["ACTIONS_RUNTIME_TOKEN", "GITHUB_TOKEN", "input_agent_token", "RUNNER_TEMP"])
def test_variables_of_the_runner_are_not_for_files_to_name(name):
    with pytest.raises(ValueError, match="another name"):
        values.environment_name(name)


def test_headers_are_not_filled_in():
    assert values.headers({"X-Team": "a"}) == {"X-Team": "a"}
    with pytest.raises(ValueError, match="headers_env"):
        values.headers({"X-Key": "${SECRET}"})
