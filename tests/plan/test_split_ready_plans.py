"""Tables written for switches in the profile ``ib split-ready``."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from fabricctl.errors import PlanError
from fabricctl.model_tables import BUILTIN
from fabricctl.plan.table import parse_csv

HEADER = "a_device,a_type,a_port,z_device,z_type,z_port"


def read(*rows: str) -> dict[str, set[int]]:
    plan = parse_csv("\n".join((HEADER, *rows)) + "\n", "c.csv")
    used: dict[str, set[int]] = {}
    for node, number in plan.fabric.links:
        used.setdefault(node, set()).add(number)
    return used


@pytest.mark.parametrize(("name", "file"), [("QM9700", "qm9700_ports.csv"), ("QM8700", "qm8700_ports.csv")])
def test_every_label_of_the_published_tables_has_its_split_ready_number(
    captures: Path, name: str, file: str
) -> None:
    with (captures / "panels" / file).open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    model = BUILTIN[name]
    assert len(rows) == {"QM9700": 192, "QM8700": 120}[name]
    for row in rows:
        number = int(row["ib_port_split_ready"])
        assert model.split_port_of(row["mlnxos_label"]) == number
        if row.get("nvos_label"):
            assert model.split_port_of(row["nvos_label"]) == number


def test_labels_of_halves_and_numbers_above_the_count_are_read_together() -> None:
    used = read(
        "gpu1,host,mlx5_0,leaf1,QM9700,1/14/1/1",
        "gpu2,host,mlx5_0,leaf1,QM9700,sw14p1s2",
        "gpu3,host,mlx5_0,leaf1,QM9700,14/2",
        "gpu4,host,mlx5_0,leaf1,QM9700,127",
    )
    assert used["leaf1"] == {53, 54, 55, 127}


def test_two_numbers_above_the_count_are_the_profile_and_one_is_a_slip() -> None:
    assert read("leaf1,QM9700,65,spine1,QM9700,1", "leaf1,QM9700,127,spine1,QM9700,3")["leaf1"] == {65, 127}
    with pytest.raises(PlanError, match="port '99' of 'leaf1': a QM9700 has no such port; expected 1 to 64"):
        read("leaf1,QM9700,1,spine1,QM9700,1", "leaf1,QM9700,99,spine1,QM9700,2")


def test_a_split_ready_plan_says_so_and_counts_128_ports() -> None:
    rows = [f"gpu{n},host,mlx5_0,leaf1,QM9700,{n}" for n in range(65, 69)]
    plan = parse_csv("\n".join((HEADER, *rows)) + "\n", "c.csv")
    assert plan.fabric.nodes["leaf1"].ports == 128
    assert any("split-ready" in note for note in plan.notes)
    with pytest.raises(PlanError, match="expected 1 to 128"):
        read(*rows, "gpu9,host,mlx5_0,leaf1,QM9700,129")


def test_an_edr_switch_has_no_such_profile() -> None:
    with pytest.raises(PlanError, match="a SB7800 has no such port; expected 1 to 36"):
        read("leaf1,SB7800,37,spine1,SB7800,1", "leaf1,SB7800,71,spine1,SB7800,3")
