"""The command line as an operator meets it: output, exit codes, error lines."""

from __future__ import annotations

import gzip
import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from fabricctl.cli.main import main
from fabricctl.discovery.ibnetdiscover_writer import write
from tests.cabling.fabrics import Cable, seen, two_tier

DEMO = Path(__file__).parents[1] / "data" / "demo"
PLAN, FAULTY = str(DEMO / "cabling.csv.gz"), str(DEMO / "ibnetdiscover-faulty.txt.gz")


def discovery(folder: Path, cables: list[Cable], name: str = "seen.txt") -> str:
    path = folder / name
    path.write_text(write(seen(cables).fabric))
    return str(path)


def csv_plan(folder: Path, cables: list[Cable]) -> str:
    rows = ["a_device,a_port,z_device,z_port"]
    for a, a_port, b, b_port in cables:
        host, _, hca = a.partition(" ")
        rows.append(f"{host},{hca or a_port},{b},{b_port}")
    path = folder / "cabling.csv"
    path.write_text("\n".join(rows) + "\n")
    return str(path)


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    code = main(["verify-cabling", *arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_demo_shows_exactly_its_injected_faults(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "--plan", PLAN, "--discovered", FAULTY, "--format", "json")
    assert (code, err) == (1, "")
    report = json.loads(out)
    truth = json.loads((DEMO / "truth.json").read_text())
    kinds = [fault["kind"] for fault in (truth["faults"] if isinstance(truth, dict) else truth)]
    found = [finding["kind"] for finding in report["findings"]]
    assert found.count("swapped") == kinds.count("swap") + kinds.count("host-swap")
    assert found.count("degraded") == kinds.count("width") + kinds.count("speed")
    assert found.count("absent_device") == sum(kind.startswith("dead-") for kind in kinds)
    assert found.count("missing") == kinds.count("missing")
    counts = report["counts"]
    six = ("ok", "missing", "miswired", "swapped", "degraded", "not_judged")
    assert sum(counts[name] for name in six) == counts["intended"] == 12282


def test_a_csv_and_a_discovery_are_enough(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cables = two_tier()
    code, out, _ = run(
        capsys, "--plan", csv_plan(tmp_path, cables), "--discovered", discovery(tmp_path, cables)
    )
    assert code == 0
    assert out.startswith("AS PLANNED  all 16 planned cables are as planned")


def test_a_crossed_pair_is_told_in_words(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    cables = two_tier(hosts=8, leaves=4)
    crossed = [c for c in cables if c not in (("leaf1", 21, "spine1", 1), ("leaf2", 21, "spine1", 3))]
    crossed += [("leaf1", 21, "spine1", 3), ("leaf2", 21, "spine1", 1)]
    code, out, _ = run(
        capsys, "--plan", csv_plan(tmp_path, cables), "--discovered", discovery(tmp_path, crossed)
    )
    assert code == 1
    assert "leaf1/21 and leaf2/21 are exchanged (leaf-spine)" in out
    assert "exchange the plugs at spine1/1 and spine1/3" in out


def test_without_a_plan_it_is_useful_too(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--discovered", discovery(tmp_path, two_tier()))
    assert code == 0
    assert out.startswith("NOTHING FOUND  4 switches and 8 HCAs seen, no plan given")


def bad_files(folder: Path) -> dict[str, tuple[str, str]]:
    """Case -> (path, what the error must say)."""
    texts = {
        "empty": (b"", "empty"),
        "blank": (b"\n \n\n", "empty"),
        "garbage": (os.urandom(4096) + b"\0", "binary"),
        "prose": (b"hello world\nthis is not a fabric\n", "begins with 'hello world'"),
        "html": (b"<!DOCTYPE html><html><body>502</body></html>", "HTML"),
        "json error": (b'{"error": "not authorised"}', "JSON"),
        "cut gzip": (gzip.compress(b"vendid=0x2c9\n" * 1000)[:40], "gzip"),
        "only values": (b"vendid=0x2c9\ndevid=0xd2f2\n", "cut"),
        "wrong line": (
            b'Switch\t8 "S-0000000000000001"\t\t# "a" base port 0 lid 1 lmc 0\n[1]\tnonsense\n',
            ":2: ",
        ),
    }
    cases = {}
    for name, (data, said) in texts.items():
        path = folder / name.replace(" ", "-")
        path.write_bytes(data)
        cases[name] = (str(path), said)
    cases["missing"] = (str(folder / "no-such-file.txt"), "no such file")
    cases["directory"] = (str(folder), "folder")
    return cases


CASES = (
    "empty",
    "blank",
    "garbage",
    "prose",
    "html",
    "json error",
    "cut gzip",
    "only values",
    "wrong line",
    "missing",
    "directory",
)


@pytest.mark.parametrize("option", ["--discovered", "--plan"])
@pytest.mark.parametrize("case", CASES)
def test_a_file_that_cannot_be_used_is_one_clear_line(
    case: str, option: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, said = bad_files(tmp_path)[case]
    other = {"--discovered": ("--plan", PLAN), "--plan": ("--discovered", FAULTY)}[option]
    code, out, err = run(capsys, option, path, *other)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("fabricctl: ")
    assert path in err
    assert said.lower() in err.lower()


def test_a_discovery_cut_at_a_line_end_is_never_ok(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cables = two_tier()
    plan = csv_plan(tmp_path, cables)
    lines = Path(discovery(tmp_path, cables)).read_text().splitlines(keepends=True)
    for end in range(1, len(lines)):
        (tmp_path / "cut.txt").write_text("".join(lines[:end]))
        code, out, _ = run(capsys, "--plan", plan, "--discovered", str(tmp_path / "cut.txt"))
        assert code in (2, 3), f"cut after line {end}: {out}"


def test_a_big_file_is_refused_or_read_in_bounded_memory(tmp_path: Path) -> None:
    """A sparse 1 GiB file: refused by its first bytes, without reading it whole."""
    path = tmp_path / "big.txt"
    with path.open("wb") as big:
        big.truncate(1 << 30)
    done = subprocess.run(
        [sys.executable, "-c", _LIMITED, "verify-cabling", "--discovered", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 2, done.stderr
    assert done.stderr.count("\n") == 1


_LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))
from fabricctl.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--plan", PLAN], "nothing to compare with"),
        (["--plan", "-", "--discovered", "-"], "only once"),
        (["--discovered", FAULTY, "--only", "gpu1"], "--only needs a plan"),
        (["--plan", PLAN, "--discovered", FAULTY, "--only", "gpu9999"], "gpu9999"),
        (["--plan", PLAN, "--discovered", FAULTY, "--fabric", "x"], "--fabric"),
        (["--plan", PLAN, "--discovered", FAULTY, "--report", "x.pdf"], ".html"),
        (["--plan", PLAN, "--discovered", FAULTY, "--format", "yaml"], "yaml"),
        (["--plan", PLAN, "--discovered", FAULTY, "--watch", "0"], "--watch"),
        (["--plan", PLAN, "--discovered", FAULTY, "--gate", "7"], "--gate"),
        (["--plan", PLAN, "--from", "telnet://x"], "telnet"),
        (["--plam", PLAN], "--plam"),
    ],
)
def test_wrong_usage_is_one_line_and_exit_two(
    arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, err = run(capsys, *arguments)
    assert (code, out) == (2, "")
    assert said in err
    assert err.count("\n") == 1


def test_only_judges_only(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capsys, "--plan", PLAN, "--discovered", FAULTY, "--only", "gpu[001-002]", "--format", "json"
    )
    assert code == 0
    assert json.loads(out)["counts"]["intended"] == 16


def test_reports_follow_their_endings_and_leave_nothing_half_done(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    files = [tmp_path / f"r.{ending}" for ending in ("html", "md", "json", "csv", "xml", "txt")]
    arguments = [word for file in files for word in ("--report", str(file))]
    metrics = tmp_path / "cabling.prom"
    code, _, _ = run(capsys, "--plan", PLAN, "--discovered", FAULTY, *arguments, "--prometheus", str(metrics))
    assert code == 1
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted([*(f.name for f in files), metrics.name])
    assert all(file.stat().st_size > 500 for file in (*files, metrics))


def test_foreign_names_cannot_write_to_the_terminal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = Path(discovery(tmp_path, two_tier())).read_bytes().replace(b'"spine1"', b'"sp\x1b[2Jine1\xff"')
    (tmp_path / "evil.txt").write_bytes(text)
    code, out, _ = run(
        capsys, "--plan", csv_plan(tmp_path, two_tier()), "--discovered", str(tmp_path / "evil.txt"), "--all"
    )
    assert code == 1
    assert "\x1b" not in out
    assert out.encode("utf-8")


def test_everything_lists_the_cables_outside_the_plan(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cables = two_tier()
    extra: list[Cable] = [*cables, ("storage1 mlx5_0", 1, "spine1", 15)]
    plan, path = csv_plan(tmp_path, cables), discovery(tmp_path, extra)
    code, out, _ = run(capsys, "--plan", plan, "--discovered", path)
    assert code == 0
    assert "storage1" not in out
    code, out, _ = run(capsys, "--plan", plan, "--discovered", path, "--all")
    assert code == 0
    assert "spine1/15 - storage1 mlx5_0 (host-spine)" in out


def test_standard_input_is_read(tmp_path: Path) -> None:
    plan = csv_plan(tmp_path, two_tier())
    text = Path(discovery(tmp_path, two_tier())).read_text()
    done = subprocess.run(
        [sys.executable, "-m", "fabricctl", "verify-cabling", "--plan", plan, "--discovered", "-"],
        input=text,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_watch_says_what_changed_and_ctrl_c_is_130(tmp_path: Path) -> None:
    cables = two_tier()
    plan, path = csv_plan(tmp_path, cables), discovery(tmp_path, cables[:-1])
    watching = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "fabricctl",
            "verify-cabling",
            "--plan",
            plan,
            "--discovered",
            path,
            "--watch",
            "1",
        ],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert watching.stdout is not None
        first = watching.stdout.readline()
        assert "1 of 16" in first
        discovery(tmp_path, cables)
        deadline = time.monotonic() + 30
        said = ""
        while "gone" not in said and time.monotonic() < deadline:
            said = watching.stdout.readline()
        assert re.search(r"gone\s+leaf2/24 - spine2/4", said)
        watching.send_signal(signal.SIGINT)
        _, err = watching.communicate(timeout=30)
    finally:
        watching.kill()
    assert watching.returncode == 130
    assert err == "fabricctl: interrupted\n"


def test_a_reader_that_goes_away_is_no_traceback() -> None:
    done = subprocess.run(
        [
            "bash",
            "-c",
            f"'{sys.executable}' -m fabricctl verify-cabling --plan '{PLAN}' --discovered '{FAULTY}' --all | head -n 1",
        ],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert "Traceback" not in done.stderr
    assert done.stderr == ""
