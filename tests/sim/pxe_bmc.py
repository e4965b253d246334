"""A virtual machine behind a simulated BMC: power and boot override decide whether it runs, and from what it boots."""

from __future__ import annotations

import threading

from tests.sim.idrac import SimBmc
from tests.sim.idrac.power import Phase, PowerEvent
from tests.sim.pxe import Machine, PxeLab

NETWORK = frozenset({"Pxe", "UefiHttp"})
"""Boot sources that are the network card; every other one is the disk here."""


class Follower:
    """The machine of one BMC: starts, restarts and dies as its power says, and tells when POST is over.

    :param mac: of the card it boots from, as the BMC shows it.
    """

    def __init__(self, bmc: SimBmc, lab: PxeLab, mac: str) -> None:
        self.booted: list[str] = []
        """Boot device of each start, as the boot override names it."""
        self.machine: Machine | None = None
        self._bmc, self._lab, self._mac = bmc, lab, mac
        bmc.power.post_by_hook = True
        bmc.on_power(self._follow)

    def _follow(self, _bmc: SimBmc, event: PowerEvent, device: str) -> None:
        """Called by the simulator with the BMC locked, so nothing is waited for."""
        if self.machine is not None:
            self.machine.cut()
            self.machine = None
        if event is PowerEvent.OFF:
            return
        self.booted.append(device)
        started = threading.Event()
        mine: list[Machine] = []

        def is_current() -> bool:
            started.wait()
            return bool(mine) and self.machine is mine[0]

        def left_post() -> None:
            if is_current():
                self._bmc.power.finish_post()

        def ended(unasked: bool) -> None:
            if unasked and is_current():
                with self._bmc.lock:
                    self._bmc.power.off(0)
                    self._bmc.settle()

        try:
            machine = self._lab.boot(self._mac, network=device in NETWORK, left_post=left_post, ended=ended)
            mine.append(machine)
            self.machine = machine
        finally:
            started.set()

    @property
    def running(self) -> bool:
        """Whether the machine runs, which is what the BMC's power state should say."""
        return self.machine is not None and self.machine.running and self._bmc.power.phase is not Phase.OFF
