"""A fleet of simulated BMCs in this process, on its own thread and event loop."""

from __future__ import annotations

import asyncio
import random
import threading
from collections.abc import Iterator, Sequence
from types import TracebackType
from typing import Self

from fabricctl.hostset import fold
from tests.sim.idrac.bmc import SimBmc
from tests.sim.idrac.clock import SimClock
from tests.sim.idrac.control import Control
from tests.sim.idrac.faults import Latency
from tests.sim.idrac.features import Install, grown
from tests.sim.idrac.hardware import XE9680, Hardware
from tests.sim.idrac.identity import Mint, machine
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.server import Front, addresses
from tests.sim.idrac.tls import Certificate
from tests.sim.idrac.users import ROOT_PASSWORD

PASSWORD_VARIABLE = "FABRICCTL_SIM_PASSWORD"  # noqa: S105  a name, not a password


class SimulatorBugsError(ExceptionGroup):
    """What a simulator did wrong while it served; a test that ran into it proves nothing."""


class Simulator:
    """Some BMCs, each on its own loopback address, all on one port.

    :param count: of BMCs; :param profile: firmware of all, or one each; :param first: address, the others count up.
    :param port: 0: one that is free. Addresses of two simulators must differ when their ports do not.
    :param latency: how long answers take (:mod:`faults`), None: no longer than they take.
    :param seed: of all identities and dice; :param speed: simulated seconds per real second.
    :param hardware: what their servers are made of; :param hosts: their names.
    :param features: more than the usual ones; :param control: port of a control channel (:mod:`control`), 0: any.
    """

    def __init__(
        self,
        count: int = 1,
        profile: Profile | Sequence[Profile] = Profile.IDRAC9_7,
        first: str = "127.31.0.1",
        *,
        port: int = 0,
        tls: bool = True,
        latency: Latency | None = None,
        seed: int = 1,
        speed: float = 1.0,
        hosts: Sequence[str] = (),
        features: Sequence[Install] = (),
        hardware: Hardware = XE9680,
        control: int | None = None,
    ) -> None:
        profiles = [profile] * count if isinstance(profile, Profile) else list(profile)
        trees = {one: grown(one, hardware, features) for one in set(profiles)}
        self.clock = SimClock(speed)
        self.mint = Mint(seed)
        self.addresses = addresses(first, count)
        self.hosts = list(hosts) or [f"gpu{number:03d}" for number in range(1, count + 1)]
        self.bmcs = [
            SimBmc(
                host,
                address,
                trees[one],
                one,
                machine(self.mint, hardware, address),
                self.clock,
                random.Random(f"{seed} {host}"),
                hardware,
                self.mint,
            )
            for host, address, one in zip(self.hosts, self.addresses, profiles, strict=True)
        ]
        for number, bmc in enumerate(self.bmcs):
            bmc.latency = latency
            bmc.certificate = Certificate.of(bmc.address, bmc.service_tag, seed * 100_000 + number)
        self.tls = tls
        self._front = Front(self.bmcs, port, lambda bmc: bmc.certificate if tls else None)
        self._control = None if control is None else Control(self)
        self._wanted_control_port = control or 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    @property
    def port(self) -> int:
        """The port of all."""
        return self._front.port

    @property
    def control_port(self) -> int:
        """Of the control channel; 0: there is none."""
        return self._control.port if self._control is not None else 0

    def start(self) -> Self:
        """Serve, on a thread of its own."""
        ready: list[BaseException | None] = []
        started = threading.Event()

        def serve() -> None:
            loop = asyncio.new_event_loop()
            self._loop = loop
            try:
                loop.run_until_complete(self._start())
                ready.append(None)
            except BaseException as problem:  # noqa: BLE001  handed to the thread that waits
                ready.append(problem)
                loop.close()
                started.set()
                return
            started.set()
            loop.run_forever()
            loop.run_until_complete(self._stop())
            loop.run_until_complete(loop.shutdown_asyncgens())
            loop.close()

        self._thread = threading.Thread(target=serve, name="idrac-simulator", daemon=True)
        self._thread.start()
        started.wait()
        if ready[0] is not None:
            raise ready[0]
        return self

    async def _start(self) -> None:
        await self._front.start()
        if self._control is not None:
            await self._control.start(self._wanted_control_port)

    async def _stop(self) -> None:
        if self._control is not None:
            await self._control.stop()
        await self._front.stop()

    def stop(self) -> None:
        """Close every connection and end the thread.

        :raises SimulatorBugsError: the simulator itself made mistakes, whatever became of the requests.
        """
        if self._loop is not None and self._thread is not None and self._thread.is_alive():
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join(10)
        if self._front.bugs:
            bugs, self._front.bugs = self._front.bugs, []
            raise SimulatorBugsError("mistakes of the simulator", bugs)

    def site_text(self, *, whole: bool = False, verify: str = "pinned", tags: bool = False) -> str:
        """The ``management`` of a site file naming these BMCs; the password by the variable PASSWORD_VARIABLE.

        :param whole: a whole site file, with the hosts as nodes; :param verify: how certificates are checked.
        :param tags: with the service tags of the machines.
        """
        hosts = fold(self.hosts)
        places = zip(self.hosts, self.addresses, strict=True)
        checked = "" if verify == "pinned" else f", verify: '{verify}'"
        password = f"password: 'env:{PASSWORD_VARIABLE}'"
        lines = [
            "management:",
            "  bmc_addresses:",
            *(f"    {host}: {address}" for host, address in places),
            "  bmc_access:",
            f"    '{hosts}': {{user: root, {password}, port: {self.port}{checked}}}",
        ]
        if tags:
            lines += ["  service_tags:", *(f"    {bmc.host}: {bmc.service_tag}" for bmc in self.bmcs)]
        if whole:
            hcas = ", ".join(f"mlx5_{number}" for number in range(8))
            model = f"{{hcas: [{hcas}], gpus: 8}}"
            head = [
                "name: simulated",
                f"node_models: {{xe9680: {model}}}",
                f"nodes: {{'{hosts}': {{model: xe9680}}}}",
            ]
            lines = [*head, *lines]
        return "\n".join(lines) + "\n"

    @property
    def password(self) -> str:
        """Of the user root of every BMC, unless a test changed it."""
        return ROOT_PASSWORD

    def cross_cables(self, first: int | str, second: int | str) -> None:
        """The management cables of two nodes are swapped: each answers at the other's address."""
        one, other = self[first], self[second]
        addresses = {one.address: other.identity, other.address: one.identity}
        for bmc in (one, other):
            bmc.identity = addresses[bmc.address]
            bmc.certificate = Certificate.of(bmc.address, bmc.service_tag, bmc.certificate.serial + 500_000)

    def duplicate(self, first: int | str, second: int | str, *keys: str) -> None:
        """The second node has identities of the first: ``mac:NIC.Embedded.1-1-1``, ``tag``, ``bmc_mac``."""
        for key in keys:
            self[second].identity[key] = self[first].identity[key]

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def __getitem__(self, which: int | str) -> SimBmc:
        """A BMC by number, or by its host's name."""
        return self.bmcs[which] if isinstance(which, int) else self.bmcs[self.hosts.index(which)]

    def __iter__(self) -> Iterator[SimBmc]:
        return iter(self.bmcs)

    def __len__(self) -> int:
        return len(self.bmcs)
