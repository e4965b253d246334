"""Temperatures, fans and power supplies of one node, from ``Thermal`` and ``Power`` or from the newer subsystems."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from provision.bmc.json_bodies import inner, objects

COLDEST, HOTTEST = -40.0, 150.0
"""What electronics that still answer can be at, in degrees Celsius."""
STUCK = (0.0, 127.0, 128.0, 255.0)
"""Readings of a sensor that does not read: all bits clear or set of one byte. 0 °C exactly in a running server is one;
an R750 (iDRAC9 6.00.30) writes 255 for what it cannot estimate."""
NOT_READING = ("Absent", "Disabled", "UnavailableOffline", "StandbyOffline")
"""States of a sensor or fan whose reading means nothing: the part is not there, or has no power."""
_MARGIN = re.compile(r"TLIMIT|margin|headroom", re.IGNORECASE)
"""Degrees left to a limit: high is cool (TLIMIT_GB_SXM* of a DGX H100)."""
_INLET = re.compile(r"inlet|ambient|intake", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Temperature:
    """One sensor in degrees Celsius. :param upper: its lowest upper threshold of caution or alarm, None when not told.

    :param alarm: upper critical threshold; :param reading: None when it has none. :param absent: the part it sits on
    is not there.
    """

    name: str
    reading: float | None
    upper: float | None = None
    alarm: float | None = None
    context: str = ""
    health: str = ""
    absent: bool = False

    @property
    def margin(self) -> bool:
        """Whether it tells degrees left to a limit instead of a temperature."""
        return _MARGIN.search(self.name) is not None

    @property
    def inlet(self) -> bool:
        """Whether it reads the air that comes in. By name: the context is "Intake" for VRMs too on a DGX H100."""
        return _INLET.search(self.name) is not None

    @property
    def impossible(self) -> str:
        """Why the reading cannot be true, empty when it can."""
        if self.reading is None or self.absent:
            return ""
        if self.margin:
            return ""
        # where the BMC believes it, it is so: 127 °C of a voltage regulator is hot
        alarmed = self.health in ("Warning", "Critical")
        if not COLDEST <= self.reading <= HOTTEST or (self.reading in STUCK and not alarmed):
            return f"reads {self.reading:g} °C"
        return ""


@dataclass(frozen=True, slots=True)
class Fan:
    """One fan. :param percent: of its full speed, None when nothing tells; :param rpm: turns a minute."""

    name: str
    rpm: float | None = None
    percent: float | None = None
    health: str = ""
    absent: bool = False


@dataclass(frozen=True, slots=True)
class PowerSupply:
    """One power supply. :param state: ``Enabled``, ``Absent``, ``UnavailableOffline``, …; empty when not told."""

    name: str
    health: str = ""
    state: str = ""
    watts: float | None = None

    @property
    def absent(self) -> bool:
        """Whether the bay is empty."""
        return self.state == "Absent"


@dataclass(frozen=True, slots=True)
class Redundancy:
    """Fans or supplies that stand in for each other."""

    name: str
    health: str = ""
    state: str = ""

    @property
    def lost(self) -> bool:
        """Whether it is said to be lost or reduced; what is not told is not lost."""
        return self.health in ("Warning", "Critical")


def health_of(body: Mapping[str, Any]) -> str:
    """``OK``, ``Warning``, ``Critical``; empty when null, empty or absent: unknown, never healthy."""
    status = inner(body, "Status")
    return str(status.get("Health") or status.get("HealthRollup") or "")


def state_of(body: Mapping[str, Any]) -> str:
    """``Enabled``, ``Absent``, …; empty when not told."""
    return str(inner(body, "Status").get("State") or "")


def number(value: Any) -> float | None:
    """A reading; booleans, texts and null are none."""
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


def thermal_temperatures(thermal: Mapping[str, Any]) -> list[Temperature]:
    """``Temperatures`` of a Thermal resource."""
    return [
        Temperature(
            name=str(entry.get("Name") or entry.get("MemberId") or ""),
            reading=number(entry.get("ReadingCelsius")),
            upper=_least(entry.get("UpperThresholdNonCritical"), entry.get("UpperThresholdCritical")),
            alarm=number(entry.get("UpperThresholdCritical")),
            context=str(entry.get("PhysicalContext") or ""),
            health=health_of(entry),
            absent=state_of(entry) in NOT_READING,
        )
        for entry in objects(thermal, "Temperatures")
    ]


def _least(*values: Any) -> float | None:
    told = [found for value in values if (found := number(value)) is not None]
    return min(told, default=None)


def thermal_fans(thermal: Mapping[str, Any]) -> list[Fan]:
    """``Fans`` of a Thermal resource. Percent by the reading's unit, or by the highest reading where one is told."""
    return [_thermal_fan(entry) for entry in objects(thermal, "Fans")]


def _thermal_fan(entry: Mapping[str, Any]) -> Fan:
    reading, top = number(entry.get("Reading")), number(entry.get("MaxReadingRange"))
    percent = str(entry.get("ReadingUnits") or "").lower().startswith("percent")
    share = None
    if reading is not None:
        share = reading if percent else 100 * reading / top if top else None
    return Fan(
        name=str(entry.get("Name") or entry.get("FanName") or entry.get("MemberId") or ""),
        rpm=None if percent else reading,
        percent=share,
        health=health_of(entry),
        absent=state_of(entry) in NOT_READING,
    )


def subsystem_fan(body: Mapping[str, Any]) -> Fan:
    """A member of ``ThermalSubsystem/Fans``.

    ``SpeedPercent.Reading`` of a DGX H100 (firmware 23.11) is 4840: turns a minute, no percent. Taken as percent only
    up to 100, and where it is not the same number as SpeedRPM.
    """
    held = inner(body, "SpeedPercent")
    reading, rpm = number(held.get("Reading")), number(held.get("SpeedRPM"))
    percent = reading if reading is not None and 0 <= reading <= 100 and reading != rpm else None
    return Fan(
        name=str(body.get("Name") or body.get("Id") or ""),
        rpm=rpm,
        percent=percent,
        health=health_of(body),
        absent=state_of(body) in NOT_READING,
    )


def sensor_temperature(body: Mapping[str, Any]) -> Temperature | None:
    """A member of ``Sensors`` that reads degrees Celsius, None for others."""
    if body.get("ReadingType") != "Temperature" and body.get("ReadingUnits") not in ("Cel", "C"):
        return None
    readings = [inner(body, "Thresholds", name).get("Reading") for name in ("UpperCaution", "UpperCritical")]
    return Temperature(
        name=str(body.get("Name") or body.get("Id") or ""),
        reading=number(body.get("Reading")),
        upper=_least(*readings),
        alarm=number(readings[1]),
        context=str(body.get("PhysicalContext") or ""),
        health=health_of(body),
        absent=state_of(body) in NOT_READING,
    )


def power_supply(body: Mapping[str, Any]) -> PowerSupply:
    """A member of ``Power.PowerSupplies`` or of ``PowerSubsystem/PowerSupplies``."""
    return PowerSupply(
        name=str(body.get("Name") or body.get("Id") or body.get("MemberId") or ""),
        health=health_of(body),
        state=state_of(body),
        watts=number(body.get("PowerInputWatts")),
    )


def redundancies(body: Mapping[str, Any]) -> list[Redundancy]:
    """Groups of Thermal, Power or a subsystem, whatever the list is called there."""
    names = ("Redundancy", "FanRedundancy", "PowerSupplyRedundancy")
    return [
        Redundancy(
            str(entry.get("Name") or _REDUNDANT.get(name, "redundancy")), health_of(entry), state_of(entry)
        )
        for name in names
        for entry in objects(body, name)
    ]


_REDUNDANT = {"FanRedundancy": "fan redundancy", "PowerSupplyRedundancy": "power supply redundancy"}


def merged(first: Sequence[Temperature], second: Iterable[Temperature]) -> list[Temperature]:
    """Sensors of both forms, each name once; a reading wins over none."""
    found = {sensor.name: sensor for sensor in first}
    for sensor in second:
        known = found.get(sensor.name)
        if known is None or (known.reading is None and sensor.reading is not None):
            found[sensor.name] = sensor
    return list(found.values())
