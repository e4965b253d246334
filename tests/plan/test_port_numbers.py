"""Plain port numbers of switches with two ports in a cage: InfiniBand ports or cages."""

from __future__ import annotations

import pytest

from fabricctl.cabling.ends import Knowledge
from fabricctl.cabling.verdict import Options, VerdictWord
from fabricctl.cabling.verify import verify
from fabricctl.discovery.model import Observation
from fabricctl.errors import PlanError
from fabricctl.fabric import Port
from fabricctl.model_tables import find_model
from fabricctl.plan.model import Plan, PortNumbers
from fabricctl.plan.port_numbers import require_clear
from fabricctl.plan.table import parse_csv
from tests.cabling import fabrics as make

HEADER = "a_device,a_type,a_port,z_device,z_type,z_port"
OPTIONS = Options(knowledge=Knowledge(model_of=lambda _, model: find_model(model) if model else None))


def table(*rows: str, header: str = HEADER, top: str = "", said: PortNumbers | None = None) -> Plan:
    return parse_csv("\n".join((*([top] if top else []), header, *rows)) + "\n", "c.csv", port_numbers=said)


def ends(plan: Plan) -> set[tuple[str, int, str, int]]:
    return {(*link.a, *link.b) for link in plan.fabric.each_link()}


def pair(*ports: tuple[str, str]) -> list[str]:
    return [f"leaf1,QM9700,{a},spine1,QM9700,{z}" for a, z in ports]


def with_model(cables: list[make.Cable], model: str = "MQM9700") -> Observation:
    from dataclasses import replace

    observation = make.seen(cables)
    nodes = observation.fabric.nodes
    for key, node in nodes.items():
        if node.host is None:
            nodes[key] = replace(node, model=model)
    return observation


# -- what the file itself shows -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rows",
    [
        pair(("1", "1"), ("33", "2")),  # above the 32 cages of a QM9700
        pair(("14/1", "1")),  # a cage label beside it
        ["leaf1,QM8700,3,leaf2,QM8700,4"],  # one port in a cage
        ["leaf1,switch,3,leaf2,switch,4"],  # no model: no question
    ],
)
def test_numbers_that_can_only_be_ports_are_not_asked_about(rows: list[str]) -> None:
    assert require_clear(table(*rows)).unclear is None


def test_the_header_of_an_export_says_that_numbers_are_ports() -> None:
    header = "a_device,a_port,z_device,z_port,a_rack,a_u,z_rack,z_u,speed,class,length_m,cable,a_type,z_type"
    plan = table("leaf1,3,spine1,4,,,,,,,,,QM9700,QM9700", header=header)
    assert require_clear(plan).port_numbers is PortNumbers.INFINIBAND
    assert ends(plan) == {("leaf1", 3, "spine1", 4)}


def test_numbers_that_may_be_cages_are_asked_about_in_one_line() -> None:
    with pytest.raises(PlanError) as caught:
        require_clear(table(*pair(("14", "1"), ("14", "1"))[:1]))
    assert str(caught.value) == (
        "c.csv:2: leaf1 is a QM9700 with 32 cages of several ports, and no plain port number of the file is above 32: "
        "they may be cages or InfiniBand ports (say which with --port-numbers infiniband or cage, or with a line "
        "'# port-numbers: cage' in the file)"
    )


def test_the_operator_or_a_comment_says_it() -> None:
    rows = pair(("14", "1"))
    for plan in (
        table(*rows, said=PortNumbers.INFINIBAND),
        table(*rows, top="# port-numbers: infiniband"),
        table(*rows, top="#Port Numbers: InfiniBand,,,"),
    ):
        assert ends(require_clear(plan)) == {("leaf1", 14, "spine1", 1)}


def test_another_word_is_an_error_with_its_line() -> None:
    with pytest.raises(PlanError, match=r"^c.csv:1: port-numbers 'panel' is not understood; expected inf"):
        table(*pair(("14", "1")), top="# port-numbers: panel")


def test_the_option_comes_before_the_comment() -> None:
    plan = table(*pair(("14", "1")), top="# port-numbers: cage", said=PortNumbers.INFINIBAND)
    assert ends(plan) == {("leaf1", 14, "spine1", 1)}


# -- read as cages --------------------------------------------------------------------------------------------


def test_a_cage_that_stands_twice_is_its_two_ports_in_file_order() -> None:
    rows = [*pair(("14", "1")), "gpu1,host,mlx5_0,leaf1,QM9700,15", *pair(("14", "1"))]
    rows += ["gpu2,host,mlx5_0,leaf1,QM9700,15"]
    plan = table(*rows, top="# port-numbers: cage")
    # mstflint: port = 2 x cage + port in cage - 2
    assert ends(plan) == {
        ("leaf1", 27, "spine1", 1),
        ("leaf1", 28, "spine1", 2),
        ("gpu1 mlx5_0", 1, "leaf1", 29),
        ("gpu2 mlx5_0", 1, "leaf1", 30),
    }
    assert any("read as port 1 and port 2 in the order of the file" in note for note in plan.notes)
    assert plan.fabric.links[Port("leaf1", 27)].detail is not None


def test_a_cage_that_stands_once_is_an_error_since_its_port_cannot_be_told() -> None:
    with pytest.raises(PlanError) as caught:
        table("gpu1,host,mlx5_0,leaf1,QM9700,14", top="# port-numbers: cage")
    assert str(caught.value) == (
        "c.csv:3: cage 14 of 'leaf1' stands once, and which of its 2 ports is meant cannot be told "
        "(write 14/1 or 14/2, or the port numbers of the switch)"
    )


def test_a_twin_cable_between_two_cages_named_once_is_two_links() -> None:
    header = f"{HEADER},Cable PN,Length"
    rows = [f"{row},MCP4Y10-N001,1m" for row in pair(("14", "1"), ("15", "2"))]
    plan = table(*rows, header=header, said=PortNumbers.CAGE)
    assert ends(plan) == {
        ("leaf1", 27, "spine1", 1),
        ("leaf1", 28, "spine1", 2),
        ("leaf1", 29, "spine1", 3),
        ("leaf1", 30, "spine1", 4),
    }
    assert {link.detail.assembly for link in plan.fabric.each_link() if link.detail} == {"twin_dac"}
    assert {link.line for link in plan.fabric.each_link()} == {2, 3}


def test_a_cage_three_times_is_an_error() -> None:
    with pytest.raises(PlanError, match=r"cage 14 of 'leaf1' stands 3 times; it has 2 ports"):
        table(*(f"gpu{n},host,mlx5_0,leaf1,QM9700,14" for n in (1, 2, 3)), said=PortNumbers.CAGE)


def test_models_with_one_port_per_cage_read_the_same_either_way() -> None:
    plan = table("gpu1,host,mlx5_0,leaf1,QM8700,14", said=PortNumbers.CAGE)
    assert ends(plan) == {("gpu1 mlx5_0", 1, "leaf1", 14)}


def test_cages_of_switches_without_a_model_are_read_when_they_stand_twice() -> None:
    rows = [f"leaf1,switch,{cage},spine1,switch,{cage}" for cage in (14, 14, 20, 20)]
    plan = table(*rows, said=PortNumbers.CAGE)
    assert {a for _, a, _, _ in ends(plan)} == {27, 28, 39, 40}


# -- at verify time -------------------------------------------------------------------------------------------

PORTS: list[make.Cable] = [("leaf1", n, "spine1", n) for n in (1, 2, 3, 4)]


def test_the_discovery_decides_for_ports_where_they_fit() -> None:
    plan = table(*pair(*((str(n), str(n)) for n in (1, 2, 3, 4))))
    assert plan.unclear is not None
    verdict = verify(plan, with_model(PORTS), OPTIONS)
    assert verdict.word is VerdictWord.OK
    assert any("4" in note and "read as InfiniBand ports" in note for note in verdict.notes)


def test_a_discovery_that_fits_cages_better_is_no_licence_to_translate() -> None:
    rows = [f"gpu{n},host,mlx5_0,leaf1,QM9700,{n}" for n in (1, 2, 3, 4)]
    there: list[make.Cable] = [(f"gpu{n} mlx5_0", 1, "leaf1", 2 * n - 1) for n in (1, 2, 3, 4)]
    with pytest.raises(PlanError, match="the discovery fits 1 ports and 4 cages"):
        verify(table(*rows), with_model(there), OPTIONS)


def test_a_model_known_only_by_the_discovery_asks_too() -> None:
    rows = [f"gpu{n},host,mlx5_0,leaf1,switch,{n}" for n in (1, 2)]
    plan = table(*rows)
    assert plan.unclear is None
    there: list[make.Cable] = [(f"gpu{n} mlx5_0", 1, "leaf1", 2 * n) for n in (1, 2)]
    with pytest.raises(PlanError, match=r"^c.csv:2: leaf1 is a MQM9700|leaf1 is a QM9700"):
        verify(plan, with_model(there), OPTIONS)
    assert (
        verify(plan, with_model(there, ""), OPTIONS).counts.miswired
        + verify(plan, with_model(there, ""), OPTIONS).counts.swapped
    )
    said = table(*rows, said=PortNumbers.CAGE)
    with pytest.raises(PlanError, match="the plan did not tell its model when cages were read"):
        verify(said, with_model(there), OPTIONS)
