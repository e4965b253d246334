"""What should be in a host: by the site's node model, and by what its BMC told in a harvest."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from fabricctl.mac import Mac, parse_mac
from fabricctl.nodes.facts import StoredFact, Value
from fabricctl.nodes.model import Identity, IdentityKind
from fabricctl.site.schema import NodeModel
from provision.install.disk_identity import size_words

_BEHIND = re.compile(r"(?:\A|:)(?:BOSS\.|RAID\.|AHCI\.Slot\.)")
"""In the id of a drive on a Dell: behind a controller that shows the system a disk of its own (BOSS, PERC) instead."""
_ETHERNET = "ethernet"


@dataclass(frozen=True, slots=True)
class ExpectedDisk:
    """A disk that should be there. :param words: for people; :param model: and size, empty where not told."""

    serial: str
    words: str
    model: str = ""


@dataclass(frozen=True, slots=True)
class ExpectedHardware:
    """What should be there; None or empty where nobody says.

    :param disks: how many, the boot disk among them; :param known_disks: of these the serial numbers are known.
    :param nics: NIC's id at the BMC -> the MACs it may show: its permanent one and the one in use.
    :param gpus: 0 where there should be none; :param memory_gib: as installed.
    """

    service_tag: str = ""
    disks: int | None = None
    known_disks: tuple[ExpectedDisk, ...] = ()
    nics: Mapping[str, frozenset[Mac]] | None = None
    gpus: int | None = None
    memory_gib: float | None = None


def expected_hardware(
    model: NodeModel | None, facts: Iterable[StoredFact] = (), identities: Iterable[Identity] = ()
) -> ExpectedHardware:
    """The site's word first; what it does not say is filled from the harvest (facts and identities that hold).

    Disks behind a controller that makes its own disk of them are left out: the system never sees their serial numbers.
    So are InfiniBand functions, which MAAS does not list, and functions that are switched off.
    """
    parts = _by_part(facts)
    tags = [one.fact.value for one in identities if one.until is None and _is_tag(one)]
    dimms = [part.get("dimm.capacity_mib") for part in parts.values()]
    sizes = [size for size in dimms if isinstance(size, int) and size > 0]
    gpus = sum(any(field.startswith("gpu.") for field in part) for part in parts.values())
    memory = sum(sizes) / 1024 if sizes else None
    known = tuple(disk for id, part in sorted(parts.items()) if (disk := _disk(id, part)) is not None)
    nics = {id: macs for id, part in sorted(parts.items()) if (macs := _macs(part))}
    return ExpectedHardware(
        service_tag=tags[-1] if tags else "",
        disks=model.disks if model else None,
        known_disks=known,
        nics=nics or None,
        gpus=model.gpus if model else gpus or None,
        memory_gib=model.memory_gib if model and model.memory_gib else memory,
    )


def _is_tag(one: Identity) -> bool:
    return one.fact.kind is IdentityKind.SERVICE_TAG


_Parts = dict[str, dict[str, Value]]


def _by_part(facts: Iterable[StoredFact]) -> _Parts:
    parts: _Parts = {}
    for stored in facts:
        if stored.until is None:
            parts.setdefault(stored.fact.part, {})[stored.fact.field] = stored.fact.value
    return parts


def _disk(id: str, part: Mapping[str, Value]) -> ExpectedDisk | None:
    serial = part.get("drive.serial")
    if not isinstance(serial, str) or not serial.strip() or _BEHIND.search(id):
        return None
    model, size = part.get("drive.model"), part.get("drive.capacity_bytes")
    told = [str(model)] if model else []
    told += [size_words(size)] if isinstance(size, int) else []
    return ExpectedDisk(serial.strip(), f"disk {serial.strip()} ({', '.join([id, *told])})", ", ".join(told))


def _macs(part: Mapping[str, Value]) -> frozenset[Mac]:
    if part.get("nic.technology") != _ETHERNET or part.get("nic.enabled") is False:
        return frozenset()
    told = (parse_mac(str(part.get(field, ""))) for field in ("nic.mac_permanent", "nic.mac_current"))
    return frozenset(mac for mac in told if mac is not None)
