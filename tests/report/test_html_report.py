"""The HTML report without a browser: what is in it, that nothing in it is markup it should not be, and its size."""

from __future__ import annotations

import hashlib
import json
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path
from time import process_time

import pytest

from fabricctl.cabling.finding_id import finding_id
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Verdict
from fabricctl.picture.data import picture_data
from fabricctl.picture.extras import Extras
from fabricctl.picture.former import DATA_OPEN
from fabricctl.picture.page import encoded, render, script, style
from fabricctl.words import printable
from tests.report.report_samples import (
    NASTY,
    clean_fabric,
    finding,
    judged,
    nasty,
    of_findings,
    with_a_failed_viewer,
)

VOID = {"meta", "input", "br", "link", "img"}
SVG_ALONE = {"rect", "path"}
MADE = "2026-01-02 03:04:05 UTC"


def page_of(verdict: Verdict) -> str:
    return render(picture_data(verdict, Extras(made=MADE)))


class Page(HTMLParser):
    """Tags that pair, attributes, the text of the paper and of every finding in it, scripts, and the data."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, str]] = []
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.text: list[str] = []
        self.scripts: list[str] = []
        self.cards: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        given = dict(attrs)
        role = "card" if (given.get("class") or "").split()[:1] == ["f"] else given.get("id") or ""
        if role == "card":
            self.cards.append("")
        if tag not in VOID:
            self.open.append((tag, role))

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in VOID | SVG_ALONE
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        roles = [role for _, role in self.open]
        if self.open and self.open[-1][0] == "script":
            self.scripts.append(data)
        elif "paper" in roles:
            self.text.append(data)
            if "card" in roles:
                self.cards[-1] += data

    @property
    def ids(self) -> list[str]:
        return [value for _, name, value in self.attributes if name == "id"]


def words(page: Page) -> str:
    """The paper's text."""
    return " ".join("".join(page.text).split())


def data_in(text: str) -> str:
    return text.partition(DATA_OPEN)[2].partition("</script>")[0]


def test_a_clean_fabric_answers_yes_without_a_findings_section() -> None:
    page = Page(page_of(clean_fabric()))
    assert "\u2713 As planned Yes: every cable is as planned." in words(page)
    assert MADE in words(page)
    assert page.cards == []
    assert "Findings" not in words(page)


def test_without_a_plan_it_does_not_say_ok_to_train() -> None:
    text = words(Page(page_of(clean_fabric(planned=False))))
    assert "only a plan tells whether the cables are where they belong" in text
    assert "As planned" not in text


def test_what_could_not_be_told_is_said_first() -> None:
    text = words(Page(page_of(with_a_failed_viewer())))
    assert (
        0 <= text.index("Could not tell") < text.index("gpu9: no answer within 60 s") < text.index("Islands")
    )


def test_every_finding_has_its_card_its_id_and_its_lines(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-faulty")
    page = Page(page_of(verdict))
    assert len(page.cards) == 23
    for one, card in zip(verdict.findings, page.cards, strict=True):
        for text in (finding_id(one), one.headline, one.expected, one.found, one.fix):
            assert " ".join(text.split()) in " ".join(card.split())
    absent = next(card for card in page.cards if "core ibc-22 is absent" in card)
    assert all(f"ibc-22/{port} - " in absent for port in range(1, 65))


def test_counts_are_a_table_with_totals(captures: Path) -> None:
    text = page_of(judged(captures, "imbue", "imbue-faulty"))
    row = re.search(r"<tr class=sum>(.*?)</tr>", text)
    assert row is not None
    numbers = re.findall(r">([\d,]+)<", row[1])
    assert numbers == ["12,282", "12,127", "137", "0", "12", "6", "0"]


def test_ids_are_unique(captures: Path) -> None:
    ids = Page(page_of(judged(captures, "small3", "small3-faulty"))).ids
    assert len(ids) == len(set(ids))


def test_the_page_needs_no_network() -> None:
    text = page_of(nasty("x"))
    page = Page(text)
    assert not set(page.tags) & {"img", "iframe", "object", "embed", "base", "form"}
    addresses = [value for _, name, value in page.attributes if name in ("src", "href", "action", "srcset")]
    assert addresses == ["data:,"]  # an icon, so that no browser asks for one
    assert not re.search(r"url\(|@import|fetch\(|XMLHttpRequest|WebSocket|import\(", script() + style())


def test_only_the_pages_own_script_and_style_count() -> None:
    text = page_of(nasty("x"))
    run, styled = (b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (script(), style()))
    assert Page(text).scripts[1:] == [script()]
    assert "</" not in script()
    assert f"default-src 'none'; script-src 'sha256-{run}'; style-src 'sha256-{styled}';" in text
    assert not re.search(r'<[^>]*\sstyle="', text)  # the policy would ignore them


def test_script_writes_text_never_markup() -> None:
    assert not re.search(
        r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function", script()
    )


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_any_name_is_text_and_nothing_else(name: str) -> None:
    text = page_of(nasty(name))
    text.encode("utf-8")
    page = Page(text)
    assert set(page.tags) == set(Page(page_of(nasty("x"))).tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert page.scripts == [data_in(text), script()]
    assert " ".join(printable(name).split()) in words(page)
    json.loads(data_in(text))
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u202a-\u202e\u2066-\u2069]", text)


def test_no_direction_or_control_character_reaches_the_screen() -> None:
    names = json.dumps(json.loads(data_in(page_of(nasty("\u202egpu001\u2066\x9b31m")))), ensure_ascii=False)
    assert not re.search("[\x7f-\x9f\u202a-\u202e\u2066-\u2069]", names)


def test_data_cannot_end_the_element_they_stand_in() -> None:
    text = encoded({"a": "</script><!--<script>\u2028"})
    assert "<" not in text
    assert json.loads(text) == {"a": "</script><!--<script>\u2028"}


def test_ten_thousand_findings_make_a_page_of_a_few_megabytes_in_seconds() -> None:
    ports = (f"ibl-p{n // 64:03}-r1/{n % 64} - ibs-p01-s1/3" for n in range(10_000))
    many = [finding(FindingKind.MISWIRED, name, group="wrong spine") for name in ports]
    start = process_time()
    text = page_of(of_findings(many))
    assert process_time() - start < 5
    assert len(text) < 9_000_000
    assert text.count('<p class="l">') == 10_000  # too many for a card each
