"""What must hold for every report format alike."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import Verdict, VerdictWord
from fabricctl.picture import page
from fabricctl.picture.data import picture_data
from fabricctl.picture.svg import render_svg
from fabricctl.report import csv_report, junit, markdown, prometheus
from fabricctl.report.json_report import to_json
from fabricctl.report.words import KIND_TITLES, can_i_train, percent
from tests.report.report_samples import clean_fabric, nasty, with_a_failed_viewer

FORMATS: dict[str, Callable[[Verdict], str]] = {
    "json": to_json,
    "csv": csv_report.render,
    "markdown": markdown.render,
    "junit": junit.render,
    "html": lambda verdict: page.render(picture_data(verdict)),
    "svg": lambda verdict: render_svg(picture_data(verdict)),
    "prometheus": lambda verdict: prometheus.render(verdict, 0.0),
}
WIRE_NAMES = st.binary(max_size=64).map(lambda name: name.decode("utf-8", "surrogateescape"))
"""A node description is any 64 bytes."""


@pytest.mark.parametrize("form", FORMATS)
@given(name=st.one_of(WIRE_NAMES, st.text(max_size=64)))
@settings(max_examples=40, deadline=None)
def test_any_name_can_be_written_as_utf_8(form: str, name: str) -> None:
    text = FORMATS[form](nasty(name))
    assert text.encode("utf-8")
    assert text.endswith("\n")


@pytest.mark.parametrize("form", FORMATS)
def test_the_same_verdict_is_the_same_text(form: str) -> None:
    assert FORMATS[form](clean_fabric()) == FORMATS[form](clean_fabric())


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_makes_a_doubt_look_like_health(form: str) -> None:
    doubtful, clean = with_a_failed_viewer(), clean_fabric()
    assert FORMATS[form](doubtful) != FORMATS[form](clean)
    text = FORMATS[form](doubtful)
    assert "could_not_tell" in text or "Could not tell" in text or "could not tell" in text


def test_every_kind_of_finding_has_a_title() -> None:
    assert set(KIND_TITLES) == set(FindingKind)


def test_the_answer_is_never_yes_while_there_is_a_doubt() -> None:
    verdict = with_a_failed_viewer()
    assert verdict.word is VerdictWord.COULD_NOT_TELL
    assert can_i_train(verdict).startswith("Cannot be told")


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0 %"),
        (0.0001, "less than 0.1 %"),
        (0.0126, "1.3 %"),
        (0.1, "10 %"),
        (0.125, "12.5 %"),
        (1, "100 %"),
    ],
)
def test_a_share_above_nothing_never_prints_as_nothing(share: float, shown: str) -> None:
    assert percent(share) == shown
