"""A verdict as Markdown for a ticket or a merge request (CommonMark with the tables of GitHub and GitLab)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from datetime import datetime

from fabricctl import __version__
from fabricctl.cabling.model import Finding
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.report.causes_words import markdown_lines
from fabricctl.report.repair_words import repair_summary
from fabricctl.report.screen import headline, island_lines
from fabricctl.report.words import (
    CLASSES,
    FEW_CABLES,
    KIND_TITLES,
    beside,
    can_i_train,
    listed_cables,
    plan_words,
    sections,
    size_words,
    title_of,
)
from fabricctl.words import printable

LIMIT = 60_000
"""Characters: GitHub refuses a comment above 65,536 of them."""
OPEN_ROWS = 12
"""A longer list is folded."""
_MARK = {VerdictWord.OK: "\u2705", VerdictWord.FINDINGS: "\u274c", VerdictWord.COULD_NOT_TELL: "\u2753"}
_SPECIAL = re.compile(r"[\\`*\[\]<>|~#!$&@]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def render(verdict: Verdict, *, made: datetime | None = None, limit: int = LIMIT) -> str:
    """The verdict as a page that fits in a comment.

    :param made: when the fabric was judged, said in the last line.
    :param limit: characters; findings that do not fit are counted and named as left out. 0 for no limit.
    """
    head = "\n".join([*_head(verdict), *_counts(verdict), *_why(verdict)]) + "\n"
    tail = "\n".join(_tail(verdict, made)) + "\n"
    room = limit - len(head) - len(tail) if limit else math.inf
    return f"{head}{_findings(verdict, room)}{tail}"


def escape(text: str) -> str:
    """Any text as one line of literal Markdown, safe in a table cell; nobody is mentioned, nothing is linked."""
    return _SPECIAL.sub(_escaped, printable(text))


def _escaped(match: re.Match[str]) -> str:
    char = match[0]
    return {"@": "&#64;", "&": "&amp;", "<": "&lt;", ">": "&gt;"}.get(char, f"\\{char}")


def _head(verdict: Verdict) -> Iterator[str]:
    yield f"## {_MARK[verdict.word]} Cabling: {title_of(verdict)}"
    yield ""
    yield f"**{escape(headline(verdict))}**"
    yield ""
    yield f"Can I train on this? {escape(can_i_train(verdict))}"
    for name, lines in (("Islands", island_lines(verdict)), ("Could not tell", verdict.doubts)):
        if lines:
            yield from ("", f"**{name}**", "")
            yield from (f"- {escape(line)}" for line in lines)


def _counts(verdict: Verdict) -> Iterator[str]:
    counts = verdict.counts
    if verdict.plan_format is None or not counts.intended:
        return
    names = [cls.value.replace("_", " ") for cls in CLASSES]
    yield ""
    yield _row(["tiers", "planned", *names])
    yield "|" + " --- |" + " ---: |" * (len(names) + 1)
    total = {cls.value: getattr(counts, cls.value) for cls in CLASSES}
    for tiers, row in [*counts.by_tier.items(), ("**all**", total)]:
        yield _row([tiers, f"{sum(row.values()):,}", *(f"{row[cls.value]:,}" for cls in CLASSES)])
    others = [f"{number:,} {words}" for words, number in beside(verdict) if number]
    if others:
        yield f"\n{'; '.join(others)}."


def _why(verdict: Verdict) -> Iterator[str]:
    if verdict.explanation is not None:
        lines = markdown_lines(verdict.explanation)
        yield from ("", *lines[:-1]) if lines else ()
    said = repair_summary(verdict.repair) if verdict.repair is not None else ""
    if said:
        yield from ("", f"**Repair:** {escape(said)}.")


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


# -- findings -----------------------------------------------------------------------------------------------


def _findings(verdict: Verdict, room: float) -> str:
    """As many findings as fit in ``room`` characters; what does not fit is counted under its kind."""
    out: list[str] = []
    for section in sections(verdict.findings):
        out.append(f"\n### {KIND_TITLES[section.kind]}: {size_words(section)}\n")
        room -= len(out[-1]) + len(_left_out(len(section.findings)))
        left = 0
        for name, members in section.groups:
            text, shown = _group(name, members, room)
            out.append(text)
            room -= len(text)
            left += len(members) - shown
        if left:
            out.append(_left_out(left))
    return "".join(out)


def _left_out(number: int) -> str:
    return f"\n{number:,} more do not fit here; the csv and html reports have all of them.\n"


def _group(name: str, members: list[Finding], room: float) -> tuple[str, int]:
    """A table of findings of one cause and how many of them fitted."""
    columns = [c for c in ("expected", "found", "fix") if any(getattr(m, c) for m in members)]
    title, folded = escape(name), len(members) > OPEN_ROWS
    head = f"\n**{title}**\n" if name else ""
    if folded:
        head = f"\n<details><summary>{title or 'All'} ({len(members):,})</summary>\n"
    head += f"\n{_row(['finding', *columns])}\n|{' --- |' * (len(columns) + 1)}\n"
    foot = "\n</details>\n" if folded else ""
    room -= len(head) + len(foot)
    rows: list[str] = []
    for finding in members:
        row = _row([escape(finding.headline), *(escape(getattr(finding, c)) for c in columns)]) + "\n"
        room -= len(row)
        if room < 0:
            break
        rows.append(row)
    if not rows:
        return "", 0
    lists = ""
    for finding in members[: len(rows)]:
        text = _cables(finding) if len(finding.cables) > FEW_CABLES else ""
        if text and len(text) < room:
            lists += text
            room -= len(text)
    return head + "".join(rows) + lists + foot, len(rows)


def _cables(finding: Finding) -> str:
    """The cables folded into one finding, in a list that opens."""
    summary = f"{escape(finding.subject)}: {len(finding.cables):,} cables"
    lines = "\n".join(f"- {escape(line)}" for line in listed_cables(finding))
    return f"\n<details><summary>{summary}</summary>\n\n{lines}\n\n</details>\n"


def _tail(verdict: Verdict, made: datetime | None) -> Iterator[str]:
    if verdict.notes:
        yield from ("", "### Notes", "")
        yield from (f"- {escape(note)}" for note in verdict.notes)
    yield from ("", "### Compared", "", f"- plan: {escape(plan_words(verdict))}")
    for source in verdict.sources:
        what = f"{source.nodes:,} nodes, {source.links:,} links, {source.format}"
        nothing = source.failed or (source.format is None and "nothing was read")
        yield f"- read: {escape(source.label)}: {escape(nothing or what)}"
    if verdict.only:
        yield f"- judged: {escape(verdict.only)} only"
    when = f", {made.isoformat(sep=' ', timespec='seconds')}" if made is not None else ""
    yield f"- fabricctl {__version__}, verdict {verdict.word.value}, exit code {verdict.exit_code}{when}"
