"""Processors, GPUs and memory."""

from __future__ import annotations

from tests.sim.idrac.call import Body
from tests.sim.idrac.hardware import Gpu, Hardware
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.shapes import CHASSIS, INVENTORIED, SYSTEM, affinity, dell, linked, listed, ref, resource
from tests.sim.idrac.template import own
from tests.sim.idrac.tree import Tree

PROCESSORS = f"{SYSTEM}/Processors"
MEMORY = f"{SYSTEM}/Memory"
_FINE = {"Health": "OK", "State": "Enabled"}


def install(tree: Tree, profile: Profile, hardware: Hardware) -> None:
    """Both collections and their members."""
    names = [*(gpu.id for gpu in hardware.gpus), *reversed(hardware.cpus)]
    tree.collection(
        PROCESSORS,
        "ProcessorCollection",
        [f"{PROCESSORS}/{name}" for name in names],
        name="ProcessorsCollection",
        about="Collection of Processors for this System",
    )
    for gpu in hardware.gpus:
        tree.fixed(f"{PROCESSORS}/{gpu.id}", _gpu(gpu))
        tree.fixed(f"{PROCESSORS}/{gpu.id}/ProcessorMetrics", _gpu_metrics(gpu))
    for number, cpu in enumerate(hardware.cpus, 1):
        tree.fixed(f"{PROCESSORS}/{cpu}", _cpu(cpu, number, hardware))
    tree.collection(
        MEMORY,
        "MemoryCollection",
        [f"{MEMORY}/{dimm}" for dimm in hardware.dimms],
        name="Memory Devices Collection",
        about="Collection of memory devices for this system",
    )
    for dimm in hardware.dimms:
        tree.fixed(f"{MEMORY}/{dimm}", _dimm(dimm, hardware))
        tree.fixed(f"{MEMORY}/{dimm}/MemoryMetrics", _dimm_metrics(dimm))
    tree.inventory |= {PROCESSORS, MEMORY}


def _gpu(gpu: Gpu) -> Body:
    path = f"{PROCESSORS}/{gpu.id}"
    device = f"{SYSTEM}/PCIeDevices/{gpu.bus}-0"
    return resource(
        path,
        "Processor",
        "v1_12_0",
        Assembly=ref(f"{CHASSIS}/Assembly"),
        Description="Represents the properties of the GPU attached to this System",
        Id=gpu.id,
        Links={
            "Chassis": ref(CHASSIS),
            "Oem": affinity(f"CPU.Socket.{gpu.cpu}"),
            "PCIeDevice": ref(device),
            "PCIeFunctions": [ref(f"{device}/PCIeFunctions/{gpu.bus}-0-0")],
        },
        Manufacturer="NVIDIA Corporation",
        Metrics=ref(f"{path}/ProcessorMetrics"),
        Model=gpu.model,
        Name=gpu.id,
        Oem=dell(
            DellProcessor=None,
            DellAccelerators=None,
            PowerMetrics=ref(f"{path}/Oem/Dell/PowerMetrics"),
            ThermalMetrics=ref(f"{path}/Oem/Dell/ThermalMetrics"),
        ),
        PartNumber=gpu.part,
        ProcessorType="GPU",
        SerialNumber=own("serial", gpu.id),
        Status=_FINE,
    )


def _gpu_metrics(gpu: Gpu) -> Body:
    return resource(
        f"{PROCESSORS}/{gpu.id}/ProcessorMetrics",
        "ProcessorMetrics",
        "v1_2_1",
        ConsumedPowerWatt=None,
        Description="GPU Metrics",
        Id=gpu.id,
        Name="GPU Metrics",
        TemperatureCelsius=34,
    )


def _cpu(cpu: str, number: int, hardware: Hardware) -> Body:
    bank = "AB"[number - 1]
    dimms = [f"{MEMORY}/{dimm}" for dimm in hardware.dimms if dimm.startswith(f"DIMM.Socket.{bank}")]
    return resource(
        f"{PROCESSORS}/{cpu}",
        "Processor",
        "v1_12_0",
        Assembly=ref(f"{CHASSIS}/Assembly"),
        Description="Represents the properties of a Processor attached to this System",
        Id=cpu,
        InstructionSet="x86-64",
        Links={"Chassis": ref(CHASSIS), **linked("Memory", dimms)},
        Manufacturer="Intel",
        MaxSpeedMHz=4000,
        Model=hardware.cpu_model,
        Name=f"CPU {number}",
        Oem=dell(
            DellProcessor=_dell_cpu(cpu, hardware),
            PowerMetrics=None,
            ThermalMetrics=None,
            DellAccelerators=None,
        ),
        OperatingSpeedMHz=2000,
        ProcessorArchitecture="x86",
        ProcessorId={
            "EffectiveFamily": "6",
            "EffectiveModel": "143",
            "IdentificationRegisters": "0x000806F8",
            "MicrocodeInfo": "0x2B0004D0",
            "Step": "8",
            "VendorId": "GenuineIntel",
        },
        ProcessorType="CPU",
        Socket=cpu,
        Status=_FINE,
        TotalCores=hardware.cpu_cores,
        TotalEnabledCores=hardware.cpu_cores,
        TotalThreads=2 * hardware.cpu_cores,
        TurboState="Enabled",
        Version="Model 143 Stepping 8",
    )


def _dell_cpu(cpu: str, hardware: Hardware) -> Body:
    caches: Body = {}
    for level, kib in ((1, 80), (2, 2048), (3, 1920)):
        size = kib * hardware.cpu_cores
        caches |= {
            f"Cache{level}Associativity": "16-WaySet-Associative",
            f"Cache{level}ErrorMethodology": "Parity" if level == 1 else "Single-bitECC",
            f"Cache{level}InstalledSizeKB": size,
            f"Cache{level}Level": f"L{level}",
            f"Cache{level}Location": "Internal",
            f"Cache{level}PrimaryStatus": "OK",
            f"Cache{level}SRAMType": "Unknown",
            f"Cache{level}SizeKB": size,
            f"Cache{level}Type": "Unified",
            f"Cache{level}WritePolicy": "WriteBack",
        }
    return resource(
        f"{PROCESSORS}/{cpu}/Oem/Dell/DellProcessors/{cpu}",
        "DellProcessor",
        "v1_1_0",
        CPUFamily="Intel(R)Xeon(TM)",
        CPUStatus="CPUEnabled",
        CurrentClockSpeedMhz=2000,
        ExternalBusClockSpeedMhz=16000,
        HyperThreadingCapable="Yes",
        HyperThreadingEnabled="Yes",
        Id=cpu,
        LastSystemInventoryTime=INVENTORIED,
        LastUpdateTime=INVENTORIED,
        Name="DellProcessor",
        TurboModeCapable="Yes",
        TurboModeEnabled="Yes",
        VirtualizationTechnologyCapable="Yes",
        VirtualizationTechnologyEnabled="Yes",
        Volts="1.6",
        **caches,
    )


def _dimm(dimm: str, hardware: Hardware) -> Body:
    path, short = f"{MEMORY}/{dimm}", dimm.rpartition(".")[2]
    cpu = f"CPU.Socket.{'AB'.index(short[0]) + 1}"
    view = resource(
        f"{path}/Oem/Dell/DellMemory/{dimm}",
        "DellMemory",
        "v1_1_0",
        BankLabel=short[0],
        Id=dimm,
        LastSystemInventoryTime=INVENTORIED,
        LastUpdateTime=INVENTORIED,
        ManufactureDate="Mon Apr 17 07:00:00 2023 UTC",
        MemoryTechnology="DRAM",
        Model="DDR5 DIMM",
        Name="DellMemory",
        RemainingRatedWriteEndurancePercent=None,
        SystemEraseCapability="NotSupported",
    )
    return resource(
        path,
        "Memory",
        "v1_12_0",
        **listed("AllowedSpeedsMHz", [4800]),
        Assembly=ref(f"{path}/Assembly"),
        BaseModuleType=None,
        BusWidthBits=80,
        CacheSizeMiB=0,
        CapacityMiB=hardware.dimm_mib,
        DataWidthBits=64,
        Description=f"DIMM {short}",
        DeviceLocator=f"DIMM {short}",
        ErrorCorrection="MultiBitECC",
        FirmwareRevision=None,
        Id=dimm,
        Links={
            "Chassis": ref(CHASSIS),
            "Oem": affinity(cpu),
            **linked("Processors", [f"{PROCESSORS}/{cpu}"]),
        },
        LogicalSizeMiB=0,
        Manufacturer="Hynix Semiconductor",
        **listed("MaxTDPMilliWatts", []),
        MemoryDeviceType="DDR5",
        MemorySubsystemControllerManufacturerID=None,
        MemorySubsystemControllerProductID=None,
        MemoryType="DRAM",
        Metrics=ref(f"{path}/MemoryMetrics"),
        ModuleManufacturerID="0xad80",
        ModuleProductID=None,
        Name=f"DIMM {short}",
        NonVolatileSizeMiB=0,
        Oem=dell(DellMemory=view),
        **listed("OperatingMemoryModes", ["Volatile"]),
        OperatingSpeedMhz=4800,
        PartNumber="HMCG94MEBRA109N",
        RankCount=2,
        SerialNumber=own("serial", dimm),
        Status=_FINE,
        VolatileSizeMiB=hardware.dimm_mib,
    )


def _dimm_metrics(dimm: str) -> Body:
    trips = (
        "AddressParityError",
        "CorrectableECCError",
        "SpareBlock",
        "Temperature",
        "UncorrectableECCError",
    )
    return resource(
        f"{MEMORY}/{dimm}/MemoryMetrics",
        "MemoryMetrics",
        "v1_4_1",
        Description="Metrics of the memory device",
        HealthData={
            "AlarmTrips": dict.fromkeys(trips, False),
            "DataLossDetected": None,
            "PredictedMediaLifeLeftPercent": None,
        },
        Id=dimm,
        Name=f"DIMM {dimm.rpartition('.')[2]} Metrics",
        OperatingSpeedMHz=4800,
    )
