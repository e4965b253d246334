"""A site against itself and its plans: each rule finds its fault, and a right site has none."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from site_texts import SMALL

from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.site.check import check_site
from fabricctl.site.findings import SiteFinding, SiteRule, fold_findings
from fabricctl.site.load import load_site

Cable = tuple[str, int, str, int]
CABLES: list[Cable] = [
    ("h1 mlx5_0", 1, "leaf1", 1),
    ("h2 mlx5_0", 1, "leaf1", 2),
    ("h1 mlx5_1", 1, "leaf2", 1),
    ("h2 mlx5_1", 1, "leaf2", 2),
    ("leaf1", 3, "spine1", 1),
    ("leaf1", 4, "spine1", 2),
    ("leaf2", 3, "spine1", 3),
    ("leaf2", 4, "spine1", 4),
]


def plan(cables: Iterable[Cable] = CABLES, *, non_blocking: bool = True) -> Plan:
    fabric = Fabric()
    for a, a_port, b, b_port in cables:
        for name in (a, b):
            host, _, hca = name.partition(" ")
            kind = NodeKind.HCA if hca else NodeKind.SWITCH
            tier = 0 if hca else 2 if name.startswith("spine") else 1
            node = Node(name, kind, name, host=host if hca else None, hca=hca or None, tier=tier)
            fabric.nodes.setdefault(name, node)
        assert fabric.connect(Link(Port(a, a_port), Port(b, b_port))) is None
    return Plan(fabric, PlanFormat.CSV, non_blocking=non_blocking)


def findings(text: str, **plans: Plan) -> list[SiteFinding]:
    return check_site(load_site(text, "site.yaml"), plans)


def only(found: list[SiteFinding]) -> tuple[SiteRule, str, str, int]:
    assert len(found) == 1, [str(each) for each in found]
    return tuple(found[0])  # type: ignore[return-value]  # a NamedTuple compared as a tuple


def test_a_right_site_with_its_plan_has_no_finding() -> None:
    assert findings(SMALL, one=plan()) == []


def test_a_host_of_two_groups_is_found() -> None:
    text = SMALL.replace("switches:\n", "  h2: {model: host}\nswitches:\n")
    found = only(findings(text))
    assert found == (SiteRule.NAMES, "h2", "stands in nodes h[1-2] and again in nodes h2", 12)


def test_a_name_of_a_host_and_a_switch_is_found() -> None:
    text = SMALL.replace("  spine1:\n", "  h1: {model: mini, tier: core}\n  spine1:\n")
    found = only(findings(text))
    assert found == (SiteRule.NAMES, "h1", "stands in nodes h[1-2] and again in switches h1", 18)


def test_a_rack_unit_with_two_devices_is_found_once_for_the_second() -> None:
    text = SMALL.replace("rack: R1, unit: 10", "rack: R1, unit: 2")
    assert only(findings(text)) == (SiteRule.PLACES, "spine1", "rack R1 U2 already holds h1", 21)


def test_a_device_above_its_racks_top_is_found() -> None:
    text = SMALL.replace(
        'place: {racks: "R[1-2]", first_unit: 1}', 'place: {racks: "R[1-2]", first_unit: 10}'
    )
    text = text.replace("unit: 10}}", "unit: 5}}")
    found = findings(text)
    assert [(each.subject, each.text) for each in found] == [
        ("h1", "takes U10 to U11 of rack R1, which has 10 units"),
        ("h2", "takes U10 to U11 of rack R2, which has 10 units"),
    ]


def test_overlapping_subnets_are_found_with_both() -> None:
    text = (
        SMALL + "management: {bmc_subnets: [192.0.2.0/25], data_subnets: [198.51.100.0/24, 192.0.2.0/24]}\n"
    )
    found = only(findings(text))
    assert found == (
        SiteRule.SUBNETS,
        "192.0.2.0/24",
        "(data_subnets) overlaps 192.0.2.0/25 (bmc_subnets)",
        29,
    )


MANAGED = """\
management:
  bmc_subnets: [192.0.2.0/25]
  data_subnets: [192.0.2.128/25]
  bmc_addresses:
    h1: {h1}
    h2: {h2}
"""


@pytest.mark.parametrize(
    ("address", "texts"),
    [
        ("192.0.2.2", []),
        ("198.51.100.1", ["BMC address 198.51.100.1 is outside the management subnets (192.0.2.0/25)"]),
        (
            "192.0.2.130",
            [
                "BMC address 192.0.2.130 is outside the management subnets (192.0.2.0/25)",
                "BMC address 192.0.2.130 is inside the data subnet 192.0.2.128/25",
            ],
        ),
        ("192.0.2.0", ["BMC address 192.0.2.0 is the network address of 192.0.2.0/25"]),
        ("192.0.2.127", ["BMC address 192.0.2.127 is the broadcast address of 192.0.2.0/25"]),
        ("192.0.2.1", ["BMC address 192.0.2.1 is also that of h1"]),
    ],
)
def test_a_bmc_has_one_address_of_its_own_in_the_management_subnet(address: str, texts: list[str]) -> None:
    text = SMALL + MANAGED.replace("{h1}", "192.0.2.1").replace("{h2}", address)
    found = findings(text)
    assert [each.text for each in found] == texts
    assert {(each.rule, each.subject, each.line) for each in found} <= {(SiteRule.BMC, "h2", 34)}


def test_a_host_without_a_bmc_address_is_found_where_others_have_one() -> None:
    text = SMALL + MANAGED.replace("{h1}", "192.0.2.1").replace("    h2: {h2}\n", "")
    assert only(findings(text)) == (SiteRule.BMC, "h2", "no BMC address is written", 32)


def test_planned_devices_the_site_does_not_have_are_found_with_the_nearest_name() -> None:
    cables = [*CABLES[:-1], ("leaf2", 4, "spine2", 4)]
    found = findings(SMALL, one=plan(cables))
    assert str(found[0]) == "planned: spine2: planned, but no switch of the site; did you mean 'spine1'?"


def test_devices_no_plan_uses_are_found_folded() -> None:
    cables = [cable for cable in CABLES if "leaf2" not in (cable[0], cable[2])]
    found = findings(SMALL, one=plan(cables))
    assert [(each.subject, each.text) for each in found] == [
        ("leaf2", "stands in the site, but no fabric's plan uses it")
    ]


def test_a_site_without_all_its_plans_does_not_call_devices_unplanned() -> None:
    text = SMALL + "  two:\n    plan: {file: two.csv}\n"
    cables = [cable for cable in CABLES if "leaf2" not in (cable[0], cable[2])]
    assert findings(text, one=plan(cables)) == []


def test_a_port_beyond_the_switch_model_is_found() -> None:
    cables = [*CABLES[:-1], ("leaf2", 5, "spine1", 4)]
    found = only(findings(SMALL, one=plan(cables)))
    assert found == (SiteRule.DEGREE, "leaf2", "the plan uses port 5, a mini has 4", 24)


def test_an_hca_the_node_model_does_not_have_is_found() -> None:
    cables = [("h1 mlx5_7", 1, "leaf1", 1), *CABLES[1:]]
    found = only(findings(SMALL, one=plan(cables)))
    assert found[:2] == (SiteRule.DEGREE, "h1")
    assert found[2] == "the plan uses HCA mlx5_7, a host has none of that name; did you mean 'mlx5_1'?"


def test_a_running_number_stands_for_an_hca() -> None:
    cables = [("h1 1", 1, "leaf1", 1), *CABLES[1:2], ("h1 2", 1, "leaf2", 1), *CABLES[3:]]
    assert findings(SMALL, one=plan(cables)) == []


def test_a_second_port_of_a_one_port_hca_is_found() -> None:
    cables = [("h1 mlx5_0", 2, "leaf1", 1), *CABLES[1:]]
    found = only(findings(SMALL, one=plan(cables)))
    assert found[:3] == (SiteRule.DEGREE, "h1", "the plan uses port 2 of mlx5_0, a host uses 1")


def test_a_reserved_port_planned_for_another_host_is_found() -> None:
    text = SMALL + "reserved_ports: [{devices: 'leaf[1-2]', ports: [2], for: h2}]\n"
    assert findings(text, one=plan()) == []
    found = findings(text.replace("for: h2", "for: h1"), one=plan())
    assert [(each.rule, each.subject, each.text) for each in found] == [
        (SiteRule.RESERVED, "leaf1", "port 2 is reserved for h1, the plan gives it to h2"),
        (SiteRule.RESERVED, "leaf2", "port 2 is reserved for h1, the plan gives it to h2"),
    ]


def test_a_tier_told_differently_by_site_and_plan_is_found() -> None:
    found = only(findings(SMALL.replace("tier: spine", "tier: core"), one=plan()))
    assert found[:3] == (SiteRule.ROLE, "spine1", "tier 3 in the site, 2 in the plan")


def test_a_rail_of_an_hca_told_differently_by_site_and_plan_is_found() -> None:
    crossed = plan()
    for key, rail in (("h1 mlx5_0", 1), ("h2 mlx5_0", 2)):
        crossed.fabric.nodes[key] = replace(crossed.fabric.nodes[key], rail=rail)
    found = only(findings(SMALL, one=crossed))
    assert found[:3] == (SiteRule.ROLE, "h2", "mlx5_0: rail 1 in the site, 2 in the plan")


def test_a_scalable_unit_told_differently_by_site_and_plan_is_found() -> None:
    moved = plan()
    moved.fabric.nodes["h2 mlx5_0"] = replace(moved.fabric.nodes["h2 mlx5_0"], unit=1)
    text = SMALL.replace("    model: host\n", "    model: host\n    hosts_per_su: 1\n")
    assert only(findings(text, one=moved))[:3] == (
        SiteRule.ROLE,
        "h2",
        "scalable unit 2 in the site, 1 in the plan",
    )


def test_a_port_of_two_fabrics_is_found() -> None:
    text = SMALL + "  two:\n    plan: {file: two.csv}\n"
    found = findings(text, one=plan(), two=plan(CABLES[:1], non_blocking=False))
    assert [(each.subject, each.text) for each in found] == [
        ("h1 mlx5_0", "port 1 is planned in fabric one and again in two"),
        ("leaf1", "port 1 is planned in fabric one and again in two"),
    ]


def test_a_plan_that_says_non_blocking_and_is_not_is_found_with_its_ratio() -> None:
    found = only(findings(SMALL, one=plan(CABLES[:-1])))
    assert found[:2] == (SiteRule.PLAN, "one")
    assert "declared non-blocking" in found[2]
    assert "2 down, 1 up, 2:1: leaf2" in found[2]


def test_a_device_known_by_guid_is_its_identity() -> None:
    by_guid = plan()
    nodes = by_guid.fabric.nodes
    nodes["spine1"] = Node("spine1", NodeKind.SWITCH, "unnamed", guid="0x0c42a10300000001", tier=2)
    assert [each.rule for each in findings(SMALL, one=by_guid)] == [SiteRule.PLANNED, SiteRule.PLANNED]
    assert findings(SMALL + "identities: {0xc42a10300000001: spine1}\n", one=by_guid) == []


def test_an_identity_of_a_device_that_neither_site_nor_plan_has() -> None:
    known = "identities: {0x1: leaf2, MT1: LEAF1, 0x2: h2 mlx5_0, 0x3: spine1.example.net}\n"
    assert findings(SMALL + known, one=plan()) == []
    text = SMALL + "identities: {0x1: laef2, 0x2: h9 mlx5_0}\n"
    assert [(each.rule, each.subject, each.text) for each in findings(text, one=plan())] == [
        (SiteRule.IDENTITY, "0x1", "unknown device 'laef2'; did you mean 'leaf2'?"),
        (SiteRule.IDENTITY, "0x2", "unknown device 'h9'; expected one of leaf1, leaf2, spine1, h1, h2"),
    ]
    assert findings(text) == []  # a plan that is not here may name it


def test_a_site_that_names_no_switches_takes_those_of_its_plan() -> None:
    text = SMALL[: SMALL.index("switches:")] + SMALL[SMALL.index("fabrics:") :]
    assert findings(text + "identities: {0x1: leaf2}\n", one=plan()) == []
    found = findings(text + "identities: {0x1: leaf7}\n", one=plan())
    assert [(each.rule, each.text) for each in found] == [
        (SiteRule.IDENTITY, "unknown device 'leaf7'; did you mean 'leaf2'?")
    ]


HALL = """\
name: hall
node_models:
  m: {hcas: [mlx5_0]}
nodes:
  gpu[001-100]: {model: m}
management:
  bmc_addresses: {"gpu[001-100]": 198.51.100.1}
"""


def test_addresses_that_no_subnet_is_written_for_are_one_finding() -> None:
    found = only(findings(HALL))
    assert found == (
        SiteRule.BMC,
        "gpu[001-100]",
        "BMC addresses cannot be checked against the management subnets: bmc_subnets is not written",
        7,
    )


def test_addresses_outside_the_subnets_are_one_finding_a_line() -> None:
    found = only(findings(HALL + "  bmc_subnets: [203.0.113.0/26]\n"))
    text = "BMC addresses 198.51.100.1 to 198.51.100.100 are outside the management subnets (203.0.113.0/26)"
    assert found == (SiteRule.BMC, "gpu[001-100]", text, 7)


def test_what_is_said_of_many_devices_alike_is_one_finding() -> None:
    subnets = "  bmc_subnets: [198.51.0.0/16]\n  data_subnets: [198.51.100.0/24]\n"
    found = [each for each in findings(HALL + subnets) if each.rule is SiteRule.BMC]
    text = "BMC addresses 198.51.100.1 to 198.51.100.100 are inside the data subnet 198.51.100.0/24"
    assert only(found) == (SiteRule.BMC, "gpu[001-100]", text, 7)


def test_findings_that_say_the_same_of_more_than_a_few_devices_are_one() -> None:
    said = [SiteFinding(SiteRule.ROLE, f"leaf{n}", "rail 1, the plan has 2", 7) for n in range(1, 33)]
    other = [SiteFinding(SiteRule.ROLE, f"spine{n}", "tier 2, the plan has 3", 9) for n in (1, 2)]
    assert [str(each) for each in fold_findings([*said, *other])] == [
        "role: leaf[1-32]: rail 1, the plan has 2",
        "role: spine1: tier 2, the plan has 3",
        "role: spine2: tier 2, the plan has 3",
    ]
