"""By what a disk is known again: serial number, model, size, name under /dev/disk/by-id; never its kernel name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from provision.install.machine import Disk

BY_ID = "/dev/disk/by-id/"
_STABLE = "/dev/disk/by-"
PHYSICAL = "physical"


@dataclass(frozen=True, slots=True, order=True)
class DiskIdentity:
    """What stays the same of a disk when it is enumerated anew.

    :param serial: as told, without blanks around it; may be empty; :param size: bytes.
    :param by_id: name without ``/dev/disk/by-id/``; another path under ``/dev/disk/by-`` whole; empty when none.
    """

    serial: str
    model: str
    size: int
    by_id: str = ""

    @property
    def serial_key(self) -> str:
        """The serial number for comparing: tools write it in either case."""
        return self.serial.casefold()

    @property
    def words(self) -> str:
        """``Dell BOSS-N1 (960 GB, serial BOSS001)``."""
        told = f"serial {self.serial}" if self.serial else "no serial number"
        return f"{self.model or 'unknown model'} ({size_words(self.size)}, {told})"


def identity_of(disk: Disk) -> DiskIdentity:
    """The identity of a disk as a provisioner tells of it."""
    return DiskIdentity(disk.serial.strip(), disk.model.strip(), disk.size, stable_name(disk.id_path))


def stable_name(path: str) -> str:
    """``nvme-Dell_BOSS-N1_1`` of ``/dev/disk/by-id/nvme-Dell_BOSS-N1_1``.

    Empty for a kernel name such as ``/dev/sda``, which MAAS writes where udev knows no better one.
    """
    path = path.strip()
    if path.startswith(BY_ID):
        return path.removeprefix(BY_ID)
    if path.startswith("/") and not path.startswith(_STABLE):
        return ""
    return path


def physical(disks: Iterable[Disk]) -> list[Disk]:
    """Those that are no partition, RAID or volume, in an order that depends on their identities alone."""
    return sorted((disk for disk in disks if disk.kind == PHYSICAL), key=lambda disk: identity_of(disk))


def doubled(identities: Iterable[DiskIdentity]) -> frozenset[str]:
    """Serial keys that more than one disk has."""
    count = Counter(identity.serial_key for identity in identities if identity.serial)
    return frozenset(key for key, times in count.items() if times > 1)


def size_words(size: float) -> str:
    """Bytes as makers count: ``960 GB``, ``3.84 TB``."""
    for unit, factor in (("TB", 1e12), ("GB", 1e9), ("MB", 1e6)):
        if size >= factor * 0.9995:
            return f"{size / factor:.3g} {unit}"
    return f"{size:.0f} bytes"
