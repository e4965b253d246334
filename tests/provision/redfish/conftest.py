"""A tiny service, and the ways to ask it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.fleet import FleetOptions, ask
from tests.provision.redfish.tiny import Tiny, TinyServer
from tests.sim.idrac.users import ROOT_PASSWORD

CREDENTIALS = Credentials("root", Secret(ROOT_PASSWORD))


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Tiny]:
    with TinyServer(tmp_path) as service:
        yield service


@pytest.fixture(params=[False, True], ids=["aiohttp", "dmtf"])
def writes(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


class Clock:
    """A clock that runs when somebody sleeps; what was slept is kept."""

    def __init__(self) -> None:
        self.now = 1000.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@pytest.fixture
def clock() -> Clock:
    return Clock()


def target_of(tiny: Tiny, **changes: Any) -> Target:
    fields = {"trust": Trust(fingerprint=tiny.fingerprint), **changes}
    return Target("gpu001", tiny.address, tiny.port, **fields)


Asker = Callable[..., Outcome[Any]]


@pytest.fixture
def run(tiny: Tiny, clock: Clock, writes: bool) -> Asker:
    """Do work on the tiny service, with a clock that needs no time."""

    def asking(
        work: Callable[[Any], Awaitable[Any]], target: Target | None = None, **changes: Any
    ) -> Outcome[Any]:
        fields = {
            "credentials": lambda target: CREDENTIALS,
            "writes": writes,
            "clock": clock,
            "sleep": clock.sleep,
            "random": Random(1),
            "reaper": False,
            **changes,
        }
        return ask([target or target_of(tiny)], work, FleetOptions(**fields))[0]

    return asking
