"""The machine itself, its GPUs, drives, power supplies, memory modules and firmware, out of Redfish bodies."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar

from fabricctl.hostset import natural_key
from provision.bmc.bodies import Bodies
from provision.bmc.firmware_id import entry_id
from provision.bmc.inventory import Depth, Dimm, Drive, FirmwareComponent, Gpu, Part, Psu, System
from provision.bmc.json_bodies import Body, each_once, inner, last, path_of
from provision.bmc.reading import Reading, absent, read, words

_ACCELERATORS = ("GPU", "Accelerator")
P = TypeVar("P", bound=Part)


def system_of(bodies: Bodies) -> System:
    """The machine. Its service tag is the SKU on a Dell only: on a DGX H100 the SKU is the same for every machine."""
    body, path = bodies.system, bodies.system_path
    if not body:
        why = "not asked in a quick harvest" if bodies.depth is Depth.QUICK else "the system was not read"
        blank: Reading[Any] = absent(why, path)
        return System(path, _root_tag(bodies, why), blank, blank, blank, blank, blank, blank)
    return System(
        path=path,
        service_tag=_tag(bodies),
        serial=words(body, "SerialNumber", path),
        manufacturer=words(body, "Manufacturer", path),
        model=words(body, "Model", path),
        uuid=words(body, "UUID", path),
        bios_version=words(body, "BiosVersion", path),
        power=words(body, "PowerState", path),
    )


def _tag(bodies: Bodies) -> Reading[str]:
    if not bodies.dell:
        return absent("only a Dell has one; elsewhere the SKU is a model", bodies.system_path)
    tag = words(bodies.system, "SKU", bodies.system_path)
    if not tag.known:
        return _root_tag(bodies, tag.why)
    root = _root_tag(bodies, "")
    return (
        read(str(tag.value).upper(), tag.source, f"the service root says {root.value}")
        if (root.known and root.value != str(tag.value).upper())
        else read(str(tag.value).upper(), tag.source)
    )


def _root_tag(bodies: Bodies, why: str) -> Reading[str]:
    """The tag the service root of an iDRAC tells without login."""
    tag = words(inner(bodies.root, "Oem", "Dell"), "ServiceTag", "/redfish/v1")
    return (
        read(str(tag.value).upper(), tag.source) if tag.known else absent(why or tag.why, bodies.system_path)
    )


def gpus_of(bodies: Bodies) -> tuple[Gpu, ...]:
    """Accelerators among the processors, of every system the BMC knows."""
    return _sorted(
        Gpu(
            id=last(path_of(body)),
            path=path_of(body),
            model=words(body, "Model", path_of(body)),
            manufacturer=words(body, "Manufacturer", path_of(body)),
            part_number=words(body, "PartNumber", path_of(body)),
            serial=words(body, "SerialNumber", path_of(body)),
            uuid=words(body, "UUID", path_of(body)),
            firmware=words(body, "FirmwareVersion", path_of(body)),
            health=_health(body),
        )
        for body in each_once(bodies.processors)
        if body.get("ProcessorType") in _ACCELERATORS
    )


def drives_of(bodies: Bodies) -> tuple[Drive, ...]:
    """Drives. A DGX H100 lists them without a word about any."""
    return _sorted(
        Drive(
            id=last(path_of(body)),
            path=path_of(body),
            model=words(body, "Model", path_of(body)),
            manufacturer=words(body, "Manufacturer", path_of(body)),
            part_number=words(body, "PartNumber", path_of(body)),
            serial=words(body, "SerialNumber", path_of(body)),
            firmware=words(body, "Revision", path_of(body)),
            protocol=words(body, "Protocol", path_of(body)),
            media=words(body, "MediaType", path_of(body)),
            capacity_bytes=_number(body, "CapacityBytes"),
            health=_health(body),
        )
        for body in each_once(bodies.drives)
    )


def psus_of(bodies: Bodies) -> tuple[Psu, ...]:
    """Power supplies, of the newer collection or of the older Power resource."""
    return _sorted(
        Psu(
            id=_psu_id(body),
            path=path_of(body),
            model=words(body, "Model", path_of(body)),
            manufacturer=words(body, "Manufacturer", path_of(body)),
            part_number=words(body, "PartNumber", path_of(body)),
            serial=words(body, "SerialNumber", path_of(body)),
            firmware=words(body, "FirmwareVersion", path_of(body)),
            capacity_watts=_number(body, "PowerCapacityWatts"),
            health=_health(body),
        )
        for body in each_once(bodies.psus)
    )


def _psu_id(body: Body) -> str:
    """``PSU.Slot.1``; in the older resource the path ends in a position, which is no name."""
    named = str(inner(body, "Oem", "Dell", "DellPowerSupply").get("Id") or "")
    return named or (str(body.get("Name") or "") if "#" in path_of(body) else last(path_of(body)))


def dimms_of(bodies: Bodies) -> tuple[Dimm, ...]:
    """Memory modules that are there."""
    return _sorted(
        Dimm(
            id=last(path_of(body)),
            path=path_of(body),
            manufacturer=words(body, "Manufacturer", path_of(body)),
            part_number=words(body, "PartNumber", path_of(body)),
            serial=words(body, "SerialNumber", path_of(body)),
            capacity_mib=_number(body, "CapacityMiB"),
            speed_mhz=_number(body, "OperatingSpeedMhz"),
            health=_health(body),
        )
        for body in each_once(bodies.dimms)
        if inner(body, "Status").get("State") != "Absent"
    )


def firmware_of(bodies: Bodies) -> tuple[FirmwareComponent, ...]:
    """Versions of firmware; an iDRAC says in the id whether one is installed, current or the previous one."""
    return _sorted(_component(body) for body in each_once(bodies.firmware))


def _component(body: Body) -> FirmwareComponent:
    path = path_of(body)
    told = entry_id(last(path))
    return FirmwareComponent(
        id=last(path),
        path=path,
        fqdd=told.fqdd,
        component=told.component,
        state=told.state,
        name=words(body, "Name", path),
        version=words(body, "Version", path),
    )


def _sorted(parts: Iterable[P]) -> tuple[P, ...]:
    return tuple(sorted(parts, key=lambda part: (natural_key(part.id), part.path)))


def _number(body: Body, name: str) -> Reading[int]:
    value = body.get(name)
    if isinstance(value, int | float) and not isinstance(value, bool) and value > 0:
        return read(int(value), path_of(body))
    return absent(f"{name} is {value}" if name in body else f"{name} is not told", path_of(body))


def _health(body: Body) -> Reading[str]:
    health = inner(body, "Status").get("Health")
    if health == "":
        return absent(
            "Health is '': the BMC's memory of it is stale, a reset of the BMC may help", path_of(body)
        )
    return read(str(health), path_of(body)) if health else absent(f"Health is {health}", path_of(body))
