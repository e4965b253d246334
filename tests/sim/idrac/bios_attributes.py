"""BIOS attributes of the simulated server: names, values, what one depends on, and what a profile sets.

Names, display names, menus, values and dependencies are those of the attribute registry of a PowerEdge R750 (BIOS
1.8.2, capture of 2024); only attributes that bring-up has to do with are here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from tests.sim.idrac.call import Body

Value = str | int | None


@dataclass(frozen=True, slots=True)
class Attribute:
    """One attribute.

    :param values: of an enumeration, empty for other kinds; :param bounds: of an integer.
    :param needs: attribute -> values with which this one may be written; all of them must hold.
    """

    name: str
    title: str
    menu: str
    default: Value
    values: Sequence[str] = ()
    bounds: tuple[int, int] | None = None
    longest: int = 255
    fixed: bool = False
    write_only: bool = False
    needs: Mapping[str, Sequence[str]] = field(default_factory=dict)

    @property
    def kind(self) -> str:
        """``Type`` of the registry."""
        if self.values:
            return "Enumeration"
        if self.bounds is not None:
            return "Integer"
        return "Password" if self.write_only else "String"

    def takes(self, value: object) -> bool:
        """Whether a value is one it may have."""
        if self.values:
            return value in self.values
        if self.bounds is not None:
            return type(value) is int and self.bounds[0] <= value <= self.bounds[1]
        return isinstance(value, str) and len(value) <= self.longest

    def writable(self, current: Mapping[str, Value]) -> bool:
        """Whether it may be written while the others have these values."""
        return not self.fixed and all(current.get(name) in allowed for name, allowed in self.needs.items())


ON_OFF = ("Enabled", "Disabled")
PROFILES = ("PerfPerWattOptimizedDapc", "PerfPerWattOptimizedOs", "PerfOptimized", "Custom")
ONE_TIME = "OneTimeUefiBootSeq"
CUSTOM = {"SysProfile": ("Custom",)}
PROC, BOOT, SYS, INTEGRATED = (
    "./ProcSettingsRef",
    "./BootSettingsRef",
    "./SysProfileSettingsRef",
    "./IntegratedDevicesRef",
)
NETWORK, SECURITY, MISC = "./NetworkSettingsRef", "./SysSecurityRef", "./MiscSettingsRef"
SERIAL, MEMORY, INFORMATION = "./SerialCommSettingsRef", "./MemSettingsRef", "./SysInformationRef"

_DAPC = {
    "ProcPwrPerf": "SysDbpm",
    "UncoreFrequency": "DynamicUFS",
    "EnergyPerformanceBias": "BalancedPerformance",
}
_SAVING = {"ProcC1E": "Enabled", "ProcCStates": "Enabled", "CpuInterconnectBusLinkPower": "Enabled"}
PROFILE_SETS: Mapping[str, Mapping[str, str]] = {
    "PerfPerWattOptimizedDapc": {**_DAPC, **_SAVING, "PcieAspmL1": "Enabled", "ProcTurboMode": "Enabled"},
    "PerfPerWattOptimizedOs": {**_DAPC, **_SAVING, "ProcPwrPerf": "OsDbpm", "PcieAspmL1": "Enabled"},
    "PerfOptimized": {
        "ProcPwrPerf": "MaxPerf",
        "UncoreFrequency": "MaxUFS",
        "EnergyPerformanceBias": "MaxPower",
        "ProcC1E": "Disabled",
        "ProcCStates": "Disabled",
        "CpuInterconnectBusLinkPower": "Disabled",
        "PcieAspmL1": "Disabled",
        "ProcTurboMode": "Enabled",
        "MemFrequency": "MaxPerf",
    },
}
"""What else the BIOS sets when ``SysProfile`` is set."""


def _choice(name: str, title: str, menu: str, default: str, values: Sequence[str] = ON_OFF) -> Attribute:
    return Attribute(name, title, menu, default, values)


def _custom(name: str, title: str, values: Sequence[str] = ON_OFF) -> Attribute:
    default = PROFILE_SETS["PerfPerWattOptimizedDapc"].get(name, values[0])
    return Attribute(name, title, SYS, default, values, needs=CUSTOM)


def _general(uefi_only: bool) -> list[Attribute]:
    modes = ("Uefi",) if uefi_only else ("Bios", "Uefi")
    return [
        _choice("LogicalProc", "Logical Processor", PROC, "Enabled"),
        _choice("ProcVirtualization", "Virtualization Technology", PROC, "Enabled"),
        _choice("ProcX2Apic", "x2APIC Mode", PROC, "Enabled"),
        _choice("ProcAdjCacheLine", "Adjacent Cache Line Prefetch", PROC, "Enabled"),
        _choice("ProcHwPrefetcher", "Hardware Prefetcher", PROC, "Enabled"),
        _choice("SubNumaCluster", "Sub NUMA Cluster", PROC, "Disabled", ("2-Way", "4-Way", "Disabled")),
        _choice("ProcCores", "Number of Cores per Processor", PROC, "All", ("All", "8", "16", "32")),
        Attribute("Proc1NumCores", "Number of Cores", PROC, 56, bounds=(0, 65535), fixed=True),
        _choice("NodeInterleave", "Node Interleaving", MEMORY, "Disabled"),
        _choice("MemoryTraining", "Memory Training", MEMORY, "Fast", ("Fast", "RetrainAtNextBoot", "Enable")),
        Attribute("BootMode", "Boot Mode", BOOT, "Uefi", modes, fixed=uefi_only),
        _choice("BootSeqRetry", "Boot Sequence Retry", BOOT, "Enabled", ("Enabled", "Disabled", "Reset")),
        _choice("GenericUsbBoot", "Generic USB Boot", BOOT, "Disabled"),
        _choice("HddPlaceholder", "Hard-disk Drive Placeholder", BOOT, "Disabled"),
        _choice("SriovGlobalEnable", "SR-IOV Global Enable", INTEGRATED, "Disabled"),
        _choice("OsWatchdogTimer", "OS Watchdog Timer", INTEGRATED, "Disabled"),
        _choice("MmioAbove4Gb", "Memory Mapped I/O above 4GB", INTEGRATED, "Enabled"),
        _choice("MemoryMappedIOH", "Memory Mapped I/O Base", INTEGRATED, "56TB", ("56TB", "12TB", "512GB")),
        _choice(
            "UsbPorts",
            "User Accessible USB Ports",
            INTEGRATED,
            "AllOn",
            ("AllOn", "OnlyBackPortsOn", "AllOff"),
        ),
        _choice(
            "SerialComm",
            "Serial Communication",
            SERIAL,
            "Auto",
            ("OnNoConRedir", "OnConRedir", "Auto", "Off"),
        ),
        _choice("FailSafeBaud", "Failsafe Baud Rate", SERIAL, "115200", ("115200", "57600", "19200", "9600")),
        _choice("ConTermType", "Remote Terminal Type", SERIAL, "Vt100Vt220", ("Vt100Vt220", "Ansi")),
        _choice("SecureBoot", "Secure Boot", SECURITY, "Disabled"),
        _choice("TpmSecurity", "TPM Security", SECURITY, "On", ("Off", "On")),
        _choice("Tpm2Hierarchy", "TPM Hierarchy", SECURITY, "Enabled", ("Enabled", "Disabled", "Clear")),
        _choice("IntelTxt", "Intel(R) TXT", SECURITY, "Off", ("Off", "On")),
        _choice("AcPwrRcvry", "AC Power Recovery", SECURITY, "Last", ("Last", "On", "Off")),
        _choice(
            "AcPwrRcvryDelay",
            "AC Power Recovery Delay",
            SECURITY,
            "Immediate",
            ("Immediate", "Random", "User"),
        ),
        _choice("ErrPrompt", "F1/F2 Prompt on Error", MISC, "Enabled"),
        _choice("NumLock", "Keyboard NumLock", MISC, "On", ("On", "Off")),
        Attribute("AssetTag", "Asset Tag", MISC, "", longest=63),
        Attribute("SetupPassword", "Setup Password", SECURITY, None, longest=32, write_only=True),
        Attribute("SysPassword", "System Password", SECURITY, None, longest=32, write_only=True),
    ]


def _profile() -> list[Attribute]:
    return [
        _choice("SysProfile", "System Profile", SYS, "PerfPerWattOptimizedDapc", PROFILES),
        _custom("ProcPwrPerf", "CPU Power Management", ("SysDbpm", "OsDbpm", "MaxPerf")),
        _custom("MemFrequency", "Memory Frequency", ("MaxPerf",)),
        _custom("ProcTurboMode", "Turbo Boost"),
        _custom("ProcC1E", "C1E"),
        _custom("ProcCStates", "C States", ("Enabled", "Disabled", "Autonomous")),
        _custom("UncoreFrequency", "Uncore Frequency", ("DynamicUFS", "MaxUFS")),
        _custom(
            "EnergyPerformanceBias",
            "Energy Efficient Policy",
            ("MaxPower", "BalancedPerformance", "BalancedEfficiency", "LowPower"),
        ),
        _custom("MonitorMwait", "Monitor/Mwait"),
        _custom("CpuInterconnectBusLinkPower", "CPU Interconnect Bus Link Power Management"),
        _custom("PcieAspmL1", "PCI ASPM L1 Link Power Management"),
        _choice(
            "WorkloadProfile",
            "Workload Profile",
            SYS,
            "NotConfigured",
            ("NotConfigured", "HpcProfile", "LowLatencyOptimizedProfile", "VtOptimizedProfile", "AiProfile"),
        ),
    ]


def _network(interfaces: Sequence[str], devices: int = 4) -> list[Attribute]:
    made: list[Attribute] = []
    for kind, title in (("Pxe", "PXE"), ("Http", "HTTP")):
        for number in range(1, devices + 1):
            device = f"{kind}Dev{number}"
            menu = f"{NETWORK}/{device}SettingsRef"
            on = {f"{device}EnDis": ("Enabled",)}
            vlan = {**on, f"{device}VlanEnDis": ("Enabled",)}
            first = "Enabled" if (kind, number) == ("Pxe", 1) else "Disabled"
            made += [
                Attribute(f"{device}EnDis", f"{title} Device{number}", NETWORK, first, ON_OFF),
                Attribute(
                    f"{device}Interface", "Interface", menu, interfaces[0], tuple(interfaces), needs=on
                ),
                Attribute(f"{device}Protocol", "Protocol", menu, "IPv4", ("IPv4", "IPv6"), needs=on),
                Attribute(f"{device}VlanEnDis", "VLAN", menu, "Disabled", ON_OFF, needs=on),
                Attribute(f"{device}VlanId", "VLAN ID", menu, 1, bounds=(1, 4094), needs=vlan),
                Attribute(f"{device}VlanPriority", "VLAN Priority", menu, 0, bounds=(0, 7), needs=vlan),
            ]
            if kind == "Http":
                own_address = {**on, f"{device}DhcpEnDis": ("Disabled",)}
                made += [
                    Attribute(f"{device}DhcpEnDis", "DHCP", menu, "Enabled", ON_OFF, needs=on),
                    Attribute(f"{device}Uri", "URI", menu, "", needs=on),
                    Attribute(f"{device}Ip", "IP Address", menu, "", longest=39, needs=own_address),
                    Attribute(
                        f"{device}TlsMode",
                        "TLS Authentication Mode",
                        menu,
                        "None",
                        ("None", "OneWay"),
                        needs=on,
                    ),
                ]
    return made


def _boot_order(entries: Sequence[str], fqdds: int = 16) -> list[Attribute]:
    return [
        Attribute("SetBootOrderEn", "Set Boot Order Enable", BOOT, ",".join(entries), longest=1023),
        Attribute("OneTimeBootMode", "One-Time Boot Device List", BOOT, "Disabled", ("Disabled", ONE_TIME)),
        Attribute("OneTimeUefiBootSeqDev", "UEFI Boot Sequence Device", BOOT, entries[0], tuple(entries)),
        Attribute("SetBootOrderDis", "Set Boot Order Disable", BOOT, "", longest=1023),
        *(
            Attribute(f"SetBootOrderFqdd{number}", f"Set Boot Order Fqdd{number}", BOOT, "")
            for number in range(1, fqdds + 1)
        ),
    ]


def _about(bios_version: str, model: str) -> list[Attribute]:
    facts = (
        ("SystemModelName", "System Model Name", model),
        ("SystemBiosVersion", "System BIOS Version", bios_version),
        ("SystemManufacturer", "System Manufacturer", "Dell Inc."),
        ("SystemServiceTag", "System Service Tag", ""),
    )
    return [
        Attribute(name, title, INFORMATION, value, longest=64, fixed=True) for name, title, value in facts
    ]


def all_attributes(
    *, generation: int, interfaces: Sequence[str], boot_entries: Sequence[str], bios_version: str, model: str
) -> dict[str, Attribute]:
    """Every attribute by name. iDRAC10 boots by UEFI only and has no ``RedirAfterBoot`` (libredfish#26)."""
    listed = [
        *_about(bios_version, model),
        *_general(uefi_only=generation >= 10),
        *_profile(),
        *_network(interfaces),
        *_boot_order(boot_entries),
    ]
    if generation < 10:
        listed.append(_choice("RedirAfterBoot", "Redirection After Boot", SERIAL, "Enabled"))
    return {attribute.name: attribute for attribute in listed}


def registry_entry(attribute: Attribute, order: int, current: Mapping[str, Value]) -> Body:
    """One attribute as the registry describes it; ``ReadOnly`` is as of now, as an iDRAC's is."""
    entry: Body = {
        "AttributeName": attribute.name,
        "CurrentValue": None,
        "DisplayName": attribute.title,
        "DisplayOrder": order,
        "HelpText": f"{attribute.title}.",
        "Hidden": False,
        "Immutable": attribute.fixed,
        "MenuPath": attribute.menu,
        "ReadOnly": not attribute.writable(current),
        "ResetRequired": True,
        "Type": attribute.kind,
        "WriteOnly": attribute.write_only,
    }
    if attribute.values:
        entry["Value"] = [{"ValueDisplayName": value, "ValueName": value} for value in attribute.values]
        entry["WarningText"] = None
    elif attribute.bounds is not None:
        entry |= {"LowerBound": attribute.bounds[0], "UpperBound": attribute.bounds[1], "ScalarIncrement": 0}
        entry["WarningText"] = None
    else:
        entry |= {"MinLength": 0, "MaxLength": attribute.longest, "ValueExpression": None}
    return entry


def dependencies(attribute: Attribute) -> list[Body]:
    """How the registry says on what an attribute depends."""
    return [
        {
            "Dependency": {
                "MapFrom": [
                    {
                        "MapFromAttribute": name,
                        "MapFromCondition": "NEQ",
                        "MapFromProperty": "CurrentValue",
                        "MapFromValue": allowed[0],
                    }
                ],
                "MapToAttribute": attribute.name,
                "MapToProperty": "ReadOnly",
                "MapToValue": True,
            },
            "DependencyFor": attribute.name,
            "Type": "Map",
        }
        for name, allowed in attribute.needs.items()
    ]
