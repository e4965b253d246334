"""Names that are meant."""

from __future__ import annotations

import pytest

from fabricctl.near import did_you_mean, near_name

HALL = [f"hgx-{row}{number:02d}" for row in "ab" for number in range(1, 33)]


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("hgx-a1", "hgx-a01"),
        ("hgx-a001", "hgx-a01"),
        ("HGX-A12", "hgx-a12"),
        ("hgx-a21x", "hgx-a21"),
        ("hxg-b07", "hgx-b07"),
        ("ufm", ""),
        ("", ""),
        ("9" * 5000, ""),
    ],
)
def test_a_name_with_numbers_of_another_width_is_meant_before_one_that_only_looks_alike(
    word: str, meant: str
) -> None:
    assert near_name(word, HALL) == meant


def test_the_hint_asks_only_where_there_is_something_to_ask() -> None:
    assert did_you_mean("gpu1", ["gpu001"]) == "did you mean gpu001?"
    assert did_you_mean("gpu1", []) == ""
