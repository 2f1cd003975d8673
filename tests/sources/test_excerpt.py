"""Texts that are cut: after a whole word, within the limit, with an ellipsis."""

from hypothesis import given
from hypothesis import strategies as st

from abs_gate.sources.excerpt import cut_at_word


def test_a_text_is_cut_after_a_word():
    assert cut_at_word("in the container. Instead", 25) == "in the container. Instead"
    assert cut_at_word("in the container. Instead", 24) == "in the container.…"
    assert cut_at_word("in the container. Instead", 18) == "in the container.…"
    assert cut_at_word("container", 5) == "cont…", "a single word has no better place"


@given(st.text(max_size=40), st.integers(1, 30))
def test_never_longer_than_the_limit_and_whole_when_it_fits(text, limit):
    cut = cut_at_word(text, limit)
    assert len(cut) <= limit
    assert cut == text if len(text) <= limit else cut.endswith("…")
