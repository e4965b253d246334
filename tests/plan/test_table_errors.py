"""Tables that cannot be used: one line with file, line, what was expected and what was found."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import PlanError
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.model import Plan
from fabricctl.plan.ndt import looks_like_ndt, looks_like_table
from fabricctl.plan.table import parse_csv

HEADER = "a_device,a_port,z_device,z_port"


def error(*rows: str, header: str = HEADER, site: object = None) -> str:
    with pytest.raises(PlanError) as caught:
        parse_csv("\n".join((header, *rows)) + "\n", "c.csv", site=site)  # type: ignore[arg-type]
    text = str(caught.value)
    assert "\n" not in text
    return text


class Site:
    """A site with one three-port switch and one host of two HCAs."""

    def switch_model(self, device: str) -> SwitchModel | None:
        return SwitchModel("TINY", 3, labels={"a1": 1}, shown={1: "A1"}) if device == "tiny" else None

    def node_model(self, host: str) -> NodeModel | None:
        return NodeModel("box", ("mlx5_0", "mlx5_1")) if host == "box1" else None

    def place(self, device: str) -> None:
        return None


def test_an_empty_file() -> None:
    assert "c.csv: the file is empty" in error(header="")


def test_prose_instead_of_a_header() -> None:
    assert error(header="cyber sport > usual sport").startswith(
        "c.csv:1: no header row with known column names; found 'cyber sport > usual sport', expected for example "
        "a_device,a_port,z_device,z_port"
    )


def test_a_header_without_rows() -> None:
    assert error() == "c.csv: the table has a header but no cable"


def test_only_rows_of_other_link_types() -> None:
    text = error("a,1,b,1,Ethernet", header=HEADER + ",Protocol")
    assert text == "c.csv: the table has a header but no cable; 1 rows of link type Ethernet were skipped"


def test_an_unknown_link_type_is_not_skipped_in_silence() -> None:
    text = error("a,1,b,1,Dta", header=HEADER + ",LinkType")
    assert text == "c.csv:2: link type 'Dta' is not known (did you mean data?)"


def test_a_port_used_by_two_cables_names_both_lines() -> None:
    text = error("a,1,b,1", "# note", "c,1,b,1")
    assert text == (
        "c.csv:4: port 1 of b is used twice: it carries the cable to port 1 of a (line 2) and here one to port 1 of c"
    )


def test_two_devices_of_one_name_in_two_racks_are_named_as_such() -> None:
    text = error("a,1,b,1,R1", "a,1,b,2,R2", header=HEADER + ",a_rack")
    assert "a stands in R1 and in R2; two devices need two names" in text


def test_one_cable_with_two_speeds() -> None:
    text = error("a,1,b,1,HDR", "b,1,a,1,NDR", header=HEADER + ",speed")
    assert text.startswith(
        "c.csv:3: the cable between port 1 of a and port 1 of b is 4xNDR here and 4xHDR before"
    )


def test_a_cable_with_both_ends_in_one_port() -> None:
    assert "c.csv:2: both ends are port 1 of a" in error("a,1,A,1")


@pytest.mark.parametrize("row", ["a,1,,", "a,1", ",,b,2", "a,1,#REF!,2", "#REF!,1,a,2"])
def test_a_row_with_one_end(row: str) -> None:
    assert error("x,1,y,1", row).startswith("c.csv:3: ")


def test_a_row_without_a_port() -> None:
    assert error("a,,b,1") == "c.csv:2: the row names no port of 'a'"


@pytest.mark.parametrize("port", ["abra", "0", "255", "Port", "mlx9_0"])
def test_a_port_that_means_nothing_says_what_would(port: str) -> None:
    text = error(f"a,{port},b,1")
    assert text.startswith(
        f"c.csv:2: port '{port}' of 'a' is not understood; expected a port number, 'Port 21'"
    )


def test_a_label_that_a_spreadsheet_made_a_date() -> None:
    assert "turned this label into a date" in error("a,2024-01-14,b,1")


def test_a_front_panel_label_without_a_model() -> None:
    text = error("a,77/1,b,1")
    assert text.startswith("c.csv:2: port '77/1' of 'a' is a front-panel label, its switch model is not told")
    assert "a_type" in text


def test_a_label_that_the_model_lacks() -> None:
    assert error("tiny,4,b,1", site=Site()) == (
        "c.csv:2: port '4' of 'tiny': a TINY has no such port; expected 1 to 3 or a label such as A1"
    )


def test_a_host_has_only_as_many_ports() -> None:
    assert error("box1,3,b,1", site=Site()) == (
        "c.csv:2: port 3 of host 'box1': a box has only 2 ports, on mlx5_0, mlx5_1"
    )


def test_a_device_cannot_be_host_and_switch() -> None:
    text = error("a,mlx5_0,b,1", "a,Blade 1_Port 1/1,c,1")
    assert text == (
        "c.csv:3: 'a' is a switch here (port 'Blade 1_Port 1/1') but line 2 makes it a host (port 'mlx5_0')"
    )


def test_a_port_cell_that_names_another_host() -> None:
    text = error("gpu1,gpu2 mlx5_0,b,1")
    assert text == "c.csv:2: port 'mlx5_0' names the host 'gpu2', the device is 'gpu1'"


@pytest.mark.parametrize(
    ("column", "cell", "expected"),
    [
        ("speed", "fast", "speed 'fast' is not understood; expected HDR, 4xNDR, 200G"),
        ("length_m", "long", "length 'long' is not understood; expected metres"),
        ("a_guid", "zzz", "GUID 'zzz' is not understood; expected up to 16 hexadecimal digits"),
    ],
)
def test_cells_that_say_nothing_known(column: str, cell: str, expected: str) -> None:
    assert f"c.csv:2: {expected}" in error(f"a,1,b,1,{cell}", header=f"{HEADER},{column}")


def test_one_guid_for_two_devices() -> None:
    text = error("a,1,b,1,0x1,0x1", header=HEADER + ",a_guid,z_guid")
    assert "GUID 0x0000000000000001 of 'b' already belongs to 'a'" in text


def test_a_quote_left_open_does_not_swallow_the_rest() -> None:
    assert error("a,1,b,1", '"c,1,d,1', "e,1,f,1").startswith("c.csv:3: ")


def test_a_quoted_header_alone() -> None:
    assert error(header='"a_device",a_port,z_device,z_port') == "c.csv: the table has a header but no cable"


def test_a_stray_pair_of_quotes_around_rows_is_seen() -> None:
    text = error('a,1,b,1,"x', "c,1,d,1,y", 'e,1,f,1,z"', header=HEADER + ",note")
    assert text.startswith("c.csv:2: a quoted cell goes over several lines")


def test_a_very_long_name() -> None:
    assert "has 500 characters" in error(f"{'x' * 500},1,b,1")


WORDS = (
    *(
        "",
        "-",
        "1",
        "0",
        "Port 3",
        "mlx5_0",
        "gpu1 mlx5_0",
        "Blade 1_Port 1/2",
        "14/1",
        "sw1p1",
        "IB Port 2",
        "#N/A",
    ),
    *(
        "a_device",
        "a_port",
        "z_device",
        "z_port",
        "StartDevice",
        "rack",
        "U",
        "speed",
        "HDR",
        "LinkType",
        "QM9700",
    ),
)
CELLS = st.one_of(st.sampled_from(WORDS), st.text(max_size=8))


def outcome(text: str) -> Plan | PlanError:
    try:
        return parse_csv(text, "x.csv")
    except PlanError as exc:
        return exc


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(CELLS, max_size=8), max_size=8), st.sampled_from([",", ";", "\t"]), st.booleans())
def test_any_table_is_a_plan_or_a_plan_error(rows: list[list[str]], delimiter: str, headed: bool) -> None:
    header = [[*HEADER.split(","), "a_type", "speed", "a_rack", "LinkType"]] if headed else []
    text = "\n".join(delimiter.join(row) for row in header + rows)
    looks_like_table(text)
    looks_like_ndt(text)
    result = outcome(text)
    if isinstance(result, PlanError):
        assert "\n" not in str(result)
    else:
        assert result.fabric.link_count > 0
        assert all(port.node in result.fabric.nodes for port in result.fabric.links)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=300))
def test_any_text_is_a_plan_or_a_plan_error(text: str) -> None:
    assert isinstance(outcome(text), Plan | PlanError)
