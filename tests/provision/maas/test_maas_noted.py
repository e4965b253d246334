"""Our line in a description: it comes and goes, and nobody's text is touched."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from provision.maas.noted import MARK, reason_in, with_reason, without_reason

LINES = st.lists(st.text(st.characters(codec="ascii", categories=["L", "N"]), max_size=9), max_size=4)


@given(LINES, st.sampled_from(["no disks", "took\ntoo long"]))
def test_a_reason_comes_and_goes_and_the_rest_stays(own: list[str], reason: str) -> None:
    text = "\n".join(own).strip()
    noted = with_reason(text, reason)
    assert reason_in(noted) == " ".join(reason.split())
    assert without_reason(noted) == "\n".join(text.splitlines())


def test_a_second_reason_takes_the_place_of_the_first() -> None:
    assert with_reason(with_reason("rack 3", "first"), "second") == f"rack 3\n{MARK}second"
    assert reason_in("rack 3") == ""
