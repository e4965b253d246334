"""Who is who, on the terminal: worst first. Lines are tuples of (text, style), as ``report/screen.py`` has them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from fabricctl.hostset import fold
from fabricctl.identity.model import Ambiguity, Assignment, Identification, RefusalKind, Said, Source
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line, paragraph

_LABEL = 16
_wrapped = partial(paragraph, column=_LABEL)
FULL = 3
"""Ambiguities and contradictions shown in full before the rest are one line each."""
LISTED = 8
"""Switches named one by one before the rest are counted."""


def render(found: Identification, *, width: int = 100, everything: bool = False) -> list[Line]:
    """The whole screen.

    :param everything: fold nothing, and list every switch with its votes.
    """
    lines = list(_head(found, width))
    if found.refusal is not None:
        return lines
    for part in (
        _ambiguities(found, width, everything),
        _contradictions(found, width, everything),
        _without(found, width, everything),
    ):
        body = list(part)
        lines += [(), *body] if body else []
    if everything:
        lines += [(), *_table(found)]
    lines += [(), *_tail(found, width, everything)]
    return lines


def verdict_words(found: Identification) -> tuple[str, str, str]:
    """The verdict: word, its style, and one sentence."""
    if found.refusal is not None:
        wrong = found.refusal.kind is RefusalKind.WRONG_FABRIC
        return "ANOTHER FABRIC" if wrong else "COULD NOT TELL", DOUBT, found.refusal.evidence[0]
    seen, certain = len(found.assignments), len(found.names)
    parts = [f"{certain:,} of {seen:,} discovered switches have a certain place"]
    if found.ambiguities:
        number = len(found.ambiguities)
        parts.append(
            f"{len(found.ambiguous):,} cannot be told apart ({number:,} ambiguit{'y' if number == 1 else 'ies'})"
        )
    if found.contradictions:
        parts += [
            _contradicted(said, found) for said in Said if any(c.said is said for c in found.contradictions)
        ]
    if found.unplaced:
        parts.append(f"{len(found.unplaced):,} fit no place")
    if found.unfilled:
        number = len(found.unfilled)
        parts.append(f"{number:,} planned {'was' if number == 1 else 'were'} not found")
    if found.ambiguities:
        word, style = "COULD NOT TELL ALL", DOUBT
    elif found.contradictions or found.unplaced or found.unfilled:
        word, style = "NOT ALL PLACED", BAD
    else:
        word, style = "ALL PLACED", GOOD
    return word, style, ", ".join(parts)


def _contradicted(said: Said, found: Identification) -> str:
    number = sum(c.said is said for c in found.contradictions)
    what = f"identit{'y' if number == 1 else 'ies'}"
    words = {
        Said.DECLARED: f"declared {what}",
        Said.SNAPSHOT: f"{what} known by the snapshot",
        Said.HARVESTED: f"harvested {what}",
    }[said]
    return f"{number:,} {words} {'is' if number == 1 else 'are'} contradicted"


_SAID = {Said.DECLARED: "is declared as", Said.SNAPSHOT: "is known by the snapshot as"}


def _head(found: Identification, width: int) -> Iterator[Line]:
    word, style, text = verdict_words(found)
    yield ((f"{word}  ", style), (text, BOLD))
    if found.refusal is not None:
        for index, fact in enumerate(found.refusal.evidence[1:]):
            yield from _wrapped("evidence" if index == 0 else "", fact, width, PLAIN)
    for index, text in enumerate(found.assumed):
        yield from _wrapped("assumed" if index == 0 else "", text, width, DOUBT)


def _ambiguities(found: Identification, width: int, everything: bool) -> Iterator[Line]:
    shown = len(found.ambiguities) if everything or len(found.ambiguities) <= FULL + 1 else FULL
    for number, ambiguity in enumerate(found.ambiguities[:shown], 1):
        yield from _ambiguity(number, ambiguity, width, everything)
    for number, ambiguity in enumerate(found.ambiguities[shown:], shown + 1):
        yield from _wrapped(f"AMBIGUITY {number}", ambiguity.hypotheses[0].words + "; or not", width, DOUBT)


def _ambiguity(number: int, ambiguity: Ambiguity, width: int, everything: bool) -> Iterator[Line]:
    many = f"{len(ambiguity.devices):,} switch{'' if len(ambiguity.devices) == 1 else 'es'}"
    yield from _wrapped(f"AMBIGUITY {number}", f"{many} could be one or the other", width, DOUBT, BOLD)
    for index, hypothesis in enumerate(ambiguity.hypotheses, 1):
        yield from _wrapped(f"  hypothesis {index}", hypothesis.words, width, PLAIN)
        if len(ambiguity.devices) <= 4 or everything:
            names = ", ".join(f"{seen} is {planned}" for seen, planned in hypothesis.names)
            yield from _wrapped("", names, width, DIM)
    for index, text in enumerate(ambiguity.decide_by):
        yield from _wrapped("  decide by" if index == 0 else "", text, width, GOOD)
    yield from _wrapped("", f"then declare it, or --assume {number}.N for this run", width, DIM)


def _contradictions(found: Identification, width: int, everything: bool) -> Iterator[Line]:
    shown = len(found.contradictions) if everything else LISTED
    for item in found.contradictions[:shown]:
        declared, other = found.name(item.declared), found.name(item.by_votes)
        if item.said is Said.HARVESTED:
            text = (
                f"{item.seen} is harvested as {declared}, but describes itself as {other} and is cabled as {other}: "
                "read that GUID again (the line was not believed)"
            )
        else:
            text = (
                f"{item.seen} {_SAID[item.said]} {declared}, but its cables say {other} "
                f"({item.votes_for:,} votes against {item.votes_against:,}): read its label"
            )
        yield from _wrapped("CONTRADICTION", text, width, BAD, BOLD)
    yield from _more(len(found.contradictions) - shown, "contradictions")


def _without(found: Identification, width: int, everything: bool) -> Iterator[Line]:
    said = {a.seen: a.described for a in found.assignments}
    shown = len(found.unplaced) if everything else LISTED
    for index, key in enumerate(found.unplaced[:shown]):
        text = f"{key} fits no place of the plan" + (
            f" (describes itself as {said[key]})" if said.get(key) else ""
        )
        yield from _wrapped("NO PLACE" if index == 0 else "", text, width, BAD)
    yield from _more(len(found.unplaced) - shown, "switches")
    if found.unfilled:
        names = fold(found.name(key) for key in found.unfilled)
        yield from _wrapped("NOT FOUND", f"{len(found.unfilled):,} planned: {names}", width, BAD)


def _more(number: int, what: str) -> Iterator[Line]:
    if number > 0:
        yield ((f"{'':<{_LABEL}}... and {number:,} more {what}: --all", DIM),)


def _table(found: Identification) -> Iterator[Line]:
    rows = [_row(found, assignment) for assignment in found.assignments]
    head = ("switch", "place", "guid", "for", "against", "margin", "second best", "says of itself")
    widths = [
        max(len(head[i]), *(len(row[i]) for row in rows)) if rows else len(head[i]) for i in range(len(head))
    ]
    numbers = (3, 4, 5)

    def line(cells: tuple[str, ...]) -> str:
        return "  ".join(
            cell.rjust(widths[i]) if i in numbers else cell.ljust(widths[i]) for i, cell in enumerate(cells)
        ).rstrip()

    yield ((line(head), DIM),)
    unsure = found.ambiguous
    for row, assignment in zip(rows, found.assignments, strict=True):
        style = PLAIN if assignment.seen in found.names else DOUBT if assignment.seen in unsure else BAD
        yield ((line(row), style),)


def _row(found: Identification, assignment: Assignment) -> tuple[str, ...]:
    name = found.name(assignment.planned) if assignment.planned else "-"
    if assignment.seen in found.ambiguous:
        name += " ?"
    described = assignment.described
    if assignment.described_differs:
        described += " (another place)"
    declared = assignment.source is Source.DECLARED
    return (
        name + (" (declared)" if declared else ""),
        assignment.place or "-",
        assignment.seen,
        f"{assignment.votes_for:,}",
        f"{assignment.votes_against:,}",
        f"{assignment.margin:,}",
        found.name(assignment.runner_up) if assignment.runner_up else "-",
        described or "-",
    )


def _tail(found: Identification, width: int, everything: bool) -> Iterator[Line]:
    differ = [a for a in found.assignments if a.described_differs]
    if differ:
        first = differ[0]
        text = (
            f"{len(differ):,} switch{' describes itself' if len(differ) == 1 else 'es describe themselves'} as another "
            f"place than its cables say, the first {first.seen}: {first.described}, placed as "
            f"{found.name(first.planned or '')}"
        )
        yield from _wrapped("note", text, width, DOUBT)
    for note in found.notes if everything else found.notes[:4]:
        yield from _wrapped("note", note, width, DIM)
    if not everything:
        yield (("every switch with its votes: --all; for tools: --format json or node-name-map", DIM),)
