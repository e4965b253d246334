"""Numbers in answers that are none count as not told."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.bmc.json_bodies import is_number
from provision.bmc.target import Target
from provision.bmc.versions import version_key
from provision.redfish.mask import Mask
from provision.redfish.transport import make_reply

GPU001 = Target("gpu001", "192.0.2.1")


def parsed(text: str) -> object:
    reply = make_reply(GPU001, "/redfish/v1", 200, {}, f'{{"n": {text}}}'.encode(), Mask())
    return reply.resource["n"]


@pytest.mark.parametrize("text", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "-" + "9" * 5000])
def test_what_is_no_number_is_not_told(text: str) -> None:
    assert parsed(text) is None


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_finite_number_is_what_it_is(value: float) -> None:
    assert parsed(repr(value)) == value
    assert math.isfinite(float(repr(value)))


def test_a_whole_number_that_nothing_counts_up_to_is_still_finite() -> None:
    assert parsed("1" + "0" * 30) == 1e30
    assert len(str(parsed("1" + "0" * 30))) < 20


@given(st.integers(-(10**16), 10**16))
def test_a_count_is_what_it_is(value: int) -> None:
    assert parsed(str(value)) == value


@pytest.mark.parametrize("text", ["²", "١٢٣", "", "-1", "1.0", "9" * 5000])
def test_no_text_that_int_does_not_take_is_a_number(text: str) -> None:
    assert not is_number(text)


def test_a_version_of_endless_digits_is_compared_all_the_same() -> None:
    long = "9" * 5000
    assert version_key(f"{long}.1") != version_key(f"{long}.2")
