"""A machine in MAAS's database, and its JSON."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.sim.idrac.clock import Timer
from tests.sim.maas.call import API, dumps
from tests.sim.maas.disks import Storage
from tests.sim.maas.hardware import MachineHardware
from tests.sim.maas.network import Interface
from tests.sim.maas.power import Wires
from tests.sim.maas.scripts import STATUS_NAMES, ScriptSet
from tests.sim.maas.states import Status

UNKNOWN = "Unknown"
_TESTS = ("cpu", "interface", "memory", "network", "other", "storage")


@dataclass
class MachineRecord:
    """One machine. Whoever changes it calls :meth:`changed`, so that its JSON is made anew.

    :param hardware: what it really consists of; :param resets: how often it was switched off and on again by MAAS.
    :param power_on: whether it really is on, where no BMC is asked; :param wires: to the BMCs there are.
    :param said: MAAS's newest words, ``status_message``.
    :param acted: ``status_action``, None before anything was said.
    :param spared: BMC users were left alone at the last commissioning (``skip_bmc_config``).
    :param bmc_written: how often commissioning wrote MAAS's own user into the BMC.
    """

    system_id: str
    hostname: str
    hardware: MachineHardware
    storage: Storage
    number: int
    domain: str = "maas"
    architecture: str = "amd64/generic"
    description: str = ""
    zone: str = "default"
    pool: str = "default"
    min_hwe_kernel: str = ""
    status: Status = Status.NEW
    previous: Status | None = None
    owner: str | None = None
    owner_data: dict[str, str] = field(default_factory=dict)
    agent: str = ""
    locked: bool = False
    tags: set[str] = field(default_factory=set)
    power_type: str = ""
    power: dict[str, Any] = field(default_factory=dict)
    power_state: str = "unknown"
    power_on: bool = False
    wires: Wires | None = None
    resets: int = 0
    nics: list[Interface] = field(default_factory=list)
    boot_nic: int | None = None
    commissioned: MachineHardware | None = None
    netboot: bool = True
    osystem: str = ""
    series: str = ""
    kernel: str | None = None
    ephemeral: bool = False
    said: str | None = None
    acted: str | None = None
    error_description: str = ""
    user_data: bytes = b""
    spared: bool = True
    bmc_written: int = 0
    script_sets: list[ScriptSet] = field(default_factory=list)
    current: dict[str, int] = field(default_factory=dict)
    """kind of script -> id of the current set."""
    token: dict[str, str] | None = None
    timers: list[Timer] = field(default_factory=list)
    extra: dict[str, Any] = field(default_factory=dict)
    """For those who serve more of a machine: storage layouts, commissioning uploads."""
    _json: bytes = b""

    def changed(self) -> None:
        """Its JSON is no longer right."""
        self._json = b""

    def script_set(self, kind: str) -> ScriptSet | None:
        """The current one of a kind."""
        number = self.current.get(kind)
        return next((one for one in self.script_sets if one.id == number), None)

    @property
    def macs(self) -> set[str]:
        """Of its interfaces."""
        return {nic.mac for nic in self.nics if nic.mac}

    @property
    def fqdn(self) -> str:
        """Host name and domain."""
        return f"{self.hostname}.{self.domain}"

    def json(self, around: Around) -> bytes:
        """As the API shows it; kept until :meth:`changed`."""
        if not self._json:
            self._json = dumps(shown(self, around))
        return self._json


@dataclass
class Around:
    """What a machine's JSON shows of other objects, by name."""

    zones: Mapping[str, dict[str, Any]]
    pools: Mapping[str, dict[str, Any]]
    domains: Mapping[str, dict[str, Any]]


def shown(record: MachineRecord, around: Around) -> dict[str, Any]:
    """All keys of a machine."""
    nics = [nic.shown(record.system_id) for nic in record.nics]
    gateway = {"gateway_ip": None, "link_id": None}
    return {
        **_identity(record, around),
        **_installed(record),
        **_results(record),
        **_hardware(record),
        **record.storage.fields(record.system_id),
        "interface_set": nics,
        "boot_interface": next((one for one in nics if one["id"] == record.boot_nic), None),
        "default_gateways": {"ipv4": gateway, "ipv6": gateway},
    }


def _identity(record: MachineRecord, around: Around) -> dict[str, Any]:
    return {
        "system_id": record.system_id,
        "hostname": record.hostname,
        "fqdn": record.fqdn,
        "domain": around.domains[record.domain],
        "zone": around.zones[record.zone],
        "pool": around.pools[record.pool],
        "description": record.description,
        "architecture": record.architecture,
        "status": record.status.number,
        "status_name": record.status.value,
        "status_message": record.said,
        "status_action": record.acted,
        "error_description": record.error_description,
        "owner": record.owner,
        "owner_data": record.owner_data,
        "workload_annotations": record.owner_data,
        "tag_names": sorted(record.tags),
        "locked": record.locked,
        "power_type": record.power_type,
        "power_state": record.power_state,
        "node_type": 0,
        "node_type_name": "Machine",
        "is_dpu": False,
        "parent": None,
        "pod": None,
        "virtualmachine_id": None,
        "address_ttl": None,
        "resource_uri": f"{API}machines/{record.system_id}/",
    }


def _installed(record: MachineRecord) -> dict[str, Any]:
    return {
        "netboot": record.netboot,
        "osystem": record.osystem,
        "distro_series": record.series,
        "hwe_kernel": record.kernel,
        "min_hwe_kernel": record.min_hwe_kernel,
        "ephemeral_deploy": record.ephemeral,
        "enable_hw_sync": False,
        "enable_kernel_crash_dump": False,
        "last_sync": None,
        "next_sync": None,
        "sync_interval": None,
        "swap_size": None,
        "disable_ipv4": False,
    }


def _results(record: MachineRecord) -> dict[str, Any]:
    states = {}
    for kind in ("commissioning", "testing"):
        current = record.script_set(kind)
        states[kind] = current.status if current else -1
    found: dict[str, Any] = {
        f"current_{kind}_result_id": record.current.get(kind)
        for kind in ("commissioning", "testing", "installation")
    }
    for name in _TESTS:
        found |= {f"{name}_test_status": -1, f"{name}_test_status_name": UNKNOWN}
    for kind, status in states.items():
        found |= {f"{kind}_status": status, f"{kind}_status_name": STATUS_NAMES[status]}
    return found


def _hardware(record: MachineRecord) -> dict[str, Any]:
    found = record.commissioned
    nodes = (
        [(0, ())] if found is None else [(found.memory_mib // len(found.cores), one) for one in found.cores]
    )
    return {
        "memory": found.memory_mib if found else 0,
        "cpu_count": sum(len(one) for one in found.cores) if found else 0,
        "cpu_speed": found.cpu_speed if found else 0,
        "bios_boot_method": None,
        "hardware_uuid": (found.uuid or None) if found else None,
        "hardware_info": _info(found),
        "numanode_set": [
            {"index": place, "memory": memory, "cores": list(cores), "hugepages_set": []}
            for place, (memory, cores) in enumerate(nodes)
        ],
    }


_INFO = (
    *("system_vendor", "system_product", "system_family", "system_version", "system_sku", "system_serial"),
    *("cpu_model", "mainboard_vendor", "mainboard_product", "mainboard_serial", "mainboard_version"),
    *("mainboard_firmware_vendor", "mainboard_firmware_date", "mainboard_firmware_version"),
    *("chassis_vendor", "chassis_type", "chassis_serial", "chassis_version"),
)


def _info(found: MachineHardware | None) -> dict[str, str]:
    info = dict.fromkeys(_INFO, UNKNOWN)
    if found is None:
        return info
    return info | {
        "system_vendor": found.vendor,
        "system_product": found.product,
        "system_family": found.product.partition(" ")[0],
        "system_sku": "SKU=0B9F",
        "system_serial": found.serial,
        "cpu_model": found.cpu_model,
        "mainboard_vendor": found.vendor,
        "mainboard_product": "0M5TNR",
        "mainboard_serial": f".{found.serial}.",
        "mainboard_version": "A02",
        "mainboard_firmware_vendor": found.vendor,
        "mainboard_firmware_date": "05/01/2024",
        "mainboard_firmware_version": "2.1.5",
        "chassis_vendor": found.vendor,
        "chassis_type": "Rack Mount Chassis",
        "chassis_serial": found.serial,
        **found.facts,
    }
