from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import UsageError
from fabricctl.hostset import expand, fold, natural_key


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("gpu001", ["gpu001"]),
        ("gpu[001-003]", ["gpu001", "gpu002", "gpu003"]),
        ("gpu[9-11]", ["gpu9", "gpu10", "gpu11"]),
        ("gpu[001,003-004],ufm1", ["gpu001", "gpu003", "gpu004", "ufm1"]),
        ("p[1-2]-r[1-2]", ["p1-r1", "p1-r2", "p2-r1", "p2-r2"]),
        ("n[0-8/4]", ["n0", "n4", "n8"]),
        ("a,a", ["a"]),
        (" a , b ", ["a", "b"]),
    ],
)
def test_a_host_set_expands(text: str, names: list[str]) -> None:
    assert expand(text) == names


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a,,b",
        "gpu[1-",
        "gpu]1[",
        "gpu[x]",
        "gpu[3-1]",
        "gpu[[1]]",
        "gpu[1-2/0]",
        "gpu[0-99999999]",
        "a[1-9999]b[1-9999]",
    ],
)
def test_a_wrong_host_set_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError):
        expand(text)


@pytest.mark.parametrize(
    ("names", "text"),
    [
        (["gpu001", "gpu002", "gpu004"], "gpu[001-002,004]"),
        (["leaf9", "leaf10", "leaf11"], "leaf[9-11]"),
        (["ibl-p01-r1", "ibl-p02-r1"], "ibl-p[01-02]-r1"),
        ([f"ibl-p{p:02}-r{r}" for p in range(1, 17) for r in range(1, 9)], "ibl-p[01-16]-r[1-8]"),
        (["n1", "n01"], "n[01],n1"),
        (["b", "a"], "a,b"),
        (["gpu1 mlx5_0", "gpu2 mlx5_0"], "gpu[1-2] mlx5_0"),
        ([], ""),
        (["ufm1"], "ufm1"),
    ],
)
def test_names_fold(names: list[str], text: str) -> None:
    assert fold(names) in (text, text.replace("n[01],n1", "n01,n1"))


NAMES = st.lists(
    st.from_regex(r"[a-c]{0,2}[0-9]{1,3}(-r[0-9]{1,2})?|[a-z]{1,3}", fullmatch=True), min_size=1, max_size=40
)


@given(NAMES)
@settings(max_examples=100, deadline=None)
def test_folding_and_expanding_gives_the_same_set(names: list[str]) -> None:
    assert sorted(set(expand(fold(names)))) == sorted(set(names))


@given(st.text(max_size=40))
@settings(max_examples=100, deadline=None)
def test_any_text_expands_or_is_a_usage_error(text: str) -> None:
    try:
        expand(text)
    except UsageError as error:
        said = str(error)
    else:
        said = ""
    assert "\n" not in said


@given(st.lists(st.text(max_size=12), max_size=10))
@settings(max_examples=100, deadline=None)
def test_any_names_fold(names: list[str]) -> None:
    assert isinstance(fold(names), str)


def test_natural_order_counts_instead_of_spelling() -> None:
    assert sorted(["leaf10", "leaf9", "leaf1"], key=natural_key) == ["leaf1", "leaf9", "leaf10"]


LONG = "7" * 5000


def test_a_run_of_any_length_of_digits_sorts_after_every_number_and_is_kept_as_text() -> None:
    names = [f"n{LONG}2", f"n{LONG}", f"n{'8' * 19}", f"n{'9' * 18}", "n10", "n9", "n"]
    assert sorted(names, key=natural_key) == names[::-1]


def test_long_runs_of_digits_fold_as_text_and_expand_again() -> None:
    names = [f"{LONG}-r{n}" for n in (1, 2, 3)]
    assert fold(names) == f"{LONG}-r[1-3]"
    assert expand(fold(names)) == names
    serials = [f"{10**17 + n}" for n in range(3)]
    assert expand(fold(serials)) == serials
    longer = [f"{10**18 + n}" for n in range(3)]
    assert fold(longer) == ",".join(longer)


@pytest.mark.parametrize("digits", [LONG, "1" * 19, "\u0663", "1\u0663"])
@pytest.mark.parametrize("text", ["n[{}]", "n[1-{}]", "n[{}-3]", "n[1-9/{}]"])
def test_a_range_of_digits_that_are_no_number_is_a_short_usage_error(text: str, digits: str) -> None:
    with pytest.raises(UsageError, match="is not a range; expected N, N-M or N-M/STEP") as error:
        expand(text.format(digits))
    assert len(str(error.value)) < 400


@given(st.lists(st.from_regex(r"[a-c]?[0-9]{16,21}(-[0-9]{1,2})?", fullmatch=True), min_size=1, max_size=20))
@settings(max_examples=50, deadline=None)
def test_folding_long_numbers_and_expanding_gives_the_same_set(names: list[str]) -> None:
    assert sorted(set(expand(fold(names)))) == sorted(set(names))
