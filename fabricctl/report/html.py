"""A verdict as one HTML file that needs nothing else: no network, no font, no library.

A content security policy lets the page load nothing and run only its own script (by hash), whatever a node
description holds.
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from fabricctl import __version__
from fabricctl.cabling.islands import rail_words
from fabricctl.cabling.model import Island, LinkClass
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.report.html_findings import findings_html
from fabricctl.report.html_script import SCRIPT
from fabricctl.report.html_style import STYLE
from fabricctl.report.html_text import esc
from fabricctl.report.screen import headline, island_lines
from fabricctl.report.words import CLASSES, beside, can_i_train, plan_words, title_of

_MARK = {VerdictWord.OK: "\u2713", VerdictWord.FINDINGS: "\u2717", VerdictWord.COULD_NOT_TELL: "?"}
_ISLANDS_SHOWN = 64


def render(verdict: Verdict, *, made: datetime | None = None) -> str:
    """The whole page.

    :param made: when the fabric was judged, said under the verdict.
    """
    body = [
        *_head(verdict, made),
        "<main>",
        *_doubts(verdict),
        *_islands(verdict),
        *_counts(verdict),
        *findings_html(verdict),
        *_sources(verdict),
        *_notes(verdict),
        "</main>",
        f"<footer>fabricctl {esc(__version__)}: intended cabling against what was discovered. "
        "The same verdict for programs: <code>--format json</code>, <code>csv</code>, <code>junit</code>.</footer>",
    ]
    return f"{_top(verdict)}{_joined(body)}\n<script>{SCRIPT}</script>\n</body>\n</html>\n"


def _joined(parts: Iterable[str]) -> str:
    return "\n".join(part for part in parts if part)


def _top(verdict: Verdict) -> str:
    digest = b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'"
    )
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<meta name="referrer" content="no-referrer">\n'
        f"<title>{esc(title_of(verdict))}: {esc(headline(verdict))}</title>\n"
        f"<style>{STYLE}</style>\n</head>\n<body>\n"
    )


def _head(verdict: Verdict, made: datetime | None) -> Iterator[str]:
    yield f'<header class="verdict {verdict.word.value}"><div>'
    yield '<p class="asked">InfiniBand cabling: can I train on this?</p>'
    yield f'<h1><span aria-hidden="true">{_MARK[verdict.word]}</span>{esc(title_of(verdict))}</h1>'
    yield f'<p class="answer">{esc(can_i_train(verdict))}</p>'
    yield f'<p class="headline">{esc(headline(verdict))}</p>'
    yield '<dl class="facts">'
    facts = [("plan", plan_words(verdict)), ("judged", verdict.only)]
    facts.append(("verdict", f"{verdict.word.value.replace('_', ' ')}, exit code {verdict.exit_code}"))
    if made is not None:
        facts.append(("when", made.isoformat(sep=" ", timespec="seconds")))
    for name, value in facts:
        if value:
            yield f"<dt>{name}</dt><dd>{esc(value)}</dd>"
    yield "</dl></div></header>"


def _doubts(verdict: Verdict) -> Iterator[str]:
    if verdict.doubts:
        yield "<h2>Could not be told</h2>"
        yield f'<div class="doubts">{_list(verdict.doubts)}</div>'


def _list(texts: Iterable[str]) -> str:
    return f"<ul>{''.join(f'<li>{esc(text)}</li>' for text in texts)}</ul>"


# -- islands ------------------------------------------------------------------------------------------------


def _islands(verdict: Verdict) -> Iterator[str]:
    islands = verdict.islands
    yield "<h2>Islands <small>what can reach what</small></h2>"
    if len(islands.seen) < 2:
        yield from (f'<p class="reach">{esc(line)}</p>' for line in island_lines(verdict))
    else:
        yield f'<p class="reach">{esc(island_lines(verdict)[0])}</p>'
        yield _island_table(islands.seen)
    if islands.unseen_switch_set:
        yield f'<p class="beside">unseen switches: <span class="mono">{esc(islands.unseen_switch_set)}</span></p>'


def _island_table(islands: tuple[Island, ...]) -> str:
    rows = "".join(
        f'<tr><td class="num">{island.switches:,}</td><td class="num">{island.hcas:,}</td>'
        f"<td>{esc(rail_words(island.rails))}</td>"
        f'<td class="m">{esc(island.switch_set)}</td><td>{esc(", ".join(island.sources))}</td></tr>'
        for island in islands[:_ISLANDS_SHOWN]
    )
    more = ""
    if len(islands) > _ISLANDS_SHOWN:
        more = f'<p class="beside">and {len(islands) - _ISLANDS_SHOWN:,} smaller ones</p>'
    heads = (
        '<th class="num">switches</th><th class="num">HCAs</th><th>rails</th><th>which</th><th>seen by</th>'
    )
    table = f'<table class="list"><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>'
    return f'<div class="scroll">{table}</div>{more}'


# -- counts -------------------------------------------------------------------------------------------------


def _counts(verdict: Verdict) -> Iterator[str]:
    counts = verdict.counts
    if verdict.plan_format is None or not counts.intended:
        return
    total = {cls.value: getattr(counts, cls.value) for cls in CLASSES}
    classes = {cls: "num" if total[cls.value] or cls is LinkClass.OK else "num empty" for cls in CLASSES}
    yield "<h2>Planned cables <small>each counted once</small></h2>"
    yield '<div class="scroll"><table class="counts"><thead><tr><th>tiers</th><th class="num">planned</th>'
    for cls in CLASSES:
        name = cls.value.replace("_", " ")
        yield f'<th class="{classes[cls]}"><span class="sw c-{cls.value}"></span>{name}</th>'
    yield "</tr></thead><tbody>"
    for tiers, row in counts.by_tier.items():
        yield _count_row(tiers, row, classes)
    if len(counts.by_tier) > 1:
        yield _count_row("all", total, classes)
    yield "</tbody></table></div>"
    others = [f"{number:,} {words}" for words, number in beside(verdict) if number]
    if others:
        yield f'<p class="beside">{esc("; ".join(others))}</p>'


def _count_row(tiers: str, row: Mapping[str, int], classes: Mapping[LinkClass, str]) -> str:
    """One row of numbers and, below it, the same as a bar."""
    cells = "".join(
        f'<td class="{css} {_weight(cls, row[cls.value])}">{row[cls.value]:,}</td>'
        for cls, css in classes.items()
    )
    bar = "".join(
        f'<i class="c-{cls.value}" style="flex:{row[cls.value]}"></i>' for cls in classes if row[cls.value]
    )
    start = '<tr class="sum">' if tiers == "all" else "<tr>"
    return (
        f'{start}<th scope="row">{esc(tiers)}</th><td class="num">{sum(row.values()):,}</td>{cells}</tr>'
        f'<tr class="bar" aria-hidden="true"><td colspan="{len(classes) + 2}"><div class="stack">{bar}</div></td></tr>'
    )


def _weight(cls: LinkClass, number: int) -> str:
    """How a number is set: nothing stands back, what is wrong stands out."""
    return "zero" if not number else "fine" if cls is LinkClass.OK else "some"


# -- what was compared --------------------------------------------------------------------------------------


def _sources(verdict: Verdict) -> Iterator[str]:
    yield "<h2>Read</h2>"
    heads = '<th>source</th><th>format</th><th class="num">nodes</th><th class="num">links</th>'
    yield f'<div class="scroll"><table class="list"><thead><tr>{heads}</tr></thead><tbody>'
    for source in verdict.sources:
        label = f'<td class="m">{esc(source.label)}</td>'
        if source.failed or source.format is None:
            yield f'<tr>{label}<td colspan="3">? {esc(source.failed or "nothing was read")}</td></tr>'
        else:
            numbers = f'<td class="num">{source.nodes:,}</td><td class="num">{source.links:,}</td>'
            yield f"<tr>{label}<td>{esc(source.format)}</td>{numbers}</tr>"
    yield "</tbody></table></div>"


def _notes(verdict: Verdict) -> Iterator[str]:
    if verdict.notes:
        yield "<h2>Notes</h2>"
        yield _list(verdict.notes)
