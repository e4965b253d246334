"""The built-in switch models against published tables, row by row."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fabricctl.model_tables import BUILTIN, find_model


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def netbox_ports(path: Path) -> list[str]:
    """Names of the data ports of a NetBox device type."""
    data = YAML(typ="safe", pure=True).load(path.read_text("utf-8"))
    return [item["name"] for item in data["interfaces"] if not item.get("mgmt_only")]


@pytest.mark.parametrize("name", ["QM9700", "QM9790"])
def test_every_unsplit_label_of_the_published_qm9700_table_names_its_port(captures: Path, name: str) -> None:
    table = [row for row in rows(captures / "panels" / "qm9700_ports.csv") if not row["split"]]
    model = BUILTIN[name]
    assert len(table) == model.ports == 64
    for row in table:
        port = int(row["ib_port_normal"])
        spellings = [row["mlnxos_label"], "IB" + row["mlnxos_label"], row["nvos_label"], row["mlxlink_p"]]
        spellings += [row["netbox_name"], str(port), f"Port {port}"]
        assert {spelling: model.port_of(spelling) for spelling in spellings} == dict.fromkeys(spellings, port)
        assert model.shown[port] == f"{row['cage']}/{row['port']}"


def test_split_labels_of_a_qm9700_name_no_port_of_the_normal_profile(captures: Path) -> None:
    split = [row for row in rows(captures / "panels" / "qm9700_ports.csv") if row["split"]]
    assert len(split) == 128
    model = BUILTIN["QM9700"]
    for row in split:
        assert model.port_of(row["mlnxos_label"]) is None
        assert model.port_of(row["nvos_label"]) is None
        if row["split"] == "2" and row["cage"] != "1":
            assert model.port_of(row["mlxlink_p"]) is None


def test_where_mlxlink_and_mlnxos_collide_on_a_qm9700_mlnxos_wins() -> None:
    assert BUILTIN["QM9700"].port_of("1/1/2") == 2
    assert BUILTIN["QM9700"].port_of("1/2/2") == 4


@pytest.mark.parametrize("name", ["QM8700", "QM8790"])
def test_every_label_of_the_published_qm8700_table_names_its_port(captures: Path, name: str) -> None:
    table = [row for row in rows(captures / "panels" / "qm8700_ports.csv") if not row["split"]]
    model = BUILTIN[name]
    assert len(table) == model.ports == 40
    for row in table:
        port = int(row["ib_port_normal"])
        for spelling in (row["mlnxos_label"], "IB" + row["mlnxos_label"], row["cage"], f"Port {port}"):
            assert model.port_of(spelling) == port, spelling
        assert model.shown[port] == row["cage"]


def test_split_labels_of_a_qm8700_name_no_port(captures: Path) -> None:
    split = [row for row in rows(captures / "panels" / "qm8700_ports.csv") if row["split"]]
    assert len(split) == 80
    assert {BUILTIN["QM8700"].port_of(row["mlnxos_label"]) for row in split} == {None}


def test_netbox_names_of_a_qm9700_are_understood_though_two_are_missing_there(captures: Path) -> None:
    names = netbox_ports(captures / "netbox" / "QM9700.yaml")
    ports = {BUILTIN["QM9700"].port_of(name) for name in names}
    assert len(names) == 62
    assert set(range(1, 65)) - ports == {46, 47}  # P22.1 and P23.0


@pytest.mark.parametrize(("file", "name"), [("qm8700.yml", "QM8700"), ("QM8790.yaml", "QM8790")])
def test_netbox_names_of_the_hdr_models_are_their_ports_in_order(
    captures: Path, file: str, name: str
) -> None:
    names = netbox_ports(captures / "netbox" / file)
    assert [BUILTIN[name].port_of(port) for port in names] == list(range(1, 41))


@pytest.mark.parametrize("name", sorted(BUILTIN))
def test_a_model_shows_each_port_by_a_label_it_understands_itself(name: str) -> None:
    model = BUILTIN[name]
    assert sorted(model.shown) == list(range(1, model.ports + 1))
    assert {port: model.port_of(label) for port, label in model.shown.items()} == {
        port: port for port in model.shown
    }
    assert set(model.labels.values()) == set(range(1, model.ports + 1))


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("MQM9700", "QM9700"),
        ("QM9700-NS2F", "QM9700"),
        ("MQM8700-HS2F", "QM8700"),
        ("mqm8790", "QM8790"),
        ("MSB7800-ES2F", "SB7800"),
        ("MSB7700", "SB7700"),
        ("MSX6036F-1SFS", "SX6036"),
        (" NVIDIA QM9790 ", "QM9790"),
        ("MQM9701", "QM9701"),
    ],
)
def test_a_model_is_found_by_every_spelling_vendors_use(text: str, name: str) -> None:
    found = find_model(text)
    assert found is not None
    assert found.name == name


@pytest.mark.parametrize("text", ["", "QM", "QM97000", "XQM9700", "MCS8500", "Q3400_RA", "SN5600", "leaf01"])
def test_a_text_that_names_no_known_model_finds_none(text: str) -> None:
    assert find_model(text) is None


@given(st.text(max_size=30))
@settings(max_examples=100, deadline=None)
def test_looking_up_any_text_answers_a_model_or_none(text: str) -> None:
    found = find_model(text)
    assert found is None or found.name in text.upper()
