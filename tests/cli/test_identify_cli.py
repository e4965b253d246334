"""``fabricctl identify`` as an operator meets it: output, exit codes, and what it writes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fabricctl.cli.main import main
from fabricctl.discovery import namemap
from fabricctl.discovery.ibnetdiscover_writer import write
from fabricctl.site.load import load_site
from fabricctl.site.use import identities
from tests.identity.nets import hosts_exchanged, net_of, observe
from tests.sim.cabling_csv import cabling_csv
from tests.sim.netgen import SHAPES, build

EXAMPLE = Path(__file__).resolve().parents[2] / "inventory" / "site.yaml"


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["identify", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("identify")
    (folder / "medium.csv").write_text(cabling_csv(build(SHAPES["medium"])))
    pair = hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")
    for name, net in {
        "medium": net_of("medium"),
        "open": net_of("medium", pair),
        "hall": net_of("hall"),
        "hall-open": net_of("hall", pair),
    }.items():
        (folder / f"{name}.txt").write_text(write(observe(net).observation.fabric))
    return folder


def test_all_placed(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capsys, "--plan", str(files / "medium.csv"), "--discovered", str(files / "medium.txt"), "--all"
    )
    assert (code, err) == (0, "")
    assert out.startswith("ALL PLACED  80 of 80 discovered switches have a certain place")
    assert sum(line.startswith("ib") for line in out.splitlines()) == 80


def test_open_ones_are_exit_3_and_an_assumption_settles_them(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = ("--plan", str(files / "medium.csv"), "--discovered", str(files / "open.txt"))
    code, out, _ = run(capsys, *inputs)
    assert code == 3
    assert "move 16 host ends" in out  # 8 hosts a leaf
    assert "rename both and move 16 uplink ends" in " ".join(out.split())
    code, out, _ = run(capsys, *inputs, "--assume", "1.2")
    assert code == 0
    assert "assumed" in out


def test_another_fabric_is_exit_3(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--plan", str(files / "medium.csv"), "--discovered", str(files / "hall.txt"))
    assert code == 3
    assert out.startswith("ANOTHER FABRIC")


def test_the_map_it_writes_makes_verify_cabling_judge_every_cable(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = ("--plan", str(files / "medium.csv"), "--discovered", str(files / "medium.txt"))
    names = tmp_path / "ib-node-name-map"
    assert run(capsys, *inputs, "--format", "node-name-map", "--output", str(names)) == (0, "", "")
    assert len(namemap.parse(names.read_text())) == 80
    assert main(["verify-cabling", *inputs]) == 3  # nobody knows the switches
    assert "add --identify" in " ".join(capsys.readouterr().out.split())
    assert main(["verify-cabling", *inputs, "--node-name-map", str(names)]) == 0
    assert main(["verify-cabling", *inputs, "--identify"]) == 0


def test_json_is_the_published_form(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "--plan", str(files / "medium.csv"), "--discovered", str(files / "open.txt"), "-f", "json"
    )
    report = json.loads(out)
    assert (code, report["exit_code"], report["schema"]) == (3, 3, "fabricctl.identify/1")
    assert len(report["ambiguities"][0]["hypotheses"]) == 2


def test_harvested_hcas_are_enough(files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = observe(net_of("medium"), known=0.01)
    (tmp_path / "seen.txt").write_text(write(seen.observation.fabric))
    lines = [f"{name} {key}" for key, name in seen.truth.items() if name.startswith("gpu00")]
    (tmp_path / "guids.txt").write_text("\n".join(lines) + "\n")
    code, out, _ = run(
        capsys,
        *("--plan", str(files / "medium.csv"), "--discovered", str(tmp_path / "seen.txt")),
        *("--hca-guids", str(tmp_path / "guids.txt")),
    )
    assert (code, out[:10]) == (0, "ALL PLACED")


def test_identities_are_written_after_the_diff_and_only_once(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site.yaml"
    site.write_text(EXAMPLE.read_text())
    command = ("--site", str(site), "--discovered", str(files / "hall-open.txt"), "--write")
    code, _, err = run(capsys, *command)
    assert code == 2
    assert "+identities:" in err
    assert "nothing written: confirm 318 identities" in err
    assert site.read_text() == EXAMPLE.read_text()
    code, _, err = run(capsys, *command, "--yes")
    assert code == 3  # two leaves are still open
    assert err.endswith("318 identities written\n")
    assert site.read_text().startswith(EXAMPLE.read_text())
    assert len(identities(load_site(site.read_text(), str(site)))) == 318
    assert main(["site", "check", str(site)]) == 0
    capsys.readouterr()
    code, _, err = run(capsys, *command, "--yes")
    assert err == f"fabricctl: {site}: nothing to write, every certain identity is declared already\n"


@pytest.fixture
def table_site(files: Path, tmp_path: Path) -> Path:
    """A site whose switches are named by its fabric's plan alone, a table in a file."""
    site = tmp_path / "site.yaml"
    (tmp_path / "p.csv").write_text((files / "medium.csv").read_text())
    site.write_text("name: tables\nfabrics:\n  one:\n    plan: {file: p.csv}\n")
    return site


def test_identities_of_switches_that_only_the_plans_table_names(
    files: Path, table_site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site, seen = ("--site", str(table_site)), ("--discovered", str(files / "medium.txt"))
    code, _, err = run(capsys, *site, *seen, "--write", "--yes")
    assert (code, err.endswith("80 identities written\n")) == (0, True)
    assert main(["site", "check", str(table_site)]) == 0
    out = capsys.readouterr().out
    assert "note: the site file names no switches: those of the plans are taken as they are" in out
    assert main(["verify-cabling", *site, *seen]) == 0


def test_a_misspelt_identity_is_one_line_with_the_nearest_name(
    files: Path, table_site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table_site.write_text(table_site.read_text() + "identities:\n  0x1: ibl-p01-r11\n  0x2: gpu9999 mlx5_0\n")
    code, _, err = run(capsys, "--site", str(table_site), "--discovered", str(files / "medium.txt"))
    assert code == 2
    assert err.startswith(
        f"fabricctl: {table_site}:6: identities.0x1: unknown device 'ibl-p01-r11'; did you mean"
    )
    assert (err.count("\n"), "1 more" in err) == (1, True)
    assert main(["site", "check", str(table_site)]) == 1
    assert f"{table_site}:7: identity: 0x2: unknown device 'gpu9999'" in capsys.readouterr().out


def test_names_of_another_plan_are_not_written_into_a_site(
    files: Path, table_site: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = (files / "medium.csv").read_text().replace("ibl-", "leaf-")
    (tmp_path / "other.csv").write_text(other)
    before = table_site.read_text()
    code, _, err = run(
        capsys,
        *("--plan", str(tmp_path / "other.csv"), "--site", str(table_site)),
        *("--discovered", str(files / "medium.txt"), "--write", "--yes"),
    )
    assert (code, err.count("\n")) == (2, 1)
    assert "would not take these identities: unknown device 'leaf-p01-r1'" in err
    assert table_site.read_text() == before


IBSWINFO = """\
==========================================

Quantum Mellanox Technologies
=================================================
part number        | MQM8790-HS2F
serial number      | {serial}
ports              | 80
GUID               | {guid}
-------------------------------------------------
PSU0 status        | OK
     S/N           | MT2148T09879
-------------------------------------------------
"""


def serial_inputs(folder: Path, declared: str, read: dict[str, str], seen: Path) -> tuple[str, ...]:
    """Options of a site whose plan is a table, with one identity by serial number; and what was read off switches."""
    site = folder / "site.yaml"
    site.write_text(site.read_text() + f"identities: {{{declared}}}\n")
    reports = "".join(IBSWINFO.format(guid=guid, serial=serial) for guid, serial in read.items())
    (folder / "serials.txt").write_text(reports)
    return (
        *("--site", str(site), "--discovered", str(seen)),
        *("--switch-serials", str(folder / "serials.txt")),
    )


def test_a_declared_serial_counts_wherever_identities_do(
    files: Path, table_site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = observe(net_of("medium", hosts_exchanged("ibl-p01-r1", "ibl-p01-r2")))
    leaf, other = truth.guid("ibl-p01-r1"), truth.guid("ibl-p01-r2")
    read = {leaf: "MT2148T25782", other: "MT2152T10239"}
    inputs = serial_inputs(table_site.parent, "MT2148T25782: ibl-p01-r1", read, files / "open.txt")
    code, out, _ = run(capsys, *inputs, "--all")
    assert (code, "ALL PLACED" in out) == (0, True)  # without it the two leaves are open
    assert run(capsys, *inputs[:4])[0] == 3
    assert main(["verify-cabling", *inputs, "--identify", "--format", "json"]) == 1
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert (counts["swapped"], counts["not_judged"]) == (16, 0)  # by hand: 2 leaves of 8 hosts' cables
    assert main(["work-order", "make", *inputs, "--identify", "-f", "json"]) == 1
    assert len(json.loads(capsys.readouterr().out)["order"]["steps"]) == 16


def test_a_serial_gives_one_switch_its_name_without_identify(
    files: Path, table_site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    truth = observe(net_of("medium"))
    read = {truth.guid("ibl-p01-r1"): "MT2148T25782"}
    inputs = serial_inputs(table_site.parent, "mt2148t25782: ibl-p01-r1", read, files / "medium.txt")
    assert main(["verify-cabling", *inputs, "--format", "json"]) == 3  # the other switches have no name
    report = json.loads(capsys.readouterr().out)
    assert (report["counts"]["ok"], report["counts"]["missing"]) == (8, 0)  # by hand: its hosts' cables


def test_a_serial_nobody_has_and_serials_nobody_read_are_notes(
    files: Path, table_site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    inputs = serial_inputs(table_site.parent, "MT9: ibl-p01-r1", {"0x1": "MT1"}, files / "medium.txt")
    code, out, _ = run(capsys, *inputs)
    assert (code, "declared serial MT9 (ibl-p01-r1): no switch has it" in " ".join(out.split())) == (0, True)
    code, out, _ = run(capsys, *inputs[:4])
    assert (code, "1 identity by serial number is not used" in " ".join(out.split())) == (0, True)


def test_harvested_port_guids_are_written_as_identities_that_bind(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen = observe(net_of("hall"))
    nodes, lines = seen.observation.fabric.nodes, []
    hcas = [key for key, name in seen.truth.items() if name.startswith("gpu00")]
    for number, key in enumerate(hcas):
        port = f"0x{0x77 << 48 | number:016x}"
        nodes[key] = replace(nodes[key], name=key, host=None, hca=None, description="localhost mlx5_0")
        nodes[key] = replace(nodes[key], port_guids=((1, port),))
        lines += [f"{seen.truth[key]} {port}", *([f"{seen.truth[key]} {key}"] if number % 2 else [])]
    lines.append("guest7 mlx5_0 0x0000000000000099")
    site, found, harvest = (tmp_path / name for name in ("site.yaml", "seen.txt", "guids.txt"))
    site.write_text(EXAMPLE.read_text())
    found.write_text(write(seen.observation.fabric))
    harvest.write_text("\n".join(lines) + "\n")
    inputs = ("--site", str(site), "--discovered", str(found))
    code, _, err = run(capsys, *inputs, "--hca-guids", str(harvest), "--write", "--write-hcas", "--yes")
    assert code == 0, err[-300:]
    assert "not written, the plan does not have them: guest7\n" in err
    written = {key: name for key, name in seen.truth.items() if key in hcas or " " not in name}
    assert identities(load_site(site.read_text(), "site.yaml")) == written  # every HCA once
    main(["verify-cabling", *inputs, "--no-record", "--format", "json"])
    counts = json.loads(capsys.readouterr().out)["counts"]
    # the generator's links run at HDR where the site expects NDR: nothing else is off, and nothing is open
    assert (counts["degraded"], counts["not_judged"], counts["missing"]) == (12282, 0, 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--discovered", "x", "--assume", "1"), "--assume 1: expected AMBIGUITY.HYPOTHESIS"),
        (("--discovered", "x", "--yes"), "--yes goes with --write"),
        (("--discovered", "x", "--write", "--write-hcas"), "give that too"),
        (("--plan", "-", "--discovered", "-"), "only once"),
    ],
)
def test_options_that_do_not_go_together(
    arguments: tuple[str, ...], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert message in err


def test_without_a_plan_or_a_site_to_write_to(files: Path, capsys: pytest.CaptureFixture[str]) -> None:
    seen = ("--discovered", str(files / "medium.txt"))
    code, _, err = run(capsys, *seen)
    assert (code, "identity needs a plan" in err) == (2, True)
    code, _, err = run(capsys, *seen, "--plan", str(files / "medium.csv"), "--write")
    assert (code, "give --site" in err) == (2, True)
    assert main(["verify-cabling", *seen, "--plan", str(files / "medium.csv"), "--assume", "1.1"]) == 2


def test_what_rests_on_an_assumption_is_not_stored(
    files: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "site.yaml"
    site.write_text(EXAMPLE.read_text())
    command = ("--site", str(site), "--discovered", str(files / "hall-open.txt"), "--assume", "1.2")
    code, _, err = run(capsys, *command, "--write", "--yes")
    assert code == 0
    assert "2 identities rest on --assume and will not be written" in err
    assert len(identities(load_site(site.read_text(), str(site)))) == 318


def test_an_ambiguity_that_there_is_not_is_said_in_good_grammar(
    files: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = ("--plan", str(files / "medium.csv"), "--assume", "7.1", "--discovered")
    assert "there is 1 ambiguity" in run(capsys, *asked, str(files / "open.txt"))[2]
    assert "there are no ambiguities" in run(capsys, *asked, str(files / "medium.txt"))[2]
