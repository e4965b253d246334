"""Kinds of cables, connectors and modules in cabling tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.cable_kinds import AssemblyType as Kind
from fabricctl.cable_kinds import Ends, assembly_of_part, read_assembly
from fabricctl.fabric import LinkDetail
from fabricctl.plan.export import to_csv
from fabricctl.plan.model import Plan
from fabricctl.plan.table import parse_csv
from fabricctl.rates import Rate


def details(text: str) -> list[LinkDetail]:
    plan = parse_csv(text, "c.csv")
    return [link.detail or LinkDetail() for link in plan.fabric.each_link()]


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("twin_dac", Kind.TWIN_DAC),
        ("fibre_split_1x2", Kind.FIBRE_SPLIT_2),
        ("Fiber", Kind.FIBRE),
        ("MPO-12 OM4 trunk", Kind.FIBRE),
        ("fibre splitter", Kind.FIBRE_SPLIT_2),
        ("Fiber 1:2", Kind.FIBRE_SPLIT_2),
        ("DAC splitter 1:2", Kind.DAC_SPLIT_2),
        ("DAC 1x4", Kind.DAC_SPLIT_4),
        ("ACC breakout 1:2", Kind.DAC_SPLIT_2),
        ("800G twin DAC", Kind.TWIN_DAC),
        ("2x400G ACC", Kind.TWIN_ACC),
        ("AOC", Kind.SINGLE_DAC),
        ("MFP7E10-N010", Kind.FIBRE),
        ("980-9I73X-00N010 MFP7E20-N010", Kind.FIBRE_SPLIT_2),
        ("mca7j65-n004", Kind.DAC_SPLIT_2),
        ("DAC", None),  # depends on its cages
        ("blue, 3 m", None),
        ("", None),
    ],
)
def test_words_and_part_numbers_name_kinds(text: str, kind: Kind | None) -> None:
    assert read_assembly(text) is kind


@pytest.mark.parametrize(
    ("ends", "rate", "kind"),
    [
        (Ends((2, 2)), None, Kind.TWIN_DAC),
        (Ends((1, 1)), None, Kind.SINGLE_DAC),
        (Ends((2, 0), host=True), None, Kind.DAC_SPLIT_2),
        (Ends((1, 0), host=True), None, Kind.SINGLE_DAC),
        (Ends(), Rate(4, "NDR"), Kind.TWIN_DAC),
        (Ends(), Rate(4, "HDR"), Kind.SINGLE_DAC),
        (Ends(host=True), Rate(4, "NDR"), Kind.DAC_SPLIT_2),
        (Ends(), None, None),
    ],
)
def test_a_plain_dac_is_what_its_cages_make_of_it(ends: Ends, rate: Rate | None, kind: Kind | None) -> None:
    assert read_assembly("DAC", ends, rate) is kind


def test_part_numbers_of_the_published_table_have_its_kinds(captures: Path) -> None:
    rows = json.loads((captures / "panels" / "assemblies.json").read_text("utf-8"))
    found = {row["type"]: assembly_of_part(row["pn"]) for row in rows}
    assert found == {
        "fibre_straight": Kind.FIBRE,
        "fibre_split_1x2": Kind.FIBRE_SPLIT_2,
        "twin_dac": Kind.TWIN_DAC,
        "twin_acc": Kind.TWIN_ACC,
        "dac_split_1x2": Kind.DAC_SPLIT_2,
        "dac_split_1x4": Kind.DAC_SPLIT_4,
        "transceiver_twin": None,
        "xdr_lacc": None,
    }


@given(st.text(max_size=40))
def test_any_text_names_a_kind_or_none(text: str) -> None:
    kind = read_assembly(text)
    assert kind is None or kind in set(Kind)


CVT = (
    "A-Node,A-Port,Z-Node,Z-Port,Protocol,Shuffle-ID,A-Connector,A-MPO-Connector,Z-Connector,Z-MPO-Connector,"
    "A-Module-PN,Z-Module-PN,Source-Ref\n"
    "leaf-01,sw3p1,spine-01,sw1p2,ib,SH-7,A3,1,Z1,MPO-2,MMA4Z00-NS,MMS4X00-NM,12\n"
    "leaf-01,sw3p2,spine-02,sw1p2,ib,,,,,,,,13\n"
    "leaf-01,eth0,mgmt-01,swp4,ethernet,,,,,,,,14\n"
)


def test_a_cvt_1_7_1_links_sheet_keeps_connectors_modules_and_the_shuffle() -> None:
    first, second = details(CVT)
    assert first.cable == "SH-7"
    assert first.connectors == ("A3, MPO 1", "Z1, MPO-2")
    assert first.modules == ("MMA4Z00-NS", "MMS4X00-NM")
    assert first.labels == ("sw3p1", "sw1p2")
    assert second == LinkDetail(labels=("sw3p2", "sw1p2"))


def test_type_part_and_serial_columns_of_other_sheets_are_read() -> None:
    (one, two, three) = details(
        "Source,Port,Destination,Port,Cable Type,Part Number,Serial,Length,Label,Speed\n"
        "leaf1,40,spine1,40,DAC,MCP4Y10-N001,MT2330X001,1m,L-1,NDR\n"
        "leaf1,41,spine1,41,fiber,,,10m,L-2,NDR\n"
        "leaf1,42,spine1,42,purple jumper,,,10m,,NDR\n"
    )
    assert (one.assembly, one.part_number, one.serial) == ("twin_dac", "MCP4Y10-N001", "MT2330X001")
    assert (one.cable, one.length_m) == ("L-1", 1.0)
    assert (two.assembly, two.part_number) == ("fibre_straight", "")
    assert (three.assembly, three.cable) == ("", "purple jumper")


def test_a_part_number_in_the_type_column_is_one() -> None:
    (one,) = details("a,a_port,b,b_port,cable type\nleaf1,40,spine1,40,MCP4Y10-N001\n")
    assert (one.assembly, one.part_number, one.cable) == ("twin_dac", "MCP4Y10-N001", "")


def columns_of(plan: Plan) -> list[LinkDetail]:
    return [(link.detail or LinkDetail())._replace(labels=("", "")) for link in plan.fabric.each_link()]


def test_export_carries_them_and_they_survive_reading() -> None:
    plan = parse_csv(CVT, "c.csv")
    text = to_csv(plan)
    header = text.splitlines()[0]
    assert header.endswith(
        "a_type,z_type,assembly,part_number,serial,a_connector,z_connector,a_module,z_module"
    )
    back = parse_csv(text, "export.csv")
    assert columns_of(back) == columns_of(plan)
    assert to_csv(back) == text


@given(
    st.sampled_from(["", *map(str, Kind)]),
    st.sampled_from(["", "MFP7E10-N010", "house brand"]),
    st.sampled_from(["", "MT1"]),
    st.sampled_from([("", ""), ("OSFP", "MPO 1"), ("MPO, 2", "")]),
)
def test_any_of_them_round_trips(kind: str, part: str, serial: str, connectors: tuple[str, str]) -> None:
    plan = parse_csv("a,a_port,b,b_port\nleaf1,40,spine1,40\n", "c.csv")
    fabric = plan.fabric
    (link,) = fabric.each_link()
    detail = LinkDetail(
        cable="C1", assembly=kind, part_number=part, serial=serial, connectors=connectors, modules=connectors
    )
    fabric.links = {}
    fabric.connect(link._replace(detail=detail))
    (back,) = columns_of(parse_csv(to_csv(plan), "export.csv"))
    known = assembly_of_part(part)
    assert back == detail._replace(assembly=kind or (known or ""))


HALL = "a_device,a_port,z_device,z_port,speed,length_m,{column}\n"


@pytest.mark.parametrize("column", ["cable_type", "cable", "medium"])
def test_a_splitter_that_may_be_of_fibre_or_copper_is_decided_by_its_length_or_said(column: str) -> None:
    rows = "h{0},mlx5_0,leaf,{0},NDR,{1},1:2 splitter\n"
    text = HALL.format(column=column) + "".join(rows.format(n, m) for n, m in enumerate((2, 2, 12, 12), 1))
    plan = parse_csv(text, "cables.csv")
    kinds = sorted(link.detail.assembly for link in plan.fabric.each_link() if link.detail)
    assert kinds == ["", "", "fibre_split_1x2", "fibre_split_1x2"]  # no copper cable is 12 m long
    (note,) = [note for note in plan.notes if "Cable type" in note]
    assert "'1:2 splitter' (2 rows, the first in line 2) does not say fibre or copper" in note


def test_a_word_that_is_no_kind_is_said_once_with_its_line_and_what_is_known() -> None:
    text = HALL.format(column="cable_type") + "h1,mlx5_0,leaf,1,NDR,2,DAC 1:2\n"
    text += "h2,mlx5_0,leaf,2,NDR,2,banana\nh3,mlx5_0,leaf,3,NDR,2,banana\n"
    (note,) = [note for note in parse_csv(text, "cables.csv").notes if "Cable type" in note]
    assert "'banana' (2 rows, the first in line 3)" in note
    assert "fibre 1:2" in note
    assert "dac_split_1x2" in note


def test_the_label_of_one_cable_is_no_kind() -> None:
    text = HALL.format(column="cable") + "h1,mlx5_0,leaf,1,NDR,2,MPO-0001\nh2,mlx5_0,leaf,2,NDR,2,MPO-0002\n"
    plan = parse_csv(text, "cables.csv")
    assert [link.detail.assembly for link in plan.fabric.each_link() if link.detail] == ["", ""]
    assert not any("Cable type" in note for note in plan.notes)
