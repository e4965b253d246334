"""Whether the hardware a provisioner found is what should be there.

MAAS says Ready when it found no disk at all, so nothing is believed that was not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from provision.install.disk_identity import physical
from provision.install.expected import ExpectedDisk, ExpectedHardware
from provision.install.machine import Disk, Machine

MEMORY_TOLERANCE = 0.02
"""Part of the expected memory that may be missing or too much.

One module of 32 is 3.1 %. MAAS counts the memory blocks that are online (LXD, resources/memory.go), which is what is
installed; what the kernel keeps for itself, about 1.6 %, is missing only from a figure taken from ``free``.
"""


class Lack(StrEnum):
    """What was compared."""

    SERVICE_TAG = "service-tag"
    NO_DISKS = "no-disks"
    DISK_COUNT = "disk-count"
    DISK = "disk"
    NIC = "nic"
    GPUS = "gpus"
    MEMORY = "memory"


@dataclass(frozen=True, slots=True)
class Shortfall:
    """One difference, or one thing that could not be compared.

    :param words: the whole of it, without the host; :param told: False where it could not be told.
    """

    kind: Lack
    expected: str
    found: str
    words: str
    told: bool = True


def check_hardware(machine: Machine, expected: ExpectedHardware) -> list[Shortfall]:
    """Everything that differs and everything that could not be told; empty when all was compared and is right.

    Another machine has other parts: of one with another service tag nothing else is told.
    """
    whose = list(_service_tag(machine, expected))
    if any(one.told for one in whose):
        return whose
    return [
        *whose,
        *_disks(machine, expected),
        *_nics(machine, expected),
        *_gpus(machine, expected),
        *_memory(machine, expected),
    ]


def _unknown(kind: Lack, what: str, why: str, *, expected: str = "", found: str = "") -> Shortfall:
    return Shortfall(kind, expected, found, f"could not tell whether {what}: {why}", told=False)


def _service_tag(machine: Machine, expected: ExpectedHardware) -> Iterator[Shortfall]:
    kind, what = Lack.SERVICE_TAG, "it is the right machine"
    wanted, found = expected.service_tag, machine.service_tag
    if not wanted:
        yield _unknown(
            kind, what, "its service tag is not recorded; harvest it or tell it by hand", found=found
        )
    elif not found:
        yield _unknown(kind, what, f"expected service tag {wanted}, the machine told none", expected=wanted)
    elif wanted.strip().casefold() != found.strip().casefold():
        yield Shortfall(
            kind,
            wanted,
            found,
            f"another machine: expected service tag {wanted}, found {found}",
        )


def _disks(machine: Machine, expected: ExpectedHardware) -> Iterator[Shortfall]:
    there = physical(machine.disks)
    wanted = expected.disks if expected.disks is not None else len(expected.known_disks) or None
    if not there:
        yield Shortfall(
            Lack.NO_DISKS,
            "at least 1" if wanted is None else str(wanted),
            "0",
            "no disk at all was found: commissioning told nothing, or the controller is gone",
        )
        return
    if expected.disks is None and not expected.known_disks:
        yield _unknown(
            Lack.DISK_COUNT,
            "all disks are there",
            "neither the node model's disks nor a full harvest says how many there should be",
            found=str(len(there)),
        )
    if expected.disks is not None and expected.disks != len(there):
        yield Shortfall(
            Lack.DISK_COUNT,
            str(expected.disks),
            str(len(there)),
            f"expected {_count(expected.disks, 'disk')}, found {len(there)}",
        )
    yield from _serials(there, expected)


def _serials(there: Sequence[Disk], expected: ExpectedHardware) -> Iterator[Shortfall]:
    """Serial numbers that are missing, those of one model together, and those that several disks tell."""
    seen = Counter(disk.serial.strip() for disk in there if disk.serial.strip())
    for serial, number in seen.items():
        if number > 1:
            words = f"{number} disks tell the same serial number {serial}"
            yield Shortfall(Lack.DISK, "a serial number each", serial, words)
    known = {serial.casefold() for serial in seen}
    missing: dict[str, list[ExpectedDisk]] = {}
    for disk in expected.known_disks:
        if disk.serial.casefold() not in known:
            missing.setdefault(disk.model, []).append(disk)
    for model, disks in missing.items():
        serials = ", ".join(disk.serial for disk in disks)
        what = f"disks ({model})" if model else "disks"
        many = f"{len(disks)} {what} are missing: {serials}"
        yield Shortfall(Lack.DISK, serials, "", many if len(disks) > 1 else f"{disks[0].words} is missing")


def _nics(machine: Machine, expected: ExpectedHardware) -> Iterator[Shortfall]:
    if not expected.nics:
        yield _unknown(Lack.NIC, "all NICs are there", "no MAC is recorded: harvest the BMC")
        return
    there = {nic.mac for nic in machine.nics}
    for id, macs in expected.nics.items():
        if not macs & there:
            shown = " or ".join(sorted(macs))
            yield Shortfall(Lack.NIC, shown, "", f"NIC {id} ({shown}) is missing")


def _gpus(machine: Machine, expected: ExpectedHardware) -> Iterator[Shortfall]:
    wanted, found = expected.gpus, machine.gpus
    what = "all GPUs are there"
    if wanted is None:
        yield _unknown(Lack.GPUS, what, "no node model says how many", found=_known(found))
    elif found is None and wanted:
        why = f"expected {wanted}, the machine's devices were not listed"
        yield _unknown(Lack.GPUS, what, why, expected=str(wanted))
    elif found is not None and found != wanted:
        words = f"expected {_count(wanted, 'GPU')}, found {found}"
        yield Shortfall(Lack.GPUS, str(wanted), str(found), words)


def _memory(machine: Machine, expected: ExpectedHardware) -> Iterator[Shortfall]:
    wanted, found = expected.memory_gib, machine.memory_mib / 1024
    what = "all memory is there"
    if wanted is None:
        why = "neither the node model's memory_gib nor a full harvest says how much there should be"
        yield _unknown(Lack.MEMORY, what, why, found=_gib(found) if found else "")
    elif not found:
        why = f"expected {_gib(wanted)}, the machine told nothing"
        yield _unknown(Lack.MEMORY, what, why, expected=_gib(wanted))
    elif abs(found - wanted) > wanted * MEMORY_TOLERANCE:
        way = "less" if found < wanted else "more"
        words = f"expected {_gib(wanted)} of memory, found {_gib(found)}: {_gib(abs(found - wanted))} {way}"
        yield Shortfall(Lack.MEMORY, _gib(wanted), _gib(found), words)


def _count(number: int, thing: str) -> str:
    return f"{number} {thing}{'' if number == 1 else 's'}"


def _known(number: int | None) -> str:
    return "" if number is None else str(number)


def _gib(amount: float) -> str:
    return f"{amount:,.1f} GiB".replace(".0 GiB", " GiB")
