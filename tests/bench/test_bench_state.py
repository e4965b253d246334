"""The state store in figures: recording a run of 4,000 findings, asking 200 such runs. CPU time of this process."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from fabricctl.adapters.store.store import open_store
from fabricctl.history.compare import compare
from tests.bench.measure import best, run, say
from tests.sim.postgres import Postgres
from tests.store.stores import known, place
from tests.store.stores import run as made_run

pytestmark = pytest.mark.bench

FINDINGS, RUNS = 4_000, 200


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_four_thousand_findings_over_two_hundred_runs(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    if kind == "sqlite":
        location = place(str(tmp_path / "site.sqlite"))
    else:
        server: Postgres = request.getfixturevalue("postgres")
        location = place(server.new_database())
    with open_store(location) as store:
        times, every = [], known(range(FINDINGS))
        for turn in range(RUNS):
            # one finding in a hundred comes or goes with every run
            numbers = [n for n in range(FINDINGS) if (n + turn) % 100]
            found = {id: one for n, (id, one) in enumerate(every.items()) if (n + turn) % 100}
            start = time.process_time()
            store.runs.record(made_run(turn, numbers), found, lambda _: True)
            times.append(time.process_time() - start)
        start = time.process_time()
        history = store.runs.history("fabric compute")
        read = time.process_time() - start
        change = compare(*history, since=RUNS // 2)
        listed = time.process_time() - start
    print()
    say(
        f"{kind}: record the first run, {FINDINGS:,} findings", f"{times[0]:.2f} s CPU", "< 1 s", times[0] < 1
    )
    say("  the slowest of 199 later ones", f"{max(times[1:]):.2f} s CPU", "< 1 s", max(times[1:]) < 1)
    say(f"  read {RUNS} runs, {len(history[2]):,} episodes", f"{read:.2f} s CPU")
    say(f"  and compare: {len(change.standings):,} findings", f"{listed:.2f} s CPU", "< 1 s", listed < 1)
    if kind == "sqlite":
        say("  the file", f"{os.path.getsize(location.path) / 2**20:.1f} MiB")
        command = [sys.executable, "-m", "fabricctl", "findings", "--state", location.path]
        used = best(3, lambda: run(command, cwd=Path(__file__).resolve().parents[2]))
        assert used.code == 1, used.out
        say("  fabricctl findings, whole command", f"{used.cpu_s:.2f} s CPU", "< 2 s", used.cpu_s < 2)
