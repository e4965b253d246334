"""Switches whose ports are all numbered otherwise than the plan has it.

Profile "split-ready" gives an unsplit port p the number 2p - 1 (mstflint, ``mlxlink_commander.cpp``); a plan that
counts cages means the port 2n - 1 or 2n by its n. Both look 100 % miscabled. Told by which ports carry cables, so
that it does not matter how the other end is numbered.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.profiles import SPLIT_COUNTS
from fabricctl.causes.candidate import MIN_FIT, MIN_LINKS, Candidate
from fabricctl.causes.layout import ALL, Layout
from fabricctl.causes.model import CauseKind
from fabricctl.causes.residual import Residual
from fabricctl.fabric import Port
from fabricctl.hostset import natural_key
from fabricctl.panels import Panel


def renumbered(
    comparison: Comparison, residual: Residual, layout: Layout, panels: Mapping[str, Panel | None]
) -> Iterator[Candidate]:
    """All switches in split-ready profile as one candidate, all whose plan counts cages as another."""
    found: dict[CauseKind, dict[Port, Port]] = {CauseKind.SPLIT_READY: {}, CauseKind.NUMBER_AS_CAGE: {}}
    devices: dict[CauseKind, list[str]] = {kind: [] for kind in found}
    suspects = Counter(end.node for number in residual.wrong for end in _ends(residual, number))
    for node, wrong in suspects.items():
        ports = [number for number, _ in layout.ports.get(node, ())]
        if not layout.is_switch(node) or wrong < max(MIN_LINKS - 1, MIN_FIT * (len(ports) - 1)):
            continue
        odd = [n for n in ports if residual.actual(Port(node, 2 * n - 1)) is not None]
        even = [n for n in ports if residual.actual(Port(node, 2 * n)) is not None]
        one = set(odd) ^ set(even)
        seen = comparison.seen.nodes.get(comparison.binding.seen_of.get(node, ""))
        total = seen.ports if seen is not None else 0
        if _split(total, max(ports), panels.get(node), max([2 * n - 1 for n in odd], default=0)):
            kind = CauseKind.SPLIT_READY
            fits = len(odd) >= MIN_FIT * len(ports) and len(even) <= 0.1 * len(ports)
            moves = {n: 2 * n - 1 for n in ports}
        else:
            kind = CauseKind.NUMBER_AS_CAGE
            fits = len(one) >= MIN_FIT * len(ports) and (not total or 2 * max(ports) <= total)
            moves = {n: 2 * n if n in one and n in even else 2 * n - 1 for n in ports}
        if fits:
            devices[kind].append(node)
            found[kind].update({Port(node, n): Port(node, to) for n, to in moves.items()})
    for kind, places in found.items():
        if places:
            names = tuple(sorted(devices[kind], key=natural_key))
            yield Candidate(kind, places, names, acts=1, side=ALL, size=len(places))


def _ends(residual: Residual, number: int) -> tuple[Port, Port]:
    cable = residual.cables[number]
    return cable.a, cable.b


def _split(total: int, planned: int, panel: Panel | None, used: int) -> bool:
    """More ports than the model has in its normal profile."""
    normal = len(panel.ports) if panel is not None else 0
    if normal:
        return max(total - 1, used) > normal
    return total in SPLIT_COUNTS or (not total and used > max(64, planned))
