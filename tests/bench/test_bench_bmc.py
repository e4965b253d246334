"""BMCs in figures: 511 of them, 0.19 s an answer and 1 % of answers slow; 3 % refuse connections, 1 % have another
password, 1 % hang. Our harvest beside a bare loop that sends the same requests, a crawler, and a thread per BMC.

Every client is a program of its own; CPU is its user and system time, start included. The fleet is another program on
the same two cores. "Healthy" is when the last healthy BMC has given its last answer, by the fleet's own log.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from provision.redfish.limits import Limits
from tests.bench.measure import Usage, run, say
from tests.sim.idrac import PASSWORD_VARIABLE
from tests.sim.idrac.users import ROOT_PASSWORD

pytestmark = pytest.mark.bench

ROOT = Path(__file__).resolve().parents[2]
BMCS, AT_ONCE = 511, 128
REFUSING, WRONG_PASSWORD, HANGING = 15, 5, 5
CRAWLED, THREADED = 16, 128
"""BMCs that the two slow clients are given; their figures are scaled to the healthy fleet, and marked."""
HARVEST = ("bmc", "harvest", "all", "--quick", "--format", "json")
MAX_CPU, MAX_WALL, MAX_MIB = 2.0, 1.5, 400.0
GOAL_WALL_S, GOAL_CPU_S, GOAL_FULL_S = 30.0, 6.0, 90.0


class Seen(NamedTuple):
    """What the fleet has seen of one client. :param last: BMC -> monotonic seconds of its last answer."""

    requests: Mapping[str, int]
    last: Mapping[str, float]
    sessions: int
    cpu_s: float
    log: Sequence[Sequence[Any]]


class Fleet:
    """A running fleet and the site file that names it."""

    def __init__(self, process: subprocess.Popen[str], folder: Path) -> None:
        self._process = process
        self.told = self._line()
        self.sick: Mapping[str, str] = self.told["sick"]
        self.site, self.state = folder / "site.yaml", folder / "state.sqlite"
        self.site.write_text(self._site_text(), "utf-8")
        self.environment = {**os.environ, PASSWORD_VARIABLE: ROOT_PASSWORD}

    def _line(self) -> Any:
        assert self._process.stdout is not None
        return json.loads(self._process.stdout.readline())

    def _site_text(self) -> str:
        addresses = "\n".join(f"    {host}: {address}" for host, address in self.told["addresses"].items())
        hosts = f"gpu[001-{len(self.told['addresses']):03d}]"
        return (
            "name: bench\nnode_models: {m: {hcas: [mlx5_0], gpus: 8}}\n"
            f"nodes: {{'{hosts}': {{model: m}}}}\n"
            f"gates: {{max_nodes_per_change: {BMCS}}}\n"
            f"management:\n  bmc_addresses:\n{addresses}\n"
            f"  bmc_access: {{'{hosts}': {{user: root, password: 'env:{PASSWORD_VARIABLE}', "
            f"port: {self.told['port']}}}}}\n"
        )

    def seen(self) -> Seen:
        """What it saw since it was asked last."""
        assert self._process.stdin is not None
        self._process.stdin.write("seen\n")
        self._process.stdin.flush()
        return Seen(**self._line())

    def job(self, hosts: Sequence[str], plan: Sequence[str]) -> str:
        """For :mod:`tests.bench.bmc_clients`."""
        bmcs = {host: [self.told["addresses"][host], self.told["port"]] for host in hosts}
        return json.dumps({"bmcs": bmcs, "plan": list(plan), "atonce": AT_ONCE})

    @property
    def healthy(self) -> list[str]:
        """BMCs without a sickness."""
        return [host for host in self.told["addresses"] if host not in self.sick]

    def fabricctl(self, *words: str) -> Usage:
        """One command about all of them."""
        argv = [
            sys.executable,
            "-m",
            "fabricctl",
            *words,
            "--site",
            str(self.site),
            "--state",
            str(self.state),
        ]
        return run(argv, cwd=ROOT, env=self.environment)

    def library(self) -> Usage:
        """Our harvest without the command line around it."""
        argv = [sys.executable, "-m", "tests.bench.bmc_ours", str(self.site), str(self.state)]
        return run(argv, cwd=ROOT, env=self.environment)

    def client(self, name: str, hosts: Sequence[str], plan: Sequence[str]) -> Usage:
        """One of the clients we are compared with."""
        argv = [sys.executable, "-m", "tests.bench.bmc_clients", name]
        return run(argv, cwd=ROOT, env=self.environment, text=self.job(hosts, plan))


@contextmanager
def fleet_of(count: int, folder: Path, *words: str) -> Iterator[Fleet]:
    argv = [sys.executable, "-m", "tests.bench.bmc_fleet", str(count), *words]
    with subprocess.Popen(
        argv, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            yield Fleet(process, folder)
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait()


class Row(NamedTuple):
    """One client's figures, for the whole fleet."""

    name: str
    requests: int
    healthy_s: float
    wall_s: float
    cpu_s: float
    peak_mib: float


def measured(fleet: Fleet, name: str, usage_of: Callable[[], Usage], *, of: Sequence[str] = ()) -> Row:
    """Run a client; when it was given some BMCs only, scale: requests and CPU by their number, time by rounds.

    :param of: the BMCs it was given, all healthy ones when left out; a round is as many as are asked at once.
    """
    some = of or fleet.healthy
    share = len(some) / len(fleet.healthy)
    rounds = max(len(some), AT_ONCE) / len(fleet.healthy) if of else 1.0
    fleet.seen()
    start = time.monotonic()
    usage = usage_of()
    seen = fleet.seen()
    answers = [seen.last[host] - start for host in some if host in seen.last]
    assert answers, usage.out
    assert seen.sessions == 0, f"{name} left {seen.sessions} sessions"
    requests = sum(seen.requests.values())
    return Row(
        f"{name} (on {len(some)} BMCs, scaled)" if of else name,
        round(requests / share),
        max(answers) / rounds,
        usage.wall_s / rounds,
        usage.cpu_s / share,
        usage.peak_mib,
    )


def plan_of(seen: Seen) -> list[str]:
    """The GETs of a recorded run, with their queries, in order."""
    return [f"{path}?{query}" if query else path for method, path, query, _ in seen.log if method == "GET"]


def show(rows: Sequence[Row]) -> None:
    print(f"\n  {'':<46} {'requests':>9} {'healthy':>9} {'whole':>9} {'CPU':>9} {'memory':>9}")
    for row in rows:
        print(
            f"  {row.name:<46} {row.requests:>9,} {row.healthy_s:>7.1f} s {row.wall_s:>7.1f} s "
            f"{row.cpu_s:>7.1f} s {row.peak_mib:>5.0f} MiB"
        )


def test_a_harvest_of_511_costs_little_more_than_its_requests(tmp_path: Path) -> None:
    with fleet_of(
        BMCS,
        tmp_path,
        *("--refusing", str(REFUSING), "--wrong-password", str(WRONG_PASSWORD), "--hanging", str(HANGING)),
    ) as fleet:
        trusted = fleet.fabricctl("bmc", "trust", "all", "--yes")
        assert trusted.code in (0, 3), trusted.out
        fleet.seen()
        one = fleet.fabricctl("bmc", "harvest", fleet.healthy[0], "--quick")
        assert one.code == 0, one.out
        plan = plan_of(fleet.seen())
        fleet.state.unlink()
        trusted = fleet.fabricctl("bmc", "trust", "all", "--yes")

        harvest = ("bmc", "harvest", "all", "--quick", "--format", "json")
        ours = measured(
            fleet, "fabricctl bmc harvest --quick, whole command", lambda: fleet.fabricctl(*harvest)
        )
        library = measured(fleet, "the same as a library call, store included", fleet.library)
        bare = measured(fleet, "bare aiohttp loop", lambda: fleet.client("bare", fleet.healthy, plan))
        some, few = fleet.healthy[:THREADED], fleet.healthy[:CRAWLED]
        threads = measured(
            fleet,
            "DMTF client, 128 threads",
            lambda: fleet.client("threads", some, plan),
            of=some,
        )
        crawl = measured(
            fleet,
            "crawler, every link",
            lambda: fleet.client("crawl", few, plan),
            of=few,
        )
        full = fleet.fabricctl("bmc", "harvest", "all", "--full", "--format", "json")
    show([ours, library, bare, threads, crawl])
    print(f"  {len(plan)} GETs a BMC: {', '.join(plan[:3])} …")
    cpu, wall = ours.cpu_s / bare.cpu_s, ours.healthy_s / bare.healthy_s
    say("CPU, ours to the bare loop's", f"{cpu:.2f}", f"< {MAX_CPU}", cpu < MAX_CPU)
    say("time until the last healthy BMC, likewise", f"{wall:.2f}", f"< {MAX_WALL}", wall < MAX_WALL)
    say("memory", f"{ours.peak_mib:.0f} MiB", f"< {MAX_MIB:.0f}", ours.peak_mib < MAX_MIB)
    say(
        "healthy BMCs read", f"{ours.healthy_s:.1f} s", f"< {GOAL_WALL_S:.0f} s", ours.healthy_s < GOAL_WALL_S
    )
    say("CPU", f"{ours.cpu_s:.1f} s", f"< {GOAL_CPU_S:.0f} s", ours.cpu_s < GOAL_CPU_S)
    say("full inventory", f"{full.wall_s:.1f} s", f"< {GOAL_FULL_S:.0f} s", full.wall_s < GOAL_FULL_S)
    say("  its CPU and memory", f"{full.cpu_s:.1f} s", f"{full.peak_mib:.0f} MiB")
    assert cpu < MAX_CPU
    assert wall < MAX_WALL
    assert ours.peak_mib < MAX_MIB


def test_one_sick_bmc_delays_nobody_by_more_than_its_deadline(tmp_path: Path) -> None:
    """More BMCs than are asked at once, so that some wait for a place that a sick one holds."""
    count, took = AT_ONCE + 64, {}
    for sick in ((), ("--hanging", "1"), ("--wrong-password", "1"), ("--refusing", "1"), ("--cutting", "1")):
        folder = tmp_path / "-".join(["fleet", *sick])
        folder.mkdir()
        with fleet_of(count, folder, "--tail", "0", *sick) as fleet:
            trusted = fleet.fabricctl("bmc", "trust", "all", "--yes")
            assert trusted.code in (0, 3), trusted.out
            took[" ".join(sick)] = measured(fleet, "", lambda f=fleet: f.fabricctl(*HARVEST))
    print(f"\n  last healthy of {count} BMCs read, {AT_ONCE} at once")
    alone = took.pop("").healthy_s
    say("nobody sick", f"{alone:.1f} s")
    for name, row in took.items():
        delay = row.healthy_s - alone
        say(f"one {name.split()[0].strip('-').replace('-', ' ')}", f"{row.healthy_s:.1f} s",
            f"{delay:+.1f} s, < {Limits().quick_s:.0f} s", delay < Limits().quick_s)  # fmt: skip
    for name, row in took.items():
        assert row.healthy_s - alone < Limits().quick_s, name
