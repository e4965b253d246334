"""``Chassis/…/Sensors``: every gauge of the machine in one collection."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Body
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.readings import SUPPLIES, Readings
from tests.sim.idrac.shapes import listed, resource
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import CHASSIS

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SENSORS = f"{CHASSIS}/Sensors"
_STATES = (
    *("Unknown", "Fatal", "Normal", "Upper Fatal", "Upper Critical", "Upper Non-Critical"),
    *("Lower Non-Critical", "Lower Critical", "Lower Fatal"),
)
_LIMITS = ("UpperCritical", "UpperCaution", "LowerCaution", "LowerCritical")


@dataclass(frozen=True, slots=True)
class Gauge:
    """One sensor. :param limits: in the order of _LIMITS; :param dell: whether Dell tells more of it."""

    id: str
    name: str
    kind: str
    unit: str
    reading: float
    context: str
    health: str = "OK"
    limits: tuple[float | None, float | None, float | None, float | None] = (None, None, None, None)
    dell: bool = True


def _oem(gauge: Gauge) -> Body:
    state = {"OK": "Normal", "Warning": "Upper Non-Critical"}.get(gauge.health, "Upper Critical")
    rotates = gauge.kind == "Rotational"
    return {
        "Dell": {
            "@odata.type": "#DellOemSensor.v1_0_0.DellOemSensor",
            "CurrentState": state,
            "DeviceID": f"0x17||{gauge.id}" if rotates else f"iDRAC.Embedded.1#{gauge.id}",
            **listed("PossibleStates", _STATES),
            "RequestedState": "NotApplicable",
        }
    }


def body_of(gauge: Gauge) -> Body:
    """The sensor as a resource."""
    speed: Body = {"SpeedRPM": int(gauge.reading)} if gauge.kind == "Rotational" else {}
    return resource(
        f"{SENSORS}/{gauge.id}",
        "Sensor",
        "v1_3_0",
        Name=gauge.name,
        Id=gauge.id,
        Description="Instance of Sensor Id",
        ReadingType=gauge.kind,
        ReadingUnits=gauge.unit,
        Status={"Health": gauge.health, "State": "Enabled"},
        Reading=gauge.reading,
        PhysicalContext=gauge.context,
        Oem=_oem(gauge) if gauge.dell else {},
        Thresholds={name: {"Reading": limit} for name, limit in zip(_LIMITS, gauge.limits, strict=True)},
        **speed,
    )


def _supply(readings: Readings, number: int) -> list[Gauge]:
    volts = 0.0 if number in readings.lost_inputs else 240.0
    watts = readings.supply_watts(number)
    unit, supply = f"PSU.Slot.{number}", "PowerSupply"
    return [
        Gauge(f"PS{number}Voltage", f"PS{number} Voltage {number}", "Voltage", "V", volts, supply),
        Gauge(
            f"PS{number}Current{number}",
            f"PS{number} Current {number}",
            *("Current", "A", round(watts / 240.0, 1), supply),
        ),
        Gauge(
            f"{unit}_InputPower", "InputPowerSensor", "Power", "W", round(watts / 0.94, 1), supply, dell=False
        ),
        Gauge(f"{unit}_OutputPower", "OutputPowerSensor", "Power", "W", watts, supply, dell=False),
        Gauge(
            f"{unit}_MaximumFrequency", "MaximumFrequencySensor", "Frequency", "Hz", 50.0, supply, dell=False
        ),
    ]


def gauges(bmc: SimBmc) -> dict[str, Gauge]:
    """Every sensor now, by id."""
    readings = bmc.part(Readings)
    found = [
        Gauge(
            *(one.id, one.name, "Temperature", "Cel", one.celsius, one.context),
            readings.probe_health(one),
            (one.critical, one.caution, None, one.low_critical),
        )
        for one in readings.probes()
    ]
    found += [
        Gauge(
            *(fan.id, fan.name, "Rotational", "RPM", float(fan.rpm), "SystemBoard"),
            readings.fan_health(fan),
            (None, None, 840, 480),
        )
        for fan in readings.fans()
    ]
    consumption = ("SystemBoardPwrConsumption", "System Board Pwr Consumption", "Power", "W")
    found.append(Gauge(*consumption, readings.watts, "SystemBoard", "OK", (18_000, 16_800, None, None)))
    for number in range(1, SUPPLIES + 1):
        found += _supply(readings, number)
    return {gauge.id: gauge for gauge in found}


def install(tree: Tree, _profile: Profile) -> None:
    """The collection and its members."""
    tree.collection(
        SENSORS,
        "SensorCollection",
        lambda bmc: [f"{SENSORS}/{which}" for which in gauges(bmc)],
        name="SensorCollection",
        about="Collection of Sensors",
    )

    def one(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        gauge = gauges(bmc).get(match["id"])
        return body_of(gauge) if gauge else None

    tree.family(rf"{SENSORS}/(?P<id>[^/]+)", one)
