"""The report as a document: what is printed, and what is read where scripts do not run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any

from fabricctl.picture.data import PictureData
from fabricctl.picture.looks import LOOKS
from fabricctl.picture.svg import fabric_svg
from fabricctl.picture.svg_map import WIDTH
from fabricctl.picture.svg_matrix import matrices
from fabricctl.report.markup import bulleted, esc, joined
from fabricctl.report.words import CLASSES

_MARK = {"ok": "\u2713", "findings": "\u2717", "could_not_tell": "?"}
_NEW = ("", "new: ", "returned: ")
_ISLANDS_SHOWN = 64
_IN_FULL = 150
"""Findings of one kind that are written in full; where there are more, each gets a line."""


def paper(data: PictureData) -> str:
    """The document's inside."""
    return joined(
        [
            *_head(data),
            *_doubts(data),
            *_islands(data),
            *_counts(data),
            *_ambiguities(data),
            *_causes(data),
            *_order(data),
            *_drawing(data),
            *_changes(data),
            *_findings(data),
            *_matrices(data),
            *_read(data),
        ]
    )


def _head(data: PictureData) -> Iterator[str]:
    report = data["report"]
    yield f'<h1><span aria-hidden="true">{_MARK[report["verdict"]]} </span>{esc(report["title"])}</h1>'
    yield f'<p class="answer">{esc(report["answer"])}</p>'
    yield f"<p>{esc(report['headline'])}</p>"
    facts = [
        ("site", data["site"]),
        ("plan", report["plan"]),
        ("judged", report["only"]),
        ("verdict", f"{report['verdict'].replace('_', ' ')}, exit code {report['exit_code']}"),
        ("moves", data["moves"]),
        ("when", data["made"]),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{esc(value)}</dd>" for name, value in facts if value)
    yield f'<dl class="facts">{rows}</dl>'


def _doubts(data: PictureData) -> Iterator[str]:
    if data["report"]["doubts"]:
        yield "<h2>Could not be told</h2>"
        yield bulleted(data["report"]["doubts"])


def _islands(data: PictureData) -> Iterator[str]:
    report = data["report"]
    yield "<h2>Islands</h2>"
    if len(report["islands"]) < 2:
        yield from (f"<p>{esc(line)}</p>" for line in report["islands_said"])
    else:
        yield f"<p>{esc(report['islands_said'][0])}</p>"
        rows = "".join(
            f'<tr><td class="num">{island["switches"]:,}</td><td class="num">{island["hcas"]:,}</td>'
            f"<td>{esc(island['rails'])}</td><td>{esc(island['set'])}</td>"
            f"<td>{esc(', '.join(island['sources']))}</td></tr>"
            for island in report["islands"][:_ISLANDS_SHOWN]
        )
        heads = '<th class="num">switches</th><th class="num">HCAs</th><th>rails</th><th>which</th><th>seen by</th>'
        yield f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
        if len(report["islands"]) > _ISLANDS_SHOWN:
            yield f'<p class="dim">and {len(report["islands"]) - _ISLANDS_SHOWN:,} smaller ones</p>'
    if report["unseen"]["set"]:
        yield f'<p class="dim">unseen switches: {esc(report["unseen"]["set"])}</p>'


def _counts(data: PictureData) -> Iterator[str]:
    counts = data["report"]["counts"]
    if data["planned"] and counts["intended"]:
        yield "<h2>Planned cables</h2>"
        heads = "".join(
            f'<th class="num">{LOOKS[n].sign} {cls.value.replace("_", " ")}</th>'
            for n, cls in enumerate(CLASSES)
        )
        yield f'<table class="counts"><thead><tr><th>tiers</th><th class="num">planned</th>{heads}</tr></thead><tbody>'
        yield from (_count_row(tiers, row) for tiers, row in counts["by_tier"].items())
        if len(counts["by_tier"]) > 1:
            yield _count_row("all", counts)
        yield "</tbody></table>"
    beside = "; ".join(f"{number:,} {words}" for words, number in data["report"]["beside"])
    if beside:
        yield f'<p class="dim">{esc(beside)}</p>'


def _count_row(tiers: str, row: Mapping[str, int]) -> str:
    numbers = [row[cls.value] for cls in CLASSES]
    cells = "".join(f'<td class="num{"" if n else " zero"}">{n:,}</td>' for n in [sum(numbers), *numbers])
    return f'<tr{" class=sum" if tiers == "all" else ""}><th scope="row">{esc(tiers)}</th>{cells}</tr>'


def _causes(data: PictureData) -> Iterator[str]:
    if not data["causes"]:
        return
    yield "<h2>Causes</h2>"
    yield f"<p>{esc(data['why'])}</p>"
    systematic = [cause for cause in data["causes"] if not cause["swap"]]
    if not systematic:
        return
    rows = "".join(
        f'<tr><td>{esc(cause["headline"])}</td><td class="num">{cause["links"]:,}</td>'
        f'<td class="word">{esc(cause["confidence"])}</td>'
        f"<td>{esc(cause['evidence'])}</td><td>{esc(cause['fix'])}</td></tr>"
        for cause in systematic
    )
    heads = '<th>what happened</th><th class="num">links</th><th>sure</th><th>evidence</th><th>do</th>'
    yield f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"


def _order(data: PictureData) -> Iterator[str]:
    """Where the steps are: they are a document of their own, to print and to take along."""
    if data["steps"]:
        steps = f"{len(data['steps']):,} step{'s' if len(data['steps']) != 1 else ''}"
        yield (
            f"<h2>Work order</h2><p>The {steps} are a document of their own, for printing: "
            "<code>fabricctl work-order make</code> with the same options and <code>-o FILE.html</code>.</p>"
        )


def _ambiguities(data: PictureData) -> Iterator[str]:
    """What has two explanations, and what would decide."""
    if not data["identity"] or not data["identity"]["ambiguities"]:
        return
    yield "<h2>Switches that cannot be told apart</h2>"
    for one in data["identity"]["ambiguities"]:
        ways = [
            f"{words} ({moves:,} moves, {renames:,} renames)" for words, moves, renames in one["hypotheses"]
        ]
        yield f"<h3>{esc(one['title'])}</h3>{bulleted(ways)}"
        yield f'<p class="dim">to decide:</p>{bulleted(one["decide"])}'


def _drawing(data: PictureData) -> Iterator[str]:
    if "map" in data and data["map"]["groups"]:
        body, height = fabric_svg(data, head=False)
        box = f'viewBox="0 0 {WIDTH} {height}" width="{WIDTH}"'
        yield f'<h2>The fabric</h2><figure><svg {box} role="img" font-size="12">{body}</svg></figure>'


def _changes(data: PictureData) -> Iterator[str]:
    change = data["compare"]
    if change is None:
        return
    yield f"<h2>Changes since {esc(change['label'])} {esc(change['made'])}</h2>"
    new, returned = (change["status"].count(kind) for kind in (1, 2))
    if not (new or returned or change["gone"] or change["unlooked"]):
        yield "<p>No changes.</p>"
        return
    gone, still, unlooked = len(change["gone"]), change["status"].count(0), len(change["unlooked"])
    skipped = f", {unlooked:,} not looked at" if unlooked else ""
    yield f"<p>{new:,} new, {returned:,} returned, {gone:,} gone{skipped}, {still:,} still there</p>"
    if change["gone"]:
        yield f"<h3>Gone</h3>{bulleted(finding['headline'] for finding in change['gone'])}"
    if change["unlooked"]:
        yield '<h3>Not looked at</h3><p class="dim">This run did not judge their places: nothing is known.</p>'
        yield bulleted(finding["headline"] for finding in change["unlooked"])


def _findings(data: PictureData) -> Iterator[str]:
    findings = data["findings"]
    if not findings:
        return
    yield f"<h2>Findings <small>{len(findings):,}, worst first</small></h2>"
    status = data["compare"]["status"] if data["compare"] else [0] * len(findings)
    numbered = list(zip(findings, status, strict=True))
    for kind, members in groupby(numbered, key=lambda item: item[0]["kind"]):
        title, cls = data["kinds"][kind]
        sign = f'<span class="sign">{LOOKS[cls].sign}</span>' if cls >= 0 else ""
        yield f"<h3>{sign}{esc(title)}</h3>"
        listed = list(members)
        form = _finding if len(listed) <= _IN_FULL else _finding_line
        yield from (form(finding, state) for finding, state in listed)


def _finding(finding: dict[str, Any], state: int) -> str:
    rows = "".join(
        f"<dt>{name}</dt><dd>{esc(finding[key])}</dd>"
        for name, key in (("expected", "expected"), ("found", "found"), ("do", "fix"))
        if finding.get(key)
    )
    cables = finding.get("cables", ())
    lines = f"<ul>{''.join(f'<li>{esc(line)}</li>' for line in cables)}</ul>" if len(cables) > 2 else ""
    css = "f long" if lines else "f"
    return (
        f'<div class="{css}"><h4><code>{finding["id"]}</code>{_NEW[state]}{esc(finding["headline"])}</h4>'
        f"{f'<dl>{rows}</dl>' if rows else ''}{lines}</div>"
    )


def _finding_line(finding: dict[str, Any], state: int) -> str:
    """One line, where there are so many that nobody reads them one by one: the cause stands above."""
    found = f": {esc(finding['found'])}" if finding.get("found") else ""
    return f'<p class="l"><code>{finding["id"]}</code> {_NEW[state]}{esc(finding["headline"])}{found}</p>'


def _matrices(data: PictureData) -> Iterator[str]:
    legend = (
        "outline: planned; filled from below: found; faint: as planned; diamond: nothing is planned there"
    )
    if data["report"]["only"]:
        legend += f"; dot: outside {data['report']['only']}, not judged"
    for title, drawing in matrices(data):
        yield f'<figure><h2>{esc(title)}</h2>{drawing}<figcaption class="dim">{esc(legend)}</figcaption></figure>'


def _read(data: PictureData) -> Iterator[str]:
    rows = ""
    for label, form, nodes, links, failed in data["report"]["sources"]:
        told = f'<td colspan="3">? {esc(failed or "nothing was read")}</td>'
        if not failed and form:
            told = f'<td>{esc(form)}</td><td class="num">{nodes:,}</td><td class="num">{links:,}</td>'
        rows += f"<tr><td>{esc(label)}</td>{told}</tr>"
    heads = '<th>source</th><th>format</th><th class="num">nodes</th><th class="num">links</th>'
    yield f"<h2>Read</h2><table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>"
    if data["report"]["notes"]:
        yield f"<h2>Notes</h2>{bulleted(data['report']['notes'])}"
    yield f'<p class="dim">{esc(data["generator"])}</p>'
