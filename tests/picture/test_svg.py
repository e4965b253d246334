"""The static picture: well-formed, small, and it says what the verdict says."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from fabricctl.cabling.verdict import Verdict
from fabricctl.picture.data import picture_data
from fabricctl.picture.extras import Extras
from fabricctl.picture.svg import render_svg
from fabricctl.picture.svg_matrix import matrices
from tests.report.report_samples import NASTY, clean_fabric, nasty, of_findings

SVG = "{http://www.w3.org/2000/svg}"


def texts(picture: str) -> list[str]:
    return [node.text or "" for node in ElementTree.fromstring(picture).iter(f"{SVG}text")]  # noqa: S314 - our own


def test_it_says_verdict_counts_and_faults(demo: tuple[Verdict, Extras]) -> None:
    picture = render_svg(picture_data(*demo))
    said = texts(picture)
    assert "\u2717 Not as planned" in said
    assert "157 of 12,282 planned cables are not as planned (1.3 %, gate 10 %)" in said
    assert {"core", "spine", "leaf", "host", "64", "128", "513", "SU 16", "ibc-[01-08]"} <= set(said)
    assert said.count("256") >= 16  # bands of 32 hosts with 8 rails, and of 8 leaves with 32 uplinks
    assert "\u00d732" in said  # the dead core's and the dead spine's cables
    assert len(picture) < 300_000
    assert 'viewBox="0 0 1200 ' in picture


def test_signs_stand_for_every_class_in_the_legend(demo: tuple[Verdict, Extras]) -> None:
    said = texts(render_svg(picture_data(*demo)))
    for words in (
        "as planned",
        "\u00d7 missing",
        "\u2260 miswired",
        "\u21c4 swapped",
        "\u25bd degraded",
        "? not judged",
    ):
        assert words in said


def test_counts_never_cover_each_other(demo: tuple[Verdict, Extras]) -> None:
    root = ElementTree.fromstring(render_svg(picture_data(*demo)))  # noqa: S314 - our own
    pills = [
        tuple(float(rect.get(key, "0")) for key in ("x", "y", "width", "height"))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("rx") == "8"
    ]
    assert len(pills) > 30
    for i, (x, y, w, h) in enumerate(pills):
        assert not any(x < a + c and x + w > a and y < b + d and y + h > b for a, b, c, d in pills[:i])


def test_an_island_has_its_colour_only_where_there_are_several(demo: tuple[Verdict, Extras]) -> None:
    assert "#5b5fc7" not in render_svg(picture_data(*demo))


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_any_name_is_well_formed_text(name: str) -> None:
    ElementTree.fromstring(render_svg(picture_data(nasty(name))))  # noqa: S314 - our own


def test_small_and_empty_fabrics_are_drawn() -> None:
    assert "\u2713 As planned" in texts(render_svg(picture_data(clean_fabric())))
    assert "There is no fabric to draw." in texts(render_svg(picture_data(of_findings([]))))


def test_the_matrix_has_a_cell_for_every_planned_pair(demo: tuple[Verdict, Extras]) -> None:
    drawn = dict(matrices(picture_data(*demo)))
    assert list(drawn) == [
        "Leaf by spine: planned and found, every pair of switches",
        "Spine by core: planned and found, every pair of switches",
    ]
    leaf_spine = drawn["Leaf by spine: planned and found, every pair of switches"]
    # 16 units x 8 leaves x 8 spines pairs are planned; the two cables exchanged between units add two
    boxes = sum(len(re.findall("z", path)) for path in re.findall(r'<path d="([^"]*)" fill="#', leaf_spine))
    outlines = sum(
        len(re.findall("z", path)) for path in re.findall(r'<path d="([^"]*)" fill="none"', leaf_spine)
    )
    assert boxes + outlines >= 1024 + 2
