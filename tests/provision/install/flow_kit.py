"""A fleet on the MAAS double in simulated time: what tests of the workflows share."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeVar

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import Store, open_store
from fabricctl.mac import Mac
from fabricctl.nodes.model import NodeState
from provision.bmc.secret import Secret
from provision.install.deadlines import Deadlines
from provision.install.disk_rule import DiskRule
from provision.install.expected import ExpectedDisk, ExpectedHardware
from provision.install.hardware import check_hardware
from provision.install.machine import QUARANTINE_TAG
from provision.install.outcome import NodeResult
from provision.install.spec import EnrolSpec, Power
from provision.maas.provisioner import MaasProvisioner, open_maas
from provision.maas.settings import MaasSettings
from provision.workflows.install_book import StoreBook
from provision.workflows.install_commission import Judge, commission
from provision.workflows.install_deploy import DeployJob, deploy
from provision.workflows.install_enrol import enrol
from provision.workflows.install_model import FlowOptions, Progress
from provision.workflows.journal import Begun
from tests.sim.maas.hardware import xe9680
from tests.sim.maas.process import ServedDouble, maas_double

T = TypeVar("T")
BOSS = DiskRule(model="*BOSS*")
DEADLINES = Deadlines(settle_s=60)
HOPS = 12
"""Turns of the event loop in which nothing is asked before time may pass: then everybody waits."""


class KilledError(BaseException):
    """The client was killed: nothing of it runs any more."""


@dataclass
class Line:
    """The wire between client and double. :param kill_at: the client dies after so many requests, None: never.

    :param kill_when: it dies after the first request after which this is so.
    :param looks: simulated time, ``read`` or ``changes``, machines that were read.
    """

    kill_at: int | None = None
    kill_when: Callable[[], bool] = lambda: False
    sent: int = 0
    busy: int = 0
    dead: bool = False
    looks: list[tuple[float, str, int]] = field(default_factory=list)

    def check(self) -> None:
        """:raises KilledError: whoever is dead does nothing."""
        if self.dead:
            raise KilledError

    def tap(self, provisioner: Any, now: Callable[[], float]) -> None:
        """Count requests, and die after one; note when somebody looks, and at how many machines."""
        transport = provisioner._transport._edge
        exchange, read, changes = transport._exchange, provisioner.read, provisioner.changes

        async def noted_read(ids: Sequence[str]) -> Any:
            self.looks.append((now(), "read", len(ids)))
            return await read(ids)

        async def noted_changes(cursor: str) -> Any:
            self.looks.append((now(), "changes", 0))
            return await changes(cursor)

        provisioner.read, provisioner.changes = noted_read, noted_changes

        async def counted(*args: Any, **options: Any) -> Any:
            self.check()
            self.sent += 1
            number = self.sent
            self.busy += 1
            try:
                answer = await exchange(*args, **options)
            finally:
                self.busy -= 1
            if number == self.kill_at or self.kill_when():
                self.dead = True
            self.check()
            return answer

        transport._exchange = counted


@dataclass(frozen=True)
class _MortalEntry:
    entry: Begun
    line: Line

    def tell(self, afters: Sequence[str]) -> None:
        self.line.check()
        self.entry.tell(afters)


@dataclass(frozen=True)
class MortalBook(StoreBook):
    """A book that a dead client no longer writes into."""

    line: Line = field(default_factory=Line)

    def begin(self, *args: Any) -> Any:
        self.line.check()
        return _MortalEntry(super().begin(*args), self.line)

    def resume(self, *args: Any) -> Any:
        self.line.check()
        return _MortalEntry(super().resume(*args), self.line)

    def move(self, *args: Any) -> str:
        self.line.check()
        return super().move(*args)

    def note(self, *args: Any) -> None:
        self.line.check()
        super().note(*args)


@dataclass
class Keys:
    """Host keys as a workflow sees them: made before sending, settled when that was answered. No key is in it."""

    made: list[str] = field(default_factory=list)
    settled: list[str] = field(default_factory=list)
    withdrawn: list[str] = field(default_factory=list)

    async def make(self, host: str) -> Secret:
        """User data of a host."""
        self.made.append(host)
        return Secret(f"#cloud-config\nhostname: {host}\n")

    async def accepted(self, host: str) -> None:
        """It is being installed."""
        self.settled.append(host)

    async def refused(self, host: str) -> None:
        """It is not."""
        self.withdrawn.append(host)


def hosts_of(number: int) -> list[str]:
    """``gpu001`` and so on."""
    return [f"gpu{at:03}" for at in range(1, number + 1)]


def mac_of(host: str) -> Mac:
    """A MAC of its own."""
    number = int(host[3:])
    return Mac(f"52:54:00:00:{number // 256:02x}:{number % 256:02x}")


def address_of(host: str) -> str:
    """Its BMC's."""
    number = int(host[3:])
    return f"192.0.{2 + number // 200}.{1 + number % 200}"


def spec_of(host: str, **more: Any) -> EnrolSpec:
    """As the site has it."""
    power = Power("redfish", address_of(host), "root", Secret("calvin"))
    spec = EnrolSpec(host, (mac_of(host),), power, service_tag=xe9680(host, [mac_of(host)]).serial)
    return replace(spec, **more)


def judge_of(host: str) -> Judge:
    """What should be in it, by what the double builds: the same an operator has from a harvest."""
    hardware = xe9680(host, [mac_of(host)])
    expected = ExpectedHardware(
        service_tag=hardware.serial,
        disks=len(hardware.disks),
        known_disks=tuple(ExpectedDisk(disk.serial, f"disk {disk.serial}") for disk in hardware.disks[1:]),
        nics={"NIC.Embedded.1-1-1": frozenset({mac_of(host)})},
        gpus=len(hardware.gpus),
        memory_gib=hardware.memory_mib / 1024,
    )
    return lambda machine: [one for one in check_hardware(machine, expected) if one.expected]


@dataclass
class Kit:
    """One double, one store, and a client that may be run again and again."""

    maas: ServedDouble
    store: Store
    keys: Keys = field(default_factory=Keys)
    said: list[Progress] = field(default_factory=list)
    deadlines: Deadlines = DEADLINES
    more: dict[str, Any] = field(default_factory=dict)
    requests: int = 0
    looks: list[tuple[float, str, int]] = field(default_factory=list)

    def run(
        self,
        work: Callable[[Client], Awaitable[T]],
        *,
        kill_at: int | None = None,
        kill_when: Callable[[], bool] = lambda: False,
    ) -> T:
        """Run a client once. :raises KilledError: it died, as asked for."""
        return asyncio.run(self._run(work, Line(kill_at, kill_when)))

    async def _run(self, work: Callable[[Client], Awaitable[T]], line: Line) -> T:
        async with self._client(line) as client:
            try:
                return await work(client)
            finally:
                self.requests, self.looks = line.sent, line.looks

    @asynccontextmanager
    async def _client(self, line: Line) -> AsyncIterator[Client]:
        settings = MaasSettings(self.maas.url, Secret(self.maas.api_key), requests=16)
        async with open_maas(settings, sleep=lambda _: asyncio.sleep(0)) as provisioner:
            line.tap(provisioner, self.maas.double.time.now)
            yield Client(self, provisioner, self.options(line))

    def options(self, line: Line) -> FlowOptions:
        """Simulated time: it passes only while everybody waits."""

        async def sleep(seconds: float) -> None:
            calm = 0
            while calm < HOPS:
                await asyncio.sleep(0.0005 if line.busy else 0)
                calm = 0 if line.busy else calm + 1
            line.check()
            self.maas.advance(seconds)

        double = self.maas.double
        book = MortalBook(self.store, "test", "maas", now=double.time.wall, line=line)
        options = FlowOptions(
            clock=double.time.now,
            now=double.time.wall,
            sleep=sleep,
            requests=8,
            poll_s=10,
            deadlines=self.deadlines,
            progress=self.said.append,
            book=book,
        )
        return replace(options, **self.more)

    def ends(self) -> dict[str, tuple[str, bool]]:
        """Host -> status and whether it has the tag, as the double has them."""
        return {
            one.hostname: (str(one.status.value), QUARANTINE_TAG in one.tags)
            for one in self.maas.double.machines.values()
        }

    def states(self, hosts: Sequence[str]) -> dict[str, NodeState]:
        """Node states."""
        return {host: record.state for host, record in self.store.nodes.all(hosts).items()}


@dataclass(frozen=True)
class Client:
    """What commands do, without a command line."""

    kit: Kit
    maas: MaasProvisioner
    options: FlowOptions

    async def enrol(self, hosts: Sequence[str], **more: Any) -> list[NodeResult]:
        """Enrol hosts."""
        return await enrol(self.maas, [spec_of(host, **more) for host in hosts], self.options)

    async def commission(self, hosts: Sequence[str], **more: Any) -> list[NodeResult]:
        """Commission hosts."""
        judges = {host: judge_of(host) for host in hosts}
        return await commission(self.maas, hosts, self.options, judges=judges, **more)

    async def deploy(
        self, hosts: Sequence[str], *, rule: DiskRule | None = BOSS, **more: Any
    ) -> list[NodeResult]:
        """Install hosts."""
        jobs = [DeployJob(host, rule, "jammy", "ga", judge_of(host)) for host in hosts]
        return await deploy(self.maas, jobs, self.options, seeds=self.kit.keys, **more)

    async def bring_up(self, hosts: Sequence[str]) -> list[NodeResult]:
        """All three, one after the other; results of the last."""
        await self.enrol(hosts)
        await self.commission(hosts)
        return await self.deploy(hosts)


@contextmanager
def flow_kit(folder: Path, **options: Any) -> Iterator[Kit]:
    """A double and a store while the block runs."""
    location = find_location(str(folder / "state.db"), site_name="lab")
    with maas_double(**options) as maas, open_store(location, site="lab") as store:
        yield Kit(maas, store)


def by_host(results: Sequence[NodeResult]) -> dict[str, NodeResult]:
    """Results by host."""
    return {one.host: one for one in results}
