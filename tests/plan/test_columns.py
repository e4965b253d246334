"""Headers of real tables, and what each of their columns is."""

from __future__ import annotations

import pytest

from fabricctl.plan.columns import Columns, Role, Side, guess_header, header_error


def columns(header: str) -> Columns:
    guess = guess_header(header.split(","))
    assert guess.columns is not None, guess.missing
    return guess.columns


def ends(header: str) -> tuple[int, int, int, int]:
    found = columns(header)
    return found.a.device, found.a.port, found.z.device, found.z.port


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        ("a_device,a_port,z_device,z_port", (0, 1, 2, 3)),
        ("#StartDevice,StartPort,EndDevice,EndPort,LinkType", (0, 1, 2, 3)),
        ("STARTDEVICE,STARTPORT,ENDDEVICE,ENDPORT", (0, 1, 2, 3)),
        ("A-Node,A-Type,A-Port,Z-Node,Z-Type,Z-Port", (0, 2, 3, 5)),
        ("source,source_port,destination,destination_port", (0, 1, 2, 3)),
        ("From,From Port,To,To Port", (0, 1, 2, 3)),
        ("Local Device,Local Interface,Remote Device,Remote Interface", (0, 1, 2, 3)),
        ("device1,port1,device2,port2", (0, 1, 2, 3)),
        ("A end device,A end port,B end device,B end port", (0, 1, 2, 3)),
        ("cable,To,To port,From,From port", (3, 4, 1, 2)),
        ("\ufeffa_device,a_port,z_device,z_port", (0, 1, 2, 3)),
    ],
)
def test_device_and_port_columns_are_found(header: str, expected: tuple[int, int, int, int]) -> None:
    assert ends(header) == expected


def test_ndt_header_with_unnamed_columns_and_a_u_height_per_side() -> None:
    found = columns(
        ",rack #,U height,#Fields:StartDevice,StartPort,StartDeviceLocation,EndDevice,EndPort,"
        "EndDeviceLocation,U height,LinkType,Speed,,Cable Length,,,,,"
    )
    assert found.a == Side(device=3, port=4, rack=1, unit=2, location=5)
    assert found.z == Side(device=6, port=7, location=8, unit=9)
    assert (found.protocol, found.speed, found.length, found.cable) == (10, 11, 13, -1)


def test_cvt_header_up_to_1_6_takes_sides_by_order() -> None:
    found = columns("Rack,U,Name,HCA/Port,Rack,U,Name,Port")
    assert found.a == Side(device=2, port=3, rack=0, unit=1)
    assert found.z == Side(device=6, port=7, rack=4, unit=5)


def test_cvt_example_that_calls_the_second_u_name_is_read_as_meant() -> None:
    found = columns("Rack,U,Name,HCA/Port,Rack,Name,Name,Port")
    assert found.z == Side(device=6, port=7, rack=4, unit=5)


def test_cvt_1_7_1_links_sheet() -> None:
    found = columns(
        "A-Node,A-Port,Z-Node,Z-Port,Protocol,Shuffle-ID,A-Connector,A-MPO-Connector,Z-Connector,"
        "Z-MPO-Connector,A-Module-PN,Z-Module-PN,Source-Ref"
    )
    assert found.a == Side(device=0, port=1, connector=6, mpo=7, module=10)
    assert found.z == Side(device=2, port=3, connector=8, mpo=9, module=11)
    assert (found.protocol, found.cable) == (4, 5)


def test_shcd_header_takes_what_follows_each_device() -> None:
    found = columns("Source,Rack,Location,Slot,,Port,Destination,Rack,Location,,Port,Length,Label")
    assert found.a == Side(device=0, port=5, hca=3, rack=1, location=2)
    assert found.z == Side(device=6, port=10, rack=7, location=8)
    assert (found.length, found.cable) == (11, 12)


def test_export_header_with_every_column() -> None:
    found = columns(
        "a_device,a_port,z_device,z_port,a_rack,a_u,z_rack,z_u,speed,class,length_m,cable,a_type,z_type,"
        "a_guid,z_guid"
    )
    assert found.a == Side(device=0, port=1, rack=4, unit=5, type=12, guid=14)
    assert found.z == Side(device=2, port=3, rack=6, unit=7, type=13, guid=15)
    assert (found.speed, found.link_class, found.length, found.cable) == (8, 9, 10, 11)


@pytest.mark.parametrize(
    ("header", "switch", "host"),
    [
        ("switch,port,host,hca", Side(0, 1, role=Role.SWITCH), Side(2, -1, 3, role=Role.HOST)),
        ("switch,switch_port,host,host_port", Side(0, 1, role=Role.SWITCH), Side(2, 3, role=Role.HOST)),
    ],
)
def test_switch_and_host_columns_tell_the_roles(header: str, switch: Side, host: Side) -> None:
    found = columns(header)
    assert (found.a, found.z) == (switch, host)


def test_host_first_puts_the_host_on_side_a() -> None:
    found = columns("host,hca,switch,port")
    assert found.a == Side(device=0, hca=1, role=Role.HOST)
    assert found.z == Side(device=2, port=3, role=Role.SWITCH)


def test_a_missing_port_column_is_named_with_names_that_would_do() -> None:
    row = ["#StartDevice", "EndDevice", "EndPort", "LinkType"]
    guess = guess_header(row)
    assert guess.columns is None
    text = str(header_error(row, guess, path="x.ndt", line=1))
    assert text.startswith("x.ndt:1: the header has no column for the port of the first end")
    assert "StartPort" in text


def test_a_misspelt_header_gets_the_nearest_name() -> None:
    row = ["StartDevise", "StartPort", "EndDevice", "EndPort"]
    assert "for 'StartDevise' did you mean StartDevice?" in str(
        header_error(row, guess_header(row), path="x", line=1)
    )


@pytest.mark.parametrize("row", ["leaf1,1,spine1,2", "cyber sport > usual sport", "", "1,2,3,4", "name,age"])
def test_data_and_prose_are_no_header(row: str) -> None:
    assert guess_header(row.split(",")).columns is None
