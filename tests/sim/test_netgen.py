"""The generated fabrics have the published counts, and an injected fault is exactly what its truth says."""

from __future__ import annotations

import csv
import gzip
import io
import json
import random
import re

import networkx as nx
import pytest

from tests.sim.cabling_csv import cabling_csv
from tests.sim.demo_data import FOLDER
from tests.sim.faults import KINDS, inject
from tests.sim.netgen import SHAPES, Net, Wiring, build, discovery_lines, main
from tests.sim.systematic import SYSTEMATIC


def labels(net: Net) -> set[tuple[str, str]]:
    return {(net.label(a), net.label(b)) for a, b in net.each()}


def islands(net: Net) -> list[int]:
    """Switches per connected component, hosts left out."""
    graph: nx.Graph[str] = nx.Graph()
    graph.add_nodes_from(node for node, box in net.boxes.items() if box.is_switch)
    graph.add_edges_from((a.node, b.node) for a, b in net.each() if net.boxes[a.node].is_switch)
    return sorted(len(component) for component in nx.connected_components(graph))


def test_the_hall_has_320_switches_511_hosts_and_12282_cables() -> None:
    net = build(SHAPES["hall"])
    assert net.counts() == (320, 511 * 8 + 2, 12_282)
    assert islands(net) == [320]


def test_the_full_hall_has_the_published_4096_cables_per_tier() -> None:
    net = build(SHAPES["hall-full"])
    tiers = [net.boxes[a.node].tier for a, _ in net.each()]
    assert [tiers.count(tier) for tier in (0, 1, 2)] == [4096, 4096, 4096]


def test_eight_planes_keep_every_degree_and_fall_into_eight_islands() -> None:
    net, unified = build(SHAPES["hall"], Wiring.PLANES), build(SHAPES["hall"])
    assert islands(net) == [40] * 8
    assert net.counts() == unified.counts()
    assert set(net.cables) == set(unified.cables)


def test_the_campus_has_8000_switches_and_307200_cables() -> None:
    assert build(SHAPES["campus"]).counts() == (8_000, 102_400, 307_200)


@pytest.mark.parametrize("kind", KINDS)
def test_a_fault_changes_exactly_the_cables_its_truth_names(kind: str) -> None:
    net = build(SHAPES["medium"])
    before = labels(net)
    (fault,) = inject(net, [kind], random.Random(7))
    gone = set() if fault.rate else set(fault.planned)
    assert before - labels(net) == gone
    assert labels(net) - before == set(fault.actual)
    assert len(net.rates) == (2 if fault.rate else 0)


@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("help", "unknown fault 'help'; expected one of swap, host-swap, "),
        ("swap:many", "fault 'swap:many': expected a number after the colon, found 'many'"),
    ],
)
def test_a_fault_that_does_not_exist_is_one_line_that_says_which_do(
    capsys: pytest.CaptureFixture[str], word: str, said: str
) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["small2", "--fault", word])
    err = capsys.readouterr().err
    assert caught.value.code == 2
    assert said in err.splitlines()[-1]
    if word == "help":
        assert all(kind in err for kind in (*KINDS, *SYSTEMATIC))


def test_faults_never_share_a_cable() -> None:
    net = build(SHAPES["medium"])
    faults = inject(net, [f"{kind}:2" for kind in KINDS], random.Random(3))
    planned = [cable for fault in faults for cable in fault.planned]
    assert len(planned) == len(set(planned))


def test_the_cabling_list_names_every_cable_once_with_rack_and_length() -> None:
    net = build(SHAPES["small3"])
    rows = list(csv.DictReader(io.StringIO(cabling_csv(net))))
    assert len({(row["a_device"], row["a_port"]) for row in rows}) == len(rows) == net.counts()[2]
    assert all(re.fullmatch(r"[A-Z]+\d\d", row["a_rack"]) and int(row["length_m"]) > 0 for row in rows)


def test_no_two_devices_stand_in_one_rack_unit() -> None:
    taken: dict[tuple[str, str], str] = {}
    for row in csv.DictReader(io.StringIO(cabling_csv(build(SHAPES["hall"])))):
        for end in ("a", "z"):
            device = taken.setdefault((row[f"{end}_rack"], row[f"{end}_u"]), row[f"{end}_device"])
            assert device == row[f"{end}_device"]
    assert len(taken) == 320 + 511 + 2


def test_the_demo_discovery_shows_the_plan_less_the_faults_of_its_truth() -> None:
    """Counted on the text itself: each cable stands on two lines."""
    text = gzip.decompress((FOLDER / "ibnetdiscover-faulty.txt.gz").read_bytes()).decode()
    truth = json.loads((FOLDER / "truth.json").read_text("utf-8"))
    lost = sum(len(fault["planned"]) for fault in truth if "actual" not in fault and "rate" not in fault)
    assert (len(truth), lost) == (23, 5 + 64 + 64 + 4)
    assert len(re.findall(r"(?m)^\[", text)) == 2 * (12_282 - lost)
    assert len(re.findall(r"(?m) (?:1xHDR|4xEDR)$", text)) == 2 * 6


def test_a_generated_text_lists_each_cable_from_both_ends() -> None:
    net = build(SHAPES["small2"])
    text = "".join(discovery_lines(net))
    assert len(re.findall(r"(?m)^\[", text)) == 2 * net.counts()[2]
