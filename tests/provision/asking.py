"""Asking simulated BMCs as the commands do, with a clock as fast as the simulator's."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.bmc import Bmc
from provision.redfish.fleet import FleetOptions, ask
from tests.sim.idrac import Simulator

T = TypeVar("T")
SPEED = 1000.0
"""Simulated seconds per second: POST takes 0.2 s."""


def targets(sim: Simulator) -> list[Target]:
    """Its BMCs, their certificates pinned."""
    return [
        Target(host, address, sim.port, trust=Trust(fingerprint=bmc.fingerprint))
        for host, address, bmc in zip(sim.hosts, sim.addresses, sim, strict=True)
    ]


def work_on(
    sim: Simulator,
    work: Callable[[Bmc], Awaitable[T]],
    chosen: Sequence[Target] | None = None,
    *,
    wave: int | None = None,
) -> list[Outcome[T]]:
    """Do something on its BMCs, with the client that writes."""
    options = FleetOptions(
        credentials=lambda _: Credentials("root", Secret(sim.password)),
        writes=True,
        sleep=lambda seconds: asyncio.sleep(seconds / SPEED),
        clock=lambda: time.monotonic() * SPEED,
        reaper=False,
    )
    return ask(targets(sim) if chosen is None else chosen, work, options, wave=wave)


def one(sim: Simulator, work: Callable[[Bmc], Awaitable[T]]) -> T:
    """The same on its first BMC. :raises BmcError: as the work did."""
    outcome = work_on(sim, work, targets(sim)[:1])[0]
    if outcome.error is not None:
        raise outcome.error
    assert outcome.value is not None
    return outcome.value
