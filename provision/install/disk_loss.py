"""Which disk loses what when a host is installed.

MAAS's installer (curtin) is told to wipe the superblock of every physical disk, data disks that nobody uses included.
The labels of file systems, RAIDs, LVM and ZFS at both ends of a disk are gone, whatever the plan for it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provision.install.disk_identity import DiskIdentity, doubled, identity_of, physical
from provision.install.machine import Disk
from provision.install.zfs import Pool, belongs


@dataclass(frozen=True, slots=True)
class Loss:
    """What one disk loses. :param root: it gets the operating system; :param pools: ZFS pools it belongs to."""

    disk: DiskIdentity
    root: bool
    words: str
    pools: tuple[str, ...] = ()


def wiped(disks: Iterable[Disk], root: DiskIdentity | None, pools: Sequence[Pool] = ()) -> list[Loss]:
    """Every physical disk, the one that gets the system first.

    :param root: of the chosen disk, None when none is: then every disk is a data disk.
    :param pools: as the host told before; without them a disk's pools are not known, which is not the same as none.
    """
    hard = physical(disks)
    twins = doubled(identity_of(disk) for disk in hard)
    losses = [_loss(identity_of(disk), root, twins, pools) for disk in hard]
    return sorted(losses, key=lambda loss: (not loss.root, loss.disk))


def _loss(
    disk: DiskIdentity, root: DiskIdentity | None, twins: frozenset[str], pools: Sequence[Pool]
) -> Loss:
    is_root = root is not None and (
        disk == root if not disk.serial or disk.serial_key in twins else disk.serial_key == root.serial_key
    )
    members = tuple(pool.name for pool in pools if any(belongs(member, disk) for member in pool.members))
    told = f", which belongs to ZFS pool {' and '.join(members)}" if members else ""
    if is_root:
        words = f"{disk.words}{told}: gets the operating system, everything on it is lost"
    else:
        words = f"{disk.words}{told}: labels of file systems, RAID, LVM and ZFS are wiped"
    return Loss(disk, is_root, words, members)
