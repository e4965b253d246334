"""Findings of --identify, --hca-slots and of kinds of cables are gone only when their own check looked there."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest

from fabricctl.cabling.binding import Names
from fabricctl.cabling.finding_id import Where
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import Observation
from fabricctl.fabric import LinkDetail
from fabricctl.history.looked import Looked
from fabricctl.history.model import Known
from fabricctl.history.record import known_of
from fabricctl.history.step import advance
from fabricctl.identity.model import RefusalKind
from fabricctl.workflows.verify_cabling import Intent, judge
from tests.cabling.fabrics import Cable, guid, plan, seen, two_tier
from tests.cabling.test_finding_id import CASES, SLOTS, faulty
from tests.identity.nets import net_of, observe, plan_of

GONE, NOT_LOOKED, STILL = "gone", "not looked", "still"
MEDIUM = observe(net_of("medium"))
LEAF, OTHER, FAR = "ibl-p01-r1", "ibl-p01-r2", "ibl-p05-r1"


def said(before: tuple[Intent, Observation], now: tuple[Intent, Observation]) -> dict[FindingKind, str]:
    """Kind of every finding of the first run -> what the second run says of it."""
    old = known_of(judge(*before).findings)
    verdict = judge(*now)
    step = advance(old, known_of(verdict.findings), Looked(verdict, now[1], now[0].options).at)
    words = {STILL: step.still, GONE: step.gone, NOT_LOOKED: step.not_looked}
    return {old[id].kind: word for word, ids in words.items() for id in ids}


# -- identity -----------------------------------------------------------------------------------------------------


def declares(*names: tuple[str, str], identify: bool = True, only: str = "") -> Intent:
    """The medium fabric. :param names: what a switch really is -> what the site declares."""
    declared = {MEDIUM.guid(real): name for real, name in names}
    return Intent(
        plan_of("medium"), Options(gate=1.0, names=Names(declared=declared), only=only), identify=identify
    )


WRONG = (declares((LEAF, OTHER)), MEDIUM.observation)


@pytest.mark.parametrize(
    ("now", "word"),
    [
        (declares((LEAF, LEAF)), GONE),
        (declares(), GONE),  # the declaration was taken back: votes say who is who
        (declares((LEAF, OTHER)), STILL),
        (declares((LEAF, LEAF), identify=False), NOT_LOOKED),
        (declares((LEAF, LEAF), only=LEAF), GONE),
        (declares((LEAF, LEAF), only=FAR), NOT_LOOKED),
    ],
)
def test_a_contradiction_is_gone_only_by_identify_that_looked_at_both_switches(
    now: Intent, word: str
) -> None:
    assert said(WRONG, (now, MEDIUM.observation))[FindingKind.IDENTITY] == word


def _away(*names: str) -> Observation:
    """The discovery while these switches are away."""
    net = net_of("medium")
    gone = {node for node, box in net.boxes.items() if box.name in names}
    for end in [end for end, far in net.cables.items() if {end.node, far.node} & gone]:
        del net.cables[end]
    return observe(net).observation


def test_a_contradiction_of_a_switch_that_is_away_is_not_gone() -> None:
    assert said(WRONG, (declares(), _away(LEAF)))[FindingKind.IDENTITY] == NOT_LOOKED


# -- a refusal ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", list(CASES))
def test_a_refused_discovery_closes_no_finding_of_any_kind(kind: FindingKind) -> None:
    wanted, found, options = faulty(kind)
    old = known_of(verify(wanted, found, options).findings)
    assert kind in {one.kind for one in old.values()}
    for refused in _refusals(options):
        step = advance(old, known_of(refused[0].verdict.findings), refused[0].at)
        assert step.gone == (), refused[1]


def _refusals(options: Options) -> Iterable[tuple[Looked, RefusalKind]]:
    """A fabric that is not the planned one, and one in which nobody is known by name."""
    nameless = observe(net_of("small3"))
    for key, node in list(nameless.observation.fabric.nodes.items()):
        nameless.observation.fabric.nodes[key] = replace(node, name=key, description="", host=None, hca=None)
    for wanted, found, kind in (
        ("medium", observe(net_of("small3")), RefusalKind.WRONG_FABRIC),
        ("small3", nameless, RefusalKind.NO_ANCHOR),
    ):
        plain = replace(options, only="", reserved={}, hca_slots=())
        intent = Intent(plan_of(wanted), plain, identify=True)
        verdict = judge(intent, found.observation)
        assert verdict.identification is not None
        assert verdict.identification.refusal is not None
        assert verdict.identification.refusal.kind is kind
        yield Looked(verdict, found.observation, replace(options, only="")), kind


# -- cards in slots -----------------------------------------------------------------------------------------------

ROWS = two_tier(hosts=8, leaves=4, spines=2, width=2)
RIGHT = [slot._replace(slot="31") for slot in SLOTS]


@pytest.mark.parametrize(
    ("slots", "word"),
    [
        (RIGHT, GONE),
        ([], NOT_LOOKED),
        ([slot for slot in RIGHT if slot.host not in ("gpu1", "gpu2")], NOT_LOOKED),  # nothing of these hosts
        ([slot._replace(slot="") for slot in RIGHT], NOT_LOOKED),  # an inventory that tells no slots
        (RIGHT[:2], NOT_LOOKED),  # too few to know what is usual
        ([s._replace(slot=("31", "39")[n % 2]) for n, s in enumerate(RIGHT)], NOT_LOOKED),  # no majority
    ],
)
def test_a_card_in_another_slot_is_gone_only_by_an_inventory_of_its_host(slots: list, word: str) -> None:  # type: ignore[type-arg]
    def of(inventory: list) -> tuple[Intent, Observation]:  # type: ignore[type-arg]
        return Intent(plan(ROWS), Options(gate=1.0, hca_slots=tuple(inventory))), seen(ROWS)

    assert said(of(SLOTS), of(slots))[FindingKind.CARD_SLOT] == word


# -- kinds of cables ----------------------------------------------------------------------------------------------

WANTED: list[Cable] = [
    *[(f"gpu{h} mlx5_0", 1, "leaf1", h + 10) for h in range(1, 7)],
    ("leaf1", 1, "spine1", 1),
    ("leaf1", 2, "spine2", 1),
    ("leaf2", 1, "spine1", 5),
]
TWIN = "MCP4Y10-N001"
"""A twin cable joins ports 1 and 2 of one cage with those of one other; the plan's two ways want none."""
PLUGGED = [*[row for row in WANTED if row[1] != 2], ("leaf1", 2, "spine1", 2)]


def _cables(cables: list[Cable], part: str = "", *, away: str = "") -> Observation:
    found = seen([cable for cable in cables if not away or away not in cable])
    for port, link in list(found.fabric.links.items()):
        names = {guid("leaf1"), guid("spine1"), guid("spine2")}
        if part and {link.a.node, link.b.node} <= names:
            found.fabric.links[port] = link._replace(detail=LinkDetail(part_number=part))
    return found


@pytest.mark.parametrize(
    ("now", "only", "word"),
    [
        (_cables(WANTED, "MFP7E10-N005"), "", GONE),
        (_cables(WANTED, "MFP7E10-N005"), "leaf1", GONE),
        (_cables(WANTED, "MFP7E10-N005"), "leaf2", NOT_LOOKED),
        (_cables(PLUGGED, TWIN), "", STILL),
        (_cables(PLUGGED), "", NOT_LOOKED),  # another tool, which tells no part numbers
        (_cables(WANTED, "MFP7E10-N005", away="leaf1"), "", NOT_LOOKED),
    ],
)
def test_a_cable_of_an_impossible_kind_is_gone_only_where_kinds_are_told(
    now: Observation, only: str, word: str
) -> None:
    def of(found: Observation, only: str = "") -> tuple[Intent, Observation]:
        return Intent(plan(WANTED), Options(gate=1.0, only=only)), found

    assert said(of(_cables(PLUGGED, TWIN)), of(now, only))[FindingKind.CABLE_TYPE] == word


@pytest.mark.parametrize(
    "spots", [("leaf1/1", "leaf1/2"), ("leaf1/1/2", "leaf1/2"), (f"{guid('leaf1')}/1/2",)]
)
def test_the_place_of_a_cable_kind_may_be_the_second_half_of_a_port(spots: tuple[str, ...]) -> None:
    found = _cables(WANTED, "MFP7E10-N005")
    intent = Intent(plan(WANTED), Options(gate=1.0))
    looked = Looked(judge(intent, found), found, intent.options)
    known = Known("F-1", FindingKind.CABLE_TYPE, "leaf1/1", "", where=Where(devices=spots))
    assert looked.at(known)
    assert not looked.at(replace(known, where=Where(devices=("leaf7/1/2",))))
