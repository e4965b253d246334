"""What a harvest of 511 BMCs may cost beside a bare loop of the same requests; ``make bench`` has the figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.bench.bmc_measured import (
    BMCS,
    HARVEST,
    MAX_CPU,
    MAX_MIB,
    MAX_WALL,
    SICK,
    Row,
    assert_as_many,
    assert_harvested,
    assert_read,
    fleet_of,
    measured,
)

pytestmark = pytest.mark.slow

PAIRS = 4
"""Other work on the machine only ever adds: the best pair counts, and no further one is run."""


def test_a_harvest_of_511_costs_at_most_twice_the_cpu_of_its_requests(tmp_path: Path) -> None:
    bare: list[Row] = []
    ours: list[Row] = []
    with fleet_of(BMCS, tmp_path, *SICK, "--first", "127.44.0.1") as fleet:
        plan = fleet.plan()
        while len(ours) < PAIRS and not (ours and holds(bare, ours)):
            loop = measured(fleet, "bare", lambda: fleet.client("bare", fleet.healthy, plan))
            assert_read(loop, fleet.healthy)
            fleet.forget()
            harvest = measured(fleet, "ours", lambda: fleet.fabricctl(*HARVEST))
            assert_harvested(fleet, harvest.usage)
            assert_as_many(harvest, loop, fleet.healthy)
            bare.append(loop.row)
            ours.append(harvest.row)
    assert max(row.peak_mib for row in ours) < MAX_MIB
    assert holds(bare, ours), "\n".join(map(str, ["", *bare, *ours]))


def holds(bare: Sequence[Row], ours: Sequence[Row]) -> bool:
    """Whether our best run is good enough beside the bare loop's just before it."""
    cpu = min(mine.cpu_s / its.cpu_s for mine, its in zip(ours, bare, strict=True))
    healthy = min(mine.healthy_s / its.healthy_s for mine, its in zip(ours, bare, strict=True))
    return cpu <= MAX_CPU and healthy <= MAX_WALL
