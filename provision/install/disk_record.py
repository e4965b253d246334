"""The record of a host's disks: what stays the same of them, in any order, and how two looks differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from fabricctl.nodes.facts import Value
from provision.install.disk_identity import DiskIdentity, doubled, identity_of, physical, size_words
from provision.install.machine import Disk

FIELD = "install.disks"
"""Field of the node fact that holds it."""
VERSION = 1


@dataclass(frozen=True, slots=True)
class DiskFingerprint:
    """All physical disks of a host, sorted."""

    disks: tuple[DiskIdentity, ...]

    def as_value(self) -> Value:
        """For the state store."""
        listed: list[Value] = [
            {"serial": disk.serial, "model": disk.model, "size": disk.size, "by_id": disk.by_id}
            for disk in self.disks
        ]
        return {"version": VERSION, "disks": listed}


def fingerprint(disks: Iterable[Disk]) -> DiskFingerprint:
    """The record of these disks; partitions, RAIDs and volumes do not count."""
    return DiskFingerprint(tuple(identity_of(disk) for disk in physical(disks)))


def read_fingerprint(value: object) -> DiskFingerprint | None:
    """The record out of the state store; None when it is of another version or no such record."""
    if not isinstance(value, dict) or value.get("version") != VERSION:
        return None
    listed = value.get("disks")
    if not isinstance(listed, list):
        return None
    made = [_read(entry) for entry in listed]
    known = [disk for disk in made if disk is not None]
    return DiskFingerprint(tuple(sorted(known))) if len(known) == len(made) else None


def unreadable(value: object) -> str:
    """Why a record that is there cannot be read; empty when it can, or when there is none.

    :param value: as stored, None where nothing is.
    """
    if value is None or read_fingerprint(value) is not None:
        return ""
    version = value.get("version") if isinstance(value, dict) else None
    why = f"version {version}, expected {VERSION}" if version not in (None, VERSION) else "damaged"
    return f"the record of its disks cannot be read ({why}), so nobody can tell whether they changed"


def _read(entry: object) -> DiskIdentity | None:
    if not isinstance(entry, dict):
        return None
    texts = [entry.get(name) for name in ("serial", "model", "by_id")]
    serial, model, by_id = texts
    size = entry.get("size")
    if not (isinstance(serial, str) and isinstance(model, str) and isinstance(by_id, str)):
        return None
    if not isinstance(size, int) or isinstance(size, bool):
        return None
    return DiskIdentity(serial, model, size, by_id)


def compare(recorded: DiskFingerprint, seen: DiskFingerprint) -> list[str]:
    """How the disks differ from the record, one line for each difference; empty when they are the same.

    A path counts only where the serial number does not tell a disk: another kernel may give the same disk another name.
    """
    twins = doubled(recorded.disks) | doubled(seen.disks)
    old = Counter(_key(disk, twins) for disk in recorded.disks)
    new = Counter(_key(disk, twins) for disk in seen.disks)
    gone, come = _left(recorded.disks, new, twins), _left(seen.disks, old, twins)
    lines, gone, come = _changed(gone, come, twins)
    more, gone, come = _replaced(gone, come)
    lines += more
    lines += [f"{disk.words} is gone" for disk in gone]
    return lines + [f"{disk.words} is new" for disk in come]


_Key = tuple[str, str, int, str]


def _key(disk: DiskIdentity, twins: frozenset[str]) -> _Key:
    return (disk.serial_key, disk.model, disk.size, _path(disk, twins))


def _path(disk: DiskIdentity, twins: frozenset[str]) -> str:
    return disk.by_id if not disk.serial or disk.serial_key in twins else ""


def _left(disks: Sequence[DiskIdentity], others: Counter[_Key], twins: frozenset[str]) -> list[DiskIdentity]:
    """Disks without their like among the others."""
    available = Counter(others)
    left = []
    for disk in disks:
        key = _key(disk, twins)
        if available[key]:
            available[key] -= 1
        else:
            left.append(disk)
    return left


_Rest = tuple[list[str], list[DiskIdentity], list[DiskIdentity]]


def _changed(gone: list[DiskIdentity], come: list[DiskIdentity], twins: frozenset[str]) -> _Rest:
    """Disks with the same serial number of which something else changed."""
    lines = []
    for disk in list(gone):
        now = next((one for one in come if _same_serial(disk, one, twins)), None)
        if now is None:
            continue
        gone.remove(disk)
        come.remove(now)
        if disk.size != now.size:
            lines.append(f"{disk.words}: size changed from {_bytes(disk, now)} to {_bytes(now, disk)}")
        if disk.model != now.model:
            lines.append(f"{disk.words}: model changed from {disk.model or 'none'} to {now.model or 'none'}")
    return lines, gone, come


def _bytes(disk: DiskIdentity, other: DiskIdentity) -> str:
    """Its size, to the byte where that is what differs."""
    alike = size_words(disk.size) == size_words(other.size)
    return f"{disk.size} bytes" if alike else size_words(disk.size)


def _same_serial(one: DiskIdentity, other: DiskIdentity, twins: frozenset[str]) -> bool:
    return (
        bool(one.serial) and one.serial_key == other.serial_key and _path(one, twins) == _path(other, twins)
    )


def _replaced(gone: list[DiskIdentity], come: list[DiskIdentity]) -> _Rest:
    """Disks that left while another of the same model and size came."""
    lines = []
    for disk in list(gone):
        now = next((one for one in come if (one.model, one.size) == (disk.model, disk.size)), None)
        if now is None:
            continue
        gone.remove(disk)
        come.remove(now)
        if disk.serial_key == now.serial_key:
            lines.append(f"{disk.words}: path changed from {disk.by_id or 'none'} to {now.by_id or 'none'}")
        else:
            lines.append(
                f"{disk.words} was replaced: {now.serial or 'no serial number'} has come in its place"
            )
    return lines, gone, come
