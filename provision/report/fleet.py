"""A report about many nodes in its four forms, and its end: findings, what could not be told, weakened trust."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from fabricctl import __version__
from fabricctl.hostset import fold
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, PLAIN, Line, paragraph
from fabricctl.report.tables import markdown_text
from fabricctl.words import many
from provision.bmc.outcome import BmcFinding, Outcome
from provision.report.alike import PART, alike
from provision.report.common import (
    SHOWN,
    Table,
    exposure_lines,
    exposures,
    failure_lines,
    failures_json,
    more_line,
    said_lines,
)

_COLUMN = 21

Said = Sequence[tuple[str, str]]
"""Host and what is said of it."""


@dataclass(frozen=True)
class Report:
    """What a command has to say; each form is made only when it is asked for.

    :param schema: name and version of the JSON document; :param content: of it, but for what every report has.
    :param lines: for the terminal, of a width; :param table: for CSV; :param ticket: for markdown, the table when None.
    :param outcomes: of the BMCs that were asked, none where somebody else was; :param noun: whom doubts are about.
    :param doubts: what could not be told of BMCs that answered; :param remarks: what else should be known.
    :param good: the verdict where nothing is wrong and everything was told. :param noted: the screen shows oddities.
    :param repeated: the screen's own lines tell findings already.
    :param partly: heads doubts. :param after: what to do next, below everything.
    """

    schema: str
    outcomes: Sequence[Outcome[Any]]
    content: Callable[[], Mapping[str, Any]]
    lines: Callable[[int], Sequence[Line]]
    table: Callable[[], Table]
    ticket: Callable[[], Table] | None = None
    findings: Sequence[BmcFinding] = ()
    doubts: Said = ()
    remarks: Said = ()
    good: str = ""
    noted: bool = True
    repeated: bool = False
    partly: str = "told in part"
    noun: str = "BMC"
    after: Callable[[], Sequence[Line]] = tuple

    def text(self, width: int) -> list[Line]:
        """The screen."""
        after = list(self.after())
        return [*self.lines(width), *self._tail(width), *([(), *after] if after else [])]

    def json(self) -> str:
        """The document: content, findings, what could not be told, weakened trust, what was tolerated."""
        body = {
            "schema": self.schema,
            "generator": f"fabricctl {__version__}",
            **self.content(),
            "findings": [asdict(one) for one in self.findings],
            "could_not_tell": [*failures_json(self.outcomes), *self._doubts_json()],
            "weak_trust": [
                {"host": target.host, "text": text}
                for target in (outcome.target for outcome in self.outcomes)
                for text in exposures(target)
            ],
            "notes": [
                *({"host": host, "path": "", "text": text} for host, text in self.remarks),
                *(
                    {"host": outcome.target.host, "path": note.path, "text": note.text}
                    for outcome in self.outcomes
                    for note in outcome.notes
                ),
            ],
        }
        return json.dumps(body, indent=2, ensure_ascii=False) + "\n"

    def csv(self) -> str:
        """A row for each thing of each host."""
        return self.table().csv()

    def markdown(self) -> str:
        """The table, and below it what it has no cell for."""
        below = "".join(f"- {markdown_text(text)}\n" for text in self.beside())
        return (self.ticket or self.table)().markdown() + (f"\n{below}" if below else "")

    def beside(self) -> list[str]:
        """What a table has no cell for, a line each."""
        lines = [*self._findings(1000), *self._not_told(), *self._exposures(), *self.after()]
        return [text for text in ("".join(text for text, _ in line).strip() for line in lines) if text]

    def _tail(self, width: int) -> list[Line]:
        findings = [] if self.repeated else self._findings(width)
        lines = [*findings, *self._not_told(), *self._exposures()]
        lines += note_lines(self.outcomes) if self.noted else []
        failed = sum(outcome.error is not None for outcome in self.outcomes)
        told = f"{len(self.outcomes) - failed:,} of {many(len(self.outcomes), 'BMC')} told"
        if self.findings and not self.repeated:
            number = many(len(self.findings), "finding")
            lines.append(((f"{number}; {told}" if self.outcomes else number, PLAIN),))
        elif self.good and not failed and not self.findings and not self.doubts:
            lines.append(((self.good, PLAIN),))
        return [(), *lines] if lines else []

    def _findings(self, width: int) -> list[Line]:
        return finding_lines(self.findings, width)

    def _not_told(self) -> list[Line]:
        lines = failure_lines(self.outcomes)
        if self.doubts:
            hosts = len({host for host, _ in self.doubts})
            lines += [
                ((f"{self.partly}: {many(hosts, self.noun)}", DOUBT),),
                *said_lines(self.doubts, parts=True),
            ]
        if self.remarks:
            lines += [(("to be known", DOUBT),), *said_lines(self.remarks)]
        return lines

    def _exposures(self) -> list[Line]:
        return exposure_lines(outcome.target for outcome in self.outcomes)

    def _doubts_json(self) -> list[dict[str, str]]:
        address = {outcome.target.host: outcome.target.address for outcome in self.outcomes}
        return [
            {"host": host, "address": address.get(host, ""), "error": "", "reason": text}
            for host, text in self.doubts
        ]


def list_report(
    schema: str, key: str, table: Table, outcomes: Sequence[Outcome[Any]], *, each: bool = False
) -> Report:
    """A report that is a list. :param key: of it in the document; :param each: a line a row on the screen."""
    return Report(
        schema,
        outcomes,
        content=lambda: {key: table.objects()},
        lines=lambda width: table.lines(width, each=each) or [(("nothing to list", DIM),)],
        table=lambda: table,
    )


def finding_lines(findings: Sequence[BmcFinding], width: int) -> list[Line]:
    """Findings, those that say about the same of several hosts in one paragraph."""
    kinds: dict[str, list[tuple[str, str]]] = {}
    for one in findings:
        kinds.setdefault(one.kind, []).append((one.host, one.text.removeprefix(f"{one.host}: ")))
    lines: list[Line] = []
    left = SHOWN
    for kind, said in kinds.items():
        groups = alike(said, parts=True)
        for group in groups[: max(left, 1)]:
            number = "" if len(group.hosts) == 1 else f" ({len(group.hosts):,})"
            named = len(group.hosts) == 1 and group.hosts[0] in group.text
            text = group.text if named or not group.who else f"{group.who}{number}: {group.text}"
            lines += paragraph(
                kind.replace("-", " ").upper(), text, width, BAD, BOLD, column=_COLUMN, cut=False
            )
        lines += more_line(len(groups) - max(left, 1), f"{kind.replace('-', ' ')} finding")
        left -= len(groups)
    return lines


def note_lines(outcomes: Iterable[Outcome[Any]]) -> list[Line]:
    """What was odd and tolerated, each oddity once, folded over parts and hosts."""
    said = []
    for outcome in outcomes:
        texts = [note.text for note in outcome.notes]
        for note in outcome.notes:
            name = note.path.partition("?")[0].rstrip("/").rpartition("/")[2]
            if note.text == "is not there" and PART.fullmatch(name) and any(name in text for text in texts):
                continue  # the link that leads nowhere is told with who names it
            said.append((outcome.target.host, note.text if name in note.text else f"{name} {note.text}"))
    return [(("odd, and tolerated", DIM),), *said_lines(said, DIM, parts=True)] if said else []


def hosts_cell(hosts: Sequence[str]) -> str:
    """Hosts for a table cell, folded."""
    return fold(list(dict.fromkeys(hosts))) if hosts else ""
