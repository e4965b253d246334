"""The packaged panels against the published formulas and tables, counted by hand."""

from __future__ import annotations

import csv
import importlib.resources
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.model_tables import BUILTIN
from fabricctl.panel_tables import FILES, STATUS_WORDS, builtin_panels, panel_of_model, read_table
from fabricctl.panels import Panel


def panel(name: str) -> Panel:
    found = panel_of_model(name)
    assert found is not None
    return found


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


# -- counts, by hand from the data sheets -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "cages", "ports", "per_cage"),
    [
        ("QM9700", 32, 64, 2),
        ("QM9790", 32, 64, 2),
        ("QM9701", 32, 64, 2),
        ("QM8700", 40, 40, 1),
        ("QM8790", 40, 40, 1),
        ("SB7800", 36, 36, 1),
        ("SX6036", 36, 36, 1),
        ("Q3400", 72, 144, 2),
        ("DGX-H100", 6, 12, 2),
    ],
)
def test_cages_and_ports_are_those_of_the_data_sheets(
    name: str, cages: int, ports: int, per_cage: int
) -> None:
    found = panel(name)
    assert (len(found.cages), len(found.ports), found.ports_per_cage) == (cages, ports, per_cage)
    assert len({(port.cage, port.port) for port in found.ports}) == ports


def test_qm9700_numbers_follow_mstflints_formula() -> None:
    for port in panel("QM9700").ports:
        assert port.number == 2 * int(port.cage) + port.port - 2
        assert port.split_ready == 2 * port.number - 1
        assert port.lanes == ("1-4" if port.port == 1 else "5-8")
        assert port.column == (int(port.cage) + 1) // 2
    # the example of the manuals: cage 14 port 1 is 27, and 53 in the split-ready profile
    fourteen = next(port for port in panel("QM9700").ports if port.number == 27)
    assert (fourteen.cage, fourteen.port, fourteen.split_ready, fourteen.label) == ("14", 1, 53, "14/1")


def test_qm8700_numbers_follow_mstflints_formula() -> None:
    for port in panel("QM8700").ports:
        assert (str(port.number), port.port, port.split_ready) == (port.cage, 1, 2 * port.number - 1)


@pytest.mark.parametrize("name", ["QM9700", "QM8700"])
def test_published_tables_agree_row_by_row(captures: Path, name: str) -> None:
    published = [row for row in rows(captures / "panels" / f"{name.lower()}_ports.csv") if not row["split"]]
    ports = panel(name).ports
    assert len(published) == len(ports)
    for row, port in zip(published, ports, strict=True):
        assert port.cage == row["cage"]
        assert port.port == int(row.get("port") or 1)
        assert port.number == int(row["ib_port_normal"])
        assert port.split_ready == int(row["ib_port_split_ready"])
        assert (port.column, port.row) == (int(row["column_usual"]), row["row_usual"])
        assert port.labels["MLNX-OS"] == row["mlnxos_label"]
        if "module_lanes" in row:
            assert port.lanes == row["module_lanes"]
            assert (port.labels["NVOS"], port.labels["NetBox"]) == (row["nvos_label"], row["netbox_name"])


def test_dgx_h100_cages_lead_to_the_hcas_and_gpus_of_its_user_guide(captures: Path) -> None:
    published = rows(captures / "panels" / "dgx_h100_ports.csv")
    ports = panel("dgx-h100").ports
    assert len(published) == len(ports) == 12
    for row, port in zip(published, ports, strict=True):
        assert (port.cage.removeprefix("OSFP"), port.port) == (row["cage"], int(row["port"]))
        assert (port.label, port.hca, port.pci) == (row["panel_port"], row["rdma"], row["pci"])
        assert port.gpu == (int(row["gpu"]) if row["gpu"] else None)
    behind = {port.cage: [] for port in ports}
    for port in ports:
        behind[port.cage].append(port.gpu)
    assert behind["OSFP1"] == [7, 4]
    assert behind["OSFP4"] == [3, 0]
    compute = panel("dgx-h100").behind("mlx5_11")
    assert compute is not None
    assert compute.label == "OSFP1P1"


# -- statuses and sources -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", FILES)
def test_every_aspect_has_a_status_and_what_is_known_names_its_source(name: str) -> None:
    text = importlib.resources.files("fabricctl").joinpath(f"tables/{name}.csv").read_text("utf-8")
    found = read_table(text).panel
    for aspect in ("number", "labels", "rows", "side", "cage_type"):
        assert found.status[aspect] in STATUS_WORDS
    for aspect, status in found.status.items():
        if status in ("confirmed", "inferred"):
            assert found.sources[aspect], aspect


def test_what_no_document_says_is_called_usual_or_unknown() -> None:
    assert panel("QM9700").status["rows"] == "usual"
    assert panel("QM9700").side_words == "rear, usual"
    assert panel("Q3400").status["number"] == "unknown"
    assert {port.number for port in panel("Q3400").ports} == {0}
    assert panel("QM9701").status["number"] == "inferred"


# -- one truth ----------------------------------------------------------------------------------------------------


def test_switch_models_are_read_off_the_panels() -> None:
    for name, model in BUILTIN.items():
        ports = builtin_panels()[name].ports
        assert model.shown == {port.number: port.label for port in ports}
        assert model.split_ready == {p.number: p.split_ready for p in ports if p.split_ready is not None}
        assert (model.cages, model.ports_per_cage) == (
            len(builtin_panels()[name].cages),
            len(ports) // model.cages,
        )
        for port in ports:
            assert {model.port_of(label) for label in port.labels.values()} == {port.number}
    assert "Q3400" not in BUILTIN


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MQM9700", "QM9700"),
        ("QM9790-NS2F", "QM9790"),
        ("NVIDIA MSB7800-ES2F", "SB7800"),
        ("Q3400_RA", "Q3400-RA"),
        ("dgx h100", "DGX-H100"),
        ("DGXH200", "DGX-H200"),
    ],
)
def test_a_panel_is_found_by_the_spellings_of_inventories(text: str, name: str) -> None:
    assert panel(text).name == name


@given(st.text(max_size=30))
def test_any_text_finds_a_panel_or_none(text: str) -> None:
    found = panel_of_model(text)
    assert found is None or found.ports


@pytest.mark.parametrize(
    "text", ["# name\ncage,port,number\n", "# name: X\n# status side: maybe\ncage,port,number\n"]
)
def test_a_table_that_is_not_as_documented_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="expected"):
        read_table(text)


def test_tables_are_read_only_when_asked_for() -> None:
    code = (
        "import sys, fabricctl.cli.main, fabricctl.model_tables as m;"
        "from fabricctl.panel_tables import builtin_panels as b;"
        "assert b.cache_info().currsize == 0; len(m.BUILTIN);"
        "assert b.cache_info().currsize == 1"
    )
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
