"""Rates, GUIDs and errors."""

from __future__ import annotations

import pytest

from fabricctl import errors
from fabricctl.errors import FabricctlError, InputError, PlanError
from fabricctl.guid import parse_guid
from fabricctl.rates import LANE_GBPS, SPEED_OF_LANE_GBPS, Rate, parse_rate


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("4xHDR", Rate(4, "HDR")),
        ("1x SDR", Rate(1, "SDR")),
        ("4X FDR10", Rate(4, "FDR10")),
        ("2xNDR", Rate(2, "NDR")),
    ],
)
def test_a_rate_is_read(text: str, rate: Rate) -> None:
    assert parse_rate(text) == rate


@pytest.mark.parametrize("text", ["", "4x", "HDR", "3xHDR", "4xFOO", "4x???", "fourxHDR"])
def test_what_is_no_rate_is_none(text: str) -> None:
    assert parse_rate(text) is None


def test_nominal_rates_of_the_field() -> None:
    # 4x HDR is sold as 200 Gb/s, 4x NDR as 400: 4 lanes of 53.125 and 106.25 Gb/s signalling
    assert Rate(4, "HDR").gbps == 212.5
    assert Rate(4, "NDR").gbps == 425.0


def test_narrower_or_slower_is_below() -> None:
    assert Rate(1, "HDR").below(Rate(4, "HDR"))
    assert Rate(4, "EDR").below(Rate(4, "HDR"))
    assert not Rate(4, "HDR").below(Rate(4, "HDR"))
    assert not Rate(4, "NDR").below(Rate(4, "HDR"))


def test_both_tables_of_lane_rates_agree() -> None:
    assert {name: float(gbps) for gbps, name in SPEED_OF_LANE_GBPS.items()} == LANE_GBPS


@pytest.mark.parametrize(
    "text",
    [
        "0x9c0591030a000500",
        "9c0591030a000500",
        "0X9C0591030A000500",
        "9c:05:91:03:0a:00:05:00",
        "9c05:9103:0a00:0500",
        "9c05.9103.0a00.0500",
        " 0x9c0591030a000500 ",
    ],
)
def test_every_spelling_of_a_guid_has_one_form(text: str) -> None:
    assert parse_guid(text) == "0x9c0591030a000500"


def test_leading_zeros_come_back() -> None:
    assert parse_guid("2c903007b78b0") == "0x0002c903007b78b0"


@pytest.mark.parametrize("text", ["", "0x", "xyz", "0x12345678901234567", "9c:05"])
def test_what_is_no_guid_is_none(text: str) -> None:
    assert parse_guid(text) is None


def test_an_input_error_is_one_line_with_file_and_line() -> None:
    assert (
        str(PlanError("two\nlines", path="a.csv", line=3, hint="do this")) == "a.csv:3: two lines (do this)"
    )
    assert str(InputError("empty", path="-")) == "standard input: empty"
    assert str(InputError("bad", line=3)) == "line 3: bad"


def test_exit_codes_of_the_error_tree() -> None:
    for value in vars(errors).values():
        if isinstance(value, type) and issubclass(value, FabricctlError):
            assert value.exit_code in (errors.EXIT_USAGE, errors.EXIT_COULD_NOT_TELL, errors.EXIT_BUG)
