"""``fabricctl work-order`` as an operator and a technician meet it."""

from __future__ import annotations

import csv
import json
import random
from pathlib import Path

import pytest

from fabricctl.cli.main import main
from fabricctl.discovery.ibnetdiscover_writer import write
from fabricctl.fabric import Fabric
from tests.cabling.fabrics import Cable, guid, seen, two_tier
from tests.sim.cabling_csv import cabling_csv
from tests.sim.faults import inject
from tests.sim.netgen import SHAPES, build, discovery_lines

RIGHT = two_tier(hosts=4, leaves=2, spines=2)
SWAPPED: list[Cable] = [
    *(c for c in RIGHT if c not in (("leaf1", 21, "spine1", 1), ("leaf1", 23, "spine2", 1))),
    ("leaf1", 23, "spine1", 1),
    ("leaf1", 21, "spine2", 1),
]
"""Two plugs of leaf1 exchanged."""


def plan(folder: Path) -> str:
    rows = ["a_device,a_port,z_device,z_port"]
    for a, a_port, b, b_port in RIGHT:
        host, _, hca = a.partition(" ")
        rows.append(f"{host},{hca or a_port},{b},{b_port}")
    path = folder / "cabling.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def discovery(folder: Path, cables: list[Cable], name: str = "seen.txt", without: str = "") -> str:
    """:param without: a device whose own block is missing, so that its ports were never read."""
    fabric: Fabric = seen(cables).fabric
    text = write(fabric)
    if without:
        blocks = text.split("\n\n")
        text = "\n\n".join(b for b in blocks if f"guid=0x{int(guid(without), 16):x}" not in b)
    path = folder / name
    path.write_text(text)
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["work-order", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def made(capsys: pytest.CaptureFixture[str], folder: Path, ending: str = "json") -> str:
    target = str(folder / f"wo.{ending}")
    code, out, err = run(
        capsys, "make", "--plan", plan(folder), "--discovered", discovery(folder, SWAPPED), "--output", target
    )
    assert (code, err) == (1, "")
    assert f"written: {target}" in out
    return target


def test_a_swap_is_two_steps_and_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(
        capsys, "make", "--plan", plan(tmp_path), "--discovered", discovery(tmp_path, SWAPPED)
    )
    assert (code, err) == (1, "")
    assert out.startswith("WORK ORDER  2 steps in 1 group, racks unknown, about ")
    assert out.count("MOVE  W-") == 2


def test_nothing_wrong_is_nothing_to_do_and_exit_0(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = run(capsys, "make", "--plan", plan(tmp_path), "--discovered", discovery(tmp_path, RIGHT))
    assert code == 0
    assert out.startswith("NOTHING TO DO  nothing is to be done")


def test_what_could_not_be_told_is_said_and_exit_3(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seen_now = discovery(tmp_path, SWAPPED, without="spine2")
    code, out, _ = run(capsys, "make", "--plan", plan(tmp_path), "--discovered", seen_now)
    assert code == 3
    assert "not covered" in out


@pytest.mark.parametrize("ending", ["json", "html"])
def test_check_follows_the_work(ending: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = made(capsys, tmp_path, ending)
    before = discovery(tmp_path, SWAPPED)
    code, out, _ = run(capsys, "check", order, "--discovered", before)
    assert code == 1
    assert out.startswith("NOT DONE  2 steps: 2 open")
    after = discovery(tmp_path, RIGHT, "after.txt")
    code, out, _ = run(capsys, "check", order, "--discovered", after, "--all")
    assert code == 0
    assert out.startswith("ALL DONE  2 steps: 2 done")
    assert out.count("✓ done") == 2


def test_check_of_half_done_work_names_the_hanging_plug(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = made(capsys, tmp_path)
    steps = json.loads(Path(order).read_text())["order"]["steps"]
    first, second = steps
    # the first step done: its target carries its own cable, and the other plug hangs
    target, far = first["joints"][0]["target"], first["joints"][0]["far"][0]
    names = {guid(n): n for c in RIGHT for n in (c[0], c[2])}
    done = (names[target["guid"]], target["port"], names[far["guid"]], far["port"])
    half = [c for c in SWAPPED if c not in ((("leaf1", 23, "spine1", 1)), ("leaf1", 21, "spine2", 1))] + [
        done
    ]
    code, out, _ = run(
        capsys, "check", order, "--discovered", discovery(tmp_path, half, "half.txt"), "--format", "json"
    )
    assert code == 1
    result = json.loads(out)
    assert result["counts"] == {"done": 1, "wrong": 0, "open": 1, "could_not_tell": 0}
    states = {one["id"]: (one["state"], one["words"]) for one in result["check"]["steps"]}
    assert states[first["id"]][0] == "done"
    assert states[second["id"]] == ("open", "unplugged: its cable makes no link")


def test_an_unseen_switch_cannot_be_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    order = made(capsys, tmp_path)
    alone = [cable for cable in SWAPPED if "leaf1" not in cable]
    code, out, _ = run(capsys, "check", order, "--discovered", discovery(tmp_path, alone, "alone.txt"))
    assert code == 3
    assert "leaf1 was not seen" in out


def test_show_finds_a_step_by_number_label_and_place(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    order = made(capsys, tmp_path, "html")
    code, out, _ = run(capsys, "show", order, "--step", "2")
    assert code == 0
    assert out.count("W-") == 1
    assert "undo" in out
    code, out, _ = run(capsys, "show", order, "--place", "leaf1")
    assert (code, out.count("W-")) == (0, 2)
    code, out, _ = run(capsys, "show", order, "--label", "spine1")
    assert (code, out.count("W-")) == (0, 1)
    code, _, err = run(capsys, "show", order, "--step", "77")
    assert (code, err.strip()) == (2, f"fabricctl: no step of {order} has 'step 77'")


def test_shares_are_files_of_their_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    more = [c for c in SWAPPED if c not in (("leaf2", 21, "spine1", 3), ("leaf2", 23, "spine2", 3))]
    more += [("leaf2", 23, "spine1", 3), ("leaf2", 21, "spine2", 3)]
    target = str(tmp_path / "wo.csv")
    arguments = ("--plan", plan(tmp_path), "--discovered", discovery(tmp_path, more))
    code, _, _ = run(capsys, "make", *arguments, "--split", "2", "--output", target)
    assert code == 1
    rows = [list(csv.DictReader((tmp_path / f"wo-{n}.csv").open())) for n in (1, 2)]
    assert [[row["number"] for row in share] for share in rows] == [["1", "2"], ["3", "4"]]
    code, out, _ = run(capsys, "make", *arguments, "--split", "2")
    assert out.count("WORK ORDER") == 2
    code, _, err = run(capsys, "make", *arguments, "--split", "2", "--format", "json")
    assert code == 2
    assert "give --output FILE" in err


def test_one_device_or_rack_is_asked_for_by_a_name_that_exists(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ("make", "--plan", plan(tmp_path), "--discovered", discovery(tmp_path, SWAPPED))
    code, out, _ = run(capsys, *arguments, "--device", "leaf1")
    assert (code, out.count("MOVE  W-")) == (1, 2)
    code, out, _ = run(capsys, *arguments, "--device", "gpu3")
    assert code == 0
    assert "2 steps of the whole repair" in out
    code, _, err = run(capsys, *arguments, "--device", "leaf11")
    assert (code, "knows a device 'leaf11' (did you mean leaf1?)" in err) == (2, True)
    code, _, err = run(capsys, *arguments, "--rack", "B07")
    assert code == 2


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("make", "--discovered", "SEEN"), "a work order needs the intended cabling"),
        (("make", "--plan", "PLAN", "--discovered", "SEEN", "--output", "wo.pdf"), "expected one of .html"),
        (("check", "PLAN", "--discovered", "SEEN"), "this is no work order"),
        (("check", "WO"), "nothing to compare with"),
        (("check", "WO", "--discovered", "SEEN", "--device", "leaf9"), "does not touch a device 'leaf9'"),
        (("show", "nowhere.json"), "no such file"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_2(
    arguments: tuple[str, ...], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = {"PLAN": plan(tmp_path), "SEEN": discovery(tmp_path, SWAPPED), "WO": made(capsys, tmp_path)}
    code, _, err = run(capsys, *(files.get(word, word) for word in arguments))
    assert code == 2
    assert said in err
    assert err.count("\n") == 1


def test_a_cause_that_may_be_a_wrong_name_is_looked_at_before_any_plug_is_moved(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    net = build(SHAPES["small3"])
    listed, found = tmp_path / "plan.csv", tmp_path / "seen.txt"
    listed.write_text(cabling_csv(net), "utf-8")
    inject(net, ["leaf-misplaced"], random.Random(1))
    found.write_text("".join(discovery_lines(net)), "utf-8")
    code, out, _ = run(capsys, "make", "--plan", str(listed), "--discovered", str(found))
    text = " ".join(out.split())
    assert code == 1
    assert "stand in each other's place, or are named so" in text
    assert "if only the names are wrong, correct them" in text
    assert text.index("look first") < text.index(" MOVE ")


def test_an_input_is_never_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = build(SHAPES["small2"])
    listed, found = tmp_path / "plan.csv", tmp_path / "seen.txt"
    listed.write_text(cabling_csv(net), "utf-8")
    found.write_text("".join(discovery_lines(net)), "utf-8")
    read = ("--plan", str(listed), "--discovered", str(found))
    link = tmp_path / "link.csv"
    link.symlink_to(listed)
    for words in (
        ("verify-cabling", *read, "--svg", str(listed)),
        ("verify-cabling", *read, "--html", str(found)),
        ("verify-cabling", *read, "--report", str(link)),
        ("identify", *read, "--output", str(found)),
        ("work-order", "make", *read, "--output", str(listed)),
        ("plan", "export", str(listed), "--output", str(listed)),
    ):
        before = listed.read_bytes(), found.read_bytes()
        code, err = main(list(words)), capsys.readouterr().err
        assert code == 2, words
        assert "is read by this command" in err
        assert (listed.read_bytes(), found.read_bytes()) == before
