"""A writer killed at any instant leaves whole transactions: the store opens, and its tables agree."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
import time

import pytest

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.migrate import MIGRATIONS
from fabricctl.adapters.store.store import open_store
from tests.store.stores import dump

WRITER = """
import sys, itertools
from dataclasses import replace
from datetime import UTC, datetime
from fabricctl.adapters.store.store import open_store
from fabricctl.nodes.model import NodeState
from fabricctl.nodes.transitions import plan_transitions
from tests.store.stores import known, place, run
names = [f"gpu{n:03}" for n in range(20)]
with open_store(place(sys.argv[1]), site="hall") as store:
    for turn in itertools.count():
        numbers = range(turn % 7, 300)
        made = replace(run(turn, numbers), fingerprint=f"{sys.argv[2]} {turn}")
        store.runs.record(made, known(numbers), lambda _: True)
        print("run", flush=True)
        stored = store.nodes.all(names)
        nodes = {n: (stored[n].state, stored[n].version) if n in stored else (NodeState.PLANNED, 0) for n in names}
        now = next(iter(nodes.values()))[0]
        to = NodeState.REPAIR if now is not NodeState.REPAIR else NodeState.PROVISIONING
        store.nodes.change_states(plan_transitions(nodes, to), who="w", reason="r", now=datetime.now(UTC))
        print("nodes", flush=True)
"""
COMMITS = 8
"""A writer is killed after at most so many transactions and one, in the middle of the next one."""


def _kill_one(location: Location, turn: int, dice: random.Random) -> int:
    """Kill a writer soon after a transaction it reports; how many runs it had reported by then."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, location.place, str(turn)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    told: list[str] = []
    try:
        told.append(writer.stdout.readline())
        started = time.monotonic()
        told += [writer.stdout.readline() for _ in range(dice.randint(1, COMMITS))]
        one = (time.monotonic() - started) / (len(told) - 1)
        time.sleep(dice.uniform(0.0, one))  # somewhere inside the next transaction, however slow the machine
    finally:
        writer.send_signal(signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
    assert set(told) <= {"run\n", "nodes\n"}, told
    return told.count("run\n")


def _agrees(location: Location) -> int:
    """Open it as anybody would, and check what only whole transactions leave true; how many runs it holds."""
    with open_store(location, site="hall") as store:
        runs, known, episodes = store.runs.history("fabric compute")
        records, events = store.nodes.all(), store.events.all()
    open_now = [e for e in episodes if e.gone is None]
    if runs:
        assert len(open_now) == runs[-1].findings
        assert all(e.last == runs[-1].number for e in open_now)
        assert {e.finding for e in episodes} == known.keys()
    assert len(records) in (0, 20)
    assert len({(r.state, r.version) for r in records.values()}) <= 1  # all twenty or none
    assert len(events) == sum(r.version for r in records.values())
    return len(runs)


def _killed_again_and_again(location: Location, times: int, seed: int) -> None:
    dice = random.Random(seed)
    held = 0
    for turn in range(times):
        reported = _kill_one(location, turn, dice)
        holds = _agrees(location)
        assert holds >= held + reported, "a run that was reported as kept is not there"
        held = holds
    if location.path:
        assert dump(location)["fabricctl_schema"] == [(len(MIGRATIONS) + 1, "hall")]


def test_a_killed_writer_leaves_whole_transactions(location: Location) -> None:
    _killed_again_and_again(location, 2, 7)


@pytest.mark.slow
def test_a_writer_killed_again_and_again_leaves_whole_transactions(location: Location) -> None:
    _killed_again_and_again(location, 12, 8)
