"""What other steps ask of a site."""

from __future__ import annotations

from datetime import date
from ipaddress import ip_address

import pytest
from site_texts import SMALL

from fabricctl.fabric import Fabric, Node, NodeKind, Place, Port
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.rates import Rate
from fabricctl.site import use
from fabricctl.site.load import load_site
from fabricctl.site.schema import Site


def site(extra: str = "", old: str = "", new: str = "") -> Site:
    assert not old or SMALL.count(old) == 1
    return load_site((SMALL.replace(old, new) if old else SMALL) + extra, "site.yaml")


def test_places_come_from_the_rule_and_written_ones_before_it() -> None:
    rule = 'place: {racks: "R[1-2]", first_unit: 8}'
    found = use.places(site(old=rule, new=rule + "\n    places: {leaf2: {rack: R1, unit: 9}}"))
    assert found == {
        "h1": Place("R1", "1"),
        "h2": Place("R2", "1"),
        "leaf1": Place("R1", "8"),
        "leaf2": Place("R1", "9"),
        "spine1": Place("R1", "10"),
    }


def test_a_rule_fills_each_rack_before_the_next() -> None:
    found = use.places(
        site(old='place: {racks: "R[1-2]", first_unit: 1}', new="place: {racks: R1, per_rack: 2, step: 3}")
    )
    assert (found["h1"], found["h2"]) == (Place("R1", "1"), Place("R1", "4"))


def test_a_node_model_lists_its_hcas_in_rail_order() -> None:
    model = use.node_models(site())["h2"]
    assert (model.hcas, model.gpus, model.ports_per_hca) == (("mlx5_0", "mlx5_1"), 2, 1)
    assert use.hca_rails(site())["h2"] == {"mlx5_0": 1, "mlx5_1": 2}


def test_fewer_rails_than_hcas_repeat() -> None:
    one_rail = site(old="gpus: 2", new="rails: 1")
    assert use.hca_rails(one_rail)["h1"] == {"mlx5_0": 1, "mlx5_1": 1}


def test_switch_roles_come_from_the_group_and_the_name() -> None:
    roles = use.switch_roles(site())
    assert roles["leaf2"] == use.SwitchRole(1, 2, None)
    assert roles["spine1"] == use.SwitchRole(2, None, None)


@pytest.mark.parametrize(
    ("template", "name", "told"),
    [
        ("ibl-p{su}-r{rail}", "ibl-p03-r7", {"su": "03", "rail": "7"}),
        ("ibs-p{su}-s{index}", "ibs-p16-s8", {"su": "16"}),
        ("ibl-p{su:02}-r{rail}", "ibl-p03-r7", {"su": "03", "rail": "7"}),
        ("a.b{rail}", "a.b1", {"rail": "1"}),
    ],
)
def test_a_name_pattern_reads_su_and_rail(template: str, name: str, told: dict[str, str]) -> None:
    match = use.name_pattern(template).fullmatch(name)
    assert match is not None
    assert match.groupdict() == told


def test_a_name_pattern_takes_dots_literally() -> None:
    assert use.name_pattern("a.b{rail}").fullmatch("axb1") is None


def test_a_name_pattern_with_an_open_brace_matches_no_name_without_it() -> None:
    assert use.name_pattern("leaf{rail").fullmatch("leafrail") is None


def test_host_units_count_in_written_order() -> None:
    assert use.host_units(site(old="    model: host", new="    model: host\n    hosts_per_su: 1")) == {
        "h1": 1,
        "h2": 2,
    }


def test_a_site_model_extends_a_built_in_one() -> None:
    model = use.models_by_switch(
        site(old="mini: {ports: 4}", new="mini: {like: QM9700, labels: {Left-1: 1}, shown: {2: right}}")
    )["leaf1"]
    assert (model.name, model.ports) == ("mini", 64)
    assert (model.port_of("left-1"), model.port_of("sw14p1"), model.port_of("14/1")) == (1, 27, 27)
    assert (model.shown[1], model.shown[2], model.shown[27]) == ("Left-1", "right", "14/1")


def test_a_site_model_replaces_a_built_in_one_of_its_name() -> None:
    changed = site(old="mini: {ports: 4}", new="mini: {ports: 4}\n  QM9700: {ports: 32, aliases: [MQM9700]}")
    models = use.switch_models(changed)
    assert models["QM9700"].ports == 32
    assert use.find_model("MQM9700", models) is models["QM9700"]


def test_identities_are_keyed_by_canonical_guid_or_serial() -> None:
    text = "identities:\n  0x9C0591030A000500: leaf1\n  9c:05:91:03:0a:00:05:01: leaf2\n"
    text += "  1234: spine1\n  MT2X: h1 mlx5_0\n"
    assert use.identities(site(text)) == {
        "0x9c0591030a000500": "leaf1",
        "0x9c0591030a000501": "leaf2",
        "1234": "spine1",
        "MT2X": "h1 mlx5_0",
    }


def test_a_link_takes_the_first_class_that_fits_else_the_default() -> None:
    fabric = site().fabrics["one"]
    assert use.link_class(fabric, 0, 1, ("h2", "leaf1")) == ("old", Rate(4, "EDR"))
    assert use.link_class(fabric, 1, 0, ("leaf1", "h2")) == ("old", Rate(4, "EDR"))
    assert use.link_class(fabric, 0, 1, ("h1", "leaf1")) == ("fast", Rate(4, "NDR"))
    assert use.link_class(fabric, 1, 2, ("leaf1", "spine1")) == ("fast", Rate(4, "NDR"))
    assert use.link_class(fabric, None, None, ("h2", "leaf1")) == ("fast", Rate(4, "NDR"))


def test_a_fabric_without_classes_expects_no_rate() -> None:
    text = SMALL[: SMALL.index("    link_classes")]
    assert use.link_class(load_site(text, "s").fabrics["one"], 0, 1, ("h1", "leaf1")) is None


def test_reserved_ports_are_read_as_numbers_ranges_and_labels() -> None:
    extra = 'reserved_ports: [{devices: "leaf[1-2]", ports: [1-2, port 4], for: h1}]\n'
    found = use.reserved_ports(site(extra, old="mini: {ports: 4}", new="mini: {like: QM9700}"))
    assert found == {Port(leaf, number): "h1" for leaf in ("leaf1", "leaf2") for number in (1, 2, 4)}


def test_reserved_ports_of_a_plan_are_its_own_and_the_sites_by_its_keys() -> None:
    reserved = site("reserved_ports: [{devices: 'leaf[1-2]', ports: [4], for: h1}]\n")
    fabric = Fabric(nodes={"0x01": Node("0x01", NodeKind.SWITCH, "leaf1")})
    plan = Plan(fabric, PlanFormat.SNAPSHOT, reserved={Port("0x01", 3): "ufm"})
    assert use.plan_reserved(reserved, plan) == {Port("0x01", 3): "ufm", Port("0x01", 4): "h1"}


def test_an_absence_counts_until_its_last_day() -> None:
    extra = (
        "expected_absent:\n  - {devices: h1, reason: vendor, until: 2026-03-31}\n"
        "  - {devices: leaf1, ports: [1-2], reason: optics}\n"
    )
    absent = site(extra)
    last = use.expected_absent(absent, date(2026, 3, 31))
    assert last.devices == {"h1": "vendor"}
    assert last.ports == {Port("leaf1", 1): "optics", Port("leaf1", 2): "optics"}
    assert use.expected_absent(absent, date(2026, 4, 1)).devices == {}


def test_bmc_addresses_count_up_and_a_single_host_comes_first() -> None:
    extra = 'management: {bmc_addresses: {h2: 192.0.2.99, "h[1-2]": 192.0.2.1, leaf1: "2001:db8::5"}}\n'
    assert use.bmc_addresses(site(extra)) == {
        "h1": ip_address("192.0.2.1"),
        "h2": ip_address("192.0.2.99"),
        "leaf1": ip_address("2001:db8::5"),
    }
