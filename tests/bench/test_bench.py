"""Speed in figures, beside what it is compared with. Only ratios taken in one run can fail.

``make bench`` prints them; absolute goals are printed with "met" or "NOT MET", since machines differ.
"""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import NamedTuple

import pytest

from fabricctl.discovery import ibnetdiscover, ibnetdiscover_writer
from tests.bench.ibtopodiff import Peer
from tests.bench.measure import Usage, best, run, say
from tests.identity.nets import observe, scrambled
from tests.sim.cabling_csv import cabling_csv
from tests.sim.faults import inject
from tests.sim.ibsim import Ibsim, simulated
from tests.sim.netgen import SHAPES, build, discovery_lines
from tests.sim.same import links_of, nodes_of

pytestmark = pytest.mark.bench

Sim = Callable[..., AbstractContextManager[Ibsim]]
FAULTS = ("swap:3", "host-swap:2", "missing:5", "dead-spine", "dead-core", "dead-hca:4", "width:3", "speed:3")
COMMAND = str(Path(sys.executable).with_name("fabricctl"))


class Case(NamedTuple):
    """A fabric on disk: its plan, its discovery, and OpenSM's list of it where it was simulated."""

    folder: Path
    cables: int
    subnet_list: str = ""

    @property
    def plan(self) -> Path:
        return self.folder / "cabling.csv"

    @property
    def seen(self) -> Path:
        return self.folder / "ibnetdiscover.txt"

    def verify(self) -> Usage:
        return run(
            [COMMAND, "verify-cabling", "--plan", str(self.plan), "--discovered", str(self.seen)],
            cwd=self.folder,
        )


@pytest.fixture(scope="module")
def hall(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """12,288 cables with faults, seen by the real tools."""
    folder = tmp_path_factory.mktemp("hall")
    net = build(SHAPES["hall-full"])
    cables = net.counts()[2]
    (folder / "cabling.csv").write_text(cabling_csv(net), encoding="utf-8")
    inject(net, FAULTS, random.Random(1))
    with simulated(discovery_lines(net)) as sim:
        dumps = sim.start_opensm()
        (folder / "ibnetdiscover.txt").write_text(sim.discover(), encoding="utf-8")
        subnet_list = (dumps / "opensm-subnet.lst").read_text("utf-8")
    return Case(folder, cables, subnet_list)


@pytest.fixture(scope="module")
def campus(tmp_path_factory: pytest.TempPathFactory) -> Case:
    """307,200 cables (the 100,000-GPU class) with a few faults, written by rule."""
    folder = tmp_path_factory.mktemp("campus")
    net = build(SHAPES["campus"])
    cables = net.counts()[2]
    (folder / "cabling.csv").write_text(cabling_csv(net), encoding="utf-8")
    inject(net, ("swap:3", "missing:5", "dead-spine"), random.Random(1))
    with (folder / "ibnetdiscover.txt").open("w", encoding="utf-8") as out:
        out.writelines(discovery_lines(net))
    return Case(folder, cables)


def test_the_whole_command_is_within_three_times_the_peer(
    hall: Case, need_tools: Callable[..., None]
) -> None:
    need_tools("opensm", "ibnetdiscover", "ibtopodiff", "gcc")
    peer = Peer(hall.folder, build(SHAPES["hall-full"]), hall.subnet_list)
    theirs = best(3, peer.compare)
    assert theirs.code == 0, theirs.out[-2000:]
    assert "Wrong link width" in theirs.out, "the peer did not get as far as widths"
    ours = best(3, hall.verify)
    assert ours.code == 1, ours.out[-2000:]
    ratio = ours.cpu_s / theirs.cpu_s
    print()
    say(
        f"verify-cabling, {hall.cables:,} cables, whole command",
        f"{ours.cpu_s:.2f} s CPU",
        "< 1 s",
        ours.cpu_s < 1,
    )
    say("ibtopodiff -e on the same fabric", f"{theirs.cpu_s:.2f} s CPU")
    say("ratio", f"{ratio:.2f} x", "<= 3 x", ratio <= 3)
    assert ratio <= 3


def test_a_hundred_thousand_gpus(campus: Case) -> None:
    used = campus.verify()
    assert used.code == 1, used.out[-2000:]
    print()
    say(f"verify-cabling, {campus.cables:,} cables", f"{used.cpu_s:.2f} s CPU", "< 10 s", used.cpu_s < 10)
    say("  its peak memory", f"{used.peak_mib:,.0f} MiB", "< 2 GB", used.peak_mib < 2e9 / 2**20)


def test_identity_of_a_hundred_thousand_gpus_takes_no_longer_than_reading_its_discovery_twice(
    tmp_path: Path,
) -> None:
    """8,000 switches with GUIDs in no order, 2 % of the hosts known, 1 % of the links exchanged."""
    net = build(SHAPES["campus"])
    (tmp_path / "cabling.csv").write_text(cabling_csv(net), encoding="utf-8")
    scrambled(0.01)(net)
    seen = observe(net, known=0.02)
    (tmp_path / "seen.txt").write_text(ibnetdiscover_writer.write(seen.observation.fabric), encoding="utf-8")
    root = Path(__file__).resolve().parents[2]
    alone = run([sys.executable, "-m", "tests.bench.identify_ratio", str(tmp_path)], cwd=root)
    assert alone.code == 0, alone.out
    figures = json.loads(alone.out)
    whole = run(
        [
            COMMAND,
            "identify",
            "--plan",
            str(tmp_path / "cabling.csv"),
            "--discovered",
            str(tmp_path / "seen.txt"),
        ],
        cwd=tmp_path,
    )
    assert whole.code == 0, whole.out[-2000:]
    assert figures["certain"] == 8000
    ratio = figures["identify_s"] / figures["parse_s"]
    print()
    say(
        "identify, 8,000 switches, 307,200 cables: whole command",
        f"{whole.cpu_s:.2f} s CPU",
        "< 10 s",
        whole.cpu_s < 10,
    )
    say("  identity alone", f"{figures['identify_s']:.2f} s CPU", "< 10 s", figures["identify_s"] < 10)
    say("  reading the plan", f"{figures['plan_s']:.2f} s CPU")
    say("  parsing the discovery", f"{figures['parse_s']:.2f} s CPU")
    say("  its peak memory", f"{whole.peak_mib:,.0f} MiB")
    say("  ratio to parsing", f"{ratio:.2f} x", "<= 2 x", ratio <= 2)
    assert ratio <= 2


@pytest.mark.parametrize(("size", "times"), [("hall", 7), ("campus", 8)])
def test_parsing_is_within_forty_times_of_reading_and_counting_lines(
    size: str, times: int, request: pytest.FixtureRequest
) -> None:
    case: Case = request.getfixturevalue(size)
    root = Path(__file__).resolve().parents[2]
    alone = run([sys.executable, "-m", "tests.bench.parse_ratio", str(case.seen), str(times)], cwd=root)
    assert alone.code == 0, alone.out
    figures = json.loads(alone.out)
    lines_s, parse_s = figures["lines_s"], figures["parse_s"]
    ratio = parse_s / lines_s
    print()
    say(
        f"{case.seen.stat().st_size / 1e6:.1f} MB: read the file, count its lines",
        f"{lines_s * 1e3:.1f} ms CPU",
    )
    say("  only its bytes, and newlines in them (memchr)", f"{figures['bytes_s'] * 1e3:.1f} ms CPU")
    say("  read, decode, parse", f"{parse_s * 1e3:.0f} ms CPU")
    say("  ratio to counting newlines in bytes", f"{parse_s / figures['bytes_s']:.1f} x")
    say("  ratio to counting lines", f"{ratio:.1f} x", "<= 40 x", ratio <= 40)
    assert ratio <= 40


def test_help_starts_nearly_as_fast_as_an_empty_typer_program(tmp_path: Path) -> None:
    """The floor: a program of one command on the same libraries, asked for its help."""
    empty = tmp_path / "empty.py"
    empty.write_text(
        "import typer\n"
        "app = typer.Typer(help='One command.')\n"
        "@app.command()\n"
        "def one(path: str = typer.Option('', help='A path.')) -> None:\n"
        "    '''Do it.'''\n"
        "@app.command()\n"
        "def two() -> None:\n"
        "    '''Do the other.'''\n"
        "app()\n",
        encoding="utf-8",
    )
    floor = best(5, lambda: run([sys.executable, str(empty), "--help"], cwd=tmp_path))
    ours = best(5, lambda: run([COMMAND, "--help"], cwd=tmp_path))
    assert (floor.code, ours.code) == (0, 0), floor.out + ours.out
    ratio = ours.cpu_s / floor.cpu_s
    print()
    say("fabricctl --help", f"{ours.cpu_s:.2f} s CPU", "< 0.25 s", ours.cpu_s < 0.25)
    say("  an empty typer program's --help", f"{floor.cpu_s:.2f} s CPU")
    say("  ratio", f"{ratio:.2f} x", "<= 1.5 x", ratio <= 1.5)
    assert ratio <= 1.5


def test_the_hall_written_back_is_discovered_identically(ibsim: Sim, hall: Case) -> None:
    first = ibnetdiscover.parse(hall.seen.read_text("utf-8")).fabric
    with ibsim(ibnetdiscover_writer.write(first), opensm=True) as sim:
        second = ibnetdiscover.parse(sim.discover()).fabric

    assert nodes_of(second) == nodes_of(first)
    assert links_of(second) == links_of(first)
    print()
    say("round trip through ibsim and ibnetdiscover", f"{len(links_of(second)):,} cables", "identical", True)
