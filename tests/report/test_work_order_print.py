"""The work order on paper: printed by a real browser, on A4 and on Letter."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricctl.repair.order_model import WorkOrder
from fabricctl.report.work_order_html import render
from fabricctl.report.work_order_style import STYLE, Paper
from tests.report.work_orders import hostile, small

SIZES = {"A4": (595, 842), "Letter": (612, 792)}
"""Width and height in points (ISO 216; ANSI/ASME Y14.1)."""


@pytest.fixture
def browser(chromium: Any, need_tools: Callable[..., None]) -> Any:
    need_tools("pdftotext", "pdfinfo")
    return chromium


class Printed:
    """A work order on paper. :param pages: text of each page; :param size: points."""

    def __init__(
        self, browser: Any, order: WorkOrder, folder: Path, paper: str, asked: Paper = Paper.ANY
    ) -> None:
        source, target = folder / "wo.html", folder / "wo.pdf"
        source.write_text(render(order, paper=asked), encoding="utf-8")
        page = browser.new_page()
        self.requests: list[str] = []
        self.complaints: list[str] = []
        page.on("request", lambda request: self.requests.append(request.url))
        page.on("console", lambda message: self.complaints.append(message.text))
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.goto(source.as_uri())
        page.pdf(path=str(target), format=paper, prefer_css_page_size=asked is not Paper.ANY)
        page.close()
        self.own = source.as_uri()
        text = subprocess.run(["pdftotext", "-layout", target, "-"], capture_output=True, check=True).stdout
        self.pages = text.decode("utf-8", "replace").split("\f")[:-1]
        info = subprocess.run(["pdfinfo", target], capture_output=True, check=True, text=True).stdout
        found = re.search(r"Page size: +([\d.]+) x ([\d.]+)", info)
        assert found is not None
        self.size = (round(float(found[1])), round(float(found[2])))


@pytest.mark.parametrize("paper", SIZES)
def test_no_step_is_broken_across_pages(browser: Any, tmp_path: Path, paper: str) -> None:
    """Every page holds as many heads of steps as lines to sign, and begins with neither a rest nor ends in one."""
    order = small(20)
    printed = Printed(browser, order, tmp_path, paper)
    assert printed.size == pytest.approx(SIZES[paper], abs=1)
    heads: list[str] = []
    for page in printed.pages:
        marks = re.findall(r"\bW-[0-9a-f]{10}\b|\binitials\b +time\b +photo\b", page)
        assert [mark[:2] for mark in marks] == ["W-", "in"] * (len(marks) // 2), page
        heads += marks[::2]
    assert heads == [step.id for step in order.steps]
    assert len(order.steps) == 40
    assert len(printed.pages) <= 20


def test_nothing_leaves_the_file_and_nothing_is_complained_of(browser: Any, tmp_path: Path) -> None:
    for order in (small(), hostile("<img src=http://example.net/x.png> ' \" \\ </style>")):
        printed = Printed(browser, order, tmp_path, "A4")
        assert printed.requests == [printed.own]
        assert printed.complaints == []


def test_every_page_has_its_head_and_number(browser: Any, tmp_path: Path) -> None:
    printed = Printed(browser, small(site='hall \u00e9 "one"'), tmp_path, "A4")
    for number, page in enumerate(printed.pages, 1):
        assert 'Work order hall \u00e9 "one" | plan cabling.csv' in page
        assert "2026-01-02T03:04+00:00" in page
        assert "discovery ibnetdiscover.txt" in page
        assert f"page {number} of {len(printed.pages)}" in page


def test_a_paper_asked_for_is_taken_whatever_the_printer_has(browser: Any, tmp_path: Path) -> None:
    assert Printed(browser, small(1), tmp_path, "A4", Paper.LETTER).size == pytest.approx(
        SIZES["Letter"], abs=1
    )
    assert Printed(browser, small(1), tmp_path, "Letter", Paper.A4).size == pytest.approx(SIZES["A4"], abs=1)


def test_nothing_is_wider_than_the_paper(browser: Any, tmp_path: Path) -> None:
    order = hostile("W" * 300)
    source = tmp_path / "wide.html"
    source.write_text(render(order), encoding="utf-8")
    page = browser.new_page(viewport={"width": 700, "height": 900})
    page.emulate_media(media="print")
    page.goto(source.as_uri())
    assert page.evaluate("document.documentElement.scrollWidth") <= 700
    page.close()


def test_no_colour_carries_a_meaning() -> None:
    colours = re.findall(r"#([0-9a-f]{3}(?:[0-9a-f]{3})?)\b", STYLE)
    assert colours
    for colour in colours:
        wide = colour if len(colour) == 6 else "".join(c * 2 for c in colour)
        assert wide[:2] == wide[2:4] == wide[4:], f"#{colour} is no grey"
