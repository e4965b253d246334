from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcDeadlineError, BmcNotFoundError
from provision.bmc.firmware import (
    Component,
    firmware_findings,
    judge,
    matching,
    read_components,
    spreads,
)
from provision.bmc.versions import Relation, relation, version_key
from provision.redfish.bmc import Group, Members
from provision.workflows.firmware import INVENTORY, read_firmware
from tests.provision.dumps import dgx, r750
from tests.provision.stateful_bmc import StatefulBmc, run

# ---- versions ------------------------------------------------------------------------------------------------------

VERSIONS = st.one_of(
    st.from_regex(r"[0-9A-Fa-f]{1,4}([._-][0-9A-Za-z]{1,4}){0,4}", fullmatch=True), st.text(max_size=12)
)


@pytest.mark.parametrize(
    ("have", "want", "expected"),
    [
        # texts as the dumps hold them; the BIOS of the DGX is 01.01.03 in one place and 1.1.3 in another
        ("01.01.03", "1.1.3", Relation.SAME),
        ("6.00.30.00", "6.00.30", Relation.SAME),
        ("21.80.9", "21.80.16.95", Relation.OLDER),
        ("1.10.2", "1.9.2", Relation.NEWER),
        ("4.40.29.00", "6.00.30.00", Relation.OLDER),
        ("96.10.4A.00.01", "96.10.50.00.01", Relation.OLDER),  # hexadecimal digits
        ("1.7.5F", "1.7.60", Relation.OLDER),
        ("00.2A.2B", "00.2a.2b", Relation.SAME),
        ("20.31.10.14", "20.31.10", Relation.NEWER),
        ("HGX-22.10-1-rc57", "HGX-22.10-1-rc9", Relation.OTHER),  # no vendor says how letters order
        ("G520.0200.00.05", "G525.0200.00.05", Relation.OTHER),
        ("4301A56", "4301A57", Relation.OTHER),
    ],
)
def test_versions_compare_by_their_numbers(have: str, want: str, expected: Relation) -> None:
    assert relation(have, want) is expected


@given(VERSIONS, VERSIONS)
def test_turning_a_comparison_around_turns_its_result_around(one: str, two: str) -> None:
    turned = {Relation.OLDER: Relation.NEWER, Relation.NEWER: Relation.OLDER}
    there = relation(one, two)
    assert relation(two, one) is turned.get(there, there)


@given(VERSIONS, VERSIONS, VERSIONS)
def test_version_keys_are_a_total_order(one: str, two: str, three: str) -> None:
    a, b, c = version_key(one), version_key(two), version_key(three)
    assert (a < b) + (a == b) + (a > b) == 1
    assert not (a <= b and b <= c) or a <= c
    assert (a == b) == (relation(one, two) is Relation.SAME)


# ---- the inventories of the dumps ----------------------------------------------------------------------------------


@pytest.mark.captures
def test_the_r750_lists_installed_current_and_previous(captures: Path) -> None:
    found = run(read_firmware(r750(captures))).components
    # counted by hand in the dump: 29 entries, of them ids that begin Installed-, Current- and Previous-
    assert [sum(part.state == state for part in found) for state in ("installed", "current", "previous")] == [
        21,
        6,
        2,
    ]
    bios = {part.state: part.version for part in found if part.fqdd == "BIOS.Setup.1-1"}
    assert bios == {"installed": "1.8.2", "current": "1.8.2", "previous": "1.2.4"}


@pytest.mark.captures
def test_component_id_0_is_told_apart_by_place(captures: Path) -> None:
    found = run(read_firmware(r750(captures))).components
    zero = {part.fqdd: part.version for part in found if part.component_id == "0"}
    assert zero == {
        "InfiniBand.Slot.7-1": "20.31.10.14",
        "InfiniBand.Slot.7-2": "20.31.10.14",
        "NIC.Slot.5-1": "24.40.10.00",
        "Disk.Bay.0:Enclosure.Internal.0-1": "2.1.3",
        "Disk.Bay.1:Enclosure.Internal.0-1": "2.1.3",
        "Disk.Bay.2:Enclosure.Internal.0-1": "2.1.3",
    }


@pytest.mark.captures
def test_a_mac_is_no_part_of_a_components_name(captures: Path) -> None:
    found = run(read_firmware(r750(captures))).components
    names = {part.name for part in found if part.fqdd.startswith("NIC.Integrated")}
    assert names == {"Broadcom Adv. Dual 25Gb Ethernet"}


@pytest.mark.captures
def test_the_dgx_whose_ids_have_no_form_is_read_too(captures: Path) -> None:
    found = run(read_firmware(dgx(captures))).components
    assert len(found) == 66
    assert {part.state for part in found} == {"installed"}


# ---- what a baseline's word means ----------------------------------------------------------------------------------


@pytest.mark.captures
@pytest.mark.parametrize(
    ("word", "places"),
    [
        ("BIOS", ["BIOS.Setup.1-1"]),
        ("idrac", ["iDRAC.Embedded.1-1"]),
        ("ConnectX-6", ["InfiniBand.Slot.7-1", "InfiniBand.Slot.7-2"]),
        ("Power Supply", ["PSU.Slot.1", "PSU.Slot.2"]),
        ("PSU", ["PSU.Slot.1", "PSU.Slot.2"]),
        ("NIC.Slot.5-1", ["NIC.Slot.5-1"]),
        ("System CPLD", ["CPLD.Embedded.1"]),
        ("Perfect Switch", []),
    ],
)
def test_words_of_a_baseline_find_parts_of_the_r750(captures: Path, word: str, places: list[str]) -> None:
    found = run(read_firmware(r750(captures))).components
    assert [part.fqdd for part in matching(word, found)] == places


@pytest.mark.captures
@pytest.mark.parametrize(
    ("word", "ids"),
    [
        ("BIOS", ["HostBIOS_0"]),  # not EROT_BIOS_0, the root of trust beside it
        ("BMC", ["HostBMC_0"]),
        ("HGX_FW_GPU", [f"HGX_FW_GPU_SXM_{number}" for number in range(1, 9)]),  # not HGX_FW_ERoT_GPU_*
        ("HGX_FW_BMC_0", ["HGX_FW_BMC_0"]),
        ("PSU", [f"PSU_{number}" for number in range(6)]),
    ],
)
def test_words_of_a_baseline_find_parts_of_the_dgx(captures: Path, word: str, ids: list[str]) -> None:
    found = run(read_firmware(dgx(captures))).components
    assert [part.id for part in matching(word, found)] == ids


@pytest.mark.captures
def test_a_baseline_is_judged_line_by_line(captures: Path) -> None:
    found = run(read_firmware(r750(captures))).components
    baseline = {"BIOS": "1.9.2", "iDRAC": "6.00.30", "ConnectX-6": "20.31.10.14", "Perfect Switch": "1"}
    judged = judge("gpu001", found, baseline)
    assert [(one.component, one.words) for one in judged] == [
        ("BIOS", "older"),
        ("iDRAC", "as wanted"),
        ("ConnectX-6", "as wanted"),
        ("ConnectX-6", "as wanted"),
        ("Perfect Switch", "could not tell"),
    ]
    assert [finding.text for finding in firmware_findings(judged)] == [
        "gpu001: BIOS should be 1.9.2, is 1.8.2 (older): BIOS.Setup.1-1"
    ]


def _hca(slot: int, version: str) -> Component:
    return Component(f"i{slot}", "ConnectX-7", version, f"InfiniBand.Slot.{slot}-1")


def test_every_part_that_matches_must_have_the_version() -> None:
    judged = judge("gpu001", [_hca(1, "28.39"), _hca(2, "28.36")], {"ConnectX-7": "28.39"})
    assert [one.right for one in judged] == [True, False]
    assert [finding.part for finding in firmware_findings(judged)] == ["InfiniBand.Slot.2-1"]


def test_a_part_whose_version_is_not_told_is_no_finding_and_not_right() -> None:
    judged = judge("gpu001", [_hca(1, "")], {"ConnectX-7": "28.39"})
    assert [(one.words, one.right) for one in judged] == [("could not tell", False)]
    assert firmware_findings(judged) == []


# ---- across the fleet ----------------------------------------------------------------------------------------------


def test_the_odd_one_out_is_seen_without_any_baseline() -> None:
    fleet = {f"gpu{n:03d}": [Component("a", "BIOS", "2.4.4" if n != 7 else "2.3.1")] for n in range(1, 11)}
    (row,) = spreads(fleet, {})
    assert row.odd == {"2.3.1": ("gpu007",)}


def test_two_versions_equally_common_are_both_shown() -> None:
    fleet = {"gpu001": [Component("a", "BIOS", "1.1")], "gpu002": [Component("a", "BIOS", "1.2")]}
    assert list(spreads(fleet, {})[0].odd) == ["1.2", "1.1"]


def test_the_same_version_written_in_two_ways_is_one_row() -> None:
    fleet = {
        "gpu001": [Component("a", "HostBIOS", "01.01.03")],
        "gpu002": [Component("a", "HostBIOS", "1.1.3")],
    }
    assert [len(hosts) for hosts in spreads(fleet, {})[0].versions.values()] == [2]


def test_models_are_not_compared_with_each_other() -> None:
    fleet = {"a": [Component("a", "BIOS", "1.8.2")], "b": [Component("a", "BIOS", "2.4.4")]}
    assert [row.odd for row in spreads(fleet, {"a": "r750", "b": "xe9680"})] == [{}, {}]


@pytest.mark.captures
def test_parts_of_one_kind_share_a_row_whatever_their_slot(captures: Path) -> None:
    rows = spreads({"gpu001": run(read_firmware(dgx(captures))).components}, {})
    # PCIeSwitch_0 has 0.0.7 and PCIeSwitch_1 has 1.0.7 on every DGX: no odd one
    assert [(row.versions, row.odd) for row in rows if row.kind == "PCIeSwitch"] == [
        ({"0.0.7 + 1.0.7": ("gpu001",)}, {})
    ]


def test_an_entry_that_is_only_half_there_is_kept() -> None:
    (part,) = read_components([{"@odata.id": f"{INVENTORY}/X", "Version": None, "Name": None}])
    assert (part.id, part.name, part.version) == ("X", "X", "")


# ---- slow and absent inventories -----------------------------------------------------------------------------------


class _SlowInventory(StatefulBmc):
    """Its whole inventory takes longer than any deadline; single entries answer."""

    async def members(self, path: str, group: Group = Group.QUICK, **options: object) -> Members:
        if path == INVENTORY:
            assert group is Group.SLOW
            raise BmcDeadlineError("no full answer within 45 s", bmc="gpu001")
        return await super().members(path, group)


@pytest.mark.captures
def test_an_inventory_that_takes_too_long_is_read_entry_by_entry(captures: Path) -> None:
    # https://github.com/dsx-ai-factory/infra-controller/issues/6419: DGX H100, expand takes longer than the deadline
    bmc = _SlowInventory(dgx(captures).resources, dgx(captures)._layout)
    found = run(read_firmware(bmc))
    assert (len(found.components), found.whole) == (66, True)
    assert [note.path for note in bmc.notes] == [INVENTORY]


@pytest.mark.captures
def test_one_entry_that_does_not_answer_does_not_cost_the_others(captures: Path) -> None:
    bmc = _SlowInventory(dgx(captures).resources, dgx(captures)._layout)
    del bmc.resources[f"{INVENTORY}/PSU_3"]
    found = run(read_firmware(bmc))
    assert len(found.components) == 65
    assert f"{INVENTORY}/PSU_3" in [note.path for note in bmc.notes]


@pytest.mark.captures
def test_without_an_inventory_bios_and_bmc_are_known_and_the_rest_is_said_to_be_missing(
    captures: Path,
) -> None:
    bmc = r750(captures)
    del bmc.resources[INVENTORY]
    found = run(read_firmware(bmc))
    assert not found.whole
    assert {part.name: part.version for part in found.components} == {
        "HostBIOS": "1.8.2",
        "HostBMC": "6.00.30.00",
    }
    assert [one.words for one in judge("gpu001", found.components, {"BIOS": "1.8.2", "PSU": "1"})] == [
        "as wanted",
        "could not tell",
    ]


def test_a_bmc_without_anything_is_an_error() -> None:
    with pytest.raises(BmcNotFoundError):
        run(read_firmware(StatefulBmc({})))
