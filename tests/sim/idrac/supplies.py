"""Power supplies and consumption over Redfish: the old ``Power``, the new ``PowerSubsystem``."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Body
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.readings import SUPPLIES, SUPPLY_WATTS, Readings
from tests.sim.idrac.sensors import SENSORS
from tests.sim.idrac.shapes import resource
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import CHASSIS, ROOT, SYSTEM

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

POWER = f"{CHASSIS}/Power"
SUBSYSTEM = f"{CHASSIS}/PowerSubsystem"
UNITS = f"{SUBSYSTEM}/PowerSupplies"
MODEL = "PWR SPLY,2800W,RDNT,LITEON"
PART = "0CMPGMA01"
VERSION = "00.17.28"
EFFICIENCY = 0.94


def _serial(bmc: SimBmc, number: int) -> str:
    return f"PHL{bmc.service_tag}{number:02d}"


def _status(readings: Readings, number: int) -> Body:
    return {"Health": "Critical" if number in readings.lost_inputs else "OK", "State": "Enabled"}


def _views(bmc: SimBmc, number: int) -> Body:
    stamp = bmc.started.replace(microsecond=0).isoformat()
    return {
        "DellPowerSupply": {
            "ActiveInputVoltage": "Unknown",
            "IsSwitchingSupply": True,
            "OperationalStatus": ["OK"],
            "OperationalStatus@odata.count": 1,
            "RequestedState": "NotApplicable",
        },
        "DellPowerSupplyView": {
            "DetailedState": "Presence Detected",
            "DeviceDescription": f"Power Supply {number}",
            "LastSystemInventoryTime": stamp,
            "LastUpdateTime": stamp,
            "PMBusMonitoring": "Capable",
            "Range1MaxInputPowerWatts": 3064,
            "RedMinNumberNeeded": 3,
            "RedTypeOfSet": ["N+1", "Sparing"],
            "RedTypeOfSet@odata.count": 2,
            "RedundancyStatus": "Unknown",
        },
    }


def _unit(bmc: SimBmc, number: int) -> Body:
    readings = bmc.part(Readings)
    return {
        "@odata.context": f"{ROOT}/$metadata#PowerSupply.PowerSupply",
        "@odata.type": "#PowerSupply.v1_1_0.PowerSupply",
        "@odata.id": f"{UNITS}/PSU.Slot.{number}",
        "Assembly": {"@odata.id": f"{UNITS}/PSU.Slot.{number}/Assembly"},
        "Description": "An instance of PowerSupply",
        "FirmwareVersion": VERSION,
        "HotPluggable": True,
        "Id": f"PSU.Slot.{number}",
        "InputNominalVoltageType": "AC240V",
        "Manufacturer": "DELL",
        "Metrics": {"@odata.id": f"{UNITS}/PSU.Slot.{number}/Metrics"},
        "Model": MODEL,
        "Name": f"PS{number} Status",
        "Oem": {"Dell": {"@odata.type": "#DellOemPower.v1_0_0.DellOemPower", **_views(bmc, number)}},
        "PartNumber": PART,
        "PowerCapacityWatts": SUPPLY_WATTS,
        "PowerSupplyType": "AC",
        "SerialNumber": _serial(bmc, number),
        "SparePartNumber": PART,
        "Status": _status(readings, number),
    }


def _metrics(bmc: SimBmc, number: int) -> Body:
    readings = bmc.part(Readings)
    output = readings.supply_watts(number)
    volts = 0.0 if number in readings.lost_inputs else 240.0
    return {
        "@odata.type": "#PowerSupplyMetrics.v1_0_0.PowerSupplyMetrics",
        "@odata.id": f"{UNITS}/PSU.Slot.{number}/Metrics",
        "@odata.context": f"{ROOT}/$metadata#PowerSupplyMetrics.PowerSupplyMetrics",
        "Description": "Represents the properties of Power supply Metrics",
        "Id": "Metrics",
        "InputVoltage": {"DataSourceUri": f"{SENSORS}/PS{number}Voltage", "Reading": volts},
        "InputCurrentAmps": {
            "DataSourceUri": f"{SENSORS}/PS{number}Current{number}",
            "Reading": round(output / 240, 1),
        },
        "InputPowerWatts": _reading(number, "InputPower", round(output / EFFICIENCY, 1)),
        "OutputPowerWatts": _reading(number, "OutputPower", output),
        "FrequencyHz": _reading(number, "MaximumFrequency", 50),
        "Name": f"Metrics for Power Supply {number}",
        "Status": _status(readings, number),
    }


def _reading(number: int, name: str, value: float) -> Body:
    return {"DataSourceUri": f"{SENSORS}/PSU.Slot.{number}_{name}", "Reading": value}


def _old_views(bmc: SimBmc, number: int) -> Body:
    """Dell's views, in Power as resources of their own."""
    views = _views(bmc, number)
    sensor = f"{SYSTEM}/Oem/Dell/DellPSNumericSensors/iDRAC.Embedded.1_0x23_PS{number}Current{number}"
    places = {"DellPowerSupply": "DellPowerSupply", "DellPowerSupplyView": "DellPowerSupplyInventory"}
    for name, version in (("DellPowerSupply", "v1_1_0"), ("DellPowerSupplyView", "v1_3_0")):
        views[name] |= {
            "@odata.context": f"{ROOT}/$metadata#{name}.{name}",
            "@odata.id": f"{POWER}/Oem/Dell/{places[name]}/PSU.Slot.{number}",
            "@odata.type": f"#{name}.{version}.{name}",
            "Id": f"PSU.Slot.{number}",
            "Name": name,
        }
    links = {
        "DellPSNumericSensorCollection": [{"@odata.id": sensor}],
        "DellPSNumericSensorCollection@odata.count": 1,
    }
    views["DellPowerSupply"]["Links"] = links
    return views


def _old_unit(bmc: SimBmc, number: int) -> Body:
    readings = bmc.part(Readings)
    output = readings.supply_watts(number)
    at = number - 1
    views = _old_views(bmc, number)
    return {
        "@odata.context": f"{ROOT}/$metadata#Power.Power",
        "@odata.type": "#Power.v1_7_1.PowerSupply",
        "@odata.id": f"{POWER}#/PowerSupplies/{at}",
        "Name": f"PS{number} Status",
        "MemberId": str(at),
        "Assembly": {"@odata.id": f"{POWER}/PowerSupplies/PSU.Slot.{number}/Assembly"},
        "FirmwareVersion": VERSION,
        "InputRanges": [
            {
                "InputType": "AC",
                "MaximumFrequencyHz": 63,
                "MaximumVoltage": 264,
                "MinimumFrequencyHz": 47,
                "MinimumVoltage": 180,
                "OutputWattage": SUPPLY_WATTS,
            }
        ],
        "EfficiencyPercent": EFFICIENCY * 100,
        "HotPluggable": True,
        "PowerOutputWatts": output,
        "PowerInputWatts": round(output / EFFICIENCY, 1),
        "LastPowerOutputWatts": output,
        "LineInputVoltage": 0 if number in readings.lost_inputs else 240,
        "LineInputVoltageType": "AC240V",
        "Manufacturer": "DELL",
        "Model": MODEL,
        "PartNumber": PART,
        "PowerCapacityWatts": SUPPLY_WATTS,
        "PowerSupplyType": "AC",
        "SerialNumber": _serial(bmc, number),
        "SparePartNumber": PART,
        "Redundancy": [],
        "Redundancy@odata.count": 0,
        "RelatedItem": [{"@odata.id": CHASSIS}],
        "Status": _status(readings, number),
        "Oem": {"Dell": {"@odata.type": "#DellOem.v1_3_0.DellOemResources", **views}},
    }


def _control(readings: Readings) -> Body:
    watts = readings.watts
    return {
        "@odata.context": f"{ROOT}/$metadata#Power.Power",
        "@odata.type": "#Power.v1_7_1.PowerControl",
        "@odata.id": f"{POWER}#/PowerControl/0",
        "Name": "System Power Control",
        "MemberId": "0",
        "PowerAllocatedWatts": 11_500,
        "PowerAvailableWatts": 0,
        "PowerCapacityWatts": float(SUPPLIES * SUPPLY_WATTS),
        "PowerConsumedWatts": watts,
        "PowerLimit": {"CorrectionInMs": 0, "LimitException": "HardPowerOff", "LimitInWatts": None},
        "PowerMetrics": {
            "AverageConsumedWatts": watts,
            "IntervalInMin": 1,
            "MaxConsumedWatts": watts + 4,
            "MinConsumedWatts": watts - 4,
        },
        "PowerRequestedWatts": 9_800.0,
        "RelatedItem": [{"@odata.id": CHASSIS}, {"@odata.id": SYSTEM}],
    }


def _voltage(readings: Readings, number: int) -> Body:
    at = number - 1
    limits = dict.fromkeys(
        f"{side}Threshold{grade}"
        for side in ("Lower", "Upper")
        for grade in ("Critical", "Fatal", "NonCritical")
    )
    return {
        "@odata.context": f"{ROOT}/$metadata#Power.Power",
        "@odata.type": "#Power.v1_7_1.Voltage",
        "@odata.id": f"{POWER}#/Voltages/{at}",
        "Name": f"PS{number} Voltage {number}",
        "MemberId": str(at),
        "PhysicalContext": "PowerSupply",
        "ReadingVolts": 0.0 if number in readings.lost_inputs else 240.0,
        "SensorNumber": 109 + at,
        "RelatedItem": [{"@odata.id": f"{POWER}#/PowerSupplies/{at}"}],
        "Status": _status(readings, number),
        **limits,
    }


def _power(bmc: SimBmc) -> Body:
    readings, numbers = bmc.part(Readings), range(1, SUPPLIES + 1)
    return {
        "@odata.context": f"{ROOT}/$metadata#Power.Power",
        "@odata.id": POWER,
        "@odata.type": "#Power.v1_7_1.Power",
        "Name": "Power",
        "Id": "Power",
        "Description": "Power",
        "PowerControl": [_control(readings)],
        "PowerControl@odata.count": 1,
        "PowerSupplies": [_old_unit(bmc, number) for number in numbers],
        "PowerSupplies@odata.count": SUPPLIES,
        "Redundancy": [],
        "Redundancy@odata.count": 0,
        "Voltages": [_voltage(readings, number) for number in numbers],
        "Voltages@odata.count": SUPPLIES,
    }


def _subsystem(bmc: SimBmc) -> Body:
    return {
        "@odata.context": f"{ROOT}/$metadata#PowerSubsystem.PowerSubsystem",
        "@odata.id": SUBSYSTEM,
        "@odata.type": "#PowerSubsystem.v1_0_0.PowerSubsystem",
        "Description": "Represents the properties of a Power Subsystem of the Chassis",
        "Name": "Power Subsystem for Chassis",
        "PowerSupplies": {"@odata.id": UNITS},
        "PowerSupplyRedundancy": [],
        "Status": {"State": "Enabled", "Health": bmc.part(Readings).rollup()["PowerSupply"]},
        "CapacityWatts": float(SUPPLIES * SUPPLY_WATTS),
        "Allocation": {"RequestedWatts": 9_800.0, "AllocatedWatts": 11_500},
        "Id": "PowerSubsystem",
    }


def install(tree: Tree, profile: Profile) -> None:
    """Power resources; iDRAC10 has the new ones only."""
    if profile.value.generation < 10:
        tree.live(POWER, _power)
    tree.live(SUBSYSTEM, _subsystem)
    tree.collection(
        UNITS,
        "PowerSupplyCollection",
        [f"{UNITS}/PSU.Slot.{number}" for number in range(1, SUPPLIES + 1)],
        name="Power Supply Collection",
        about="Power Supply Collection",
    )

    def numbered(match: re.Match[str]) -> int | None:
        number = int(match["number"])
        return number if 1 <= number <= SUPPLIES else None

    def view(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        number = numbered(match)
        kind = {"DellPowerSupplyInventory": "DellPowerSupplyView"}.get(match["kind"], match["kind"])
        found: Body | None = _old_views(bmc, number)[kind] if number else None
        return found

    def numeric(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        number = numbered(match)
        amperes = bmc.part(Readings).supply_watts(number) / 240 if number else 0.0
        name = f"iDRAC.Embedded.1_0x23_PS{number}Current{number}"
        about = {
            "Id": name,
            "Name": "DellPSNumericSensor",
            "CurrentReading": round(amperes * 10),
            "UnitModifier": -1,
        }
        return resource(match[0], "DellPSNumericSensor", "v1_1_0", **about) if number else None

    def unit(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        number = numbered(match)
        return _unit(bmc, number) if number else None

    def metrics(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        number = numbered(match)
        return _metrics(bmc, number) if number else None

    tree.family(
        rf"{POWER}/Oem/Dell/(?P<kind>DellPowerSupply|DellPowerSupplyInventory)/PSU\.Slot\.(?P<number>\d+)",
        view,
    )
    sensor = rf"{SYSTEM}/Oem/Dell/DellPSNumericSensors/iDRAC\.Embedded\.1_0x23_PS(?P<number>\d+)Current\d+"
    tree.family(sensor, numeric)
    tree.family(rf"{UNITS}/PSU\.Slot\.(?P<number>\d+)", unit)
    tree.family(rf"{UNITS}/PSU\.Slot\.(?P<number>\d+)/Metrics", metrics)
