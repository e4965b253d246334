"""Causes for screen, Markdown and JSON. Pure; what prints or writes calls these.

Plain exchanges of two links are one line together: each is a finding of its own already.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.model import Finding, FindingKind
from fabricctl.causes.model import Cause, Confidence, Explanation, covered
from fabricctl.fabric import Port
from fabricctl.words import clean, printable

LINK_KINDS = (FindingKind.SWAPPED, FindingKind.MISWIRED, FindingKind.MISSING)
"""Kinds of findings a cause can stand above."""


def summary(explanation: Explanation) -> str:
    """One sentence: how much of what is wrong is explained by what; empty when nothing is wrong."""
    if not explanation.wrong:
        return ""
    causes, swaps, left = len(explanation.systematic), len(explanation.swaps), len(explanation.left)
    inside = sum(cause.links for cause in explanation.systematic)
    wrong = _links(explanation.wrong, "wrong link")
    parts = []
    if causes:
        parts.append(
            f"{_links(causes, 'cause')} {'explains' if causes == 1 else 'explain'} {inside:,} of {wrong}"
        )
    if swaps:
        parts.append(f"{2 * swaps:,} {'are' if causes else f'of {wrong} are'} plain exchanges of two links")
    if left:
        stay = "stays" if left == 1 else "stay"
        parts.append(f"{left:,} {stay if parts else f'of {wrong} {stay}'} unexplained")
    return "; ".join(parts)


def headline(cause: Cause) -> str:
    """``uplinks of ibl-p03-r1 rotated by one port: 32 links``; a cause that is not certain says so."""
    sure = "" if cause.confidence is Confidence.CERTAIN else f" ({cause.confidence})"
    return printable(f"{cause.headline}: {_links(cause.links, 'link')}{sure}")


def more_causes(explanation: Explanation, shown: int) -> str:
    """``and 3 more causes of 96 links``; empty when all are shown."""
    rest = explanation.systematic[shown:]
    if not rest:
        return ""
    links = sum(cause.links for cause in rest)
    return f"and {_links(len(rest), 'more cause')} of {_links(links, 'link')}"


def markdown_lines(explanation: Explanation) -> list[str]:
    """A section for a ticket; empty when no cause is known."""
    if not explanation.systematic:
        return []
    lines = [
        "### Causes",
        "",
        f"{summary(explanation)}.",
        "",
        "| links | cause | evidence | what to do |",
        "|---:|---|---|---|",
    ]
    for cause in explanation.systematic:
        sure = "" if cause.confidence is Confidence.CERTAIN else f" ({cause.confidence})"
        cells = (f"{cause.headline}{sure}", cause.evidence, cause.fix)
        lines.append(f"| {cause.links:,} | " + " | ".join(_cell(text) for text in cells) + " |")
    return [*lines, ""]


def _cell(text: str) -> str:
    for char in "\\|<>*`_":
        text = text.replace(char, "\\" + char)
    return printable(text)


def json_parts(explanation: Explanation, comparison: Comparison) -> dict[str, object]:
    """The explanation as JSON values; ``causes_schema.ExplanationPart`` tells the form."""
    nodes = comparison.binding.plan.fabric.nodes
    links = comparison.binding.plan.fabric.links

    def link(port: Port) -> dict[str, object]:
        found = links[port]
        return {
            "a": {"device": clean(nodes[found.a.node].name), "port": comparison.ends.own_number(found.a)},
            "b": {"device": clean(nodes[found.b.node].name), "port": comparison.ends.own_number(found.b)},
        }

    return {
        "wrong": explanation.wrong,
        "explained": explanation.explained,
        "causes": [
            {
                "kind": str(cause.kind),
                "subject": clean(cause.subject),
                "headline": clean(cause.headline),
                "links": cause.links,
                "confidence": str(cause.confidence),
                "evidence": clean(cause.evidence),
                "fix": clean(cause.fix),
                "devices": [clean(name) for name in cause.devices],
                "explains": [link(port) for port in cause.explains],
            }
            for cause in explanation.causes
        ],
        "left": [link(port) for port in explanation.left],
    }


def split_findings(
    findings: list[Finding], explanation: Explanation, comparison: Comparison
) -> tuple[dict[int, list[Finding]], list[Finding]]:
    """Findings about links that a cause accounts for, and all the others.

    A finding goes under a cause when every planned link it is about is explained by that one.

    :returns: place of the cause in ``explanation.causes`` -> its findings, and the rest in their order.
    """
    place = {id(cause): at for at, cause in enumerate(explanation.causes)}
    cause_at = {port: place[id(cause)] for port, cause in covered(explanation).items()}
    links = comparison.binding.plan.fabric.links
    at_end = {end: at for port, at in cause_at.items() for end in (links[port].a, links[port].b)}
    under: dict[int, list[Finding]] = {}
    rest: list[Finding] = []
    for finding in findings:
        found = {at_end.get(cable.a.at) if cable.a.at else None for cable in finding.cables}
        at = found.pop() if finding.kind in LINK_KINDS and len(found) == 1 else None
        if at is None:
            rest.append(finding)
        else:
            under.setdefault(at, []).append(finding)
    return under, rest


def kinds(explanation: Explanation) -> Iterator[tuple[str, int, int]]:
    """(kind, causes, links) for metrics, the kinds that occur, in their own order."""
    number: Counter[str] = Counter()
    links: Counter[str] = Counter()
    for cause in explanation.causes:
        number[str(cause.kind)] += 1
        links[str(cause.kind)] += cause.links
    for kind in sorted(number):
        yield kind, number[kind], links[kind]


def _links(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
