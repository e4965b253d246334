"""Part and serial numbers of cables and transceivers in ibdiagnet2's db_csv."""

from __future__ import annotations

from discovery_samples import DB_CSV, HCA, LEAF, SPINE
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.discovery import db_csv
from fabricctl.discovery.merge import merge
from fabricctl.discovery.model import Observation, ProblemKind
from fabricctl.fabric import LinkDetail, Port

HEADER = "NodeGuid,PortGuid,PortNum,Source,Vendor,OUI,PN,SN,Rev,LengthDesc"
SAMPLE = 'NodeGuid,PortNum,Vendor,"PN, with a comma"'


def parse(*rows: str, header: str = HEADER) -> Observation:
    return db_csv.parse(DB_CSV.replace(SAMPLE, "\n".join((header, *rows))))


def detail(observation: Observation, port: Port) -> LinkDetail | None:
    return observation.fabric.links[port].detail


def row(node: str, port: int, part: str, serial: str, length: str = "N/A") -> str:
    return f'{node},{node},{port},SMP,"Mellanox",0x2c9,"{part}      ","{serial} ",A2,"{length}"'


def test_one_serial_at_both_ends_is_one_cable_with_its_length() -> None:
    seen = parse(
        row(SPINE, 1, "MCP4Y10-N001", "MT2330X00001", "1 m"), row(LEAF, 2, "MCP4Y10-N001", "MT2330X00001")
    )
    assert detail(seen, Port(LEAF, 2)) == LinkDetail(
        assembly="twin_dac", part_number="MCP4Y10-N001", serial="MT2330X00001", length_m=1.0
    )
    assert seen.fabric.links[Port(LEAF, 2)] is seen.fabric.links[Port(SPINE, 1)]
    assert detail(seen, Port(LEAF, 1)) is None


def test_different_serials_are_two_transceivers() -> None:
    seen = parse(row(LEAF, 1, "MMA4Z00-NS", "MT1"), row(HCA, 1, "MMA4Z00-NS400", "MT2"))
    link = seen.fabric.links[Port(LEAF, 1)]
    assert link.detail is not None
    by_end = dict(zip((link.a.node, link.b.node), link.detail.modules, strict=True))
    assert by_end == {LEAF: "MMA4Z00-NS", HCA: "MMA4Z00-NS400"}
    assert (link.detail.part_number, link.detail.assembly) == ("", "")


def test_a_port_guid_is_enough_and_unknown_ports_are_left_alone() -> None:
    seen = parse(f"{LEAF},2,X,Y", "0x1234,2,X,Y", f"{LEAF},77,X,Y", header="PortGuid,PortNum,PN,SN")
    assert detail(seen, Port(LEAF, 2)) == LinkDetail(modules=("", "X")) or detail(
        seen, Port(LEAF, 2)
    ) == LinkDetail(modules=("X", ""))


def test_rows_that_are_not_understood_are_counted_and_cost_nothing_else() -> None:
    seen = parse(row(LEAF, 1, "A", "B"), "1,2,3", '"open quote')
    (note,) = (problem for problem in seen.problems if "CABLE_INFO" in problem.text)
    assert note.kind is ProblemKind.VIEWER_NOTE
    assert note.text.startswith("2 rows of the table CABLE_INFO were not understood")
    assert seen.fabric.link_count == db_csv.parse(DB_CSV).fabric.link_count


def test_no_such_table_is_no_matter() -> None:
    plain = DB_CSV[: DB_CSV.index("START_CABLE_INFO")]
    assert all(link.detail is None for link in db_csv.parse(plain).fabric.each_link())


def test_merging_with_another_source_keeps_it_whichever_comes_first() -> None:
    rows = (row(LEAF, 1, "MMA4Z00-NS", "MT1"), row(HCA, 1, "MMA4Z00-NS400", "MT2"))
    for pair in ((parse(*rows), db_csv.parse(DB_CSV)), (db_csv.parse(DB_CSV), parse(*rows))):
        link = merge(list(pair)).fabric.links[Port(LEAF, 1)]
        assert link.detail is not None
        by_end = dict(zip((link.a.node, link.b.node), link.detail.modules, strict=True))
        assert by_end == {LEAF: "MMA4Z00-NS", HCA: "MMA4Z00-NS400"}


@given(st.lists(st.text(st.characters(blacklist_characters="\n\r"), max_size=40), max_size=4))
@settings(deadline=None)
def test_any_rows_are_read_or_counted(rows: list[str]) -> None:
    safe = [line for line in rows if not line.strip().startswith(("START_", "END_"))]
    assert parse(*safe).fabric.link_count == 2
