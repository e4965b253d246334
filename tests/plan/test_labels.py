"""Port cells as sites write them."""

from __future__ import annotations

import pytest

from fabricctl.fabric import Place
from fabricctl.plan.cells import parse_length_m, parse_place, parse_speed
from fabricctl.plan.labels import (
    Label,
    Shape,
    canonical_hca,
    read_label,
    read_port_cell,
    same_host,
    split_device,
)
from fabricctl.rates import Rate


@pytest.mark.parametrize("text", ["21", "Port 21", "port21", "P21", "swp21", "ib21", "j21", "021"])
def test_these_are_port_21_without_a_model(text: str) -> None:
    label = read_label(text)
    assert (label.shape, label.number) == (Shape.NUMBER, 21)


@pytest.mark.parametrize("text", ["1/14/1", "14/1", "sw14p1", "P13.0", "IB1/5", "ib 1/14/2", "sw14p1s2"])
def test_front_panel_labels_wait_for_a_model(text: str) -> None:
    assert read_label(text).shape is Shape.PANEL


@pytest.mark.parametrize(
    ("text", "hca", "port"),
    [
        ("mlx5_3", "mlx5_3", 1),
        ("MLX5_3", "mlx5_3", 1),
        ("HCA-4", "HCA-4", 1),
        ("hca4", "HCA-4", 1),
        ("HCA 4", "HCA-4", 1),
        ("ibp11s0f0", "ibp11s0f0", 1),
        ("mlx5_0/1", "mlx5_0", 1),
        ("mlx5_0/2", "mlx5_0", 2),
        ("HCA-1 port 2", "HCA-1", 2),
        ("mlx5_bond_0", "mlx5_bond_0", 1),
        ("ib0", "ib0", 1),
    ],
)
def test_hca_labels(text: str, hca: str, port: int) -> None:
    label = read_label(text)
    assert (label.shape, label.hca, label.number) == (Shape.HCA, hca, port)


def test_ib_port_3_is_the_hosts_third() -> None:
    assert (read_label("IB Port 3").shape, read_label("IB Port 3").number) == (Shape.RUNNING, 3)


def test_director_label_gives_blade_asic_and_port() -> None:
    label = read_label("Blade 16_Port 2/20")
    assert (label.shape, label.blade, label.asic, label.number) == (Shape.BLADE, 16, 2, 20)


@pytest.mark.parametrize(
    "text", ["0", "255", "1000", "abra", "RCM", "2024-01-14", "Port", "Blade 0_Port 1/1"]
)
def test_the_rest_is_a_word(text: str) -> None:
    assert read_label(text).shape is Shape.WORD


def test_a_port_cell_may_repeat_the_host() -> None:
    label = read_port_cell("SAT111092710053 ibp11s0f0")
    assert (label.host, label.hca) == ("SAT111092710053", "ibp11s0f0")


@pytest.mark.parametrize(
    ("cell", "host", "hca"),
    [
        ("gpu001 mlx5_3", "gpu001", "mlx5_3"),
        ("gpu001 ib3", "gpu001", "ib3"),
        ("Server 4 mlx5_0", "Server 4", "mlx5_0"),
    ],
)
def test_a_device_cell_may_hold_the_hca(cell: str, host: str, hca: str) -> None:
    name, label = split_device(cell)
    assert label is not None
    assert (name, label.hca) == (host, hca)


def test_a_device_cell_may_hold_a_running_port() -> None:
    assert split_device("Server 1 IB Port 3") == ("Server 1", read_label("IB Port 3"))


@pytest.mark.parametrize("name", ["leaf1", "Rack IB0 #1", "CAN switch", "sw 12"])
def test_other_names_stay_whole(name: str) -> None:
    assert split_device(name) == (name, None)


def test_hca_spellings_meet() -> None:
    assert {canonical_hca(text) for text in ("HCA-4", "hca_4", "hca4", "Hca 4")} == {"HCA-4"}
    assert canonical_hca("pcie-slot1") == "pcie-slot1"


def test_full_and_short_host_names_meet() -> None:
    assert same_host("GPU001.example.net", "gpu001")
    assert not same_host("gpu001", "gpu002")


def test_an_empty_cell_is_no_label() -> None:
    assert read_label("") == Label(Shape.NONE, "")


@pytest.mark.parametrize(
    ("text", "rate"),
    [
        ("200000", Rate(4, "HDR")),
        ("100000", Rate(4, "EDR")),
        ("400", Rate(4, "NDR")),
        ("400G", Rate(4, "NDR")),
        ("400 Gb/s", Rate(4, "NDR")),
        ("800G", Rate(4, "XDR")),
        ("HDR", Rate(4, "HDR")),
        ("ndr", Rate(4, "NDR")),
        ("4xHDR", Rate(4, "HDR")),
        ("2x NDR", Rate(2, "NDR")),
        ("200G HDR cable", Rate(4, "HDR")),
        ("HDR100", Rate(2, "HDR")),
        ("NDR200", Rate(2, "NDR")),
        ("100G HDR", Rate(2, "HDR")),
        ("FDR10", Rate(4, "FDR10")),
    ],
)
def test_speeds(text: str, rate: Rate) -> None:
    assert parse_speed(text) == rate


@pytest.mark.parametrize("text", ["fast", "300G", "400G HDR", "3xNDR", "123456", "0"])
def test_speeds_that_say_nothing_or_contradict_themselves(text: str) -> None:
    assert parse_speed(text) is None


@pytest.mark.parametrize(
    ("text", "metres"),
    [("10", 10.0), ("10m", 10.0), ("3 m", 3.0), ("1.5 m", 1.5), ("1,5", 1.5), ("ten", None)],
)
def test_lengths(text: str, metres: float | None) -> None:
    assert parse_length_m(text) == metres


@pytest.mark.parametrize(
    ("cells", "place"),
    [
        (("Rack IB0 #1", "U41", "F01C04-DR426"), Place("Rack IB0 #1", "U41")),
        (("", "U25", "F01C04-DR429"), Place("F01C04-DR429", "U25")),
        (("x3000", "", "u36"), Place("x3000", "u36")),
        (("x3000", "", "u15L"), Place("x3000", "u15L")),
        (("F01C04-DX413", "U3", "U3"), Place("F01C04-DX413", "U3")),
        (("", "", ""), None),
    ],
)
def test_places(cells: tuple[str, str, str], place: Place | None) -> None:
    assert parse_place(*cells) == place
