"""Chassis of the server and of its drives."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Hardware, cooled_by, powered_by
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import (
    CHASSIS,
    ENCLOSURE,
    INVENTORIED,
    MANAGER,
    OK,
    ROOT,
    SYSTEM,
    dell,
    linked,
    ref,
    resource,
    settings_at,
)
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """The collection and both chassis."""
    tree.collection(
        f"{ROOT}/Chassis",
        "ChassisCollection",
        [CHASSIS, ENCLOSURE],
        name="Chassis Collection",
        about="Collection of Chassis",
    )
    tree.mixed(CHASSIS, _main(hardware, profile), _live)
    tree.fixed(ENCLOSURE, _enclosure(hardware))
    main = f"{CHASSIS}/Oem/Dell/DellChassis/mainsystemchassis"
    tree.fixed(main, _dell_chassis(hardware))
    tree.collection(f"{CHASSIS}/Oem/Dell/DellChassis", "DellChassisCollection", [main], paged=True)


def _live(bmc: SimBmc) -> Body:
    from tests.sim.idrac.system import SystemSettings

    lit = bmc.part(SystemSettings).led_lit
    return {"IndicatorLED": "Blinking" if lit else "Lit", "PowerState": bmc.power.state}


def _dell_chassis(hardware: Hardware) -> Body:
    return resource(
        f"{CHASSIS}/Oem/Dell/DellChassis/mainsystemchassis",
        "DellChassis",
        "v1_0_0",
        CanBeFRUed=True,
        Description="This resource shall provide information about the enclosure or chassis the system is in.",
        Id="mainsystemchassis",
        Links={"ComputerSystem": ref(SYSTEM)},
        Name="DellChassis",
        SystemID=hardware.system_id,
    )


def _main(hardware: Hardware, profile: Profile) -> Body:
    buses = [
        *(a.bus for a in hardware.adapters),
        *(g.bus for g in hardware.gpus),
        *(d.bus for d in hardware.drives),
    ]
    processors = [*(gpu.id for gpu in hardware.gpus), *hardware.cpus]
    storages = dict.fromkeys(drive.controller for drive in hardware.drives)
    reset = {
        "ResetType@Redfish.AllowableValues": ["On", "ForceOff"],
        "target": f"{CHASSIS}/Actions/Chassis.Reset",
    }
    links = {
        **linked("ComputerSystems", [SYSTEM]),
        **linked("Contains", [ENCLOSURE]),
        **linked("CooledBy", cooled_by(hardware, profile)),
        **linked("Drives", []),
        **linked("ManagedBy", [MANAGER]),
        **linked("ManagersInChassis", [MANAGER]),
        **linked("PCIeDevices", (f"{SYSTEM}/PCIeDevices/{bus}-0" for bus in dict.fromkeys(buses) if bus)),
        **linked("PoweredBy", powered_by(hardware, profile)),
        **linked("Processors", (f"{SYSTEM}/Processors/{name}" for name in processors)),
        **linked("Storage", (f"{SYSTEM}/Storage/{name}" for name in storages)),
    }
    old = ("Power", "Thermal") if profile.value.generation < 10 else ()
    parts = ("Assembly", "NetworkAdapters", "PCIeDevices", "PCIeSlots", "PowerSubsystem", *old)
    return resource(
        CHASSIS,
        "Chassis",
        "v1_16_0",
        Actions={"#Chassis.Reset": reset},
        AssetTag=None,
        ChassisType="RackMount",
        Description="It represents the properties for physical components for any system.",
        EnvironmentalClass="A2",
        Id="System.Embedded.1",
        Links=links,
        Location={
            "Info": ";;;;1",
            "InfoFormat": "DataCenter;RoomName;Aisle;RackName;RackSlot",
            "Placement": {"Rack": "", "Row": ""},
            "PostalAddress": {"Building": "", "Room": ""},
        },
        Manufacturer="Dell Inc.",
        Memory=ref(f"{SYSTEM}/Memory"),
        Model=hardware.model,
        Name="Computer System Chassis",
        Oem=dell(DellChassis=_dell_chassis(hardware)),
        PartNumber="0WMWCRA01",
        PhysicalSecurity={
            "IntrusionSensor": "Normal",
            "IntrusionSensorNumber": 115,
            "IntrusionSensorReArm": "Manual",
        },
        SKU=own("tag"),
        SerialNumber=own("board"),
        Status=OK,
        UUID=own("uuid"),
        **{part: ref(f"{CHASSIS}/{part}") for part in (*parts, "Sensors", "ThermalSubsystem")},
    )


def _enclosure(hardware: Hardware) -> Body:
    drives = [
        f"{SYSTEM}/Storage/{drive.controller}/Drives/{drive.id}"
        for drive in hardware.drives
        if drive.controller == "CPU.1"
    ]
    slots = {
        "SlotCount": len(drives),
        "TempProbeCount": 0,
        "Version": "3.48",
        "WiredOrder": 1,
        "Connector": 0,
    }
    times = {"LastSystemInventoryTime": INVENTORIED, "LastUpdateTime": INVENTORIED}
    view = {
        "AssetName": None,
        "BackplaneType": "NotShared",
        "RAIDMultipath": "Off",
        "ServiceTag": None,
        "Links": linked("DellEnclosureEMMCollection", []),
        **slots,
        **times,
    }
    apply = ("Immediate", "OnReset", "AtMaintenanceWindowStart", "InMaintenanceWindowOnReset")
    body = resource(
        ENCLOSURE,
        "Chassis",
        "v1_16_0",
        Actions={},
        AssetTag="",
        ChassisType="StorageEnclosure",
        Description="PCIe SSD Backplane 1",
        Id="Enclosure.Internal.0-1",
        Links={
            "ContainedBy": ref(CHASSIS),
            **linked("Contains", []),
            **linked("Drives", reversed(drives)),
            **linked("ManagedBy", [MANAGER]),
            **linked("PCIeDevices", []),
            **linked("Storage", [f"{SYSTEM}/Storage/CPU.1"]),
        },
        Manufacturer=None,
        Model="PCIe SSD Backplane 1",
        Name="PCIe SSD Backplane 1",
        Oem={
            "Dell": {
                "@odata.type": "#DellOemEnclosureChassis.v1_0_0.DellOemEnclosureChassis",
                "DellChassisEnclosure": view,
            }
        },
        PCIeDevices=ref(f"{ENCLOSURE}/PCIeDevices"),
        PartNumber=None,
        PowerState="On",
        SKU="",
        SerialNumber=None,
        Status=OK,
    )
    return {"@Redfish.Settings": settings_at(f"{ENCLOSURE}/Settings", *apply), **body}
