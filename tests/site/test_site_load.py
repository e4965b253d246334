"""Every way a site file can be wrong is one line: file, line, key, expected, found, nearest valid word."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from site_texts import SMALL

from fabricctl.errors import SiteError
from fabricctl.site.load import SiteErrors, load_site


def error_of(text: str) -> SiteError:
    with pytest.raises(SiteError) as caught:
        load_site(text, "site.yaml")
    return caught.value


def message_of(old: str, new: str) -> str:
    """The message after one change of the small site, which must be the only one."""
    assert SMALL.count(old) == 1
    error = error_of(SMALL.replace(old, new))
    assert not isinstance(error, SiteErrors), [str(each) for each in error.errors]
    return str(error)


def messages_of(text: str) -> list[str]:
    """Every message of a text, none when it is a site."""
    try:
        load_site(text, "site.yaml")
    except SiteErrors as errors:
        return [str(error) for error in errors.errors]
    except SiteError as error:
        return [str(error)]
    return []


def test_the_small_site_reads_without_an_error() -> None:
    site = load_site(SMALL, "site.yaml")
    assert site.name == "small"
    assert site.path == "site.yaml"
    assert site.line_of("fabrics", "one", "default_class") == 28


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n", "---\n", "~\n"])
def test_a_file_without_content_says_so(text: str) -> None:
    assert str(error_of(text)) == "site.yaml: expected a site file with at least a name, found nothing"


def test_a_file_that_is_no_mapping_says_what_it_is() -> None:
    assert str(error_of("- a\n- b\n")) == "site.yaml:1: expected a mapping, found a list of 2"


def test_a_missing_key_is_named_with_its_meaning() -> None:
    message = str(error_of("racks:\n  R1: {}\n"))
    assert message == "site.yaml:1: key 'name' is missing (Name of the site, for reports)"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("node_models:", "node_model:", "site.yaml:4: unknown key 'node_model'; did you mean 'node_models'?"),
        (
            "gpus: 2",
            "gpu: 2",
            "site.yaml:5: node_models.host: unknown key 'gpu'; did you mean 'gpus'?",
        ),
        (
            "first_unit: 1}",
            "first: 1}",
            "site.yaml:11: nodes.h[1-2].place: unknown key 'first'; did you mean 'first_unit'?",
        ),
        (
            "plan: {file: one.csv}",
            "plan: {fat_tree: {units: 2}}",
            "site.yaml:24: fabrics.one.plan: unknown key 'fat_tree'; did you mean 'fat-tree'?",
        ),
        (
            "units: 10}",
            "units: ten}",
            "site.yaml:3: racks.R[1-2].units: expected a whole number, found 'ten'",
        ),
        ("units: 10}", "units: 0}", "site.yaml:3: racks.R[1-2].units: expected at least 1, found '0'"),
        (
            "    tier: spine",
            "    tier: spin",
            "site.yaml:20: switches.spine1.tier: expected 'leaf', 'spine' or 'core', found 'spin'; "
            "did you mean 'spine'?",
        ),
        (
            "R[1-2]: {units: 10}",
            "R[1-2: {units: 10}",
            "site.yaml:3: racks.R[1-2: host set 'R[1-2': brackets do not pair; expected something like gpu[001-511]",
        ),
        (
            "plan: {file: one.csv}",
            "plan: {}",
            "site.yaml:24: fabrics.one.plan: expected exactly one of file, fat-tree and rules, found none",
        ),
        (
            "plan: {file: one.csv}",
            "plan: {file: one.csv, rules: {}}",
            "site.yaml:24: fabrics.one.plan: expected exactly one of file, fat-tree and rules, found file and rules",
        ),
        (
            "hcas: [mlx5_0, mlx5_1]",
            "hcas: [mlx5_0, mlx5_0]",
            "site.yaml:5: node_models.host.hcas: expected each HCA once, found 'mlx5_0' 2 times",
        ),
        (
            "hcas: [mlx5_0, mlx5_1]",
            "hcas: mlx5_0",
            "site.yaml:5: node_models.host.hcas: expected a list, found 'mlx5_0'",
        ),
        ("mini: {ports: 4}", "mini: 4", "site.yaml:7: switch_models.mini: expected a mapping, found '4'"),
        (
            "tiers: [host, leaf]",
            "tiers: [host]",
            "site.yaml:27: fabrics.one.link_classes.old.tiers: expected at least 2 entries, found a list of 1",
        ),
    ],
)
def test_a_wrong_shape_is_one_line_with_file_line_key_expected_and_found(
    old: str, new: str, message: str
) -> None:
    assert message_of(old, new) == message


def test_a_wrong_rate_lists_the_speeds_there_are() -> None:
    message = message_of("rate: 4xNDR", "rate: 4xNDRR")
    assert message.startswith(
        "site.yaml:26: fabrics.one.link_classes.fast.rate: expected a width and a speed"
    )
    assert "NDR, XDR), found '4xNDRR'" in message


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            "management: {bmc_subnets: [192.0.2.7/24]}",
            "site.yaml:29: management.bmc_subnets[0]: expected a subnet, found '192.0.2.7/24', which is an "
            "address inside 192.0.2.0/24",
        ),
        (
            "management: {bmc_subnets: [192.0.2.0]}",
            "site.yaml:29: management.bmc_subnets[0]: expected a subnet such as 192.0.2.0/24, found '192.0.2.0'",
        ),
        (
            "management: {bmc_addresses: {h1: 192.0.2.300}}",
            "site.yaml:29: management.bmc_addresses.h1: expected an address such as 192.0.2.7, found '192.0.2.300'",
        ),
        (
            "expected_absent: [{devices: h1, reason: broken, until: soon}]",
            "site.yaml:29: expected_absent[0].until: expected a date such as 2026-03-31, found 'soon'",
        ),
        (
            "gates: {bad_link_share: 10}",
            "site.yaml:29: gates.bad_link_share: expected at most 1, found '10'",
        ),
        (
            "reserved_ports: [{devices: leaf1, ports: [4]}]",
            "site.yaml:29: reserved_ports[0]: key 'for' is missing (Hosts that may be there)",
        ),
    ],
)
def test_a_wrong_value_is_one_line(extra: str, message: str) -> None:
    assert str(error_of(f"{SMALL}{extra}\n")) == message


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            "    model: host",
            "    model: hots",
            "site.yaml:10: nodes.h[1-2].model: unknown node model 'hots'; did you mean 'host'?",
        ),
        (
            "    model: mini\n    tier: leaf",
            "    model: QM97000\n    tier: leaf",
            "site.yaml:14: switches.leaf[1-2].model: unknown switch model 'QM97000'; did you mean 'QM9700'?",
        ),
        (
            "mini: {ports: 4}",
            "mini: {like: QM9711}",
            "site.yaml:7: switch_models.mini.like: unknown built-in switch model 'QM9711'; did you mean 'QM9701'?",
        ),
        (
            "mini: {ports: 4}",
            "mini: {ports: 4, labels: {P5: 5}}",
            "site.yaml:7: switch_models.mini.labels.P5: expected a port from 1 to 4, found 5",
        ),
        (
            'place: {racks: "R[1-2]", first_unit: 1}',
            'place: {racks: "R[2-3]", first_unit: 1}',
            "site.yaml:11: nodes.h[1-2].place.racks: unknown rack 'R3'; expected one of R1, R2",
        ),
        (
            'place: {racks: "R[1-2]", first_unit: 1}',
            "place: {racks: R1, first_unit: 1}",
            "site.yaml:11: nodes.h[1-2].place: expected room for 2 devices, found 1 (1 per rack)",
        ),
        (
            "places: {spine1: ",
            "places: {spine2: ",
            "site.yaml:21: switches.spine1.places: unknown device of spine1 'spine2'; did you mean 'spine1'?",
        ),
        (
            "named: leaf{rail}",
            "named: lead{rail}",
            "site.yaml:16: switches.leaf[1-2].named: expected a pattern of every name, found 'leaf1' not of "
            "'lead{rail}'",
        ),
        (
            "named: leaf{rail}",
            "named: leaf{rail}\n    rail: 1",
            "site.yaml:16: switches.leaf[1-2].named: expected rail either here or as its own key, found both",
        ),
        (
            "default_class: fast",
            "default_class: fats",
            "site.yaml:28: fabrics.one.default_class: unknown link class 'fats'; did you mean 'fast'?",
        ),
        (
            "devices: h2}",
            'devices: "h[2-4]"}',
            "site.yaml:27: fabrics.one.link_classes.old.devices: unknown device 'h[3-4]'; expected one of "
            "h1, h2, leaf1, leaf2, spine1",
        ),
    ],
)
def test_a_word_that_names_nothing_gives_the_nearest_valid_one(old: str, new: str, message: str) -> None:
    assert message_of(old, new) == message


@pytest.mark.parametrize(
    ("extra", "message"),
    [
        (
            "reserved_ports: [{devices: laef1, ports: [4], for: h1}]",
            "site.yaml:29: reserved_ports[0].devices: unknown switch 'laef1'; did you mean 'leaf1'?",
        ),
        (
            "reserved_ports: [{devices: leaf1, ports: [5], for: h1}]",
            "site.yaml:29: reserved_ports[0].ports: '5' is no port of a mini; expected 1 to 4, a range or a "
            "label such as 4",
        ),
        (
            "expected_absent: [{devices: h9, reason: x}]",
            "site.yaml:29: expected_absent[0].devices: unknown device 'h9'; expected one of h1, h2, "
            "leaf1, leaf2, spine1",
        ),
        (
            "identities: {0x1: h1 mlx5_7}",
            "site.yaml:29: identities.0x1: unknown HCA of h1 'mlx5_7'; did you mean 'mlx5_1'?",
        ),
        (
            'management: {bmc_addresses: {"h[1-2]": 255.255.255.255}}',
            "site.yaml:29: management.bmc_addresses.h[1-2]: expected 2 addresses from 255.255.255.255 on, "
            "found fewer",
        ),
    ],
)
def test_a_reference_outside_the_groups_gives_the_nearest_valid_word(extra: str, message: str) -> None:
    assert str(error_of(f"{SMALL}{extra}\n")) == message


def test_an_identity_may_be_of_a_device_that_only_a_plan_names() -> None:
    text = SMALL + "identities: {0x1: laef2}\n"
    assert load_site(text, "site.yaml").identities == {"0x1": "laef2"}
    alone = text[: text.index("fabrics:")] + text[text.index("identities:") :]
    assert str(error_of(alone)).endswith("identities.0x1: unknown device 'laef2'; did you mean 'leaf2'?")


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("h[1-2]:", "h[2-1]:"),
        ("hcas: [", "hcas: [mlx5_0, "),
        ("plan: {file: one.csv}", "plan: {}"),
        ("plan: {file: one.csv}", "plan: {file: a.csv, rules: {}}"),
        ("plan: {file: one.csv}", "plan: {rules: 7}"),
        ("rate: ", "rate: 4x"),
    ],
)
def test_no_error_begins_with_the_words_of_the_schema_library(old: str, new: str) -> None:
    assert old in SMALL
    for message in messages_of(SMALL.replace(old, new)):
        assert "value error" not in message.lower()
        assert "assertion" not in message.lower()


def test_several_errors_show_the_first_and_how_many_more() -> None:
    error = error_of(SMALL.replace("units: 10", "units: x").replace("rate: 4xEDR", "rate: fast"))
    assert isinstance(error, SiteErrors)
    assert [each.line for each in error.errors] == [3, 27]
    assert str(error) == (
        "site.yaml:3: racks.R[1-2].units: expected a whole number, found 'x' "
        "(and 1 more; fabricctl site check site.yaml lists them)"
    )


def test_a_section_left_empty_is_its_default() -> None:
    site = load_site(SMALL + "identities:\nreserved_ports:\ngates:\n", "site.yaml")
    assert (site.identities, site.reserved_ports, site.gates.bad_link_share) == ({}, [], 0.10)


def test_an_empty_group_is_an_error_not_a_group_left_out() -> None:
    message = str(error_of(SMALL + "identities: {0x1: }\n"))
    assert message == "site.yaml:29: identities.0x1: expected text, found nothing"


def test_an_inline_plan_keeps_its_lines_for_the_generators_errors() -> None:
    from fabricctl.errors import PlanError
    from fabricctl.plan.yaml_doc import plan_from_mapping

    text = SMALL.replace("plan: {file: one.csv}", "plan:\n      fat-tree:\n        unitz: 2")
    inline = load_site(text, "site.yaml").fabrics["one"].plan.inline
    with pytest.raises(PlanError, match="did you mean units") as caught:
        plan_from_mapping(inline, "site.yaml")
    assert caught.value.line == 26


@given(st.text(max_size=300))
@settings(max_examples=60, deadline=None)
def test_arbitrary_text_is_never_anything_but_a_site_error(text: str) -> None:
    with pytest.raises(SiteError) as caught:
        load_site(text, "site.yaml")
    assert "\n" not in str(caught.value)


@given(
    st.integers(0, len(SMALL)),
    st.integers(0, 12),
    st.sampled_from(["", "x", "~", "[", "}", ": ", "- ", "\n", "'", "&a ", "*a", "!!x ", "-1", "h[1-", "0"]),
)
@settings(max_examples=100, deadline=None)
def test_a_damaged_site_file_is_read_or_refused_with_a_site_error(at: int, cut: int, put: str) -> None:
    assert all("\n" not in message for message in messages_of(SMALL[:at] + put + SMALL[at + cut :]))
