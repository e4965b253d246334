"""The page as people use it, in a headless Chromium, opened from the disk."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Verdict
from fabricctl.picture.extras import Extras
from fabricctl.picture.page import render
from fabricctl.report.json_report import report_of, to_json
from tests.picture.conftest import Browser, write_page
from tests.report.report_samples import NASTY, clean_fabric, nasty, of_findings
from tests.workflows.test_port_numbers_everywhere import page as split_page

Demo = tuple[Verdict, Extras]


def items(page: Any) -> list[str]:
    return list(page.locator("#list .item:not(.dev) .head").all_text_contents())


def settled(page: Any, told: Callable[[str], bool], of: str = "location.hash.slice(1)") -> str:
    """What the page says once it says so; polled, since its policy lets nobody evaluate text inside it."""
    for _ in range(200):
        text = str(page.evaluate(of))
        if told(text):
            return text
        page.wait_for_timeout(25)
    raise AssertionError(f"still {text!r}")


def test_the_page_opens_without_a_complaint_and_asks_for_nothing(browser: Browser, demo_page: Path) -> None:
    page = browser.open(demo_page)
    for view in ("matrix", "racks", "order", "changes", "about", "map"):
        page.click(f"#tab-{view}")
    assert browser.requests == [demo_page.as_uri()]


def test_its_numbers_are_those_of_the_json_report(browser: Browser, demo_page: Path, demo: Demo) -> None:
    page = browser.open(demo_page)
    counts = report_of(demo[0]).counts
    rows = {
        name: [int(cell.replace(",", "")) for cell in cells]
        for name, *cells in page.evaluate(
            "[...document.querySelectorAll('#counts tbody tr')].map(tr => [...tr.children].map(c => c.textContent))"
        )
    }
    shown = ("ok", "missing", "miswired", "swapped", "degraded")
    assert rows.pop("total") == [counts.intended, *(getattr(counts, name) for name in shown)]
    for tiers, numbers in rows.items():
        row = counts.by_tier[tiers].model_dump()
        assert numbers == [sum(row.values()), *(row[name] for name in shown)]
    assert page.inner_text("#count") == f"{len(demo[0].findings)} findings"


def test_filters_leave_what_they_say(browser: Browser, demo_page: Path, demo: Demo) -> None:
    page = browser.open(demo_page)
    page.select_option("#f-kind", "swapped")
    assert len(items(page)) == sum(f.kind is FindingKind.SWAPPED for f in demo[0].findings) == 5
    page.select_option("#f-tier", "host-leaf")
    assert all("(host-leaf)" in text for text in items(page))
    assert len(items(page)) == 2
    page.click("#clear")
    page.select_option("#f-rack", "D10")
    assert any("ibs-p04-s4 at D10" in text for text in items(page))
    page.click("#clear")
    assert len(items(page)) == len(demo[0].findings)


@pytest.mark.parametrize(
    ("typed", "finding"),
    [
        ("ibs-p04-s4", "spine ibs-p04-s4 at D10 U34 is absent"),
        ("D10 absent", "spine ibs-p04-s4 at D10 U34 is absent"),
        ("0xb83fd20300a00981", ""),
        ("no-such-thing", ""),
    ],
)
def test_search_finds_names_racks_and_guids(
    browser: Browser, demo_page: Path, typed: str, finding: str
) -> None:
    page = browser.open(demo_page)
    page.fill("#q", typed)
    settled(page, lambda text: " of " in text, "document.querySelector('#count').textContent")
    found = items(page)
    assert any(finding in text for text in found) if finding else found == []


def test_search_finds_a_healthy_device_by_guid_and_opens_it(
    browser: Browser, demo_page: Path, demo: Demo
) -> None:
    assert demo[0].comparison is not None
    seen = demo[0].comparison.seen.nodes
    one = next(node for node in seen.values() if "ibl-p16-r8" in node.name)
    page = browser.open(demo_page)
    page.keyboard.press("/")
    page.keyboard.type(str(one.guid))
    page.wait_for_selector("#list .dev")
    page.keyboard.press("ArrowDown")
    assert page.inner_text("#detail h2") == "ibl-p16-r8"
    assert str(one.guid) in page.inner_text("#detail dl")


def test_keys_alone_are_enough(browser: Browser, demo_page: Path, demo: Demo) -> None:
    page = browser.open(demo_page)
    page.keyboard.press("j")
    page.keyboard.press("j")
    assert page.inner_text("#detail h2") == demo[0].findings[1].headline
    page.keyboard.press("k")
    assert page.inner_text("#detail h2") == demo[0].findings[0].headline
    page.keyboard.press("Escape")
    assert page.locator("body.selected").count() == 0
    page.keyboard.press("?")
    assert page.is_visible("#help")
    page.keyboard.press("Escape")
    assert not page.is_visible("#help")
    page.keyboard.press("2")
    assert page.is_visible("#matrix")
    page.focus("#matrix")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    assert page.inner_text("#detail h2") == "ibl-p01-r1 \u2013 ibs-p01-s1"
    page.keyboard.press("1")
    page.focus("#map")
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("Enter")
    assert page.inner_text("#detail h2") == "ibs-p01-s1"


def test_a_link_to_a_finding_opens_it(browser: Browser, demo_page: Path, demo: Demo) -> None:
    for finding in (demo[0].findings[0], demo[0].findings[-1]):
        page = browser.open(demo_page, finding_id(finding))
        assert page.inner_text("#detail h2") == finding.headline
        assert page.locator(f"#item-{finding_id(finding)}[aria-selected=true]").count() == 1


def test_the_address_brings_everything_back(browser: Browser, demo_page: Path) -> None:
    page = browser.open(demo_page)
    page.select_option("#f-kind", "missing")
    page.locator("#list .item").nth(1).click()
    page.click("#tab-matrix")
    page.select_option("#m-ms", "rail")
    anchor = settled(page, lambda text: "ms=rail" in text)
    again = browser.open(demo_page, anchor)
    for look in ("#detail h2", "#count", "#matrixbar", "#tabs"):
        assert again.inner_text(look) == page.inner_text(look)
    assert again.input_value("#f-kind") == "missing"
    assert again.input_value("#m-ms") == "rail"
    again.click("#tab-map")
    again.mouse.move(700, 500)
    again.mouse.wheel(0, -600)
    moved = settled(again, lambda text: "&k=" in text)
    third = browser.open(demo_page, moved)
    third.wait_for_timeout(300)
    assert third.evaluate("location.hash.slice(1)") == moved


def test_the_map_answers_to_pointer_and_wheel(browser: Browser, demo_page: Path) -> None:
    page = browser.open(demo_page)
    box = page.locator("#map").bounding_box()
    hits: dict[str, tuple[float, float]] = {}
    for y in range(40, int(box["height"]), 24):
        for x in (200, 206):
            page.mouse.move(box["x"] + x, box["y"] + y)
            if page.is_visible("#tip"):
                hits[page.inner_text("#tip b")] = (box["x"] + x, box["y"] + y)
    for what in (r"ibc-\d\d", r"ibs-p\d\d-s\d", r"ibl-p\d\d-r\d", r"SU \d+ \u2013 .*"):
        assert any(re.fullmatch(what, hit) for hit in hits), (what, hits)
    spine = next(hit for hit in hits if re.fullmatch(r"ibs-p\d\d-s\d", hit))
    page.mouse.click(*hits[spine])
    assert page.inner_text("#detail h2") == spine
    page.mouse.dblclick(*hits[spine])
    settled(page, lambda text: "k=" in text)


def test_a_device_shows_its_panel_and_its_ports(browser: Browser, demo_page: Path) -> None:
    page = browser.open(demo_page, "s=d%3Aibs-p04-s4&v=racks")
    assert page.locator("#detail svg.face .port").count() == 64
    assert page.locator("#detail svg.face .p-missing").count() == 64
    assert page.locator("#detail table.ports tbody tr").count() == 64
    assert "27 14/1" in page.inner_text("#detail table.ports")
    assert page.locator("#racks figure.rack").count() == 2  # its own, and that of the cores
    page.locator("#racks .unitbox").first.focus()
    page.keyboard.press("Enter")
    assert page.inner_text("#detail h2")


def test_the_same_run_again_is_no_change_and_that_is_said(
    browser: Browser, demo_page: Path, demo: Demo, tmp_path: Path
) -> None:
    earlier = tmp_path / "earlier.json"
    earlier.write_text(to_json(demo[0]), encoding="utf-8")
    page = browser.open(demo_page)
    page.click("#tab-changes")
    for file in (earlier, demo_page):
        page.set_input_files("#earlier", file)
        page.wait_for_selector("#changed")
        assert page.inner_text("#changed").lower() == "no changes: the same 26 findings in both runs"


def test_an_earlier_report_shows_what_is_new_and_what_is_gone(
    browser: Browser, demo_page: Path, demo: Demo, tmp_path: Path
) -> None:
    report = json.loads(to_json(demo[0]))
    first = report["findings"].pop(0)
    right = {
        "kind": "missing",
        "devices": ["ibl-p16-r8"],
        "cables": [{"a": {"device": "ibl-p16-r8", "port": 33}}],
    }
    report["findings"].append(dict(first, **right, id="F-0000000000", headline="it was <b>there</b>"))
    earlier = tmp_path / "earlier.json"
    earlier.write_text(json.dumps(report), encoding="utf-8")
    page = browser.open(demo_page, "v=changes")
    page.set_input_files("#earlier", earlier)
    page.wait_for_selector("#changed")
    assert page.inner_text("#changed").lower() == "1 new, 1 gone, 25 still there"
    assert "it was <b>there</b>" in page.inner_text("#changes")
    page.select_option("#f-change", "new")
    assert items(page) == [first["headline"]]


def test_another_file_is_refused_in_words(browser: Browser, demo_page: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.json"
    other.write_text("[1, 2", encoding="utf-8")
    page = browser.open(demo_page, "v=changes")
    page.set_input_files("#earlier", other)
    page.wait_for_selector("#changes [role=alert]")
    assert "other.json is no report of an earlier run" in page.inner_text("#changes")


def test_hostile_names_stay_text(browser: Browser, tmp_path: Path) -> None:
    verdict = nasty(NASTY[0])
    for name in NASTY[1:]:
        verdict.findings += nasty(name).findings
    verdict.findings.sort(key=lambda finding: list(FindingKind).index(finding.kind))
    page = browser.open(write_page(tmp_path / "page.html", verdict))
    for _ in range(40):
        page.keyboard.press("j")
    for view in ("changes", "about", "order"):
        page.click(f"#tab-{view}")
    assert page.locator("img").count() == 0
    assert page.locator("script").count() == 2


def test_without_scripts_it_can_be_read(browser: Browser, demo_page: Path, demo: Demo) -> None:
    page = browser.open(demo_page, ready=False, java_script_enabled=False)
    assert page.is_visible("#paper")
    assert not page.is_visible("#app")
    text = page.inner_text("#paper")
    assert all(finding.headline in text for finding in demo[0].findings)


def test_printed_it_is_whole(
    browser: Browser, demo_page: Path, demo: Demo, tmp_path: Path, need_tools: Callable[..., None]
) -> None:
    need_tools("pdftotext")
    page = browser.open(demo_page, "v=matrix", color_scheme="dark")
    page.pdf(path=tmp_path / "page.pdf", format="A4")
    text = subprocess.run(
        ["pdftotext", "-layout", tmp_path / "page.pdf", "-"], capture_output=True, check=True
    )
    flat = " ".join(text.stdout.decode().split())
    assert "Not as planned" in flat
    assert "12,282" in flat
    assert all(finding_id(finding) in flat for finding in demo[0].findings)
    assert "Leaf by spine: planned and found" in flat
    assert "Notes" in flat


def test_a_clean_fabric_and_a_page_without_fabric_open(browser: Browser, tmp_path: Path) -> None:
    page = browser.open(write_page(tmp_path / "clean.html", clean_fabric()))
    assert page.inner_text("#word").endswith("As planned")
    assert "Nothing found" in page.inner_text("#list")
    page = browser.open(write_page(tmp_path / "none.html", of_findings([])), "v=racks")
    assert "no rack can be drawn" in page.inner_text("#racks")


def test_light_and_dark(browser: Browser, demo_page: Path) -> None:
    page = browser.open(demo_page, color_scheme="dark")
    ground = "getComputedStyle(document.body).backgroundColor"
    dark = page.evaluate(ground)
    page.click("#theme")
    assert page.evaluate(ground) != dark


def test_every_word_is_legible_in_both_themes_and_in_grey(browser: Browser, demo_page: Path) -> None:
    """WCAG 2.2, 1.4.3: 4.5 to 1 for text. Luminance is all that is left in grey."""
    names = ("ink", "dim", "link", "ok", "missing", "miswired", "swapped", "degraded", "stray")
    for scheme in ("light", "dark"):
        page = browser.open(demo_page, color_scheme=scheme)
        style = "getComputedStyle(document.documentElement).getPropertyValue('--{}').trim()"
        ground = page.evaluate(style.format("card"))
        for name in names:
            assert contrast(page.evaluate(style.format(name)), ground) >= 4.5, (scheme, name)


def contrast(a: str, b: str) -> float:
    """WCAG 2.2: (lighter + 0.05) / (darker + 0.05) of relative luminances."""
    low, high = sorted(map(luminance, (a, b)))
    return (high + 0.05) / (low + 0.05)


def luminance(colour: str) -> float:
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    r, g, b = (p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts)
    return 0.2126 * r + 0.7152 * g + 0.0722 * b


def test_every_class_has_a_sign_and_a_line_of_its_own() -> None:
    from fabricctl.picture.looks import LOOKS, STRAY

    drawn = [*LOOKS[:6], STRAY]
    assert len({look.sign for look in drawn}) == len(drawn)
    assert len({look.dash for look in LOOKS[1:6]}) == 5


@pytest.mark.parametrize("situation", ["first halves", "second halves"])
def test_panels_of_split_ready_switches_frame_the_cage_of_the_finding(
    browser: Browser, tmp_path: Path, situation: str
) -> None:
    """Normal port 16 of the leaf is the switch's 31, in cage 8; the spine's port 2 is its 3, in cage 1."""
    path = tmp_path / "page.html"
    path.write_text(render(split_page(situation)), encoding="utf-8")
    missing = next(f for f in split_page(situation)["findings"] if "ibl-p01-r1/31" in f["headline"])
    page = browser.open(path, f"s={missing['id']}")
    framed = page.locator("#detail .port.framed")
    names = [text.split(",")[0] for text in framed.evaluate_all("ports => ports.map(p => p.ariaLabel)")]
    assert names == ["ibl-p01-r1/31 (panel 8/2", "ibs-p01-s4/3 (panel 1/2"]
    if situation == "second halves":
        page = browser.open(path, "s=d%3Aibc-01")
        labels = page.locator("#detail .panel .port").evaluate_all("ports => ports.map(p => p.ariaLabel)")
        assert [text.split(",")[0] for text in labels[:4]] == [
            "ibc-01/1 (panel 1/1",
            "ibc-01/2 (panel 1/1/2",
            "ibc-01/3 (panel 1/2",
            "ibc-01/4 (panel 1/2/2",
        ]
