"""Which disk gets the operating system: exactly one by rule, or none and the reason.

MAAS installs on another disk without a word when disks are enumerated in another order or the boot card was replaced;
so the disk is chosen here, by what stays the same of it, and looked up again after MAAS was told.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from provision.install.disk_identity import PHYSICAL, DiskIdentity, doubled, identity_of, physical, size_words
from provision.install.disk_rule import DiskRule
from provision.install.machine import Disk, Machine

_NAMED = 6
"""So many disks are named in one sentence."""


@dataclass(frozen=True, slots=True)
class DiskChoice:
    """The disk that gets the operating system, or why there is none.

    :param disk: as the provisioner has it now, its id included; None when refused.
    :param identity: what stays the same of it, for looking again; :param why: why it is this one, for people.
    :param refused: why no disk is chosen, empty when one is.
    :param by_path: its serial number is not enough to tell it, so its path counts as well.
    :param caution: what an operator should know before going on, empty when there is nothing.
    """

    disk: Disk | None
    identity: DiskIdentity | None = None
    why: str = ""
    refused: str = ""
    by_path: bool = False
    caution: str = ""


def choose_boot_disk(disks: Iterable[Disk], rule: DiskRule | None) -> DiskChoice:
    """The one disk a rule leaves. The same disks give the same choice in any order, under any names and ids."""
    candidates = physical(disks)
    if rule is None or not (rule.exact or rule.patterns):
        return _refuse("no rule says which disk gets the operating system: give the host's model a boot_disk")
    if not candidates:
        return _refuse(f"expected exactly one disk of {rule.words}, but no disk at all is known")
    left, words = _left(candidates, rule)
    if len(left) != 1:
        return _refuse(_miscounted(words, left, candidates))
    return _recognisable(left[0], candidates, words)


def _left(candidates: Sequence[Disk], rule: DiskRule) -> tuple[list[Disk], str]:
    """What the rule leaves, and the part of it that counted, in words."""
    if not rule.exact:
        return [disk for disk in candidates if rule.fits(identity_of(disk))], rule.words
    named = [disk for disk in candidates if rule.names(identity_of(disk))]
    if len(named) < 2 or not rule.patterns:
        return named, rule.words
    return (
        [disk for disk in named if rule.fits(identity_of(disk))],
        f"{rule.words} and {rule.pattern_words}",
    )


def _refuse(reason: str) -> DiskChoice:
    return DiskChoice(None, refused=reason)


def _miscounted(words: str, left: Sequence[Disk], candidates: Sequence[Disk]) -> str:
    if left:
        same = ""
        if len({identity_of(disk) for disk in left}) < len(left):
            same = "; some are alike in everything: several paths to one disk?"
        return f"expected exactly one disk of {words}, found {len(left)}: {_listed(left)}{same}"
    there = "disk is" if len(candidates) == 1 else f"{len(candidates)} disks are"
    return f"expected exactly one disk of {words}, found none; {there} there: {_listed(candidates)}"


def _listed(disks: Sequence[Disk]) -> str:
    """Disks by name where they are few, else counted by model."""
    if len(disks) <= _NAMED:
        return ", ".join(_named(identity_of(disk)) for disk in disks)
    kinds = Counter(f"{disk.model.strip() or 'unknown model'} ({size_words(disk.size)})" for disk in disks)
    return ", ".join(f"{times} of {kind}" for kind, times in sorted(kinds.items()))


def _named(identity: DiskIdentity) -> str:
    if identity.serial or not identity.by_id:
        return identity.words
    return f"{identity.words.removesuffix(')')}, {identity.by_id})"


def _recognisable(disk: Disk, candidates: Sequence[Disk], words: str) -> DiskChoice:
    """The choice, unless nothing would tell the disk from another one afterwards."""
    identity = identity_of(disk)
    others = [identity_of(other) for other in candidates if other is not disk]
    twins = [other for other in others if identity.serial and other.serial_key == identity.serial_key]
    why = f"the only disk of {words}"
    if identity.serial and not twins:
        return DiskChoice(disk, identity, why)
    alike = [twin for twin in twins if twin.model == identity.model]
    if alike:
        return _refuse(
            f"serial number {identity.serial} is on {len(alike) + 1} disks of model {identity.model}: the installer is "
            f"told serial number and model only and might take the other one"
        )
    own_path = bool(identity.by_id) and all(other.by_id != identity.by_id for other in others)
    if not own_path:
        return _refuse(_no_path(identity, twins))
    if not twins:
        return DiskChoice(
            disk,
            identity,
            f"{why}; it has no serial number, so its path {identity.by_id} counts",
            by_path=True,
        )
    return DiskChoice(
        disk,
        identity,
        f"{why}; told by its path {identity.by_id}",
        by_path=True,
        caution=f"serial number {identity.serial} is on {len(twins) + 1} disks, and an installer may go by it alone; "
        f"the others: {', '.join(other.words for other in twins)}",
    )


def _no_path(identity: DiskIdentity, twins: Sequence[DiskIdentity]) -> str:
    if not identity.serial:
        return (
            f"{identity.words} fits, but it has neither a serial number nor a path of its own: "
            "it could not be told again after the next look"
        )
    return (
        f"serial number {identity.serial} is on {len(twins) + 1} disks and no path under /dev/disk/by-id tells them "
        f"apart: {', '.join(one.words for one in sorted([identity, *twins]))}"
    )


def verify_root(machine: Machine, choice: DiskChoice) -> str:
    """Whether the boot disk and the disk that holds / are the chosen one, in a machine that was read again.

    :return: empty, or what is wrong: host, expected, found.
    """
    wanted = choice.identity
    if wanted is None:
        return f"{machine.hostname}: no disk was chosen: {choice.refused}"
    for what, id in (("boot disk", machine.boot_disk), ("disk of the root file system", machine.root_disk)):
        expected = f"{machine.hostname}: expected {_named(wanted)} as {what}, found"
        disk = machine.disk(id) if id else None
        if disk is None:
            return f"{expected} none" if not id else f"{expected} one that is not among its disks"
        if disk.kind != PHYSICAL:
            return f"{expected} {disk.name}, which is no physical disk"
        wrong = _other(wanted, identity_of(disk), by_path=choice.by_path)
        if wrong:
            return f"{expected} {wrong}"
    again = [identity_of(disk) for disk in physical(machine.disks)]
    if wanted.serial_key in doubled(again) and not choice.by_path:
        return f"{machine.hostname}: serial number {wanted.serial} is now on more than one disk"
    return ""


def _other(wanted: DiskIdentity, found: DiskIdentity, *, by_path: bool) -> str:
    """How another disk was found, empty when it is the same."""
    if found.serial_key != wanted.serial_key or found.size != wanted.size or found.model != wanted.model:
        return _named(found)
    if by_path and found.by_id != wanted.by_id:
        return f"the one at {found.by_id or 'no path'} instead of {wanted.by_id}"
    return ""
