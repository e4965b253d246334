"""BMCs in figures: 511 of them, 0.19 s an answer and 1 % of answers slow; 3 % refuse connections, 1 % have another
password, 1 % hang. Our harvest beside a bare loop that sends the same requests, a crawler, and a thread per BMC.

Every client is a program of its own; CPU is its user and system time, start included. The fleet is another program on
the same two cores. "Healthy" is when the last healthy BMC has given its last answer, by the fleet's own log.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from provision.redfish.limits import Limits
from tests.bench.bmc_measured import (
    AT_ONCE,
    BMCS,
    HANGING,
    HARVEST,
    MAX_CPU,
    MAX_MIB,
    MAX_WALL,
    REFUSING,
    SICK,
    WRONG_PASSWORD,
    Fleet,
    Row,
    assert_as_many,
    assert_harvested,
    assert_read,
    failures_by_kind,
    fleet_of,
    measured,
)
from tests.bench.measure import say

pytestmark = pytest.mark.bench

THREADED = AT_ONCE
"""BMCs that the DMTF client is given; its figures are scaled to the healthy fleet, and marked."""
CRAWLED, CRAWLED_RESOURCES = 16, 100
"""BMCs that the crawler is given, and how many resources of each; likewise."""
GOAL_WALL_S, GOAL_CPU_S, GOAL_FULL_S = 30.0, 6.0, 90.0
DEADLINE_S = Limits().quick_s


def show(rows: Sequence[Row]) -> None:
    print(f"\n  {'':<56} {'requests':>9} {'healthy':>9} {'whole':>9} {'CPU':>9} {'memory':>9}")
    for row in rows:
        print(
            f"  {row.name:<56} {row.requests:>9,.0f} {row.healthy_s:>7.1f} s {row.wall_s:>7.1f} s "
            f"{row.cpu_s:>7.1f} s {row.peak_mib:>5.0f} MiB"
        )


def threads(fleet: Fleet, plan: Sequence[str]) -> Row:
    """The DMTF client on as many BMCs as are asked at once: one round of several."""
    some = fleet.healthy[:THREADED]
    run = measured(fleet, "", lambda: fleet.client("threads", some, plan), of=some)
    assert_read(run, some)
    more = len(fleet.healthy) / len(some)
    return run.row.scaled(f"DMTF client, {AT_ONCE} threads (on {len(some)} BMCs, scaled)", more, more)


def crawl(fleet: Fleet, folder: Path) -> Row:
    """The crawler on some BMCs, for so many resources; how many there are is counted at a BMC that answers at once."""
    with fleet_of(1, folder, "--mean", "0", "--first", "127.42.0.1") as quick:
        (whole,) = measured(quick, "", lambda: quick.client("crawl", quick.healthy)).seen.requests.values()
    some = fleet.healthy[:CRAWLED]
    run = measured(fleet, "", lambda: fleet.client("crawl", some, most=CRAWLED_RESOURCES), of=some)
    assert_read(run, some)
    assert {run.seen.requests[host] for host in some} == {CRAWLED_RESOURCES + 2}, "and login, and logout"
    deeper = whole / (CRAWLED_RESOURCES + 2)
    name = f"crawler (on {CRAWLED} BMCs, {CRAWLED_RESOURCES} of {whole} resources, scaled)"
    return run.row.scaled(
        name, deeper * len(fleet.healthy) / len(some), deeper * len(fleet.healthy) / AT_ONCE
    )


def test_a_harvest_of_511_costs_little_more_than_its_requests(tmp_path: Path) -> None:
    with fleet_of(BMCS, tmp_path, *SICK) as fleet:
        assert len(fleet.healthy) == BMCS - REFUSING - WRONG_PASSWORD - HANGING == 486
        plan = fleet.plan()
        ours = measured(
            fleet, "fabricctl bmc harvest --quick, whole command", lambda: fleet.fabricctl(*HARVEST)
        )
        assert_harvested(fleet, ours.usage)
        library = measured(fleet, "the same as a library call, store included", fleet.library)
        assert json.loads(library.usage.out)["read"] == len(fleet.healthy)
        bare = measured(fleet, "bare aiohttp loop", lambda: fleet.client("bare", fleet.healthy, plan))
        assert_read(bare, fleet.healthy)
        assert_as_many(ours, bare, fleet.healthy)
        rows = [ours.row, library.row, bare.row, threads(fleet, plan), crawl(fleet, tmp_path / "one")]
        full = measured(fleet, "", lambda: fleet.fabricctl(*HARVEST[:3], "--full", "--format", "json")).row
    show(rows)
    print(f"  {len(plan)} GETs a BMC: {', '.join(plan[:3])} …")
    print(f"  {len(fleet.healthy)} harvested; not: {dict(failures_by_kind(ours.usage))}")
    cpu, wall = ours.row.cpu_s / bare.row.cpu_s, ours.row.healthy_s / bare.row.healthy_s
    mib, healthy_s, cpu_s = ours.row.peak_mib, ours.row.healthy_s, ours.row.cpu_s
    say("CPU, ours to the bare loop's", f"{cpu:.2f}", f"< {MAX_CPU}", cpu < MAX_CPU)
    say("time until the last healthy BMC, likewise", f"{wall:.2f}", f"< {MAX_WALL}", wall < MAX_WALL)
    say("memory", f"{mib:.0f} MiB", f"< {MAX_MIB:.0f}", mib < MAX_MIB)
    say("healthy BMCs read", f"{healthy_s:.1f} s", f"< {GOAL_WALL_S:.0f} s", healthy_s < GOAL_WALL_S)
    say("CPU", f"{cpu_s:.1f} s", f"< {GOAL_CPU_S:.0f} s", cpu_s < GOAL_CPU_S)
    say("full inventory", f"{full.wall_s:.1f} s", f"< {GOAL_FULL_S:.0f} s", full.wall_s < GOAL_FULL_S)
    say("  its CPU and memory", f"{full.cpu_s:.1f} s", f"{full.peak_mib:.0f} MiB")
    assert cpu < MAX_CPU
    assert wall < MAX_WALL
    assert mib < MAX_MIB


def test_one_sick_bmc_delays_nobody_by_more_than_its_deadline(tmp_path: Path) -> None:
    """More BMCs than are asked at once, so that some wait for a place that a sick one holds."""
    count, took = AT_ONCE + 32, {}
    for sick in ("", "hanging", "wrong-password", "refusing", "cutting"):
        words = [f"--{sick}", "1"] if sick else []
        with fleet_of(count, tmp_path / f"fleet-{sick}", "--tail", "0", *words) as fleet:
            run = measured(fleet, "", lambda f=fleet: f.fabricctl(*HARVEST))  # type: ignore[misc]
            took[sick] = run.row.healthy_s
            document = json.loads(run.usage.out)
            assert [host["host"] for host in document["hosts"]] == fleet.healthy
            assert [one["host"] for one in document["could_not_tell"]] == list(fleet.sick)
    alone = took.pop("")
    print(f"\n  last healthy of {count} BMCs read, {AT_ONCE} at once")
    say("nobody sick", f"{alone:.1f} s")
    for name, healthy_s in took.items():
        late = healthy_s - alone
        goal = f"{late:+.1f} s, < {DEADLINE_S:.0f} s"
        say(f"one {name.replace('-', ' ')}", f"{healthy_s:.1f} s", goal, late < DEADLINE_S)
    for name, healthy_s in took.items():
        assert healthy_s - alone < DEADLINE_S, name
