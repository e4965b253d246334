"""Every reader of JSON takes any text: its value, or one line with the file's name."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.cabling.slot_inventory import parse_slots
from fabricctl.discovery.recognise import parse_any
from fabricctl.errors import InputError
from fabricctl.jsontext import MAX_DEPTH, json_of
from fabricctl.picture.former import DATA_OPEN, read_former
from fabricctl.report.work_order_json import ISLAND, read_order

READERS: list[Callable[[str, str], object]] = [parse_any, parse_slots, read_former, read_order]
DEEP = 200_000
BROKEN = {
    "lists": "[" * DEEP,
    "whole lists": "[" * DEEP + "]" * DEEP,
    "objects": '{"a":' * DEEP + "1" + "}" * DEEP,
    "findings": f'{{"findings": [{{"id": {"[" * 900}{"]" * 900}}}]}}',
    "cards": f'[{{"host": {"[" * 900}{"]" * 900}, "slot": 1}}]',
    "digits": f'[{{"host": {"9" * 5000}, "slot": 1}}]',
    "cut": '{"findings": [',
    "infinite": "[NaN, Infinity]",
    "surrogate": '["\\ud800"]',
}


@pytest.mark.parametrize("text", BROKEN.values(), ids=BROKEN)
@pytest.mark.parametrize("read", READERS)
def test_no_reader_of_json_fails_otherwise_than_with_one_line(
    read: Callable[[str, str], object], text: str
) -> None:
    with pytest.raises(InputError, match=r"^some\.json:") as caught:
        read(text, "some.json")
    assert len(str(caught.value)) < 400


def test_json_inside_a_page_is_read_the_same_way() -> None:
    for opened, read in (
        (DATA_OPEN, read_former),
        (f'<script type="application/json" id="{ISLAND}">', read_order),
    ):
        with pytest.raises(InputError, match=r"^page\.html:"):
            read(f"<html>\n{opened}{BROKEN['whole lists']}</script>", "page.html")
    with pytest.raises(InputError, match=r"^page\.html:3: this is no work order"):
        read_order(f'<html>\n\n<script type="application/json" id="{ISLAND}">{{not</script>', "page.html")


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda some: st.lists(some) | st.dictionaries(st.text(), some),
    )
)
def test_what_json_writes_is_read_back(value: object) -> None:
    assert json_of(json.dumps(value), "x") == value


def test_the_bound_on_depth_is_exact() -> None:
    assert json_of("[" * MAX_DEPTH + "]" * MAX_DEPTH, "x")
    with pytest.raises(InputError, match="nested more than 100 levels deep"):
        json_of("[" * (MAX_DEPTH + 1) + "]" * (MAX_DEPTH + 1), "x")
