"""How much is asked at once, and what of the world a run of requests uses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path
from random import Random

from provision.bmc.secret import Credentials
from provision.bmc.target import Target
from provision.redfish.bmc import Group


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of a run.

    :param fleet: BMCs asked at once; :param reads: reads under way at one BMC (writes: always one).
    :param wave: nodes powered or booted at once; :param budget_s: seconds one BMC may be waited for.
    :param walk_s: seconds for one collection, all pages: a page of the lifecycle log may take an iDRAC9 18 s;
        :param walk_bytes: of its bodies; :param all_bytes: of all that is read of one BMC. Endless answers end there.
    :param quick_s: deadline of one request; :param slow_s: of one to a slow resource. Measured on real BMCs (captures
        of 2024): 0.2 s on average, 18 s for the event log of an iDRAC9, 21 s for the firmware of a DGX H100.
    """

    fleet: int = 128
    reads: int = 2
    wave: int = 32
    budget_s: float = 180.0
    quick_s: float = 15.0
    slow_s: float = 45.0
    walk_s: float = 1800.0
    walk_bytes: int = 64 << 20
    all_bytes: int = 256 << 20

    def deadline_s(self, group: Group) -> float:
        """Seconds for one request to a resource of this group."""
        return self.slow_s if group is Group.SLOW else self.quick_s


CredentialSource = Callable[[Target], Credentials]
"""Raises ``SecretError``."""


Waiting = Callable[[Target, bool], None]
"""Told that a BMC is not ready and is waited for, at every pause, and that it goes on."""


@dataclass(frozen=True)
class FleetOptions:
    """How BMCs are asked.

    :param credentials: None sends none: only what needs no login can be read, and a certificate that nobody recorded
        is no obstacle.
    :param writes: the DMTF client in worker threads, for commands that change single nodes; else aiohttp.
    :param ledger: folder in which open sessions are written down, so that a later run can end those of a run that was
        killed; None keeps no such list.
    :param locks: folder of locks, one for each address: a BMC is changed by one process at a time. None: no locks.
    :param reaper: end the sessions of this run even when it is killed.
    :param change_password: go on with a BMC that lets nothing be done but change the password.
    :param identity: give neither password nor command to a BMC whose service tag is not the target's; always so with
        ``writes``. Else another tag is only noted.
    :param waiting: told of BMCs that are waited for, for progress.
    """

    credentials: CredentialSource | None
    limits: Limits = Limits()
    writes: bool = False
    ledger: Path | None = None
    locks: Path | None = None
    reaper: bool = True
    change_password: bool = False
    identity: bool = False
    waiting: Waiting = lambda target, waits: None  # noqa: ARG005
    clock: Callable[[], float] = time.monotonic
    now: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep
    random: Random = field(default_factory=Random, repr=False)
