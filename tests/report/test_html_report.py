from __future__ import annotations

import hashlib
import re
from base64 import b64encode
from html.parser import HTMLParser
from pathlib import Path
from time import process_time

import pytest

from fabricctl.cabling.model import FindingKind
from fabricctl.report.html import render
from fabricctl.report.html_script import SCRIPT
from fabricctl.report.words import printable
from tests.report.report_samples import (
    MADE,
    NASTY,
    clean_fabric,
    finding,
    judged,
    nasty,
    of_findings,
    with_a_failed_viewer,
)

VOID = {"meta", "input", "br", "link", "img"}


class Page(HTMLParser):
    """Tags that pair, attributes, and the text of every card of a finding."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[tuple[str, bool]] = []
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
        is_card = ("class", "f") in attrs
        if is_card:
            self.cards.append("")
        if tag not in VOID:
            self.open.append((tag, is_card))

    def handle_endtag(self, tag: str) -> None:
        assert self.open, f"</{tag}> closes nothing"
        assert self.open.pop()[0] == tag

    def handle_data(self, data: str) -> None:
        if self.open and self.open[-1][0] == "script":
            self.scripts.append(data)
        else:
            self.text.append(data)
            if any(is_card for _, is_card in self.open):
                self.cards[-1] += data

    @property
    def ids(self) -> list[str]:
        return [value for _, name, value in self.attributes if name == "id"]


def words(page: Page) -> str:
    return " ".join("".join(page.text).split())


def test_a_clean_fabric_answers_yes_without_a_findings_section() -> None:
    page = Page(render(clean_fabric(), made=MADE))
    assert "\u2713As planned Yes: every cable is as planned." in words(page)
    assert "2026-01-02 03:04:05+00:00" in words(page)
    assert page.cards == []
    assert "tools" not in page.ids


def test_without_a_plan_it_does_not_say_ok_to_train() -> None:
    assert "OK to train" not in words(Page(render(clean_fabric(planned=False))))


def test_what_could_not_be_told_is_said_first() -> None:
    text = words(Page(render(with_a_failed_viewer())))
    assert (
        0 <= text.index("Could not tell") < text.index("gpu9: no answer within 60 s") < text.index("Islands")
    )


def test_every_finding_has_its_card_its_anchor_and_its_lines(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-faulty")
    page = Page(render(verdict))
    assert [f"f{n}" for n in range(1, 24)] == [i for i in page.ids if re.fullmatch(r"f\d+", i)]
    for one in verdict.findings:
        card = next(card for card in page.cards if one.headline in card)
        assert all(
            " ".join(text.split()) in " ".join(card.split()) for text in (one.expected, one.found, one.fix)
        )
    absent = next(card for card in page.cards if "core ibc-22 is absent" in card)
    assert all(f"ibc-22/{port} - " in absent for port in range(1, 65))


def test_counts_are_a_table_with_totals(captures: Path) -> None:
    text = re.sub(r"\s+", " ", render(judged(captures, "imbue", "imbue-faulty")))
    row = re.search(r'<tr class="sum">(.*?)</tr>', text)
    assert row is not None
    numbers = re.findall(r">([\d,]+)<", row[1])
    assert numbers == ["12,282", "12,127", "137", "0", "12", "6", "0"]


def test_ids_are_unique(captures: Path) -> None:
    ids = Page(render(judged(captures, "small3", "small3-faulty"))).ids
    assert len(ids) == len(set(ids))


def test_the_page_needs_no_network() -> None:
    page = Page(render(nasty("x")))
    assert not set(page.tags) & {"link", "img", "iframe", "object", "embed", "base", "form"}
    addresses = [value for _, name, value in page.attributes if name in ("src", "href", "action", "srcset")]
    assert all(address.startswith("#") for address in addresses)
    assert not re.search(r"url\(|@import", render(nasty("x")))


def test_only_the_pages_own_script_may_run() -> None:
    text = render(nasty("x"))
    digest = b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert Page(text).scripts == [SCRIPT]
    assert "</" not in SCRIPT
    assert f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}';" in text


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_any_name_is_text_and_nothing_else(name: str) -> None:
    text = render(nasty(name), made=MADE)
    text.encode("utf-8")
    page = Page(text)
    assert set(page.tags) == set(Page(render(nasty("x"))).tags)
    assert not [name for _, name, _ in page.attributes if name.startswith("on")]
    assert page.scripts == [SCRIPT]
    assert " ".join(printable(name).split()) in words(page)


def test_ten_thousand_findings_make_a_page_of_a_few_megabytes_in_a_second() -> None:
    ports = (f"ibl-p{n // 64:03}-r1/{n % 64} - ibs-p01-s1/3" for n in range(10_000))
    many = [finding(FindingKind.MISWIRED, name, group="wrong spine") for name in ports]
    start = process_time()
    text = render(of_findings(many))
    assert process_time() - start < 5
    assert len(text) < 8_000_000
    assert text.count('class="f"') == 10_000
    assert '<details class="g">' in text  # too many to open at once
