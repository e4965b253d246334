"""What MAAS tells beside machines: images, rack controllers, script results."""

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


NVIDIA = "10de"
"""PCI vendor (pci-ids.ucw.cz)."""


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
    """How many NVIDIA GPUs ``nodes/ID/devices/`` lists; None where it lists no device, as then nobody looked.

    MAAS calls the graphics of a BMC (Matrox, ASPEED) a GPU as well.
    """
    devices = [mapping(one) for one in items(raw)]
    if not devices:
        return None
    gpus = (one for one in devices if text(one.get("hardware_type_name")).upper() == "GPU")
    return sum(text(one.get("vendor_id")).lower() == NVIDIA for one in gpus)


def bmc_address(parameters: object) -> str:
    """The BMC's address of power parameters in its one spelling; empty when there is none."""
    return addresses.bmc_address(text(mapping(parameters).get("power_address")))
