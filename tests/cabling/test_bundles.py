from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fabricctl.cabling.bundles import BundleGap, find_gaps
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verify import verify
from fabricctl.discovery.recognise import parse_any
from fabricctl.fabric import Fabric, Port, PortState
from fabricctl.plan.checks import infer_tiers
from tests.cabling.fabrics import Cable, fabric, seen, two_tier
from tests.conftest import read_capture


def gaps(cables: list[Cable]) -> list[BundleGap]:
    return find_gaps(fabric(cables, by_guid=False), {})


def bundle(ports: list[int], *, at: int = 0) -> list[Cable]:
    """Cables from these ports of sw1 to sw2's, ``at`` higher."""
    return [("sw1", n, "sw2", n + at) for n in ports]


def but(*gone: int, last: int = 14) -> list[int]:
    return [n for n in range(1, last + 1) if n not in gone]


def test_the_only_bundle_of_a_fabric_has_a_gap_where_a_port_inside_it_is_down() -> None:
    assert gaps(bundle(but(7))) == [BundleGap("sw1", "sw2", 13, 14, (7,), (7,), hole=True)]


def test_without_a_plan_the_gap_is_a_finding() -> None:
    verdict = verify(None, seen(bundle(but(7))))
    assert [finding.kind for finding in verdict.findings] == [FindingKind.BUNDLE_GAP]
    assert "13 of 14" in verdict.findings[0].headline
    assert verdict.exit_code == 1


def test_a_whole_bundle_has_no_gap_though_the_ports_beside_it_are_empty() -> None:
    assert gaps(bundle(but())) == []
    assert gaps(bundle(list(range(20, 34)), at=-10)) == []


def test_two_neighbouring_ports_that_are_down_are_one_gap_of_two_cables() -> None:
    assert gaps(bundle(but(7, 8))) == [BundleGap("sw1", "sw2", 12, 14, (7, 8), (7, 8), hole=True)]


def test_a_hole_at_one_end_and_a_port_beside_the_run_at_the_other_is_a_gap() -> None:
    # sw1 counts up while sw2 has its lost cable at the end of the run: ports 1 to 13 are up, 14 is down
    cables: list[Cable] = [("sw1", n, "sw2", m) for m, n in enumerate(but(7), start=1)]
    assert gaps(cables) == [BundleGap("sw1", "sw2", 13, 14, (7,), (14,), hole=True)]


def test_a_hole_whose_other_end_has_no_port_down_nearby_is_an_unused_port() -> None:
    # sw2's run is 11 to 23, its neighbours 10 and 24 carry other cables
    cables: list[Cable] = [("sw1", n, "sw2", m) for m, n in enumerate(but(7), start=11)]
    cables += [("sw2", 10, "sw3", 1), ("sw2", 24, "sw4", 1)]
    assert gaps(cables) == []


def test_a_hole_that_carries_another_cable_is_no_gap() -> None:
    assert gaps([*bundle(but(7)), ("sw1", 7, "sw3", 1), ("sw2", 7, "sw3", 2)]) == []


def test_a_port_of_unknown_state_is_no_hole() -> None:
    made = fabric(bundle(but(7)), by_guid=False)
    made.states[Port("sw1", 7)] = PortState.UNKNOWN
    assert [gap.down_a for gap in find_gaps(made, {})] == [(15,)]  # sw2/7 is down, sw1/15 beside the run too
    made.states[Port("sw2", 7)] = PortState.UNKNOWN
    assert find_gaps(made, {}) == []


def test_a_disabled_port_is_a_hole_too() -> None:
    made = fabric(bundle(but(7)), by_guid=False)
    made.states[Port("sw1", 7)] = made.states[Port("sw2", 7)] = PortState.DISABLED
    assert [gap.down_a for gap in find_gaps(made, {})] == [(7,)]


@pytest.mark.parametrize("ports", [[1, 3, 5, 7], [1, 3], [2, 5, 8, 11], [1, 2, 31, 32], [1, 20]])
def test_switches_cabled_in_steps_on_purpose_have_no_gaps(ports: list[int]) -> None:
    assert gaps(bundle(ports)) == []


def test_a_small_bundle_has_a_gap_on_a_switch_whose_others_run_on() -> None:
    # sw1 has three cables each to sw2 and sw4, and two to sw3 with the one between them down
    cables: list[Cable] = [("sw1", n, "sw2", n) for n in (1, 2, 3)]
    cables += [("sw1", 4, "sw3", 1), ("sw1", 6, "sw3", 3)]
    cables += [("sw1", n, "sw4", n) for n in (7, 8, 9)]
    assert gaps(cables) == [BundleGap("sw1", "sw3", 2, 3, (5,), (2,), hole=True)]


def test_a_bundle_smaller_than_its_like_has_a_gap_at_its_edge() -> None:
    cables = two_tier(leaves=4, spines=4, width=4)
    lost = ("leaf1", 24, "spine1", 4)  # the last of ports 21 to 24, and of spine1's ports 1 to 4
    assert lost in cables
    assert gaps([c for c in cables if c != lost]) == [
        BundleGap("leaf1", "spine1", 3, 4, (20, 24), (4,))  # leaf1/20 lies beside the run and is empty too
    ]


def test_a_bundle_smaller_than_its_like_names_the_hole_and_not_the_ports_beside_it() -> None:
    cables = two_tier(leaves=2, spines=2, width=4)
    lost = ("leaf1", 22, "spine1", 2)
    # leaf1/20 and spine1/9 are empty too, but lie outside the run
    assert gaps([c for c in cables if c != lost]) == [BundleGap("leaf1", "spine1", 3, 4, (22,), (2,))]


def captured(path: Path) -> Fabric:
    return parse_any(read_capture(path), path.name).fabric


def captured_gaps(path: Path) -> set[frozenset[str]]:
    made = captured(path)
    return {
        frozenset((made.nodes[gap.a].name, made.nodes[gap.b].name))
        for gap in find_gaps(made, infer_tiers(made))
    }


def test_the_production_fabric_has_a_gap_for_each_of_its_missing_leaf_spine_cables(captures: Path) -> None:
    # two cables join a leaf and a spine there; one joins a spine and a core, and is no bundle
    path = captures / "ibnetdiscover/ufm_selene.compute.txt.gz"
    made = captured(path)
    up = {frozenset((made.nodes[p.node].name, p.number) for p in (c.a, c.b)) for c in made.each_link()}
    missing: dict[bool, list[frozenset[str]]] = {True: [], False: []}
    with (captures / "selene/selene_switch_cabling.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            a, z = row["a_device"], row["z_device"]
            if frozenset(((a, int(row["a_port"])), (z, int(row["z_port"])))) not in up:
                missing["LG" in a].append(frozenset((a, z)))
    assert (len(missing[True]), len(missing[False])) == (13, 16)
    assert sorted(map(sorted, captured_gaps(path))) == sorted(map(sorted, missing[True]))


@pytest.mark.parametrize(
    "name",
    [
        "ibsim/imbue/ibnetdiscover.txt.gz",
        "ibsim/imbue-islands/fabric.net.gz",
        "ibsim/medium/ibnetdiscover.txt.gz",
        "ibsim/small2/ibnetdiscover.txt",
        "ibsim/small3/ibnetdiscover.txt",
        "ibsim/uni.net.gz",
        "ibnetdiscover/superbench_topo_aware.txt",
        "ibnetdiscover/treydock_p_test.out",
        "ibnetdiscover/ufm_small_topo_file",
    ],
)
def test_a_healthy_fabric_has_no_gap(captures: Path, name: str) -> None:
    assert captured_gaps(captures / name) == set()
