"""The terminal screen of ``fabricctl plan show``."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from fabricctl.hostset import fold
from fabricctl.plan.checks import PlanFinding, PlanSeverity
from fabricctl.plan.summary import PlanSummary, tier_name
from fabricctl.report.lines import BAD, BOLD, DIM, DOUBT, PLAIN, Line

_LABEL = 14
_WIDTH = 100
_BAR = 40
_BINS = 8


def render(
    summary: PlanSummary,
    findings: Sequence[PlanFinding],
    estimated: tuple[Mapping[float, int], int] | None = None,
) -> list[Line]:
    """Counts per tier, oversubscription, rails, islands, cable lengths, findings.

    :param estimated: what ``estimated_lengths`` gives, where racks are known.
    """
    lines: list[Line] = [
        (
            (summary.path or "plan", BOLD),
            (f"  {summary.format} plan, {_number(summary.links, 'cables')}", PLAIN),
        )
    ]
    lines += [(), *_tiers(summary), ()]
    for low, high, number in summary_links(summary):
        lines += _row("cables" if len(lines) and lines[-1] == () else "", f"{number:>9,}  {low} - {high}")
    for index, load in enumerate(summary.loads[:4]):
        ratio = "no uplink" if load.ratio is None else f"{load.ratio:.2f}".rstrip("0").rstrip(".") + " : 1"
        names = fold(load.leaves)
        names = names if len(names) <= 60 else f"{names[:56]} ..."
        text = f"{ratio}, {load.down} down and {load.up} up, on {len(load.leaves):,} leaves: {names}"
        lines += _row("oversubscribed" if index == 0 else "", text)
    if len(summary.loads) > 4:
        lines += _row("", f"and {len(summary.loads) - 4} other kinds of leaf")
    lines += _islands(summary)
    if summary.rails:
        by_size: dict[int, list[str]] = {}
        for rail, number in summary.rails.items():
            by_size.setdefault(number, []).append(f"rail {rail}")
        each = ", ".join(f"{fold(rails)} with {number:,} HCAs each" for number, rails in by_size.items())
        lines += _row("rails", f"{len(summary.rails)}: {each}")
    if summary.units:
        sizes = fold(str(n) for n in sorted(set(summary.units.values())))
        lines += _row("units", f"{len(summary.units)} scalable units of {sizes.strip('[]')} hosts")
    rates = {name or "not stated": number for name, number in summary.rates.items()}
    lines += _row("rates", _counted(rates, "cables"))
    if summary.classes:
        lines += _row("link classes", _counted(summary.classes, "cables"))
    if summary.reserved:
        lines += _row("reserved", _counted(summary.reserved, "ports"))
    lines += _lengths(summary)
    if estimated is not None and estimated[0]:
        lengths, unknown = estimated
        rest = f"; {unknown:,} between rows not estimated" if unknown else ""
        lines += _row(
            "estimated", f"{_kilometres(lengths)} of cable from rack places (trays, slack included){rest}"
        )
        lines += _bars(lengths)
    for index, note in enumerate(summary.notes):
        lines += _row("note" if index == 0 else "", note, DIM)
    styles = {PlanSeverity.ERROR: BAD, PlanSeverity.WARNING: DOUBT, PlanSeverity.NOTE: DIM}
    for finding in findings:
        lines += _row(finding.severity.value, finding.text, styles[finding.severity])
    return lines


def summary_links(summary: PlanSummary) -> Iterator[tuple[str, str, int]]:
    """Cables per pair of tiers with the tiers' words."""
    for pair in summary.tier_links:
        yield tier_name(pair.low), tier_name(pair.high), pair.links


def _tiers(summary: PlanSummary) -> Iterator[Line]:
    yield ((f"{'':<{_LABEL}}{'nodes':>9}{'ports':>10}{'cabled':>10}", DIM),)
    for tier in reversed(summary.tiers):
        ports = f"{tier.ports:,}" if tier.ports else "?"
        yield ((f"{tier_name(tier.tier):<{_LABEL}}{tier.nodes:>9,}{ports:>10}{tier.used:>10,}", PLAIN),)
    if summary.hosts:
        yield ((f"{'hosts':<{_LABEL}}{summary.hosts:>9,}", PLAIN),)


def _islands(summary: PlanSummary) -> Iterator[Line]:
    shown = [f"{island.switches:,} switches and {island.hcas:,} HCAs" for island in summary.islands[:8]]
    more = f"; and {len(summary.islands) - 8} more" if len(summary.islands) > 8 else ""
    text = f"{len(summary.islands)}: {'; '.join(shown)}{more}"
    yield from _row("islands", text, PLAIN if len(summary.islands) <= 1 else DOUBT)


def _lengths(summary: PlanSummary) -> Iterator[Line]:
    racks = summary.same_rack + summary.other_rack
    if racks:
        yield from _row(
            "racks", f"{summary.same_rack:,} cables within a rack, {summary.other_rack:,} between racks"
        )
    if not summary.lengths_m:
        return
    missing = f", {summary.unmeasured:,} without a length" if summary.unmeasured else ""
    yield from _row("lengths", f"{_kilometres(summary.lengths_m)} of cable{missing}")
    yield from _bars(summary.lengths_m)


def _kilometres(lengths: Mapping[float, int]) -> str:
    return f"{sum(number * length for length, number in lengths.items()) / 1000:,.1f} km"


def _bars(lengths: Mapping[float, int]) -> Iterator[Line]:
    """A histogram: one line per length, or per range of lengths."""
    binned = _binned(lengths)
    top = max(number for _, number in binned)
    for text, number in binned:
        bar = "#" * max(1, round(_BAR * number / top))
        yield ((f"{'':<{_LABEL}}{text:>12}  {number:>7,}  ", PLAIN), (bar, DIM))


def _binned(lengths: Mapping[float, int]) -> list[tuple[str, int]]:
    """Every length when there are few, else ranges of equal width."""
    if len(lengths) <= _BINS:
        return [(f"{length:g} m", number) for length, number in lengths.items()]
    low, high = min(lengths), max(lengths)
    step = (high - low) / _BINS
    bins = [0] * _BINS
    for length, number in lengths.items():
        bins[min(_BINS - 1, int((length - low) / step))] += number
    return [
        (f"{low + i * step:.0f}-{low + (i + 1) * step:.0f} m", number)
        for i, number in enumerate(bins)
        if number
    ]


def _counted(counts: Mapping[str, int], what: str) -> str:
    shown = [f"{name} ({_number(number, what)})" for name, number in list(counts.items())[:8]]
    return ", ".join(shown) + (f" and {len(counts) - 8} more" if len(counts) > 8 else "")


def _number(number: int, what: str) -> str:
    """``1 cable``, ``12,282 cables``."""
    return f"{number:,} {what.removesuffix('s') if number == 1 else what}"


def _row(label: str, text: str, style: str = PLAIN) -> Iterator[Line]:
    parts = textwrap.wrap(text, _WIDTH - _LABEL, break_on_hyphens=False) or [""]
    for index, part in enumerate(parts):
        yield ((f"{label if index == 0 else '':<{_LABEL}} ", DIM), (part, style))
