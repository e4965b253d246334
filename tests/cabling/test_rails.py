from __future__ import annotations

from pathlib import Path

from fabricctl.cabling.rails import RailCheck, check_rails
from fabricctl.discovery.recognise import parse_any
from tests.cabling.fabrics import Cable, fabric, two_tier
from tests.conftest import read_capture


def rails(cables: list[Cable]) -> RailCheck:
    return check_rails(fabric(cables, by_guid=False))


def moved(cables: list[Cable], **to: tuple[str, int]) -> list[Cable]:
    """HCAs plugged in elsewhere: ``gpu1_0=("leaf2", 1)`` moves ``gpu1 mlx5_0``."""
    where = {name.replace("_", " mlx5_"): leaf_port for name, leaf_port in to.items()}
    assert where.keys() <= {cable[0] for cable in cables}
    return [(c[0], c[1], *where[c[0]]) if c[0] in where else c for c in cables]


def out_of_line(check: RailCheck) -> list[tuple[str, str, str]]:
    return sorted((d.hca.node, d.expected, d.found) for d in check.misaligned)


def on_another_port(check: RailCheck) -> list[tuple[str, str, str]]:
    return sorted((d.hca.node, d.expected, d.found) for d in check.other_port)


def test_a_rail_optimised_fabric_is_aligned_and_nothing_is_out_of_line() -> None:
    check = rails(two_tier(hosts=4, leaves=4))
    assert (check.aligned, check.same_port) == (True, True)
    assert (check.leaves, check.aligned_leaves, check.hosts, check.same_port_hosts) == (4, 4, 4, 4)
    assert check.misaligned == check.other_port == []


def test_two_exchanged_hcas_are_told_on_leaves_of_four() -> None:
    cables = moved(two_tier(hosts=4, leaves=4), gpu1_0=("leaf2", 1), gpu1_1=("leaf1", 1))
    check = rails(cables)
    # 14 of 16 HCAs are as most of their leaf
    assert (check.leaf_hcas, check.usual_hcas, check.aligned) == (16, 14, True)
    assert out_of_line(check) == [
        ("gpu1 mlx5_0", "mlx5_1, as 3 of 4 HCAs of this leaf", "mlx5_0"),
        ("gpu1 mlx5_1", "mlx5_0, as 3 of 4 HCAs of this leaf", "mlx5_1"),
    ]


def test_every_host_of_three_or_four_hcas_can_have_one_on_another_port() -> None:
    for leaves in (3, 4):
        check = rails(moved(two_tier(hosts=8, leaves=leaves), gpu1_0=("leaf1", 20)))
        assert (check.host_hcas, check.usual_ports) == (8 * leaves, 8 * leaves - 1)
        assert on_another_port(check) == [
            ("gpu1 mlx5_0", f"port 1, as {leaves - 1} of {leaves} HCAs of this host", "port 20")
        ]


def test_a_host_of_two_hcas_on_two_ports_has_no_usual_one() -> None:
    check = rails(moved(two_tier(hosts=8, leaves=2), gpu1_0=("leaf1", 20)))
    assert (check.host_hcas, check.usual_ports, check.same_port) == (16, 14, True)
    assert check.other_port == []


def test_a_leaf_half_of_one_name_and_half_of_another_has_no_usual_one() -> None:
    twice = {f"gpu{n}_0": ("leaf2", n) for n in (1, 2)} | {f"gpu{n}_1": ("leaf1", n) for n in (1, 2)}
    check = rails(moved(two_tier(hosts=4, leaves=10), **twice))
    # 32 HCAs on eight leaves of one name; leaf1 and leaf2 have two and two
    assert (check.leaves, check.aligned_leaves, check.leaf_hcas, check.usual_hcas) == (10, 8, 40, 32)
    assert (check.aligned, check.misaligned) == (True, [])  # exactly 80 %
    check = rails(moved(two_tier(hosts=4, leaves=9), **twice))
    assert (check.leaf_hcas, check.usual_hcas, check.aligned) == (36, 28, False)


def test_a_fabric_whose_leaves_carry_whole_hosts_is_not_aligned_and_nobody_is_out_of_line() -> None:
    cables: list[Cable] = [
        (f"gpu{leaf}{host} mlx5_{hca}", 1, f"leaf{leaf}", 1 + 4 * host + hca)
        for leaf in (1, 2)
        for host in range(4)
        for hca in range(4)
    ]
    check = rails(cables)
    assert (check.leaves, check.aligned_leaves, check.leaf_hcas) == (2, 0, 32)
    assert (check.aligned, check.misaligned) == (False, [])
    assert (check.hosts, check.same_port) == (0, False)  # a host sees one leaf: there is no port to compare


def test_hosts_on_any_port_are_not_on_the_same_port_and_nobody_is_out_of_line() -> None:
    anywhere = {
        f"gpu{n}_{hca}": (f"leaf{hca + 1}", 1 + (n * (hca + 1)) % 20) for n in range(1, 6) for hca in range(4)
    }
    check = rails(moved(two_tier(hosts=5, leaves=4), **anywhere))
    assert (check.aligned, check.same_port) == (True, False)
    assert check.other_port == []


def test_a_fabric_without_named_hcas_is_neither() -> None:
    check = rails([("leaf1", 1, "spine1", 1)])
    assert (check.aligned, check.same_port, check.leaves, check.hosts) == (False, False, 0, 0)


def test_a_leaf_of_three_hcas_is_left_out() -> None:
    assert rails(two_tier(hosts=3, leaves=4)).leaves == 0


def test_exchanged_cables_of_a_published_capture_are_told(captures: Path) -> None:
    found = parse_any(read_capture(captures / "ibnetdiscover/topograph_example.out"), "example").fabric
    check = check_rails(found)
    names = {(found.nodes[d.hca.node].name, d.expected.partition(",")[0], d.found) for d in check.other_port}
    # by hand from the file: c07 and c08 are on ports 7 and 8 of their other leaves, exchanged at IBLEAF-02-06
    assert {
        ("b06-p1-dgx-06-c07 HCA-2", "port 7", "port 8"),
        ("b06-p1-dgx-06-c08 HCA-2", "port 8", "port 7"),
    } <= names
    assert (check.hosts - check.same_port_hosts, len(names)) == (5, 5)


def test_a_healthy_capture_has_no_host_on_several_ports(captures: Path) -> None:
    path = captures / "ibsim/small3/ibnetdiscover.txt"
    check = check_rails(parse_any(read_capture(path), "small3").fabric)
    # 15 hosts of two HCAs; the second manager host's one HCA sits with the other rail's
    assert (check.hosts, check.same_port_hosts, len(check.misaligned), check.other_port) == (15, 15, 1, [])
