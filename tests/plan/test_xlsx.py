"""Cabling workbooks; the numbers of cables were counted by hand in the raw sheets."""

from __future__ import annotations

import io
import sys
import zipfile
from collections import Counter
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import PlanError
from fabricctl.fabric import NodeKind, Place, Port
from fabricctl.plan import xlsx
from fabricctl.plan.model import PlanFormat
from fabricctl.plan.xlsx import parse_xlsx

HEADER = ("A-Node", "A-Port", "Z-Node", "Z-Port")


def workbook(**sheets: list[tuple[object, ...]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.worksheets[0])
    for name, rows in sheets.items():
        sheet = book.create_sheet(name)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def error(data: bytes, **options: object) -> str:
    with pytest.raises(PlanError) as caught:
        parse_xlsx(data, "c.xlsx", **options)  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
    return str(caught.value)


GOLDEN = {
    # workbook: cables per sheet; of the 39 rows of NON_COMPUTE_NODES six lead to SITE in two of the three
    "canu_Architecture_Golden_Config_Dellanox.xlsx": (16, 20, 14, 13),
    "canu_Full_Architecture_Golden_Config_1.1.5.xlsx": (34, 33, 20, 13),
    "canu_TDS_Architecture_Golden_Config_1.1.5.xlsx": (16, 33, 18, 13),
}
SHEETS = ("SWITCH_TO_SWITCH", "NON_COMPUTE_NODES", "HARDWARE_MANAGEMENT", "COMPUTE_NODES")


@pytest.mark.parametrize(("name", "counts"), GOLDEN.items())
def test_real_workbooks_have_as_many_cables_as_rows(
    captures: Path, name: str, counts: tuple[int, ...]
) -> None:
    plan = parse_xlsx((captures / "point_to_point" / name).read_bytes(), name)
    assert plan.format is PlanFormat.XLSX
    assert plan.fabric.link_count == sum(counts)
    for sheet, count in zip(SHEETS, counts, strict=True):
        assert f"Sheet '{sheet}': {count} cables read." in plan.notes


def test_slots_racks_and_units_of_a_real_workbook(captures: Path) -> None:
    data = (captures / "point_to_point" / "canu_Full_Architecture_Golden_Config_1.1.5.xlsx").read_bytes()
    plan = parse_xlsx(data, "full.xlsx")
    fabric = plan.fabric
    assert fabric.peer(Port("ncn-w001 ocp", 2)) == Port("sw-leaf-002", 6)
    assert fabric.nodes["ncn-w001 ocp"].place == Place("x3000", "u34")
    assert fabric.nodes["ncn-m001 pcie-slot1"].hca == "pcie-slot1"
    assert fabric.nodes["sw-leaf-bmc-001"].kind is NodeKind.SWITCH
    assert "6 rows that lead out of the system, to SITE without a port, were skipped." in plan.notes


def test_one_sheet_can_be_asked_for(captures: Path) -> None:
    data = (captures / "point_to_point" / "canu_test_validate_shcd.xlsx").read_bytes()
    plan = parse_xlsx(data, "shcd.xlsx", sheets=["25G_10G"])
    assert plan.fabric.link_count == 36
    # row 16 writes j52, rows 23 and 26 have a tab behind the slot
    assert plan.fabric.peer(Port("sw-25g01", 52)) == Port("sw-25g02", 52)
    assert plan.fabric.peer(Port("sn03 s1", 1)) == Port("sw-25g01", 14)
    assert Counter(node.kind for node in plan.fabric.nodes.values())[NodeKind.HCA] == 17


@pytest.mark.parametrize(
    ("sheets", "expected"),
    [
        ([], "c.xlsx[HMN]:15: the row names 'cn08' but not the device at the other end"),
        (["More_connections"], "c.xlsx[More_connections]:17: port 52 of sw-25g01 is used twice"),
        (["Bad_Headers"], "c.xlsx: the table has a header but no cable"),
        (["25G"], "c.xlsx: no sheet '25G'; the workbook has '25G_10G'"),
    ],
)
def test_broken_sheets_are_named_with_their_row(captures: Path, sheets: list[str], expected: str) -> None:
    data = (captures / "point_to_point" / "canu_test_validate_shcd.xlsx").read_bytes()
    assert error(data, sheets=sheets).startswith(expected)


def test_numbers_titles_and_foreign_sheets() -> None:
    data = workbook(
        Legend=[("white", "planned"), ("grey", "laid")],
        Links=[("Hall 3",), (), HEADER, ("leaf1", 1, "spine1", 2.0), ("leaf1", "Port 2", "spine2", 2)],
    )
    plan = parse_xlsx(data, "c.xlsx")
    assert {(link.a, link.b, link.line) for link in plan.fabric.each_link()} == {
        (Port("leaf1", 1), Port("spine1", 2), 4),
        (Port("leaf1", 2), Port("spine2", 2), 5),
    }
    assert plan.notes[0] == "Sheet 'Legend' was not read: it has no header row with known column names."
    assert plan.notes[1] == "Sheet 'Links': 2 cables read."


def test_a_port_used_in_two_sheets_names_both() -> None:
    data = workbook(One=[HEADER, ("a", 1, "b", 1)], Two=[HEADER, ("c", 1, "b", 1)])
    assert error(data).startswith("c.xlsx[Two]:2: port 1 of b is used twice")
    assert "(c.xlsx[One]:2)" in error(data)


def test_a_sheet_with_a_slip_in_its_header_is_not_passed_over() -> None:
    data = workbook(
        One=[HEADER, ("a", 1, "b", 1)], Two=[("A-Node", "A-Prot", "Z-Node", "Z-Port"), ("c", 1, "d", 1)]
    )
    assert error(data).startswith("c.xlsx[Two]:1: the header has no column for the port of the first end")


def test_no_sheet_with_a_header() -> None:
    assert "no header row with known column names; found 'x'" in error(workbook(One=[("x",)]))
    assert error(workbook(One=[])) == "c.xlsx: no sheet has a header row with known column names"


def test_an_old_or_encrypted_workbook() -> None:
    assert "save it as .xlsx" in error(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(512))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04", b"hello", workbook(One=[HEADER])[:-40]])
def test_a_cut_workbook(data: bytes) -> None:
    assert error(data).startswith("c.xlsx: the workbook cannot be read: BadZipFile")


def test_a_workbook_that_unpacks_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", bytes(3_000_000))
    monkeypatch.setattr(xlsx, "MAX_UNPACKED_BYTES", 1_000_000)
    assert error(out.getvalue()).startswith("c.xlsx: the workbook unpacks to 3,000,000 bytes")


def test_a_cell_in_a_row_no_sheet_has() -> None:
    source = zipfile.ZipFile(io.BytesIO(workbook(One=[HEADER, ("a", 1, "b", 1)])))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name in source.namelist():
            part = source.read(name)
            archive.writestr(name, part.replace(b'<row r="2"', b'<row r="99999999999"'))
    assert "the sheet goes on beyond 1,048,576 rows" in error(out.getvalue())


def test_without_openpyxl_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openpyxl", None)
    assert "pip install 'fabricctl[xlsx]'" in error(workbook(One=[HEADER]))


SAMPLE = workbook(One=[HEADER, ("a", 1, "b", 1), ("a", 2, "b", 2)])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, len(SAMPLE) - 1), st.integers(0, 255)), min_size=1, max_size=5))
def test_any_damage_is_a_plan_or_a_plan_error(damage: list[tuple[int, int]]) -> None:
    data = bytearray(SAMPLE)
    for at, value in damage:
        data[at] = value
    try:
        said = " ".join(parse_xlsx(bytes(data), "c.xlsx").notes)
    except PlanError as exc:
        said = str(exc)
    assert said
    assert "\n" not in said


CVT_LINKS = (
    *("A-Node", "A-Port", "Z-Node", "Z-Port", "Protocol", "Shuffle-ID", "A-Connector", "A-MPO-Connector"),
    *("Z-Connector", "Z-MPO-Connector", "A-Module-PN", "Z-Module-PN", "Source-Ref"),
)


def test_a_cvt_1_7_1_workbook_keeps_connectors_and_modules() -> None:
    nodes = ("FabricId", "Rack", "Unit", "TrayIndex", "NodeName", "NodeType", "NodeOs", "NodeModel")
    link = ("leaf-01", "sw3p1", "spine-01", "sw1p2", "ib", 7, 3, 1, 4, 2, "MMA4Z00-NS", "MMS4X00-NM", 12)
    plan = parse_xlsx(workbook(Nodes=[nodes, ("f1", "A1", 3, 1, "leaf-01", "switch", "nvos", "QM9700")],
                               Links=[CVT_LINKS, link]), "cvt.xlsx")  # fmt: skip
    (cable,) = plan.fabric.each_link()
    assert (cable.a.number, cable.b.number) == (5, 2)
    assert cable.detail is not None
    assert (cable.detail.cable, cable.detail.connectors) == ("7", ("3, MPO 1", "4, MPO 2"))
    assert cable.detail.modules == ("MMA4Z00-NS", "MMS4X00-NM")


def test_a_cell_above_the_header_says_what_port_numbers_are() -> None:
    header = ("a_device", "a_type", "a_port", "z_device", "z_type", "z_port")
    rows = [("leaf1", "QM9700", 14, "spine1", "QM9700", 1), ("leaf1", "QM9700", 14, "spine1", "QM9700", 1)]
    plan = parse_xlsx(workbook(Cables=[("# port-numbers: cage",), header, *rows]), "c.xlsx")
    assert {(link.a.number, link.b.number) for link in plan.fabric.each_link()} == {(27, 1), (28, 2)}
