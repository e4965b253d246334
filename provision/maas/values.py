"""What MAAS tells beside machines: images, rack controllers, subnets, script results."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from provision.install import addresses
from provision.maas.parse import items, mapping, number, text


@dataclass(frozen=True, slots=True)
class Image:
    """A boot image. :param name: ``ubuntu/jammy``; :param architecture: ``amd64``; :param kernel: ``ga-22.04``."""

    name: str
    architecture: str
    kernel: str
    kind: str = "Synced"


@dataclass(frozen=True, slots=True)
class Rack:
    """A rack controller. :param services: name -> ``running``, ``degraded``, ``dead``, ``off``, ``unknown``.

    :param addresses: its IP addresses.
    """

    id: str
    hostname: str
    services: Mapping[str, str] = field(default_factory=dict)
    addresses: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Subnet:
    """A subnet. :param dhcp: whether MAAS hands out leases on its VLAN; :param fabric: MAAS's name of the network."""

    id: str
    name: str
    cidr: str
    vlan: int = 0
    fabric: str = ""
    dhcp: bool = False
    managed: bool = True
    gateway: str = ""
    dns_servers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ScriptResult:
    """How a script of a phase ended. :param phase: ``Commissioning``, ``Testing``, ``Installation``."""

    phase: str
    script: str
    status: str
    exit_status: int | None = None

    @property
    def failed(self) -> bool:
        """Whether it ended badly. ``Skipped`` and what has not run yet did not."""
        return self.status.startswith(("Failed", "Timed out", "Timedout", "Degraded"))


ACCELERATORS = ("10de", "1002")
"""PCI vendors NVIDIA and AMD (pci-ids.ucw.cz)."""
PLAIN_POWER = (
    "power_address", "power_user", "node_id", "power_driver", "power_boot_type", "cipher_suite_id", "privilege_level",
    "workaround_flags", "mac_address", "power_off_mode",
)  # fmt: skip
"""Power parameters of redfish and ipmi that are no secrets. Everything else is dropped, whatever it is called."""


def images_of(raw: object) -> list[Image]:
    """Images from ``boot-resources/``."""
    found = []
    for one in items(raw):
        fields = mapping(one)
        architecture, _, kernel = text(fields.get("architecture")).partition("/")
        found.append(Image(text(fields.get("name")), architecture, kernel, text(fields.get("type"))))
    return found


def racks_of(raw: object) -> list[Rack]:
    """Rack controllers from ``rackcontrollers/``."""
    found = []
    for one in items(raw):
        fields = mapping(one)
        services = (mapping(service) for service in items(fields.get("service_set")))
        states = {text(service.get("name")): text(service.get("status")) for service in services}
        addresses = tuple(filter(None, map(text, items(fields.get("ip_addresses")))))
        found.append(Rack(text(fields.get("system_id")), text(fields.get("hostname")), states, addresses))
    return found


def subnets_of(raw: object) -> list[Subnet]:
    """Subnets from ``subnets/``."""
    found = []
    for one in items(raw):
        fields = mapping(one)
        vlan = mapping(fields.get("vlan"))
        found.append(
            Subnet(
                id=text(fields.get("id")),
                name=text(fields.get("name")),
                cidr=text(fields.get("cidr")),
                vlan=number(vlan.get("vid")),
                fabric=text(vlan.get("fabric")),
                dhcp=vlan.get("dhcp_on") is True,
                managed=fields.get("managed") is not False,
                gateway=text(fields.get("gateway_ip")),
                dns_servers=tuple(filter(None, map(text, items(fields.get("dns_servers"))))),
            )
        )
    return found


def results_of(raw: object) -> list[ScriptResult]:
    """Script results from ``nodes/ID/results/``, of each phase's newest run alone: MAAS hands out older ones, too."""
    newest: dict[str, Mapping[str, Any]] = {}
    for run in map(mapping, items(raw)):
        phase = text(run.get("type_name"))
        if phase not in newest or number(run.get("id")) > number(newest[phase].get("id")):
            newest[phase] = run
    return [
        _result(phase, mapping(result))
        for phase, run in newest.items()
        for result in items(run.get("results"))
    ]


def _result(phase: str, fields: Mapping[str, Any]) -> ScriptResult:
    status = fields.get("exit_status")
    known = isinstance(status, int) and not isinstance(status, bool)
    return ScriptResult(
        phase=phase,
        script=text(fields.get("name")),
        status=text(fields.get("status_name")),
        exit_status=status if known else None,
    )


def gpus_of(raw: object) -> int | None:
    """How many accelerators ``nodes/ID/devices/`` lists; None where it lists no device, as then nobody looked.

    MAAS calls the graphics of a BMC (Matrox, ASPEED) a GPU as well, so only those of makers of accelerators count.
    """
    devices = [mapping(one) for one in items(raw)]
    if not devices:
        return None
    gpus = (one for one in devices if text(one.get("hardware_type_name")).upper() == "GPU")
    return sum(text(one.get("vendor_id")).lower() in ACCELERATORS for one in gpus)


def bmc_address(parameters: object) -> str:
    """The BMC's address of power parameters in its one spelling; empty when there is none."""
    return addresses.bmc_address(text(mapping(parameters).get("power_address")))


def plain_power(parameters: object) -> dict[str, str]:
    """Power parameters without anything secret."""
    raw = mapping(parameters)
    return {name: text(raw.get(name)) for name in PLAIN_POWER if text(raw.get(name))}
