"""``fabricctl identify`` as an operator meets it: output, exit codes, and what it writes."""

from __future__ import annotations

import json
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
