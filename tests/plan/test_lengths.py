from __future__ import annotations

import pytest

from fabricctl.fabric import Place
from fabricctl.plan.lengths import RackSpot, estimate_m

RACKS = {"A01": RackSpot("A", 1, 42), "A05": RackSpot("A", 5, 42), "B01": RackSpot("B", 1, 42)}


@pytest.mark.parametrize(
    ("a", "b", "metres"),
    [
        # by hand: 20 units of 44.45 mm are 0.889 m, and a metre of slack: 1.889, rounded up to 2.0
        (Place("A01", "U10"), Place("A01", "U30"), 2.0),
        # 12 units up twice = 1.067 m, two half metres to the tray, four racks of 0.6 m, slack: 5.467 -> 5.5
        (Place("A01", "30"), Place("A05", "30"), 5.5),
        (Place("A01", "30"), Place("B01", "30"), None),
        (Place("A01", "30"), Place("Z99", "30"), None),
        (Place("A01", "rear"), Place("A05", "30"), None),
    ],
)
def test_a_cable_length_is_estimated_from_rack_places(a: Place, b: Place, metres: float | None) -> None:
    assert estimate_m(a, b, RACKS) == metres
    assert estimate_m(b, a, RACKS) == metres
