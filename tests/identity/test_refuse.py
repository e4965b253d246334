"""The rule of refusal: fewer than half of the planned switches that could be seen have a place with a margin."""

from __future__ import annotations

import pytest

from fabricctl.identity.evidence import Evidence, gather
from fabricctl.identity.model import Refusal, RefusalKind
from fabricctl.identity.network import build
from fabricctl.identity.refuse import refusal
from fabricctl.plan.checks import infer_tiers
from tests.identity.nets import dead, net_of, observe, plan_of


def judged(placed: int, *gone: str, known: bool = True) -> Refusal | None:
    """80 planned switches. :param placed: with a margin; :param gone: switches nobody sees."""
    seen = observe(net_of("medium", dead(*gone) if gone else lambda net: None)).observation.fabric
    anchors = gather(plan_of("medium"), seen, Evidence())
    network = build(anchors.plan, seen, anchors.hcas[0] if known else {})
    assert (len(network.places[: network.switches]), len(network.seen)) == (80, 80 - len(gone))
    return refusal(anchors, seen, network, placed, infer_tiers(anchors.plan.fabric))


GONE = (*(f"ibl-p0{p}-r{r}" for p in (1, 2) for r in (1, 2, 3)), "ibl-p03-r1")


@pytest.mark.parametrize(
    ("placed", "gone", "refused"),
    [
        (40, (), False),  # exactly one half
        (39, (), True),
        (80, (), False),
        (1, (), True),
        (0, (), True),
        # seven are not there: 36.5 of the 73 that could be seen
        (37, GONE, False),
        (36, GONE, True),
        # 78 could be seen: 39 are one half again
        (39, GONE[:2], False),
        (38, GONE[:2], True),
    ],
)
def test_refused_below_one_half_of_what_could_be_seen(
    placed: int, gone: tuple[str, ...], refused: bool
) -> None:
    found = judged(placed, *gone)
    assert (found is not None) == refused
    if found is not None:
        assert found.kind is RefusalKind.WRONG_FABRIC
        share = f"{placed} of {80 - len(gone)} switches that could be seen get a place by votes"
        assert found.evidence[0] == f"this is not the planned fabric: {share}"


def test_with_nobody_known_no_number_of_places_counts() -> None:
    found = judged(80, known=False)
    assert found is not None
    assert found.kind is RefusalKind.NO_ANCHOR
