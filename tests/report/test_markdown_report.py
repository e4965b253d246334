from __future__ import annotations

from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

from fabricctl.cabling.model import FindingKind
from fabricctl.report.markdown import LIMIT, render
from fabricctl.words import printable
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

PARSER = MarkdownIt("commonmark", {"html": True}).enable("table").enable("strikethrough")
OWN_HTML = ("<details><summary>", "</details>")


def tokens(text: str) -> list[Token]:
    """What an independent CommonMark parser with tables reads, inline tokens unfolded."""
    found: list[Token] = []
    for token in PARSER.parse(text):
        found += [token, *(token.children or [])]
    return found


def plain(text: str) -> str:
    return "".join(token.content for token in tokens(text) if token.type == "text")


def table_widths(text: str) -> set[tuple[int, int]]:
    """(cells of the header, cells of a row) over all tables."""
    widths, head, row = set(), 0, 0
    for token in tokens(text):
        head = 0 if token.type == "thead_open" else head + (token.type == "th_open")
        row = 0 if token.type == "tr_open" else row + (token.type == "td_open")
        if token.type == "tr_close" and row:
            widths.add((head, row))
    return widths


def test_the_first_lines_are_the_verdict() -> None:
    lines = render(clean_fabric()).splitlines()
    assert lines[0] == "## \u2705 Cabling: As planned"
    assert lines[2] == "**all 16 planned cables are as planned**"
    assert "Can I train on this? Yes: every cable is as planned." in lines


def test_what_could_not_be_told_stands_above_the_counts() -> None:
    text = render(with_a_failed_viewer())
    assert text.startswith("## \u2753 Cabling: Could not tell")
    assert 0 < text.index("gpu9: no answer within 60 s") < text.index("| tiers |")


def test_islands_counts_and_every_finding_are_there(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-faulty")
    text = render(verdict, made=MADE)
    assert "| **all** | 12,282 | 12,127 | 137 | 0 | 12 | 6 | 0 |" in text
    assert "### Absent devices: 6 findings, 132 cables" in text
    read = plain(text)
    assert [f.headline for f in verdict.findings if f.headline not in read] == []
    assert "ibc-22/64 - ibs-p16-s3/56" in read  # the last of 64 cables folded under an absent switch


def test_a_long_list_is_folded(captures: Path) -> None:
    text = render(judged(captures, "imbue", "imbue-islands"), limit=0)
    assert "<details><summary>leaf-spine: wrong spine (500)</summary>" in text
    assert text.count("<details>") == text.count("</details>")


def test_a_page_fits_into_a_comment_and_says_what_did_not_fit(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-islands")
    text = render(verdict)
    assert len(text) <= LIMIT
    read = plain(text)
    shown = sum(finding.headline in read for finding in verdict.findings)
    assert 100 < shown < 954
    assert f"{954 - shown} more do not fit here; the csv and html reports have all of them." in text
    assert text.count("<details>") == text.count("</details>")


def test_without_a_limit_every_finding_is_shown(captures: Path) -> None:
    verdict = judged(captures, "imbue", "imbue-islands")
    read = plain(render(verdict, limit=0))
    assert "do not fit" not in read
    assert all(finding.headline in read for finding in verdict.findings)


def test_all_tables_have_as_many_cells_as_columns(captures: Path) -> None:
    widths = table_widths(render(judged(captures, "small3", "small3-faulty")))
    assert widths
    assert all(head == row for head, row in widths)


@pytest.mark.parametrize("name", NASTY, ids=repr)
def test_any_name_is_shown_as_it_is_and_does_nothing(name: str) -> None:
    text = render(nasty(name), limit=0)
    text.encode("utf-8")
    assert {t.type for t in tokens(text)}.isdisjoint(
        {"link_open", "image", "code_inline", "em_open", "s_open", "fence"}
    )
    html = [t.content for t in tokens(text) if t.type in ("html_block", "html_inline")]
    assert all(block.startswith(OWN_HTML) for block in html), html
    assert " ".join(printable(name).split()) in " ".join(plain(text).split())
    assert all(head == row for head, row in table_widths(text))


@pytest.mark.parametrize("mention", ["@all", "#1", "!1", "$x"])
def test_nobody_is_mentioned_and_nothing_is_linked(mention: str) -> None:
    text = render(of_findings([finding(FindingKind.MISSING, mention)]))
    assert f" {mention}" not in text
