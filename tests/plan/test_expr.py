from __future__ import annotations

import contextlib
import operator
from collections.abc import Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import PlanError
from fabricctl.plan.expr import MAX_VALUE, parse_expression
from fabricctl.plan.expr_template import check_names, parse_template

VALUES = {"a": 7, "b": -3, "su": 12, "zero": 0}

# A generated expression is a pair: its text, fully or barely parenthesised, and what Python's own operators make of
# the same tree (None where Python divides by zero).
Pair = tuple[str, int | None]
_ARITHMETIC = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "//": operator.floordiv,
    "%": operator.mod,
}
_COMPARE = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def _leaf() -> st.SearchStrategy[Pair]:
    numbers = st.integers(0, 99).map(lambda n: (str(n), n))
    names = st.sampled_from(sorted(VALUES)).map(lambda n: (n, VALUES[n]))
    return st.one_of(numbers, names)


def _join(parts: tuple[Pair, str, Pair]) -> Pair:
    (left, x), sign, (right, y) = parts
    text = f"({left}) {sign} ({right})"
    if x is None or y is None:
        return text, None
    if sign in _COMPARE:
        return text, int(_COMPARE[sign](x, y))
    if sign in ("//", "%") and y == 0:
        return text, None
    return text, _ARITHMETIC[sign](x, y)


def _negate(pair: Pair) -> Pair:
    return f"-({pair[0]})", None if pair[1] is None else -pair[1]


def _pick(parts: tuple[str, list[Pair]]) -> Pair:
    word, items = parts
    numbers = [number for _, number in items if number is not None]
    chosen = {"min": min, "max": max}[word](numbers) if len(numbers) == len(items) else None
    return f"{word}({', '.join(text for text, _ in items)})", chosen


def _grow(inner: st.SearchStrategy[Pair]) -> st.SearchStrategy[Pair]:
    sign = st.sampled_from([*_ARITHMETIC, *_COMPARE])
    return st.one_of(
        st.tuples(inner, sign, inner).map(_join),
        inner.map(_negate),
        st.tuples(st.sampled_from(["min", "max"]), st.lists(inner, min_size=1, max_size=3)).map(_pick),
    )


def _evaluate(text: str, values: Mapping[str, int] = VALUES) -> int:
    return parse_expression(text).value(values)


@settings(max_examples=100, deadline=None)
@given(st.recursive(_leaf(), _grow, max_leaves=8))
def test_a_tree_of_operators_gives_what_python_gives(pair: Pair) -> None:
    text, expected = pair
    if expected is None:
        with pytest.raises(PlanError, match="divides by zero"):
            _evaluate(text)
    else:
        assert _evaluate(text) == expected


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.integers(1, 30), min_size=2, max_size=8),
    st.lists(st.sampled_from(["+", "-", "*", "//", "%"]), min_size=7, max_size=7),
)
def test_unparenthesised_arithmetic_binds_as_in_schoolbooks(numbers: list[int], signs: list[str]) -> None:
    items: list[int] = [numbers[0]]
    waiting: list[str] = []
    for sign, number in zip(
        signs, numbers[1:], strict=False
    ):  # two passes by hand: products first, then sums
        if sign in ("+", "-"):
            waiting.append(sign)
            items.append(number)
        elif number == 0:
            return
        else:
            items[-1] = _ARITHMETIC[sign](items[-1], number)
    total = items[0]
    for sign, item in zip(waiting, items[1:], strict=True):
        total = _ARITHMETIC[sign](total, item)
    text = str(numbers[0]) + "".join(f" {s} {n}" for s, n in zip(signs, numbers[1:], strict=False))
    assert _evaluate(text) == total


@settings(max_examples=100, deadline=None)
@given(st.text(alphabet="0123456789abz+-*/%()<>=!,. _andornotmix{}", max_size=40))
def test_any_text_is_a_value_or_a_plan_error(text: str) -> None:
    with contextlib.suppress(PlanError):
        _evaluate(text, dict.fromkeys(parse_expression(text).names, 3))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 <= a < 9", 1),
        ("1 <= a < 7", 0),
        ("a == 7 and b == -3", 1),
        ("zero or not su", 0),
        ("not zero and 2", 1),
        ("zero != 0 and 10 // zero > 1", 0),
        ("(a - 1) // 3 + 1", 3),
        ("-7 // 2", -4),
        ("-7 % 5", 3),
        ("max(a, su) - min(4, b)", 15),
    ],
)
def test_conditions_and_rounding(text: str, expected: int) -> None:
    assert _evaluate(text) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a / 2", "whole numbers are divided with '//'"),
        ("a = 2", "tested with '=='"),
        ("(a", "expected ')'"),
        ("a b", "expected an operator, found 'b'"),
        ("", "empty expression"),
        ("1..8", "belongs under 'values'"),
        ("a.b", "only whole numbers"),
        ("'x'", "has no meaning"),
        ("min()", "expected a number or a name"),
        ("(" * 60 + "1" + ")" * 60, "deep"),
        ("+".join("1" * 150), "more than 200 symbols"),
        ("9" * 5000, "beyond"),
    ],
)
def test_a_bad_expression_says_what_was_expected(text: str, said: str) -> None:
    with pytest.raises(PlanError, match=r"^line 12: ") as caught:
        parse_expression(text, 12)
    assert said in str(caught.value)


def test_division_by_zero_names_line_expression_and_values() -> None:
    with pytest.raises(PlanError) as caught:
        parse_expression("su // (a - 7)", 4).value(VALUES)
    assert str(caught.value) == "line 4: 'su // (a - 7)' divides by zero where a=7, su=12"


def test_products_are_bounded() -> None:
    with pytest.raises(PlanError, match="beyond"):
        _evaluate("x * x * x", {"x": MAX_VALUE // 2})


def test_an_unknown_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(PlanError, match=r"unknown name 'rial' \(did you mean rail\?\)"):
        check_names(parse_expression("rial + 1"), frozenset({"rail", "su"}))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("LG{su:02}-{a}", "LG12-7"),
        ("CSPINE{a}-{10 * (su - 1) + 1:02}", "CSPINE7-111"),
        ("{{su}}", "{su}"),
        ("plain", "plain"),
        ("100% {a}%d", "100% 7%d"),
        ("{a:03}", "007"),
    ],
)
def test_templates_fill_their_holes(text: str, expected: str) -> None:
    assert parse_template(text).render(VALUES) == expected


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("LG{su", "do not pair"),
        ("LG su}", "do not pair"),
        ("LG{su:2}", "zero padding such as :02"),
        ("LG{su:02x}", "zero padding such as :02"),
        ("LG{}", "empty expression"),
    ],
)
def test_a_bad_template_says_what_was_expected(text: str, said: str) -> None:
    with pytest.raises(PlanError, match="line 3") as caught:
        parse_template(text, 3)
    assert said in str(caught.value)


def test_a_negative_number_in_a_name_is_an_error() -> None:
    with pytest.raises(PlanError, match="gives -3; a name holds no negative number"):
        parse_template("LG{b}").render(VALUES)
