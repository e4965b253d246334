"""What every report about BMCs is made of: tables, BMCs that could not tell, and how far answers are trusted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import BmcError
from fabricctl.hostset import fold
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, PLAIN, Line, paragraph
from fabricctl.report.tables import csv_table, markdown_table, text_table
from fabricctl.words import many
from provision.bmc.outcome import Outcome
from provision.bmc.target import Target, Verify
from provision.report.alike import alike, alike_rows
from provision.report.impersonal import LONGEST, filled, impersonal

SHOWN = 30
"""Lines of one kind on a screen; what is left out is counted."""


@dataclass(frozen=True)
class Table:
    """Rows of one kind, as text, CSV or markdown.

    :param columns: as machines name them, the host is the first; :param rows: one cell a column.
    :param styles: one a row, plain when there are none. :param brief: columns of a screen on which hosts that say about
        the same share a line, without the host and what is every host's own; the same when there are none.
    :param short: column -> cells to show there instead, one a row.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]
    styles: Sequence[str] = ()
    brief: tuple[str, ...] = ()
    short: Mapping[str, Sequence[str]] | None = None

    def lines(self, width: int, *, each: bool = True) -> list[Line]:
        """For the terminal. :param each: a line a row; otherwise hosts that say about the same share one."""
        if not self.rows:
            return []
        if not each:
            return self._folded(width)
        columns = {name: [row[at] for row in self.rows] for at, name in enumerate(self.columns)}
        lines, same = fitted(columns, self.styles or [PLAIN] * len(self.rows), width, self.columns[:1])
        return [*lines, *_same_line(same, len(self.rows))]

    def csv(self) -> str:
        """With a header row."""
        return csv_table(self.columns, self.rows)

    def markdown(self) -> str:
        """For a ticket."""
        return markdown_table(self.columns, self.rows)

    def objects(self) -> list[dict[str, str]]:
        """One a row, the cells by column."""
        return [dict(zip(self.columns, row, strict=True)) for row in self.rows]

    def _folded(self, width: int) -> list[Line]:
        names = self.brief or self.columns[1:]
        styles = self.styles or [PLAIN] * len(self.rows)
        cells = [self._short(name) for name in names]
        said = [(row[0], [styles[at], *(column[at] for column in cells)]) for at, row in enumerate(self.rows)]
        groups = alike_rows(said)
        if len(groups) > SHOWN:  # what is unusual is shown, whatever is left out
            groups.sort(key=lambda group: group[1][0] in (PLAIN, DIM))
        return _folded_lines(list(names), groups, width)

    def _short(self, name: str) -> Sequence[str]:
        if self.short is not None and name in self.short:
            return self.short[name]
        at = self.columns.index(name)
        return [row[at] for row in self.rows]


def _folded_lines(
    names: list[str], groups: Sequence[tuple[tuple[str, ...], list[str]]], width: int
) -> list[Line]:
    shown = groups[:SHOWN]
    columns = {name: [cells[at + 1] for _, cells in shown] for at, name in enumerate(names)}
    who = {"which": [fold(hosts) for hosts, _ in shown]}
    first = max(map(len, who["which"])) <= LONGEST
    columns = {**who, **columns} if first else {**columns, **who}
    number = {"nodes": [f"{len(hosts):,}" for hosts, _ in shown]}
    lines, same = fitted({**number, **columns}, [cells[0] for _, cells in shown], width, ("nodes", "which"))
    lines += _same_line(same, sum(len(hosts) for hosts, _ in shown))
    return [*lines, *more_line(len(groups) - len(shown), "line")]


def fitted(
    columns: Mapping[str, Sequence[str]], styles: Sequence[str], width: int, kept: Sequence[str]
) -> tuple[list[Line], dict[str, str]]:
    """A table that fits a width if it can: without empty columns, then without some that say the same in every row.

    :param kept: columns that stay; :return: lines, and column -> what every row says there.
    """
    left = {name: cells for name, cells in columns.items() if name in kept or any(cells)}
    same: dict[str, str] = {}
    while True:
        heads = [heading(name) for name in left]
        header, *body = text_table(heads, list(zip(*left.values(), strict=True)))
        constant = [name for name, cells in left.items() if name not in kept and len(set(cells)) == 1]
        if not constant or max(map(len, (header, *body))) <= width:
            break
        widest = max(constant, key=lambda name: max(len(name), len(left[name][0])))
        same = {**same, widest: left.pop(widest)[0]}
    lines: list[Line] = [((header, DIM),)]
    lines += [((text, style),) for text, style in zip(body, styles, strict=True)]
    return lines, {name: same[name] for name in columns if name in same}


def heading(name: str) -> str:
    """A column's name as people write it: ``memory_gib`` is ``memory GiB``."""
    return name.replace("_gib", "_GiB").replace("_", " ")


def _same_line(same: Mapping[str, str], number: int) -> list[Line]:
    text = ", ".join(f"{heading(name)} {value}" for name, value in same.items())
    return [((f"  {'each' if number > 1 else 'and'}: {text}", DIM),)] if same else []


def more_line(left: int, word: str) -> list[Line]:
    """What was left out, and how it is seen; nothing when nothing was."""
    return [((f"  and {many(left, f'more {word}')}: --format json or csv", DIM),)] if left > 0 else []


def failure_lines(outcomes: Iterable[Outcome[Any]]) -> list[Line]:
    """BMCs that could not tell, one line for all that failed for the same reason; nothing when all told."""
    failed = [(o.target.host, reason(o.error, o.target)) for o in outcomes if o.error is not None]
    if not failed:
        return []
    return [((f"could not tell: {many(len(failed), 'BMC')}", DOUBT),), *said_lines(failed)]


def said_lines(said: Iterable[tuple[str, str]], style: str = PLAIN, *, parts: bool = False) -> list[Line]:
    """(host, text) as lines, hosts that say about the same in one. :param parts: names of parts are folded too."""
    groups = alike(said, parts=parts)
    head = DIM if style == DIM else BOLD
    lines: list[Line] = [
        ((f"  {one.who}", head), (f"  {filled(one.text, one.who)}", style)) for one in groups[:SHOWN]
    ]
    return [*lines, *more_line(len(groups) - SHOWN, "line")]


def failures_json(outcomes: Iterable[Outcome[Any]]) -> list[dict[str, str]]:
    """The same for a document: host, address, reason, and the error's class."""
    return [
        {
            "host": outcome.target.host,
            "address": outcome.target.address,
            "error": type(outcome.error).__name__.removesuffix("Error"),
            "reason": filled(reason(outcome.error, outcome.target), outcome.target.host),
        }
        for outcome in outcomes
        if outcome.error is not None
    ]


def reason(error: BmcError, target: Target) -> str:
    """An error without the BMC's name and address, so that equal ones fold; advice names HOSTS instead."""
    text = str(error).removeprefix(f"{error.bmc}: ").replace(str(target), "it")
    if target.service_tag:
        text = text.replace(f"service tag {target.service_tag}", "service tag")
    return impersonal(text, target.host)


def hanging(who: str, texts: Iterable[tuple[str, str]], width: int, indent: str = "") -> list[Line]:
    """Texts behind the hosts they are about, each in its style and wrapped; below them where the hosts are many."""
    head = f"{indent}{who}"
    beside = len(head) <= LONGEST
    column = len(head) + 2 if beside else len(indent) + 4
    lines: list[Line] = [] if beside else [((head, BOLD),)]
    for text, style in texts:
        for _, part in paragraph("", filled(text, who), width, style, column=column, cut=False):
            label = head if beside and not lines else ""
            lines.append(((f"{label:<{column}}", BOLD), part))
    return lines


def exposure_lines(targets: Iterable[Target]) -> list[Line]:
    """BMCs whose answers could be somebody else's: said in every report, never only at the first time."""
    kinds: dict[str, list[str]] = {}
    for target in targets:
        for text in exposures(target):
            kinds.setdefault(text, []).append(target.host)
    return [((f"{fold(hosts)}: {text}", BAD),) for text, hosts in kinds.items()]


def exposures(target: Target) -> list[str]:
    """How one BMC is trusted less than it could be."""
    said = []
    if target.trust.verify is Verify.OFF:
        said.append("the certificate is not checked (verify: off)")
    if target.trust.tls_floor in ("1.0", "1.1"):
        said.append(f"TLS {target.trust.tls_floor} is accepted")
    if target.basic:
        said.append("user and password go with every request (basic)")
    return said
