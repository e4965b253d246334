"""511 hosts brought up on the double, with or without faults, and what was asked of it meanwhile."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from provision.install.deadlines import Deadlines
from provision.install.outcome import End, NodeResult
from tests.provision.install.flow_kit import Kit, by_host, flow_kit, hosts_of
from tests.sim.maas.hardware import varied

VERBS = ("enrol", "commission", "deploy")
POLL_S = 10
TIGHT = 1.15
"""A bound is not more than this times what was asked."""
NUMBER = 511
ALWAYS = None
RECOVERS: list[tuple[str, str, dict[str, Any]]] = [
    ("503-after-commit", "create", {}),
    ("504-continues", "create", {"later": 25}),
    ("drop-after", "create", {}),
    ("conflict", "create", {"count": 2}),
    ("503-after-commit", "commission", {}),
    ("504-continues", "commission", {"later": 25}),
    ("conflict", "deploy", {"count": 2}),
    ("503-after-commit", "deploy", {}),
    ("504-continues", "deploy", {"later": 25}),
    ("drop-after", "deploy", {}),
    ("reorder-disks", "commission", {}),
    ("drop-after", "set_storage_layout", {}),
]
"""Faults nobody should notice."""
FAILS: list[tuple[str, str, dict[str, Any], str]] = [
    ("fail", "commission", {"text": "lost its network"}, "failed"),
    ("no-disks", "commission", {}, "no disk at all"),
    ("missing-disk", "commission", {}, "is missing"),
    ("missing-nic", "commission", {}, "is missing"),
    ("missing-memory", "commission", {}, "of memory"),
    ("missing-gpu", "commission", {}, "expected 8 GPUs, found 7"),
    ("stuck", "commission", {}, "timed out after 30 minutes"),
    ("stuck-forever", "commission", {}, "commission took longer than 45 min"),
    ("fail", "deploy", {"text": "curtin: no space left"}, "curtin: no space left"),
    ("stuck", "deploy", {}, "timed out after 30 minutes"),
    ("stuck-forever", "deploy", {}, "deploy took longer than 50 min"),
    ("no-rack", "deploy", {"count": ALWAYS}, "BMC"),
]
"""Faults that end a host's way, with words that its reason holds."""


@dataclass
class Verb:
    """What one verb did. :param ticks: looks that were possible; :param looks: (time, what, machines read)."""

    results: dict[str, NodeResult]
    requests: int
    ticks: int
    looks: list[tuple[float, str, int]]
    asked: Counter[str]

    @property
    def read(self) -> int:
        """Machines that were read in full, each as often as it was."""
        return sum(number for _, what, number in self.looks if what == "read")

    @property
    def quarantined(self) -> int:
        """Hosts this verb put into quarantine, or tried to start in vain."""
        ends = (End.QUARANTINED, End.NOT_STARTED)
        return sum(1 for one in self.results.values() if one.end in ends and one.written)


@dataclass
class Fleet:
    """What came of it. :param words: host that must fail -> what its reason holds."""

    kit: Kit
    hosts: list[str]
    words: dict[str, str] = field(default_factory=dict)
    verbs: dict[str, Verb] = field(default_factory=dict)

    def break_some(self) -> None:
        """A tenth of the hosts will fail, and a twentieth stumble."""
        faults = self.kit.maas.double.faults
        for at, host in enumerate(self.hosts[4::10]):
            kind, op, more, said = FAILS[at % len(FAILS)]
            faults.add(kind, host, op, **more)
            self.words[host] = said
        for at, host in enumerate(self.hosts[7::20]):
            kind, op, more = RECOVERS[at % len(RECOVERS)]
            faults.add(kind, host, op, **more)

    def bring_up(self) -> None:
        """Enrol, commission, install."""
        double = self.kit.maas.double
        for verb in VERBS:
            before = double.time.now()
            double.requests.clear()
            results = by_host(self.kit.run(lambda client, verb=verb: getattr(client, verb)(self.hosts)))  # type: ignore[misc]
            ticks = round((double.time.now() - before) / POLL_S) + 1
            asked = Counter(one.op for one in double.requests)
            self.verbs[verb] = Verb(results, self.kit.requests, ticks, self.kit.looks, asked)

    def started(self, verb: str) -> list[str]:
        """Hosts that were started in a verb, or were tried to be."""
        return [host for host, one in self.verbs[verb].results.items() if one.written]

    def misplaced(self) -> list[str]:
        """Hosts whose kernel finds a data disk before the boot card, so that MAAS would install on that."""
        found = {one.hostname: one.hardware.disks for one in self.kit.maas.double.machines.values()}
        return [host for host, disks in found.items() if disks and "BOSS" not in disks[0].model]

    def bound(self, verb: str) -> int:
        """Requests a verb may need, by the rules that README states.

        n hosts; t looks, one every poll interval: what changed and one bulk read; m hosts whose root is not on the
        boot disk: set it, lay it out, read again; f that go wrong. Each host's GPUs are counted after commissioning and
        before installing. Lookups: queries of 6,000 characters.
        """
        n, told = len(self.started(verb)), self.verbs[verb]
        lookup = -(-NUMBER // 190) + -(-NUMBER // 350) + 1
        if verb == "enrol":
            return n + lookup + (4 * told.ticks if self.words else 0)
        f = told.quarantined
        if verb == "commission":
            return 2 * n + 2 * told.ticks + 5 * f
        m = len(set(self.misplaced()) & set(self.started(verb)))
        return 2 * n + 3 * m + 2 * told.ticks + 7 * f


@contextmanager
def fleet_of(folder: Path, *, broken: bool) -> Iterator[Fleet]:
    """The fleet, brought up. A third of the hosts find a data disk first. :param broken: some hosts go wrong."""
    with flow_kit(folder, hardware=varied()) as kit:
        kit.deadlines = Deadlines(deploy_s=3000, settle_s=60)
        fleet = Fleet(kit, hosts_of(NUMBER))
        if broken:
            fleet.break_some()
        fleet.bring_up()
        yield fleet
