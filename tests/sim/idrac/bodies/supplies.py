"""Power supplies: the old Power resource and the newer PowerSubsystem."""

from __future__ import annotations

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Hardware
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import CHASSIS, INVENTORIED, SYSTEM, linked, listed, ref, resource
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

SUBSYSTEM = f"{CHASSIS}/PowerSubsystem"
_FINE = {"Health": "OK", "State": "Enabled"}
_MODEL = "PWR SPLY,2800W,RDNT,LTON"


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Both views of the supplies."""
    home = f"{SUBSYSTEM}/PowerSupplies"
    tree.fixed(f"{CHASSIS}/Power", _power(hardware))
    tree.fixed(SUBSYSTEM, _subsystem(hardware))
    tree.collection(home, "PowerSupplyCollection", [f"{home}/{psu}" for psu in hardware.psus])
    for number, psu in enumerate(hardware.psus, 1):
        path = f"{home}/{psu}"
        tree.fixed(path, _supply(path, psu, number, hardware))
        tree.fixed(f"{path}/Metrics", _metrics(f"{path}/Metrics", number))


def _subsystem(hardware: Hardware) -> Body:
    return resource(
        SUBSYSTEM,
        "PowerSubsystem",
        "v1_0_0",
        Allocation={"RequestedWatts": 8217.5, "AllocatedWatts": 10250},
        CapacityWatts=float(hardware.psu_watts * len(hardware.psus)),
        Description="Represents the properties of a Power Subsystem of the Chassis",
        Id="PowerSubsystem",
        Name="Power Subsystem for Chassis",
        PowerSupplies=ref(f"{SUBSYSTEM}/PowerSupplies"),
        PowerSupplyRedundancy=[],
        Status=_FINE,
    )


def _view(number: int) -> tuple[Body, Body]:
    supply = {
        "ActiveInputVoltage": "Unknown",
        "IsSwitchingSupply": True,
        **listed("OperationalStatus", ["OK"]),
        "RequestedState": "NotApplicable",
    }
    view = {
        "DetailedState": "Presence Detected",
        "DeviceDescription": f"Power Supply {number}",
        "LastSystemInventoryTime": INVENTORIED,
        "LastUpdateTime": INVENTORIED,
        "PMBusMonitoring": "Capable",
        "Range1MaxInputPowerWatts": 3080,
        "RedMinNumberNeeded": 3,
        **listed("RedTypeOfSet", ["N+1", "Sparing"]),
        "RedundancyStatus": "Unknown",
    }
    return supply, view


def _facts(psu: str, hardware: Hardware) -> Body:
    return {
        "FirmwareVersion": "00.1D.7D",
        "HotPluggable": True,
        "Manufacturer": "DELL",
        "Model": _MODEL,
        "PartNumber": "0J9DWPA01",
        "PowerCapacityWatts": hardware.psu_watts,
        "PowerSupplyType": "AC",
        "SerialNumber": own("serial", psu),
        "SparePartNumber": "0J9DWPA01",
        "Status": _FINE,
    }


def _supply(path: str, psu: str, number: int, hardware: Hardware) -> Body:
    supply, view = _view(number)
    oem = {
        "@odata.type": "#DellOemPower.v1_0_0.DellOemPower",
        "DellPowerSupply": supply,
        "DellPowerSupplyView": view,
    }
    return resource(
        path,
        "PowerSupply",
        "v1_1_0",
        Assembly=ref(f"{path}/Assembly"),
        Description="An instance of PowerSupply",
        Id=psu,
        InputNominalVoltageType="AC240V",
        Metrics=ref(f"{path}/Metrics"),
        Name=f"PS{number} Status",
        Oem={"Dell": oem},
        **_facts(psu, hardware),
    )


def _metrics(path: str, number: int) -> Body:
    def reading(sensor: str, value: float) -> Body:
        return {"DataSourceUri": f"{CHASSIS}/Sensors/{sensor}", "Reading": value}

    return resource(
        path,
        "PowerSupplyMetrics",
        "v1_0_0",
        Description="Represents the properties of Power supply Metrics",
        FrequencyHz=reading(f"PSU.Slot.{number}_MaximumFrequency", 60),
        Id="Metrics",
        InputCurrentAmps=reading(f"PS{number}Current{number}", 1.4),
        InputPowerWatts=reading(f"PSU.Slot.{number}_InputPower", 303.0),
        InputVoltage=reading(f"PS{number}Voltage", 240.0),
        Name=f"Metrics for Power Supply {number}",
        OutputPowerWatts=reading(f"PSU.Slot.{number}_OutputPower", 273.0),
        Status=_FINE,
    )


def _power(hardware: Hardware) -> Body:
    path = f"{CHASSIS}/Power"
    supplies = []
    for number, psu in enumerate(hardware.psus, 1):
        supply, view = _view(number)
        one = {
            "@odata.context": "/redfish/v1/$metadata#Power.Power",
            "@odata.id": f"{path}#/PowerSupplies/{number - 1}",
            "@odata.type": "#Power.v1_7_1.PowerSupply",
            "Assembly": ref(f"{path}/PowerSupplies/{psu}/Assembly"),
            "EfficiencyPercent": 91.0,
            "LastPowerOutputWatts": 273.0,
            "LineInputVoltage": 240,
            "LineInputVoltageType": "AC240V",
            "MemberId": str(number - 1),
            "Name": f"PS{number} Status",
            "Oem": {"Dell": {"@odata.type": "#DellOem.v1_3_0.DellOemResources", "DellPowerSupply": supply}},
            "PowerInputWatts": 303.0,
            "PowerOutputWatts": 273.0,
            **listed("Redundancy", []),
            "RelatedItem": [ref(CHASSIS)],
            **_facts(psu, hardware),
        }
        one["Oem"]["Dell"]["DellPowerSupplyView"] = view
        supplies.append(one)
    control = {
        "@odata.context": "/redfish/v1/$metadata#Power.Power",
        "@odata.id": f"{path}#/PowerControl/0",
        "@odata.type": "#Power.v1_7_1.PowerControl",
        "MemberId": "0",
        "Name": "System Power Control",
        "PowerAllocatedWatts": 10250,
        "PowerAvailableWatts": 0,
        "PowerCapacityWatts": float(hardware.psu_watts * len(hardware.psus)),
        "PowerConsumedWatts": 1614,
        "PowerLimit": {"CorrectionInMs": 0, "LimitException": "HardPowerOff", "LimitInWatts": 12050},
        "PowerMetrics": {
            "AverageConsumedWatts": 1612,
            "IntervalInMin": 1,
            "MaxConsumedWatts": 1616,
            "MinConsumedWatts": 1610,
        },
        "PowerRequestedWatts": 8217.5,
        "RelatedItem": [ref(CHASSIS), ref(SYSTEM)],
    }
    return resource(
        path,
        "Power",
        "v1_7_1",
        Description="Power",
        Id="Power",
        Name="Power",
        **listed("PowerControl", [control]),
        **listed("PowerSupplies", supplies),
        **linked("Redundancy", []),
        **listed("Voltages", []),
    )
