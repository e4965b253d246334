"""Temperatures and fans over Redfish: the old ``Thermal``, the new ``ThermalSubsystem``, and the health rollups."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Body
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.readings import Fan, Probe, Readings
from tests.sim.idrac.sensors import SENSORS
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import CHASSIS, ROOT, SYSTEM

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

THERMAL = f"{CHASSIS}/Thermal"
SUBSYSTEM = f"{CHASSIS}/ThermalSubsystem"
FANS = f"{SUBSYSTEM}/Fans"
METRICS = f"{SUBSYSTEM}/ThermalMetrics"
ROLLUPS = f"{SYSTEM}/Oem/Dell/DellRollupStatus"


def _status(health: str) -> Body:
    return {"Health": health, "State": "Enabled"}


def _old_fan(at: int, fan: Fan, health: str) -> Body:
    return {
        "@odata.id": f"{THERMAL}#/Fans/{at}",
        "@odata.type": "#Thermal.v1_7_1.Fan",
        "Assembly": {"@odata.id": f"{CHASSIS}/Assembly"},
        "FanName": fan.name,
        "HotPluggable": True,
        "LowerThresholdCritical": 480,
        "LowerThresholdFatal": None,
        "LowerThresholdNonCritical": 840,
        "MaxReadingRange": None,
        "MemberId": str(at),
        "MinReadingRange": None,
        "Name": fan.name,
        "PhysicalContext": "SystemBoard",
        "Reading": fan.rpm,
        "ReadingUnits": "RPM",
        "Redundancy": [],
        "Redundancy@odata.count": 0,
        "RelatedItem": [{"@odata.id": CHASSIS}],
        "RelatedItem@odata.count": 1,
        "SensorNumber": 56 + at,
        "Status": _status(health),
        "UpperThresholdCritical": None,
        "UpperThresholdFatal": None,
        "UpperThresholdNonCritical": None,
    }


def _old_probe(at: int, probe: Probe, health: str) -> Body:
    cpu = re.fullmatch(r"CPU(\d)Temp", probe.id)
    about = f"{SYSTEM}/Processors/CPU.Socket.{cpu[1]}" if cpu else CHASSIS
    return {
        "@odata.context": f"{ROOT}/$metadata#Thermal.Thermal",
        "@odata.id": f"{THERMAL}#/Temperatures/{at}",
        "@odata.type": "#Thermal.v1_7_1.Temperature",
        "LowerThresholdCritical": probe.low_critical,
        "LowerThresholdFatal": None,
        "LowerThresholdNonCritical": None,
        "MaxReadingRangeTemp": None,
        "MemberId": str(at),
        "MinReadingRangeTemp": None,
        "Name": probe.name,
        "PhysicalContext": probe.context,
        "ReadingCelsius": probe.celsius,
        "RelatedItem": [{"@odata.id": about}],
        "RelatedItem@odata.count": 1,
        "SensorNumber": 1 + at,
        "Status": _status(health),
        "UpperThresholdCritical": probe.critical,
        "UpperThresholdFatal": None,
        "UpperThresholdNonCritical": probe.caution,
    }


def _thermal(bmc: SimBmc) -> Body:
    readings = bmc.part(Readings)
    fans, probes = readings.fans(), readings.probes()
    return {
        "@odata.context": f"{ROOT}/$metadata#Thermal.Thermal",
        "@odata.id": THERMAL,
        "@odata.type": "#Thermal.v1_7_1.Thermal",
        "Description": "Represents the properties for Temperature and Cooling",
        "Fans": [_old_fan(at, fan, readings.fan_health(fan)) for at, fan in enumerate(fans)],
        "Fans@odata.count": len(fans),
        "Id": "Thermal",
        "Name": "Thermal",
        "Redundancy": [
            {
                "@odata.id": f"{THERMAL}#/Redundancy/0",
                "@odata.type": "#Redundancy.v1_4_0.Redundancy",
                "MaxNumSupported": None,
                "MemberId": "0",
                "MinNumNeeded": None,
                "Mode": "N+m",
                "Name": "System Board Fan Redundancy",
                "RedundancyEnabled": True,
                "RedundancySet": [],
                "RedundancySet@odata.count": 0,
                "Status": _status(readings.rollup()["Fan"]),
            }
        ],
        "Redundancy@odata.count": 1,
        "Temperatures": [_old_probe(at, one, readings.probe_health(one)) for at, one in enumerate(probes)],
        "Temperatures@odata.count": len(probes),
    }


def _subsystem(bmc: SimBmc) -> Body:
    health = _status(bmc.part(Readings).rollup()["Fan"])
    return {
        "@odata.context": f"{ROOT}/$metadata#ThermalSubsystem.ThermalSubsystem",
        "@odata.id": SUBSYSTEM,
        "@odata.type": "#ThermalSubsystem.v1_0_0.ThermalSubsystem",
        "Description": "Represents the properties of a Thermal Subsystem of the Chassis",
        "Name": "Thermal Subsystem for Chassis",
        "FanRedundancy": [
            {
                "RedundancyType": "NPlusM",
                "MaxSupportedInGroup": None,
                "MinNeededInGroup": None,
                "RedundancyGroup": [],
                "RedundancyGroup@odata.count": 0,
                "Status": health,
            }
        ],
        "Fans": {"@odata.id": FANS},
        "ThermalMetrics": {"@odata.id": METRICS},
        "Status": health,
        "Id": "ThermalSubsystem",
    }


def _fan(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    readings = bmc.part(Readings)
    fan = next((one for one in readings.fans() if one.id == match["id"]), None)
    if fan is None:
        return None
    return {
        "@odata.type": "#Fan.v1_1_0.Fan",
        "Id": fan.id,
        "Name": f"Fan {fan.id.rpartition('.')[2]}",
        "Description": "Represents fan properties of the chassis",
        "Status": _status(readings.fan_health(fan)),
        "PhysicalContext": "SystemBoard",
        "HotPluggable": True,
        # iDRAC9 6.00.30 tells the speed only, not its share (capture of 2024).
        "SpeedPercent": {
            **({} if bmc.profile is Profile.IDRAC9_6 else {"Reading": fan.percent}),
            "SpeedRPM": fan.rpm,
        },
        "Location": {"PartLocation": {"ServiceLabel": fan.name, "LocationType": "Bay"}},
        "@odata.id": f"{FANS}/{fan.id}",
        "@odata.context": f"{ROOT}/$metadata#Fan.Fan",
    }


def _metrics(bmc: SimBmc) -> Body:
    probes = {probe.id: probe for probe in bmc.part(Readings).probes()}
    places = {"CPU1Temp": "Internal", "SystemBoardInletTemp": "Intake", "SystemBoardExhaustTemp": "Exhaust"}

    def reading(which: str) -> Body:
        return {"DataSourceUri": f"{SENSORS}/{which}", "Reading": probes[which].celsius}

    listed = [{**reading(which), "DeviceName": place} for which, place in places.items()]
    return {
        "@odata.type": "#ThermalMetrics.v1_0_0.ThermalMetrics",
        "@odata.id": METRICS,
        "@odata.context": f"{ROOT}/$metadata#ThermalMetrics.ThermalMetrics",
        "Id": "ThermalMetrics",
        "Name": "Chassis Thermal Metrics",
        "Description": "Represents the properties of Thermal Metrics of the chassis",
        "TemperatureSummaryCelsius": {place: reading(which) for which, place in places.items()},
        "TemperatureReadingsCelsius": listed,
        "TemperatureReadingsCelsius@odata.count": len(listed),
    }


def _rollup(bmc: SimBmc, match: re.Match[str]) -> Body | None:
    health = bmc.part(Readings).rollup().get(match["part"])
    if health is None:
        return None
    which = f"iDRAC.Embedded.1_0x23_SubSystem.1_0x23_{match['part']}"
    return {
        "@odata.context": f"{ROOT}/$metadata#DellRollupStatus.DellRollupStatus",
        "@odata.id": f"{ROLLUPS}/{which}",
        "@odata.type": "#DellRollupStatus.v1_0_0.DellRollupStatus",
        "CollectionName": f"{match['part']}RollupStatus",
        "Description": "Represents the subcomponent roll-up statuses.",
        "Id": which,
        "InstanceID": f"iDRAC.Embedded.1#SubSystem.1#{match['part']}",
        "Name": "DellRollupStatus",
        "RollupStatus": {"OK": "Ok", "Warning": "Degraded", "Critical": "Error"}[health],
        "SubSystem": match["part"],
    }


def install(tree: Tree, profile: Profile) -> None:
    """Thermal resources; iDRAC10 has the new ones only."""
    if profile.value.generation < 10:
        tree.live(THERMAL, _thermal)
    tree.live(SUBSYSTEM, _subsystem)
    tree.live(METRICS, _metrics)
    tree.collection(
        FANS, "FanCollection", lambda bmc: [f"{FANS}/{fan.id}" for fan in bmc.part(Readings).fans()]
    )
    tree.family(rf"{FANS}/(?P<id>[^/]+)", _fan)
    parts = ("Fan", "Temperature", "PowerSupply")
    tree.collection(
        ROLLUPS,
        "DellRollupStatusCollection",
        [f"{ROLLUPS}/iDRAC.Embedded.1_0x23_SubSystem.1_0x23_{part}" for part in parts],
        paged=True,
        inline=True,
    )
    tree.family(rf"{ROLLUPS}/iDRAC\.Embedded\.1_0x23_SubSystem\.1_0x23_(?P<part>\w+)", _rollup)
