"""Links that are too slow or too narrow, with and without a planned rate."""

from __future__ import annotations

from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import VerdictWord, verify
from fabricctl.discovery.model import Observation
from fabricctl.fabric import LinkDetail, Port
from fabricctl.rates import Rate
from tests.cabling.fabrics import Cable, classes, guid, plan, seen, two_tier

EDR = Rate(4, "EDR")


def test_a_slower_link_than_planned_is_degraded() -> None:
    cables = two_tier()
    observation = seen(cables)
    links = observation.fabric.links
    port = Port(guid("leaf1"), 21)
    slow = links[port]._replace(rate=EDR)
    links[slow.a] = links[slow.b] = slow
    verdict = verify(plan(cables), observation)
    assert classes(verdict) == {"ok": 15, "degraded": 1}
    finding = verdict.findings[0]
    assert (finding.kind, finding.expected, finding.found) == (FindingKind.DEGRADED, "4xHDR", "4xEDR")


def test_without_planned_rates_the_odd_one_out_is_degraded() -> None:
    cables = two_tier(hosts=12, leaves=2)
    observation = seen(cables)
    port = Port(guid("gpu5 mlx5_0"), 1)
    slow = observation.fabric.links[port]._replace(rate=EDR)
    observation.fabric.links[slow.a] = observation.fabric.links[slow.b] = slow
    verdict = verify(plan(cables, rate=None), observation)
    assert classes(verdict)["degraded"] == 1
    assert (
        "as 23 of 24 links like it"
        in next(f for f in verdict.findings if f.kind is FindingKind.DEGRADED).expected
    )


def test_a_whole_device_class_at_a_lower_speed_is_no_fault_without_a_planned_rate() -> None:
    cables = two_tier(hosts=12, leaves=2)
    observation = seen(cables)
    for cable in cables:
        if cable[0].startswith("gpu"):
            slow = observation.fabric.links[Port(guid(cable[0]), 1)]._replace(rate=EDR)
            observation.fabric.links[slow.a] = observation.fabric.links[slow.b] = slow
    assert verify(plan(cables, rate=None), observation).word is VerdictWord.OK


def test_a_planned_rate_the_source_does_not_tell_is_a_doubt() -> None:
    cables = two_tier()
    verdict = verify(plan(cables), seen(cables, rate=None))
    assert verdict.exit_code == 3
    assert "does not tell the rate of 16 cables" in verdict.doubts[0]


def could_be(cables: list[Cable], rates: list[tuple[Rate, Rate | None]]) -> Observation:
    observation = seen(cables)
    for link, (rate, best) in zip(list(observation.fabric.each_link()), rates, strict=True):
        changed = link._replace(rate=rate, detail=LinkDetail(best) if best else None)
        observation.fabric.links[link.a] = observation.fabric.links[link.b] = changed
    return observation


def test_links_slower_than_both_ends_support_are_findings_without_a_plan() -> None:
    cables: list[Cable] = [("sw1", n, "sw2", n) for n in range(1, 9)]
    verdict = verify(None, could_be(cables, [(EDR, Rate(4, "HDR"))] * 5 + [(Rate(4, "HDR"), None)] * 3))
    assert [f.kind for f in verdict.findings] == [FindingKind.DEGRADED] * 5
    one = verify(None, could_be([("sw1", 1, "sw2", 1)], [(Rate(1, "HDR"), Rate(4, "HDR"))]))
    assert [f.kind for f in one.findings] == [FindingKind.DEGRADED]
    assert one.findings[0].headline.endswith("narrower than both ends support")


def test_a_capability_that_all_links_share_unused_is_a_note() -> None:
    # ibsim shows "Could be 12X" on every link
    cables: list[Cable] = [("sw1", n, "sw2", n) for n in range(1, 13)]
    verdict = verify(None, could_be(cables, [(Rate(4, "HDR"), Rate(12, "HDR"))] * 12))
    assert (verdict.exit_code, verdict.findings) == (0, [])
    assert any("12 links could be wider or faster" in note for note in verdict.notes)
