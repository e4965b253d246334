"""``fabricctl panel`` and the options about port numbers and HCA slots, as a user types them."""

from __future__ import annotations

from pathlib import Path

import pytest

from fabricctl.cli.main import main
from fabricctl.discovery.ibnetdiscover_writer import write
from tests.cabling.fabrics import seen, two_tier


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(list(arguments))
    said = capsys.readouterr()
    return code, said.out, said.err


def test_show_draws_the_face_and_calls_usual_what_is_usual(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    code, out, _ = run(capsys, "panel", "show", "MQM9700-NS2F")
    assert code == 0
    lines = out.splitlines()
    top = next(n for n, line in enumerate(lines) if line.startswith("top"))
    assert lines[top].split()[1:] == [f"[{cage}]" for cage in range(1, 32, 2)]
    assert lines[top + 1].split()[:4] == ["1", "2", "5", "6"]
    assert lines[top + 2].split()[:4] == ["1", "3", "9", "11"]
    bottom = next(n for n, line in enumerate(lines) if line.startswith("bottom"))
    assert lines[bottom].split()[1:] == [f"[{cage}]" for cage in range(2, 33, 2)]
    # cage 14 is the seventh of the bottom row: ports 27 and 28, in the split-ready profile 53 and 55
    assert lines[bottom + 1].split()[12:14] == ["27", "28"]
    assert lines[bottom + 2].split()[12:14] == ["53", "55"]
    assert "seen from the ports' side (rear, usual); rows and columns: usual" in out
    assert "mlxlink_commander.cpp" in out


def test_a_narrow_terminal_breaks_the_face_and_loses_no_cage(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    _, out, _ = run(capsys, "panel", "show", "QM9700")
    face = out.partition("labels of")[0]
    assert {f"[{cage}]" for cage in range(1, 33)} <= set(face.split())
    assert max(map(len, face.splitlines())) <= 75


def test_show_ports_lists_every_port_of_a_host(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "panel", "show", "dgx-h100", "--ports")
    assert code == 0
    table = out[out.index("cage   port") :].splitlines()
    assert len(table) == 13
    assert table[1].split() == ["OSFP1", "1", "1", "mlx5_11", "dc:00.0", "7", "1-4", "OSFP1P1", "ibp220s0"]


def test_list_and_show_take_a_site_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "site.yaml"
    path.write_text(
        "name: s\nnode_models:\n  hgx: {hcas: [mlx5_0], panel: {side: rear, ports: {31: mlx5_0}}}\n"
        "switch_models:\n  ours: {like: QM8700, panel: {side: front}}\n",
        "utf-8",
    )
    _, out, _ = run(capsys, "panel", "list", "--site", str(path))
    assert next(line for line in out.splitlines() if line.startswith("ours *")).split()[2:7] == [
        "switch", "40", "40", "yes", "front",
    ]  # fmt: skip
    _, out, _ = run(capsys, "panel", "show", "hgx", "--site", str(path))
    assert "[31]" in out
    assert "rear, confirmed" in out


def test_an_unknown_model_is_one_line_with_what_is_known(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "panel", "show", "QM9999")
    assert (code, out) == (2, "")
    assert err.startswith("fabricctl: no panel of a model 'QM9999' is known (known: QM9700, ")
    assert len(err.splitlines()) == 1


# -- options --------------------------------------------------------------------------------------------------

SHEET = "a_device,a_type,a_port,z_device,z_type,z_port\n" + "".join(
    f"leaf1,QM9700,{cage},spine1,QM9700,{cage}\n" for cage in (3, 3, 4, 4)
)


def test_port_numbers_is_asked_for_and_taken(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "plan.csv"
    path.write_text(SHEET.replace("4\n", "5\n"), "utf-8")
    path.write_text(
        "a_device,a_type,a_port,z_device,z_type,z_port\nleaf1,QM9700,3,spine1,QM9700,3\n", "utf-8"
    )
    code, _, err = run(capsys, "plan", "show", str(path))
    assert code == 2
    assert "they may be cages or InfiniBand ports (say which with --port-numbers" in err
    code, out, _ = run(capsys, "plan", "export", str(path), "--port-numbers", "infiniband")
    assert (code, out.splitlines()[1][:18]) == (0, "leaf1,3,spine1,3,,")
    path.write_text(SHEET, "utf-8")
    code, out, _ = run(capsys, "plan", "export", str(path), "--port-numbers", "cage")
    assert code == 0
    assert [row.split(",")[:4] for row in out.splitlines()[1:]] == [
        ["leaf1", n, "spine1", n] for n in ("5", "6", "7", "8")
    ]
    back = tmp_path / "export.csv"
    back.write_text(out, "utf-8")
    assert run(capsys, "plan", "export", str(back))[1] == out


def test_the_site_file_may_say_it_beside_the_file(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "plan.csv").write_text(SHEET, "utf-8")
    site = tmp_path / "site.yaml"
    site.write_text("name: s\nfabrics:\n  f: {plan: {file: plan.csv, port_numbers: cage}}\n", "utf-8")
    code, out, _ = run(capsys, "plan", "export", str(site))
    assert code == 0
    assert out.splitlines()[1].startswith("leaf1,5,spine1,5")


def test_hca_slots_makes_a_moved_card_a_finding(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    discovered = tmp_path / "seen.txt"
    discovered.write_text(write(seen(two_tier()).fabric), "utf-8")
    slots = tmp_path / "slots.csv"
    rows = [f"gpu{n},XE9680,{31 if n != 2 else 39},mlx5_0" for n in range(1, 5)]
    slots.write_text("\n".join(("host,model,slot,hca", *rows)) + "\n", "utf-8")
    code, out, _ = run(
        capsys, "verify-cabling", "--discovered", str(discovered), "--hca-slots", str(slots), "--all"
    )
    assert code == 1
    assert "gpu2: slots 31, 39 not as in most hosts of model XE9680" in out
    assert "move the card of gpu2 from slot 39 to slot 31, and its cable with it" in " ".join(out.split())
    slots.write_text("x,y\n1,2\n", "utf-8")
    code, _, err = run(capsys, "verify-cabling", "--discovered", str(discovered), "--hca-slots", str(slots))
    assert code == 2
    assert "slots.csv:1: an inventory of HCA slots needs a column host" in err
