"""Which HCA port a discovery is sent from: sysfs folders as on real hosts, read by the probe itself."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from fabricctl.errors import ToolFailedError
from fabricctl.workflows.hca_port import PROBE, choose, parse_ports

Port = tuple[str, int, str, str]
DGX: list[Port] = [
    ("mlx5_10", 1, "InfiniBand", "4: ACTIVE"),
    ("mlx5_2", 1, "InfiniBand", "4: ACTIVE"),
    ("mlx5_0", 1, "Ethernet", "4: ACTIVE"),
    ("mlx5_1", 1, "InfiniBand", "1: DOWN"),
]
"""Link layers and states as Linux writes them (sysfs-class-infiniband)."""


def probed(folder: Path, ports: list[Port]) -> str:
    for hca, number, layer, state in ports:
        place = folder / hca / "ports" / str(number)
        place.mkdir(parents=True)
        (place / "link_layer").write_text(f"{layer}\n")
        (place / "state").write_text(f"{state}\n")
    script = PROBE[2].replace("/sys/class/infiniband", str(folder))
    printed = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert printed.stderr == ""
    return printed.stdout.replace(str(folder), "/sys/class/infiniband")


def test_the_first_active_infiniband_port_in_natural_order_is_chosen(tmp_path: Path) -> None:
    choice = choose(parse_ports(probed(tmp_path, DGX)), None, None, "gpu001")
    assert choice.options == ("-C", "mlx5_2", "-P", "1")
    assert len(choice.notes) == 1
    assert "mlx5_10/1 could be asked too" in choice.notes[0]


def test_no_sysfs_leaves_the_choice_to_the_tool(tmp_path: Path) -> None:
    ports = parse_ports(probed(tmp_path, []))
    assert choose(ports, None, None, "gpu001").options == ()
    assert choose(ports, "mlx5_0", None, "gpu001").options == ("-C", "mlx5_0")


def test_a_named_hca_gets_its_port(tmp_path: Path) -> None:
    ports = parse_ports(
        probed(
            tmp_path, [*DGX, ("mlx5_9", 1, "InfiniBand", "1: DOWN"), ("mlx5_9", 2, "InfiniBand", "4: ACTIVE")]
        )
    )
    assert choose(ports, "mlx5_9", None, "gpu001").options == ("-C", "mlx5_9", "-P", "2")


def test_a_port_without_subnet_manager_is_used_with_a_note(tmp_path: Path) -> None:
    ports = parse_ports(
        probed(tmp_path, [("mlx5_0", 1, "InfiniBand", "2: INIT"), ("mlx5_1", 1, "InfiniBand", "1: DOWN")])
    )
    choice = choose(ports, None, None, "gpu001")
    assert choice.options == ("-C", "mlx5_0", "-P", "1")
    assert "mlx5_0/1 is INIT, not ACTIVE" in choice.notes[0]


@pytest.mark.parametrize(
    ("hca", "number", "words"),
    [
        ("mlx5_1", None, "has no InfiniBand port that is up on mlx5_1"),
        ("mlx5_0", None, "has no InfiniBand port that is up on mlx5_0"),
        ("mlx5_7", None, "has no mlx5_7"),
        ("mlx5_2", 2, "has no mlx5_2 port 2"),
        (None, 3, "has no HCA with a port 3"),
    ],
)
def test_a_port_that_will_not_do_is_refused_with_those_there_are(
    tmp_path: Path, hca: str | None, number: int | None, words: str
) -> None:
    with pytest.raises(ToolFailedError) as caught:
        choose(parse_ports(probed(tmp_path, DGX)), hca, number, "gpu001")
    assert f"gpu001: {words}; there are: mlx5_0/1 Ethernet ACTIVE, mlx5_1/1 InfiniBand DOWN" in str(
        caught.value
    )


def test_other_lines_are_passed_over() -> None:
    assert parse_ports("Welcome to gpu001\n/sys/class/infiniband/x/ports/y InfiniBand 4: ACTIVE\n\n") == []
