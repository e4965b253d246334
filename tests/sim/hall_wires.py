"""MAAS's power commands carried out by simulated BMCs, as MAAS's Redfish driver does it."""

from __future__ import annotations

from dataclasses import replace
from urllib.parse import urlsplit

from tests.sim.idrac import SimBmc, Simulator
from tests.sim.idrac.power import SYSTEM, Phase
from tests.sim.idrac.readiness import Readiness
from tests.sim.maas.power import Parameters

_TIMES = ("post_s", "off_s", "shutdown_s", "cycle_s", "inventory_s")
_CONTACT = "Could not contact node's BMC: {}"
_STATUS = "Failed to complete power action: Redfish request failed with response status code: {}."


def hasten(simulator: Simulator, speed: float) -> None:
    """Let servers start and stop so many times faster; 0: at once. The clocks of the BMCs stay right."""
    for bmc in simulator:
        for name in _TIMES:
            setattr(bmc.power, name, getattr(bmc.power, name) / speed if speed else 0.0)


class BmcWires:
    """Finds a BMC by the address MAAS was given, so that a wrong one switches another server."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._at = {bmc.address: bmc for bmc in simulator}

    def problem(self, power: Parameters) -> str:
        """What MAAS's driver says when this BMC is off the network, restarts, or refuses the login."""
        bmc = self._bmc(power)
        if bmc is None:
            return _CONTACT.format(f"no BMC at {power.get('power_address')}")
        bmc.settle()
        if bmc.part(Readiness).absent_until > bmc.now():
            return _CONTACT.format("Connection refused")
        fault = next((one for one in list(bmc.faults) if one.strikes("GET", SYSTEM, bmc.dice)), None)
        if fault is not None and (fault.reset or fault.hang):
            return _CONTACT.format("Connection timed out" if fault.hang else "Connection lost")
        if fault is not None and fault.status is not None and fault.status >= 400:
            return _STATUS.format(fault.status)
        if bmc.users.get(str(power.get("power_user"))) != power.get("power_pass"):
            return _STATUS.format(401)
        return ""

    def is_on(self, power: Parameters) -> bool:
        """What the server is, as its BMC says it."""
        bmc = self._bmc(power)
        return bmc is not None and bmc.power.state == "On"

    def on(self, power: Parameters) -> None:
        """``ForceOff`` where it is on, one boot over the network, ``On``."""
        bmc = self._bmc(power)
        if bmc is None:
            return
        with bmc.lock:
            bmc.settle()
            bmc.boot.override = replace(bmc.boot.override, target="Pxe", enabled="Once")
            if bmc.power.phase is Phase.OFF:
                bmc.power.actions.append("On")
                bmc.power.on()
            else:
                bmc.power.actions += ["ForceOff", "On"]
                bmc.log("SYS1001")
                bmc.power.cycle(bmc.power.off_s)
            bmc.log("SYS1000")

    def off(self, power: Parameters) -> None:
        """``ForceOff`` where it is on."""
        bmc = self._bmc(power)
        if bmc is None:
            return
        with bmc.lock:
            bmc.settle()
            if bmc.power.phase is not Phase.OFF:
                bmc.power.actions.append("ForceOff")
                bmc.log("SYS1001")
                bmc.power.off(bmc.power.off_s)

    def _bmc(self, power: Parameters) -> SimBmc | None:
        text = str(power.get("power_address") or "")
        at = urlsplit(text if "//" in text else f"//{text}")
        return self._at.get(at.hostname or "") if (at.port or 443) == self._simulator.port else None
