"""The computer system: what never changes of it, and what power and boot make of it."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING

from tests.sim.idrac import boot
from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.firmware import Firmware
from tests.sim.idrac.hardware import Hardware, cooled_by, powered_by
from tests.sim.idrac.messages import refused
from tests.sim.idrac.power import progress
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import (
    CHASSIS,
    INVENTORIED,
    MANAGER,
    OK,
    ROOT,
    SYSTEM,
    dell,
    linked,
    listed,
    ref,
    resource,
)
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

_ABOUT = (
    "Computer System which represents a machine (physical or virtual) and the local resources such as memory, cpu and "
    "other devices that can be accessed from that machine."
)


class SystemSettings:
    """What a PATCH may change of the system besides its boot."""

    def __init__(self, _bmc: SimBmc) -> None:
        self.asset_tag = ""
        self.led_lit = False
        """The identify LED blinks: LocationIndicatorActive, IndicatorLED."""
        self.host_name = ""
        self.power_limit: int | None = None


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Systems and the system."""
    tree.collection(
        f"{ROOT}/Systems",
        "ComputerSystemCollection",
        lambda bmc: [] if bmc.readiness.empty_until > bmc.now() else [SYSTEM],
        name="Computer System Collection",
        about="Collection of Computer Systems",
    )
    tree.mixed(SYSTEM, _fixed(hardware, profile), lambda bmc: _live(bmc))
    tree.on("PATCH", SYSTEM, _patch)
    about = {
        "Description": "An instance of DellSystem will have data representing the overall system devices."
    }
    system = {**about, **_dell_system(hardware, profile)}
    tree.fixed(f"{SYSTEM}/Oem/Dell/DellSystem/System.Embedded.1", system)
    tree.collection(
        f"{SYSTEM}/Oem/Dell/DellSystem",
        "DellSystemCollection",
        [f"{SYSTEM}/Oem/Dell/DellSystem/System.Embedded.1"],
        paged=True,
    )
    tree.fixed(f"{SYSTEM}/SecureBoot", _secure_boot())


def _last_reset(bmc: SimBmc) -> str:
    """By the BMC's own clock, as long as it was on."""
    if not bmc.power.ever_started:
        return INVENTORIED
    ago = timedelta(seconds=bmc.now() - bmc.power.post_started)
    return (bmc.time() - ago).replace(microsecond=0).isoformat()


def _live(bmc: SimBmc) -> Body:
    settings, traits = bmc.part(SystemSettings), bmc.profile.value
    off = bmc.power.state == "Off"
    body: Body = {
        "AssetTag": settings.asset_tag,
        "BiosVersion": bmc.part(Firmware).components["BIOS.Setup.1-1"].version,
        "Boot": boot.body_of(bmc),
        "HostName": settings.host_name,
        "LastResetTime": _last_reset(bmc),
        "PowerState": bmc.power.state,
        "Status": {"Health": "OK", "HealthRollup": "OK", "State": "StandbyOffline" if off else "Enabled"},
    }
    if bmc.power.post_started:
        began = bmc.time() - timedelta(seconds=bmc.now() - bmc.power.post_started)
        body["LastResetTime"] = began.replace(microsecond=0).isoformat()
    if traits.generation < 10:
        body["IndicatorLED"] = "Blinking" if settings.led_lit else "Lit"
    if bmc.profile is not Profile.IDRAC9_6:
        body["LocationIndicatorActive"] = settings.led_lit
        body["BootProgress"] = {"LastState": progress(bmc.power), "OemLastState": None}
    if traits.boot_in_settings:
        times = {"SupportedApplyTimes": ["OnReset"]}
        body["@Redfish.Settings"] = {
            "@odata.type": "#Settings.v1_3_5.Settings",
            "SettingsObject": ref(boot.SETTINGS),
            **times,
        }
    reset = {
        "target": f"{SYSTEM}/Actions/ComputerSystem.Reset",
        "ResetType@Redfish.AllowableValues": list(bmc.power.reset_types),
    }
    body["Actions"] = {"#ComputerSystem.Reset": reset}
    return body


def _patch(call: Call) -> Answer:
    """PATCH of the system: boot, asset tag, identify LED, host name."""
    settings, profile = call.bmc.part(SystemSettings), call.bmc.profile
    job = ""
    for name, value in call.body.items():
        match name, value:
            case "Boot", _:
                job = boot.change(call, value, at_settings=False)
            case "AssetTag", str():
                settings.asset_tag = value
            case "HostName", str():
                settings.host_name = value
            case "LocationIndicatorActive", bool() if profile is not Profile.IDRAC9_6:
                settings.led_lit = value
            case "IndicatorLED", "Blinking" | "Lit" if profile.value.generation < 10:
                settings.led_lit = value == "Blinking"
            case (("AssetTag" | "HostName" | "LocationIndicatorActive" | "IndicatorLED"), _):
                raise refused(profile, "SYS426", str(value), name)
            case _:
                raise refused(profile, "SYS428", name)
    return boot.answer_of(call, job)


def _dell_system(hardware: Hardware, profile: Profile) -> Body:
    ok = (
        *("BatteryRollupStatus", "CPURollupStatus", "CurrentRollupStatus", "FanRollupStatus"),
        *("IntrusionRollupStatus", "LicensingRollupStatus", "PSRollupStatus", "SELRollupStatus"),
        *("StorageRollupStatus", "SysMemPrimaryStatus", "TempRollupStatus", "TempStatisticsRollupStatus"),
        "VoltRollupStatus",
    )
    generation = "17G" if profile.value.generation == 10 else "16G"
    slots = sum(adapter.id.count("Slot") for adapter in hardware.adapters)
    return resource(
        f"{SYSTEM}/Oem/Dell/DellSystem/System.Embedded.1",
        "DellSystem",
        "v1_3_0",
        BIOSReleaseDate="09/14/2023",
        BaseBoardChassisSlot="NA",
        BladeGeometry="NotApplicable",
        CMCIP=None,
        ChassisModel=None,
        ChassisName="Main System Chassis",
        ChassisServiceTag=own("tag"),
        ChassisSystemHeightUnit=hardware.height,
        EstimatedExhaustTemperatureCelsius=255,
        EstimatedSystemAirflowCFM=255,
        ExpressServiceCode=own("express"),
        IDSDMRollupStatus=None,
        Id="System.Embedded.1",
        IsOEMBranded="False",
        LastSystemInventoryTime=INVENTORIED,
        LastUpdateTime=INVENTORIED,
        ManagedSystemSize=f"{hardware.height} U",
        MaxCPUSockets=len(hardware.cpus),
        MaxDIMMSlots=32,
        MaxPCIeSlots=10,
        MemoryOperationMode="OptimizerMode",
        Name="DellSystem",
        NodeID=own("tag"),
        PlatformGUID=own("platform_guid"),
        PopulatedDIMMSlots=len(hardware.dimms),
        PopulatedPCIeSlots=slots,
        PowerCapEnabledState="Disabled",
        SDCardRollupStatus=None,
        ServerAllocationWatts=None,
        SysMemErrorMethodology="Multi-bitECC",
        SysMemFailOverState="NotInUse",
        SysMemLocation="SystemBoardOrMotherboard",
        SystemGeneration=f"{generation} Monolithic",
        SystemID=hardware.system_id,
        SystemRevision="I",
        UUID=own("uuid"),
        smbiosGUID=own("smbios_guid"),
        **dict.fromkeys(ok, "OK"),
    )


def _links(hardware: Hardware, profile: Profile) -> Body:
    oem = f"{SYSTEM}/Oem/Dell"
    sensors = ("PresenceAndStatusSensor", "Sensor", "NumericSensor", "GPUSensor", "Slot")
    collections = {f"Dell{name}Collection": ref(f"{oem}/Dell{name}s") for name in sensors}
    collections["DellVideoCollection"] = ref(f"{oem}/DellVideo")
    collections["DellChassisCollection"] = ref(f"{CHASSIS}/Oem/Dell/DellChassis")
    services = (
        "OSDeploymentService",
        "SoftwareInstallationService",
        "RaidService",
        "MetricService",
        "BIOSService",
    )
    return {
        **linked("Chassis", [CHASSIS]),
        **linked("CooledBy", cooled_by(hardware, profile)),
        **linked("ManagedBy", [MANAGER]),
        "Oem": {
            "Dell": {
                "@odata.type": "#DellOem.v1_3_0.DellOemLinks",
                "BootOrder": ref(f"{oem}/DellBootSources"),
                "DellBootSources": ref(f"{oem}/DellBootSources"),
                **collections,
                **{f"Dell{name}": ref(f"{oem}/Dell{name}") for name in services},
            }
        },
        **linked("PoweredBy", powered_by(hardware, profile)),
    }


def _fixed(hardware: Hardware, profile: Profile) -> Body:
    cores = hardware.cpu_cores * len(hardware.cpus)
    version = {Profile.IDRAC9_6: "v1_16_0", Profile.IDRAC9_7: "v1_20_1"}.get(profile, "v1_22_0")
    buses = [
        *(a.bus for a in hardware.adapters),
        *(g.bus for g in hardware.gpus),
        *(d.bus for d in hardware.drives),
    ]
    devices = [f"{SYSTEM}/PCIeDevices/{bus}-0" for bus in dict.fromkeys(buses) if bus]
    places = {
        name: ref(f"{SYSTEM}/{name}")
        for name in (
            *("Bios", "EthernetInterfaces", "Memory", "NetworkInterfaces", "Processors", "SecureBoot"),
            *("SimpleStorage", "Storage", "VirtualMedia"),
        )
    }
    return resource(
        SYSTEM,
        "ComputerSystem",
        version,
        Description=_ABOUT,
        HostWatchdogTimer={
            "FunctionEnabled": False,
            "Status": {"State": "Disabled"},
            "TimeoutAction": "None",
        },
        **listed("HostingRoles", []),
        Id="System.Embedded.1",
        Links=_links(hardware, profile),
        Manufacturer="Dell Inc.",
        MemorySummary={
            "MemoryMirroring": "System",
            "Status": OK,
            "TotalSystemMemoryGiB": len(hardware.dimms) * hardware.dimm_mib // 1024,
        },
        Model=hardware.model,
        Name="System",
        Oem=dell(DellSystem=_dell_system(hardware, profile)),
        **linked("PCIeDevices", devices),
        **linked("PCIeFunctions", (f"{path}/PCIeFunctions/{path.rpartition('/')[2]}-0" for path in devices)),
        PartNumber="0WMWCRA01",
        ProcessorSummary={
            "Count": len(hardware.cpus),
            "CoreCount": cores,
            "LogicalProcessorCount": 2 * cores,
            "Model": hardware.cpu_model,
            "Status": OK,
        },
        SKU=own("tag"),
        SerialNumber=own("board"),
        SystemType="Physical",
        **listed(
            "TrustedModules",
            [{"FirmwareVersion": "7.2.2.0", "InterfaceType": "TPM2_0", "Status": {"State": "Enabled"}}],
        ),
        UUID=own("uuid"),
        VirtualMediaConfig={"ServiceEnabled": True},
        **places,
    )


def _secure_boot() -> Body:
    path = f"{SYSTEM}/SecureBoot"
    return resource(
        path,
        "SecureBoot",
        "v1_1_0",
        Description="UEFI Secure Boot",
        Id="SecureBoot",
        Name="UEFI Secure Boot",
        SecureBootCurrentBoot="Disabled",
        SecureBootEnable=False,
        SecureBootMode="DeployedMode",
    )
