"""What the sensors of a simulated machine read: temperatures, fans, supplies. Plausible, unless told otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sim.idrac.hardware import XE9680
from tests.sim.idrac.lifecycle import Lifecycle

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

FAN_MAX_RPM = 17_000
SUPPLIES = len(XE9680.psus)
SUPPLY_WATTS = 2_800
GPUS = len(XE9680.gpus)


@dataclass(frozen=True, slots=True)
class Probe:
    """One temperature sensor: id as in Sensors, name as in Thermal, limits (None: none is told)."""

    id: str
    name: str
    context: str
    celsius: float
    caution: float | None = None
    critical: float | None = None
    low_critical: float | None = None


@dataclass(frozen=True, slots=True)
class Fan:
    """One fan. :param id: FQDD; :param percent: of its highest speed."""

    id: str
    name: str
    percent: int

    @property
    def rpm(self) -> int:
        """Its speed."""
        return round(FAN_MAX_RPM * self.percent / 100 / 120) * 120


class Readings:
    """Sensors of one machine.

    :ivar celsius: sensor id -> value it reads instead; 7.0 of a GPU cannot be: less than the air that cools it.
    :ivar fan_percent: FQDD -> speed instead; ``all_fans`` for all of them. :ivar failed_fans: fans that stand still.
    :ivar lost_inputs: power supplies (1…) without input. :ivar load: 0 to 1, of the GPUs.
    """

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        dice = bmc.dice
        self.inlet = 22.0 + dice.randrange(0, 4)
        self.celsius: dict[str, float] = {}
        self.fan_percent: dict[str, int] = {}
        self.all_fans: int | None = None
        self.failed_fans: set[str] = set()
        self.lost_inputs: set[int] = set()
        self.load = 0.05
        self._spread = [dice.uniform(-1.5, 1.5) for _ in range(GPUS)]

    @property
    def powered(self) -> bool:
        """Whether the host has power."""
        return self._bmc.part(Lifecycle).powered

    def probes(self) -> list[Probe]:
        """All temperatures now; a host that is off is near its inlet."""
        warm = 1.0 if self.powered else 0.0
        inlet = self.inlet
        found = [
            Probe("CPU1Temp", "CPU1 Temp", "CPU", inlet + warm * (18 + 25 * self.load), None, 99, 3),
            Probe("CPU2Temp", "CPU2 Temp", "CPU", inlet + warm * (19 + 25 * self.load), None, 99, 3),
            Probe("SystemBoardInletTemp", "System Board Inlet Temp", "SystemBoard", inlet, 38, 42, -7),
            Probe(
                "SystemBoardExhaustTemp",
                "System Board Exhaust Temp",
                "SystemBoard",
                inlet + warm * 9,
                75,
                80,
                0,
            ),
        ]
        found += [
            Probe(
                f"SystemBoardGPU{number}Temp",
                f"System Board GPU{number} Temp",
                "GPU",
                round(inlet + warm * (10 + 40 * self.load) + spread, 0),
                None,
                95,
            )
            for number, spread in enumerate(self._spread, start=1)
        ]
        return [
            Probe(
                one.id,
                one.name,
                one.context,
                self.celsius.get(one.id, float(round(one.celsius))),
                one.caution,
                one.critical,
                one.low_critical,
            )
            for one in found
        ]

    def fans(self) -> list[Fan]:
        """All fans now."""
        idle = 30 + round(60 * self.load) if self.powered else 0
        base = idle if self.all_fans is None else self.all_fans
        return [
            Fan(
                one,
                f"System Board Fan{one.rpartition('.')[2]}",
                0 if one in self.failed_fans else self.fan_percent.get(one, base),
            )
            for one in XE9680.fans
        ]

    @property
    def watts(self) -> float:
        """What the machine draws."""
        return round(1450 + 8200 * self.load, 0) if self.powered else 120.0

    def supply_watts(self, number: int) -> float:
        """What one supply gives."""
        working = SUPPLIES - len(self.lost_inputs)
        return 0.0 if number in self.lost_inputs or not working else round(self.watts / working, 1)

    def fan_health(self, fan: Fan) -> str:
        """``OK`` or ``Critical``."""
        return "Critical" if self.powered and fan.rpm < 480 else "OK"

    def probe_health(self, probe: Probe) -> str:
        """By its limits."""
        if probe.critical is not None and probe.celsius >= probe.critical:
            return "Critical"
        if probe.low_critical is not None and probe.celsius <= probe.low_critical:
            return "Critical"
        return "Warning" if probe.caution is not None and probe.celsius >= probe.caution else "OK"

    def rollup(self) -> dict[str, str]:
        """Subsystem -> health: ``Fan``, ``Temperature``, ``PowerSupply``."""
        supplies = "Critical" if self.lost_inputs else "OK"
        fans = [self.fan_health(fan) for fan in self.fans()]
        temperatures = [self.probe_health(probe) for probe in self.probes()]
        return {"Fan": _worst(fans), "Temperature": _worst(temperatures), "PowerSupply": supplies}


def _worst(states: list[str]) -> str:
    return next((state for state in ("Critical", "Warning") if state in states), "OK")
