"""Who is who: names, domains, HCA words."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fabricctl.cabling.binding import Names, by_node
from fabricctl.cabling.model import FindingKind
from fabricctl.cabling.verdict import Options
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import Observation
from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.models import NodeModel
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.rates import Rate
from tests.cabling.fabrics import Cable, classes, guid, plan, seen, two_tier

HDR = Rate(4, "HDR")


def rails(
    words: list[str], hosts: int = 4, crossed: tuple[int, ...] = (), without: tuple[str, ...] = ()
) -> list[Cable]:
    """Host h's n-th word in port h of leaf n; on crossed hosts the first two are exchanged."""
    cables: list[Cable] = []
    for host in range(1, hosts + 1):
        order = [words[1], words[0], *words[2:]] if host in crossed else words
        cables += [(f"g{host} {w}", 1, f"leaf{n}", host) for n, w in enumerate(order, 1) if w not in without]
    return cables


DGX = ["mlx5_0", "mlx5_3", "mlx5_4", "mlx5_9"]
PLAIN = ["mlx5_0", "mlx5_1", "mlx5_2", "mlx5_3"]


@pytest.mark.parametrize("cards", [PLAIN, DGX])
@pytest.mark.parametrize(
    "words",
    [
        ["HCA-1", "HCA-2", "HCA-3", "HCA-4"],
        ["1", "2", "3", "4"],
        ["hca0", "hca1", "hca2", "hca3"],
        ["ib0", "ib1", "ib2", "ib3"],
        ["ibp11s0f0", "ibp21s0f0", "ibp75s0f0", "ibp117s0f0"],
    ],
)
def test_other_words_for_the_same_cards_are_no_fault_and_a_crossed_host_stays_visible(
    words: list[str], cards: list[str]
) -> None:
    planned = plan(rails(words))
    assert classes(verify(planned, seen(rails(cards)))) == {"ok": 16}
    assert classes(verify(planned, seen(rails(cards, crossed=(2,))))) == {"ok": 14, "swapped": 2}
    one_dead = [cable for cable in rails(cards) if cable[0] != f"g3 {cards[3]}"]
    assert classes(verify(planned, seen(one_dead))) == {"ok": 15, "missing": 1}


def test_a_dead_rail_leaf_takes_one_card_of_every_host() -> None:
    # no host is whole, so neither the literal words nor the order can be tried: the ports the cards are in tell
    alive = [cable for cable in rails(DGX) if cable[2] != "leaf4"]
    alive.append(("leaf4", 60, "leaf1", 60))  # the leaf itself is seen, its host ports are down
    verdict = verify(plan(rails(["1", "2", "3", "4"])), seen(alive))
    assert classes(verdict) == {"ok": 12, "missing": 4}


def test_the_hosts_model_outranks_the_literal_word() -> None:
    model = NodeModel("dgx", ("mlx5_3", "mlx5_0"))
    cables: list[Cable] = [("g1 mlx5_3", 1, "leaf1", 1), ("g1 mlx5_0", 1, "leaf1", 2)]
    options = Options(names=Names(node_model={"g1": model}))
    assert classes(
        verify(plan([("g1 1", 1, "leaf1", 1), ("g1 2", 1, "leaf1", 2)]), seen(cables), options)
    ) == {"ok": 2}


def unknown_host(host: str, ports: int) -> Plan:
    """A plan that only says ``host, port n`` and not what the host is."""
    fabric = Fabric(
        {n: Node(n, NodeKind.UNKNOWN if n == host else NodeKind.SWITCH, n) for n in (host, "leaf1")}
    )
    for n in range(1, ports + 1):
        fabric.connect(Link(Port(host, n), Port("leaf1", n), HDR))
    return Plan(fabric, PlanFormat.CSV)


@pytest.mark.parametrize("shown", ["gpu1", "gpu1.dc.example.net", "GPU1"])
def test_running_host_ports_meet_hcas_whatever_the_host_is_spelled_like(shown: str) -> None:
    cables: list[Cable] = [(f"{shown} mlx5_0", 1, "leaf1", 1), (f"{shown} mlx5_1", 1, "leaf1", 2)]
    assert classes(verify(unknown_host("gpu1", 2), seen(cables))) == {"ok": 2}


def test_running_host_ports_meet_hcas_named_by_a_map() -> None:
    observation = seen([("x1 mlx5_0", 1, "leaf1", 1), ("x2 mlx5_1", 1, "leaf1", 2)])
    names = Names(mapped={guid("x1 mlx5_0"): "gpu1 mlx5_0", guid("x2 mlx5_1"): "gpu1 mlx5_1"})
    assert classes(verify(unknown_host("gpu1", 2), observation, Options(names=names))) == {"ok": 2}


def test_a_card_with_two_ports_is_one_card() -> None:
    observation: Observation = seen([("n1 HCA-1", 1, "leaf1", 1), ("n1 HCA-1", 2, "leaf1", 2)])
    card = observation.fabric.nodes[guid("n1 HCA-1")]
    fields = {name: getattr(card, name) for name in card.__slots__}
    observation.fabric.nodes[card.key] = Node(**{**fields, "ports": 2})
    assert classes(verify(unknown_host("n1", 2), observation)) == {"ok": 2}


def test_an_exact_name_is_never_taken_by_a_longer_one() -> None:
    for order in (("leaf1.dc.x", "leaf1"), ("leaf1", "leaf1.dc.x")):
        planned = plan([(name, 1, "spine1", n) for n, name in enumerate(order, 1)])
        port = 1 + order.index("leaf1")
        assert classes(verify(planned, seen([("leaf1", 1, "spine1", port)]))) == {"ok": 1, "missing": 1}


def test_another_domain_is_another_host() -> None:
    verdict = verify(
        plan([("gpu1.b.example mlx5_0", 1, "leaf1", 1)]), seen([("gpu1.a.example mlx5_0", 1, "leaf1", 1)])
    )
    assert verdict.counts.ok == 0


def test_two_domains_of_one_short_name_are_not_guessed_in_any_order() -> None:
    found: list[Cable] = [("gpu1.a mlx5_0", 1, "leaf1", 1), ("gpu1.b mlx5_0", 1, "leaf1", 2)]
    for cables in (found, found[::-1]):
        verdict = verify(plan([("gpu1 HCA-1", 1, "leaf1", 1)]), seen(cables))
        assert FindingKind.DUPLICATE_NAME in [finding.kind for finding in verdict.findings]
        assert classes(verdict) == {"not_judged": 1}


def test_maintenance_of_a_short_name_does_not_excuse_another_domain() -> None:
    planned = plan(
        [("n1 mlx5_0", 1, "leaf1", 1), ("n1.r2 mlx5_0", 1, "leaf1", 2), ("n3 mlx5_0", 1, "leaf1", 3)]
    )
    verdict = verify(planned, seen([("n3 mlx5_0", 1, "leaf1", 3)]), Options(expected_absent={"n1": "repair"}))
    assert (verdict.counts.excused, verdict.counts.missing) == (1, 1)


def test_a_switch_under_anothers_name_leaves_both_undecided() -> None:
    cables: list[Cable] = [("leaf1", 1, "spine1", 1), ("leaf2", 1, "spine1", 2)]
    observation = seen(cables)
    node = observation.fabric.nodes[guid("leaf2")]
    fields = {name: getattr(node, name) for name in node.__slots__}
    observation.fabric.nodes[node.key] = Node(**{**fields, "name": "leaf1", "description": "leaf1"})
    verdict = verify(plan(cables), observation)
    assert classes(verdict) == {"not_judged": 2}


def test_a_renamed_host_is_not_sent_to_the_port_it_is_in() -> None:
    verdict = verify(plan([("gpu5 mlx5_0", 1, "leaf1", 5)]), seen([("localhost mlx5_0", 1, "leaf1", 5)]))
    fix = next(f for f in verdict.findings if f.kind is FindingKind.MISWIRED).fix
    assert fix.startswith(
        "if localhost mlx5_0 is gpu5 mlx5_0 under another name, correct its node description"
    )


def with_port_guids(observation: Observation) -> dict[str, str]:
    """Give every HCA a port GUID and take its name; port GUID -> the name it had."""
    nodes, names = observation.fabric.nodes, {}
    for key, node in list(nodes.items()):
        if node.kind is NodeKind.HCA:
            port = f"0x{int(key, 16) ^ 7:016x}"
            names[port] = node.name
            nodes[key] = replace(node, name=key, host=None, hca=None, description="", port_guids=((1, port),))
    return names


@pytest.mark.parametrize("source", ["declared", "mapped"])
def test_a_port_guid_names_its_node_as_the_nodes_own_does(source: str) -> None:
    cables = two_tier()
    observation = seen(cables)
    names = with_port_guids(observation)
    verdict = verify(plan(cables), observation, Options(names=Names(**{source: names})))
    assert (verdict.word.value, classes(verdict)) == ("ok", {"ok": len(cables)})


def test_a_nodes_own_guid_outranks_its_ports_and_a_port_guid_of_two_nodes_names_neither() -> None:
    observation = seen([("gpu1 mlx5_0", 1, "leaf1", 1), ("gpu2 mlx5_0", 1, "leaf1", 2)])
    nodes = observation.fabric.nodes
    one, two = guid("gpu1 mlx5_0"), guid("gpu2 mlx5_0")
    nodes[one] = replace(nodes[one], port_guids=((1, "0x11"), (2, "0x12"), (3, "0x99")))
    nodes[two] = replace(nodes[two], port_guids=((1, "0x99"), (2, one)))
    given = {one: "own", "0x11": "a port's", "0x99": "whose?", "MT0001": "a serial"}
    assert by_node(observation.fabric, given) == [
        {one: "own", "0x99": "whose?", "MT0001": "a serial"},
    ]
