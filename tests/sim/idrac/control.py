"""Control of a simulator from another process: JSON over HTTP on a loopback port of its own.

=========================== ==========================================================================
``GET /``                   port, speed, and of every BMC host, address, service tag, BMC MAC
``GET /totals``             requests by status, sessions open, made, and the most that were ever open at one BMC
``GET /bmc/HOST``           power, boot, sessions, jobs, counts
``GET /bmc/HOST/requests``  the request log
``GET /bmc/HOST/identity``  tag, serial numbers, MACs, GUIDs
``POST /fault``             ``{"hosts": ["gpu001"] (default: all), "method": …}``: fields of :class:`Fault`
``POST /calm``              ``{"hosts": […]}``: no faults any more
``POST /set``               ``{"hosts": […], "power": "Off", "post_s": 5, "latency_s": 0.19, "password": …}``: any
``POST /certificate``       ``{"hosts": […]}``: another certificate each; answers fingerprints
``POST /speed``             ``{"speed": 100}`` or ``{"advance_s": 60}``
``POST /forget``            request logs are emptied, sessions ended
=========================== ==========================================================================
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import asdict, fields
from typing import TYPE_CHECKING, Any

from aiohttp import web

from tests.sim.idrac.faults import Fault, steady_latency
from tests.sim.idrac.power import Phase

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc
    from tests.sim.idrac.simulator import Simulator

_FAULT_FIELDS = {one.name for one in fields(Fault) if one.init}


class Control:
    """Answers control requests about one simulator."""

    def __init__(self, simulator: Simulator) -> None:
        self._simulator = simulator
        self._runner: web.ServerRunner | None = None
        self.port = 0

    async def start(self, port: int = 0) -> None:
        """Listen on 127.0.0.1."""
        self._runner = web.ServerRunner(web.Server(self._handle, access_log=None), shutdown_timeout=0.2)
        await self._runner.setup()
        await web.TCPSite(self._runner, "127.0.0.1", port).start()
        self.port = self._runner.addresses[0][1]

    async def stop(self) -> None:
        """Stop listening."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.Response:
        try:
            asked = json.loads(await request.text() or "{}")
            said = self.answer(request.method, request.path, asked)
        except (KeyError, TypeError, ValueError) as problem:
            said, status = {"error": f"{type(problem).__name__}: {problem}"}, 400
        else:
            status = 200
        return web.json_response(said, status=status)

    def answer(self, method: str, path: str, asked: dict[str, Any]) -> Any:
        """Carry out one control request.

        :raises KeyError: no such BMC or command; :raises ValueError: what is asked for cannot be.
        """
        steps = path.strip("/").split("/")
        if method == "GET":
            return self._read(steps)
        bmcs = [self._simulator[host] for host in asked.pop("hosts", self._simulator.hosts)]
        match steps:
            case ["fault"]:
                return self._fault(bmcs, asked)
            case ["calm"]:
                for bmc in bmcs:
                    bmc.clear_faults()
            case ["set"]:
                for bmc in bmcs:
                    _set(bmc, asked)
            case ["certificate"]:
                return {bmc.host: bmc.certificate.renew() for bmc in bmcs}
            case ["speed"]:
                return self._speed(asked)
            case ["forget"]:
                for bmc in bmcs:
                    bmc.requests.clear()
                    bmc.sessions.open.clear()
            case _:
                raise KeyError(path)
        return {}

    def _read(self, steps: list[str]) -> Any:
        match steps:
            case [""]:
                return overview(self._simulator)
            case ["totals"]:
                return totals(self._simulator)
            case ["bmc", host]:
                return state_of(self._simulator[host])
            case ["bmc", host, "requests"]:
                return [asdict(entry) for entry in list(self._simulator[host].requests)]
            case ["bmc", host, "identity"]:
                return self._simulator[host].identity
        raise KeyError("/".join(steps))

    def _fault(self, bmcs: list[SimBmc], asked: dict[str, Any]) -> Any:
        unknown = set(asked) - _FAULT_FIELDS
        if unknown:
            raise ValueError(f"expected fields {sorted(_FAULT_FIELDS)}, found {sorted(unknown)}")
        for bmc in bmcs:
            bmc.fault(Fault(**asked))
        return {"bmcs": len(bmcs)}

    def _speed(self, asked: dict[str, Any]) -> Any:
        if "speed" in asked:
            self._simulator.clock.speed = float(asked["speed"])
        if "advance_s" in asked:
            self._simulator.clock.advance(float(asked["advance_s"]))
        return {"now": self._simulator.clock.now(), "speed": self._simulator.clock.speed}


def _set(bmc: SimBmc, asked: dict[str, Any]) -> None:
    for name, value in asked.items():
        match name, value:
            case "power", "On" | "Off":
                bmc.power.set(Phase.RUNNING if value == "On" else Phase.OFF)
            case (("post_s" | "off_s" | "shutdown_s" | "cycle_s" | "inventory_s"), int() | float()):
                setattr(bmc.power, name, float(value))
            case "latency_s", int() | float():
                bmc.latency = steady_latency(float(value)) if value else None
            case "password", str():
                bmc.users["root"] = value
            case "clock_skew_s", int() | float():
                bmc.clock_skew_s = float(value)
            case _:
                raise ValueError(f"cannot set {name} to {value!r}")


def overview(simulator: Simulator) -> dict[str, Any]:
    """Where everything is."""
    return {
        "port": simulator.port,
        "control_port": simulator.control_port,
        "speed": simulator.clock.speed,
        "tls": simulator.tls,
        "bmcs": [
            {
                "host": bmc.host,
                "address": bmc.address,
                "service_tag": bmc.service_tag,
                "bmc_mac": bmc.identity["bmc_mac"],
                "profile": bmc.profile.name,
            }
            for bmc in simulator
        ],
    }


def totals(simulator: Simulator) -> dict[str, Any]:
    """Sums over all BMCs."""
    statuses: Counter[str] = Counter()
    for bmc in simulator:
        statuses.update(str(entry.status) for entry in list(bmc.requests))
    return {
        "requests": sum(statuses.values()),
        "statuses": dict(statuses),
        "sessions_open": sum(len(bmc.sessions) for bmc in simulator),
        "sessions_made": sum(bmc.sessions.created for bmc in simulator),
        "most_at_one_bmc": max((bmc.sessions.most for bmc in simulator), default=0),
    }


def state_of(bmc: SimBmc) -> dict[str, Any]:
    """One BMC."""
    override = bmc.boot_override
    return {
        "host": bmc.host,
        "service_tag": bmc.service_tag,
        "power": bmc.power.state,
        "phase": bmc.power.phase.value,
        "actions": bmc.power.actions,
        "boots": bmc.power.boots,
        "booted": bmc.boot.booted,
        "boot": {"target": override.target, "enabled": override.enabled, "mode": override.mode},
        "sessions": {number: session.user for number, session in bmc.sessions.open.items()},
        "jobs": {job.id: str(job.state) for job in bmc.jobs},
        "requests": len(bmc.requests),
        "fingerprint": bmc.fingerprint,
    }
