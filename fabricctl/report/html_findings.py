"""The findings of the HTML report: kinds worst first, groups of one cause, one card per finding."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.cabling.verdict import Verdict
from fabricctl.report.groups import group_findings
from fabricctl.report.html_text import esc
from fabricctl.report.words import (
    FEW_CABLES,
    KIND_TITLES,
    KindSection,
    class_of,
    listed_cables,
    sections,
    size_words,
)

OPEN_FINDINGS = 60
"""Groups are open until so many findings are; the rest wait to be opened."""


def findings_html(verdict: Verdict) -> Iterator[str]:
    """The section with the search box, the filter and every finding."""
    if not verdict.findings:
        return
    parts = sections(verdict.findings)
    yield '<h2 id="findings">Findings <small>worst first</small></h2>'
    yield from _tools(parts)
    numbers, room = count(1), OPEN_FINDINGS
    for section in parts:
        kind = section.kind.value
        yield f'<section class="kind" data-kind="{kind}" id="{kind}">'
        yield f"<h3>{_swatch(section.kind)}{KIND_TITLES[section.kind]} <small>{size_words(section)}</small></h3>"
        for _, members in section.groups:
            yield from _group(members, numbers, is_open=len(members) <= room)
            room -= len(members)
        yield "</section>"


def _tools(parts: list[KindSection]) -> Iterator[str]:
    yield '<div id="tools" hidden>'
    yield (
        '<input id="q" type="search" autocomplete="off" spellcheck="false" aria-label="Search the findings"'
        ' placeholder="Device, port, rack or GUID">'
    )
    yield '<span id="shown" role="status"></span><div class="chips" role="group" aria-label="Kinds of findings">'
    for section in parts:
        yield (
            f'<button type="button" data-kind="{section.kind.value}" aria-pressed="false">'
            f"{_swatch(section.kind)} {KIND_TITLES[section.kind]} <b>{len(section.findings):,}</b></button>"
        )
    yield "</div></div>"


def _swatch(kind: FindingKind) -> str:
    """The texture that a class of planned cables has in the table of counts."""
    cls = class_of(kind)
    return f'<i class="sw c-{cls.value}"></i>' if cls is not None else ""


def _group(members: list[Finding], numbers: Iterator[int], *, is_open: bool) -> Iterator[str]:
    cards = [_card(next(numbers), finding) for finding in members]
    if len(members) == 1:
        yield cards[0]
        return
    group = group_findings(members)[0]
    where = next((text for label, text in group.details if label == "on"), "")
    yield f'<details class="g"{" open" if is_open else ""}><summary><b>{esc(group.headline)}</b>'
    yield f"{f' <span class=dim>on {esc(where)}</span>' if where else ''}</summary>"
    yield from cards
    yield "</details>"


def _card(number: int, finding: Finding) -> str:
    expected, found = _compared(finding.expected, finding.found)
    rows = "".join(
        f"<dt>{label}</dt><dd{' class=m' if label != 'fix' else ''}>{text}</dd>"
        for label, text in (("expected", expected), ("found", found), ("fix", esc(finding.fix)))
        if text
    )
    lines = f"<dl>{rows}</dl>" if rows else ""
    head = f'<h4><a href="#f{number}">#{number}</a>{esc(finding.headline)}</h4>'
    return (
        f'<div class="f" id="f{number}" data-g="{esc(_guids(finding))}">{head}{lines}{_cables(finding)}</div>'
    )


def _compared(expected: str, found: str) -> tuple[str, str]:
    """Both lines escaped; where they are alike but for some words, those words are marked."""
    want, have = expected.split(), found.split()
    differ = [a != b for a, b in zip(want, have, strict=False)]
    if len(want) != len(have) or all(differ) or not any(differ):
        return esc(expected), esc(found)
    return _marked(want, differ), _marked(have, differ)


def _marked(words: list[str], marks: list[bool]) -> str:
    """Neighbouring marked words share one mark."""
    text = " ".join(
        f"<b>{esc(word)}</b>" if mark else esc(word) for word, mark in zip(words, marks, strict=True)
    )
    return text.replace("</b> <b>", " ")


def _guids(finding: Finding) -> str:
    """What the search box finds beside the text."""
    ends = (
        end for cable in finding.cables for end in (cable.a, cable.expected, cable.found) if end is not None
    )
    return " ".join(dict.fromkeys(end.guid for end in ends if end.guid))


def _cables(finding: Finding) -> str:
    """The cables folded into a finding, in a list to open."""
    if len(finding.cables) <= FEW_CABLES:
        return ""
    lines = "".join(f"<li>{esc(line)}</li>" for line in listed_cables(finding))
    return (
        f'<details><summary>{len(finding.cables):,} cables</summary><ul class="mono">{lines}</ul></details>'
    )
