"""The terminal screen: one look answers "can I train on this?".

Lines are tuples of (text, style); the CLI gives styles their colours, or drops them when there is no terminal.
Order: verdict, islands, what could not be told, counts, findings worst first, how to see the rest. Nothing
here decides; long lists are folded, never cut without saying so.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

from fabricctl.cabling.islands import device_words, islands_words
from fabricctl.cabling.model import Finding, FindingKind, LinkClass
from fabricctl.cabling.verdict import Verdict, VerdictWord
from fabricctl.report.causes_words import headline as cause_line
from fabricctl.report.causes_words import more_causes, split_findings, summary
from fabricctl.report.groups import Group, group_findings
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, GOOD, PLAIN, Line, Span, paragraph
from fabricctl.report.repair_words import repair_summary
from fabricctl.report.words import can_i_train, percent

_WORDS = {
    VerdictWord.OK: ("AS PLANNED", GOOD),
    VerdictWord.FINDINGS: ("NOT AS PLANNED", BAD),
    VerdictWord.COULD_NOT_TELL: ("COULD NOT TELL", DOUBT),
}
_CLASSES = (
    LinkClass.OK,
    LinkClass.MISSING,
    LinkClass.MISWIRED,
    LinkClass.SWAPPED,
    LinkClass.DEGRADED,
    LinkClass.NOT_JUDGED,
)
_LABEL = 13
_CAUSES = 4
"""Causes shown before the rest is counted."""
_FIX = 480
"""Characters of a fix that are shown without ``--all``."""
_FULL = 3
"""Findings of one kind shown in full before they are folded into groups."""


def render(verdict: Verdict, *, width: int = 100, height: int = 40, everything: bool = False) -> list[Line]:
    """The whole screen.

    :param width: columns; :param height: lines a screenful has. :param everything: no folding at all.
    """
    lines = list(_head(verdict, width))
    counts = list(_counts(verdict))
    lines += [(), *counts] if counts else []
    why = list(_why(verdict, width, None if everything else _CAUSES))
    lines += [(), *why] if why else []
    room = max(8, height - len(lines) - 3)
    body = list(_findings(verdict, width, None if everything else room))
    if body:
        lines += [(), *body]
    if everything and verdict.outside:
        lines += [(), *_outside(verdict, width)]
    notes = list(_notes(verdict, width, everything))
    if notes:
        lines += [(), *notes]
    return lines


def _head(verdict: Verdict, width: int) -> Iterator[Line]:
    word, style = _WORDS[verdict.word]
    if verdict.plan_format is None and verdict.word is not VerdictWord.COULD_NOT_TELL:
        word = "FINDINGS" if verdict.findings else "NOTHING FOUND"
    yield ((f"{word}  ", style), (headline(verdict), BOLD))
    for index, text in enumerate(island_lines(verdict)):
        yield from _wrapped("islands" if index == 0 else "", text, width, PLAIN)
    yield from _wrapped("train on it?", can_i_train(verdict), width, PLAIN)
    for index, doubt in enumerate(verdict.doubts):
        yield from _wrapped("not told" if index == 0 else "", doubt, width, DOUBT)


def _why(verdict: Verdict, width: int, limit: int | None) -> Iterator[Line]:
    """Causes, largest first, and what repairs all of it. :param limit: causes shown."""
    explanation, repair = verdict.explanation, verdict.repair
    if explanation is not None and explanation.systematic:
        shown = explanation.systematic[:limit]
        for cause in shown:
            yield from _wrapped("CAUSE", cause_line(cause), width, BAD, head=BOLD)
            yield from _wrapped("  evidence", cause.evidence, width, PLAIN)
            if cause.fix:
                fix = (
                    cause.fix
                    if limit is None or len(cause.fix) <= _FIX
                    else cause.fix[:_FIX] + " ... (--all)"
                )
                yield from _wrapped("  fix", fix, width, GOOD)
        rest = [more_causes(explanation, len(shown)), summary(explanation)]
        yield from _wrapped("", "; ".join(text for text in rest if text), width, DIM)
    said = repair_summary(repair) if repair is not None else ""
    if said:
        yield from _wrapped("repair", said, width, PLAIN)
        yield from _wrapped(
            "", "the steps: fabricctl work-order make, same options, -o FILE.html", width, DIM
        )


def headline(verdict: Verdict) -> str:
    """The verdict in one sentence."""
    counts = verdict.counts
    if verdict.plan_format is None:
        seen = f"{verdict.switches_seen:,} switches and {verdict.hcas_seen:,} HCAs seen, no plan given"
        number = len(verdict.findings)
        return f"{seen}: {number or 'no'} finding{'' if number == 1 else 's'} by the checks that need no plan"
    scope = f" of {verdict.only}" if verdict.only else ""
    if not counts.judged:
        return f"none of the {counts.intended:,} planned cables{scope} could be judged"
    judged = "planned" if not counts.not_judged else "judged"
    if not counts.bad:
        good = f"all {counts.judged:,} {judged} cables{scope} are as planned"
        other = sum(f.kind not in (FindingKind.BAD_LINK_SHARE,) for f in verdict.findings)
        return (
            good
            if not other
            else f"{good}, but {other:,} other finding{'s' if other > 1 else ''} remain{'s' if other == 1 else ''}"
        )
    share = f"{percent(counts.bad_share)}, gate {percent(verdict.gate)}"
    return f"{counts.bad:,} of {counts.judged:,} {judged} cables{scope} are not as planned ({share})"


def island_lines(verdict: Verdict) -> list[str]:
    """What is connected with what, before any single cable."""
    islands = verdict.islands
    seen = [island for island in islands.seen if island.switches or len(islands.seen) == 1]
    planned = sum(1 for island in islands.planned if island.switches)
    if verdict.plan_format is None:
        return [f"{len(seen)} seen: {islands_words(seen)}"]
    if not verdict.counts.cables_seen:
        return ["cannot be told: no cable was seen"]
    if not seen:
        return ["nothing that was seen is known to be of the plan"]
    if islands.torn():
        are = f"{planned} {'is' if planned == 1 else 'are'} planned"
        return [
            f"{len(seen)} seen where {are}: they cannot reach each other",
            *islands_words(seen).split("; "),
        ]
    whole = f"of {islands.planned_switches:,} switches and {islands.planned_hcas:,} HCAs planned"
    if islands.unseen_switches or islands.unseen_hcas:
        many = f"{len(seen)} of {planned} are seen" if planned > 1 else "one island is seen"
        gone = device_words(islands.unseen_switches, islands.unseen_hcas, islands.unseen_rails)
        return [f"{many}: {islands_words(seen)}, {whole}", f"unseen: {gone.removesuffix(', no HCA')}"]
    if planned > 1:
        return [f"{len(seen)} of {planned} planned networks: {islands_words(seen)}"]
    return [f"{len(seen)} of {planned}: {islands_words(seen)} see each other"]


def _counts(verdict: Verdict) -> Iterator[Line]:
    counts = verdict.counts
    if verdict.plan_format is None or not counts.intended:
        return
    shown = [cls for cls in _CLASSES if cls is LinkClass.OK or getattr(counts, cls.value)]
    head = "".join(f"{cls.value.replace('_', ' '):>11}" for cls in shown)
    yield ((f"{'':<{_LABEL + 3}}{'planned':>9}{head}", DIM),)
    rows = [*counts.by_tier.items()]
    if len(rows) > 1:
        rows.append(("total", {cls.value: getattr(counts, cls.value) for cls in _CLASSES}))
    for name, row in rows:
        spans: list[Span] = [
            (f"{name:<{_LABEL + 3}}{sum(row.values()):>9,}", BOLD if name == "total" else PLAIN)
        ]
        for cls in shown:
            number = row[cls.value]
            style = (
                DIM
                if not number
                else GOOD
                if cls is LinkClass.OK
                else DOUBT
                if cls is LinkClass.NOT_JUDGED
                else BAD
            )
            spans.append((f"{number:>11,}", style))
        yield tuple(spans)
    beside = [
        (counts.unexpected, "unexpected cables"),
        (counts.outside_plan, "cables to devices outside the plan"),
        (counts.excused, "not judged because of planned maintenance"),
    ]
    text = ", ".join(f"{number:,} {what}" for number, what in beside if number)
    if counts.cables_seen and counts.cables_differ and not verdict.only:
        as_planned = f"{counts.cables_seen:,} cables seen: {counts.cables_as_planned:,} as planned"
        extra = f"{as_planned}, {counts.cables_differ:,} contradict the plan"
        text = f"{extra}; {text}" if text else extra
    if text:
        yield ((f"{'':<{_LABEL + 3}}{text}", DIM),)


def _findings(verdict: Verdict, width: int, room: int | None) -> Iterator[Line]:
    """Worst first. When the screen is too small the least severe kinds shrink first, but each keeps its line."""
    left = verdict.findings if room is None else _not_explained(verdict)
    by_kind: dict[FindingKind, list[Finding]] = defaultdict(list)
    for finding in left:
        by_kind[finding.kind].append(finding)
    if not verdict.findings:
        return
    levels: list[Callable[[list[Finding], int], Iterator[Line]]] = [_in_full, _in_groups, _in_one_line]
    if room is None:
        for found in by_kind.values():
            yield from _in_full(found, width)
        return
    blocks = {
        kind: list(_in_full(f, width) if len(f) <= _FULL else _in_groups(f, width))
        for kind, f in by_kind.items()
    }
    for level in levels[1:]:
        for kind in reversed(by_kind):
            if sum(map(len, blocks.values())) <= room:
                break
            smaller = list(level(by_kind[kind], width))
            if len(smaller) < len(blocks[kind]):
                blocks[kind] = smaller
    for block in blocks.values():
        yield from block
    folded = len(verdict.findings) - len(left)
    if folded:
        yield ((f"{'':<{_LABEL + 3}}{folded:,} findings are explained by the causes above", DIM),)
    yield (("every finding: --all; as a file: --report FILE.html (or .md .csv .json)", DIM),)


def _not_explained(verdict: Verdict) -> list[Finding]:
    """Findings that no systematic cause accounts for; the others stand below their cause."""
    explanation, comparison = verdict.explanation, verdict.comparison
    if explanation is None or comparison is None or not explanation.systematic:
        return verdict.findings
    systematic = replace(explanation, causes=explanation.systematic)
    return split_findings(verdict.findings, systematic, comparison)[1]


def _in_full(found: list[Finding], width: int) -> Iterator[Line]:
    for finding in found:
        yield from _full(finding, width)


def _in_groups(found: list[Finding], width: int) -> Iterator[Line]:
    groups = group_findings(found)
    for group in groups[:_FULL]:
        yield from _group(found[0].kind, group, width)
    if len(groups) > _FULL:
        rest = sum(group.findings for group in groups[_FULL:])
        yield ((f"{'':<{_LABEL + 3}}... and {rest:,} more {_word(found[0].kind)} findings", DIM),)


def _in_one_line(found: list[Finding], width: int) -> Iterator[Line]:
    groups = group_findings(found)
    more = f" (and {len(found) - groups[0].findings:,} others)" if len(groups) > 1 else ""
    text = groups[0].headline + more
    room = width - _LABEL - 3
    text = text if len(text) <= room else text[: room - 4].rstrip(" ,") + " ..."
    yield ((f"{_word(found[0].kind).upper():<{_LABEL + 3}}", BAD), (text, BOLD))


def _word(kind: FindingKind) -> str:
    return kind.value.replace("_", " ")


def _full(finding: Finding, width: int) -> Iterator[Line]:
    yield from _wrapped(_word(finding.kind).upper()[: _LABEL + 3], finding.headline, width, BAD, head=BOLD)
    if finding.expected:
        yield from _wrapped("  expected", finding.expected, width, PLAIN)
    if finding.found:
        yield from _wrapped("  found", finding.found, width, PLAIN)
    if finding.fix:
        yield from _wrapped("  fix", finding.fix, width, GOOD)


def _group(kind: FindingKind, group: Group, width: int) -> Iterator[Line]:
    yield from _wrapped(_word(kind).upper()[: _LABEL + 3], group.headline, width, BAD, head=BOLD)
    for label, text in group.details:
        yield from _wrapped(f"  {label}", text, width, GOOD if label == "fix" else PLAIN)


_wrapped = partial(paragraph, column=_LABEL + 3)


def _outside(verdict: Verdict, width: int) -> Iterator[Line]:
    for index, cable in enumerate(verdict.outside):
        yield from _wrapped(
            "outside plan" if index == 0 else "", f"{cable.a} - {cable.found} ({cable.tiers})", width, PLAIN
        )


def _notes(verdict: Verdict, width: int, everything: bool) -> Iterator[Line]:
    notes = verdict.notes if everything else verdict.notes[:4]
    for index, note in enumerate(notes):
        yield from _wrapped("note" if index == 0 else "", note, width, DIM)
    if len(verdict.notes) > len(notes):
        yield ((f"{'':<{_LABEL + 3}}and {len(verdict.notes) - len(notes)} more notes: --all", DIM),)
