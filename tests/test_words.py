"""Numbers with their words, and text that is safe to write."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.words import clean, many, printable


@pytest.mark.parametrize(
    ("number", "word", "said"),
    [
        (1, "cable", "1 cable"),
        (0, "cable", "0 cables"),
        (4032, "step", "4,032 steps"),
        (2, "leaf switch", "2 leaf switches"),
        (3, "leaf", "3 leaves"),
        (2, "HCA", "2 HCAs"),
        (2, "identity", "2 identities"),
        (2, "way", "2 ways"),
        (2, "suffix", "2 suffixes"),
        (1, "switch", "1 switch"),
    ],
)
def test_a_number_has_the_word_that_goes_with_it(number: int, word: str, said: str) -> None:
    assert many(number, word) == said


@given(st.binary(max_size=64))
def test_any_bytes_of_a_description_become_text_that_can_be_written(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    assert clean(text).encode("utf-8").decode("utf-8") == clean(text)
    line = printable(text)
    assert line.encode("utf-8").decode("utf-8") == line
    assert len(line.splitlines()) <= 1
    if text.isascii() and text.isprintable():
        assert clean(text) == line == text
