"""Simulated time and latency."""

from __future__ import annotations

import random

from hypothesis import given
from hypothesis import strategies as st

from tests.sim.idrac.clock import Agenda, SimClock
from tests.sim.idrac.faults import Fault, measured_latency, steady_latency


@given(st.lists(st.integers(0, 100), max_size=20), st.integers(0, 120))
def test_what_is_due_happens_in_order_each_at_its_time(delays: list[int], passed: int) -> None:
    clock = SimClock(speed=0)
    agenda = Agenda(clock)
    seen: list[float] = []
    for delay in delays:
        agenda.after(delay, lambda: seen.append(agenda.now()))
    clock.advance(passed)
    agenda.settle()
    assert seen == sorted(delay for delay in delays if delay <= passed)


def test_what_follows_from_something_late_happens_at_its_own_time() -> None:
    clock = SimClock(speed=0)
    agenda = Agenda(clock)
    seen: list[float] = []

    def first() -> None:
        agenda.after(5, lambda: seen.append(agenda.now()))

    agenda.after(10, first)
    cancelled = agenda.after(12, lambda: seen.append(-1))
    cancelled.cancel()
    clock.advance(1000)
    agenda.settle()
    assert seen == [15]


def test_a_clock_runs_as_fast_as_it_is_told() -> None:
    real = 100.0
    clock = SimClock(speed=10, real=lambda: real)
    real += 2
    assert clock.now() == 20
    clock.speed = 1
    real += 5
    assert clock.now() == 25


def test_measured_latency_is_that_of_the_captured_bmcs() -> None:
    dice = random.Random(1)
    latency = measured_latency(tail=0)
    sample = [latency("GET", "/redfish/v1/Systems", dice) for _ in range(4000)]
    assert min(sample) >= 0.095
    assert 0.18 < sum(sample) / len(sample) < 0.2
    logs = [latency("GET", "/redfish/v1/Managers/x/LogServices/Sel/Entries", dice) for _ in range(200)]
    assert 16 < max(logs) <= 18


def test_a_share_of_requests_is_slow_or_hit() -> None:
    dice = random.Random(1)
    latency = steady_latency(0.19, tail=0.01, tail_s=5)
    assert 20 < sum(latency("GET", "/", dice) == 5 for _ in range(5000)) < 80
    fault = Fault(path="/a.*", chance=0.5, times=100)
    assert not fault.strikes("GET", "/b", dice)
    assert sum(fault.strikes("GET", "/a1", dice) for _ in range(100)) in range(30, 70)
