"""Properties do not fail because the machine was busy while one of their examples ran."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st


def test_an_example_that_takes_long_once_fails_no_property() -> None:
    waits = [0.3]

    @given(st.integers())
    def held_up_once(number: int) -> None:
        if waits:
            time.sleep(waits.pop())
        assert number == number + 0

    held_up_once()
