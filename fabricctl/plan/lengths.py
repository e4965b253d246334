"""Cable lengths estimated from where racks stand, for plans that state none.

A cable climbs from its device to the tray above the racks, runs along the row and comes down again; inside a rack it
only spans the units between. Rack pitch 0.6 m (the usual 600 mm rack), rack unit 44.45 mm (EIA-310), one metre of
slack for the two service loops. Between rows nothing is estimated: the site file does not say how far they are apart.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import NamedTuple

from fabricctl.fabric import Place
from fabricctl.plan.model import Plan

RACK_PITCH_M = 0.6
UNIT_M = 0.04445
SLACK_M = 1.0
TRAY_M = 0.5
"""From the top of a rack to the tray."""

_UNIT = re.compile(r"[Uu]?\s*([0-9]{1,4})\Z")


class RackSpot(NamedTuple):
    """Where a rack stands. :param position: running number in its row; :param units: its height."""

    row: str
    position: int
    units: int


def estimate_m(a: Place, b: Place, racks: Mapping[str, RackSpot]) -> float | None:
    """Length in metres of a cable between two places, rounded up to half a metre; None when it cannot be told."""
    spot_a, spot_b = racks.get(a.rack), racks.get(b.rack)
    unit_a, unit_b = _unit(a), _unit(b)
    if spot_a is None or spot_b is None or unit_a is None or unit_b is None:
        return None
    if a.rack == b.rack:
        length = abs(unit_a - unit_b) * UNIT_M
    elif spot_a.row == spot_b.row:
        up = (max(0, spot_a.units - unit_a) + max(0, spot_b.units - unit_b)) * UNIT_M + 2 * TRAY_M
        length = up + abs(spot_a.position - spot_b.position) * RACK_PITCH_M
    else:
        return None
    return math.ceil(2 * (length + SLACK_M)) / 2


def estimated_lengths(plan: Plan, racks: Mapping[str, RackSpot]) -> tuple[dict[float, int], int]:
    """Length in metres -> cables, shortest first, and how many cables without a stated length cannot be estimated."""
    lengths: dict[float, int] = {}
    unknown = 0
    nodes = plan.fabric.nodes
    for link in plan.fabric.each_link():
        if link.detail is not None and link.detail.length_m is not None:
            continue
        a, b = nodes[link.a.node].place, nodes[link.b.node].place
        length = estimate_m(a, b, racks) if a and b else None
        if length is None:
            unknown += 1
        else:
            lengths[length] = lengths.get(length, 0) + 1
    return dict(sorted(lengths.items())), unknown


def _unit(place: Place) -> int | None:
    match = _UNIT.match(place.unit)
    return int(match[1]) if match else None
