"""Which disk would get the system, which would be wiped, and why: for people and machines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl.hostset import fold, natural_key
from fabricctl.report.lines import BAD, BOLD, PLAIN, Line, paragraph
from fabricctl.words import many
from provision.bmc.outcome import BmcFinding
from provision.install.disk_identity import identity_of, physical, size_words
from provision.install.disks import DiskChoice
from provision.install.machine import Disk, Machine
from provision.report.alike import alike_rows
from provision.report.common import SHOWN, Table, more_line
from provision.report.fleet import Report
from provision.report.schema_parts import BOOLEAN, COUNT, TEXT, listed, row, texts

SCHEMA = "fabricctl.maas-disks/1"
COLUMNS = ("host", "disk", "serial", "model", "bytes", "by_id", "now", "would_be", "why")
NOT_RECORDED = "its disks were never recorded: nobody can tell whether they changed"
ROOT, WIPED, LEFT = "root", "wiped", "not known"


@dataclass(frozen=True)
class HostDisks:
    """One host.

    :param machine: None when the provisioner has none; :param choice: None where no disk is known.
    :param changes: how its disks differ from those that were recorded; :param recorded: some were.
    :param unknown: why nothing can be told, empty when it can; :param unread: why its record cannot be read.
    :param pools: ZFS pools it had when it was asked last.
    """

    host: str
    machine: Machine | None = None
    choice: DiskChoice | None = None
    changes: tuple[str, ...] = ()
    recorded: bool = False
    unknown: str = ""
    pools: tuple[str, ...] = ()
    unread: str = ""

    @property
    def disks(self) -> list[Disk]:
        """Disks that a deployment touches, the one for the system first, then by name."""
        known = physical(self.machine.disks) if self.machine is not None else []
        root = self.root
        return sorted(known, key=lambda disk: (root is None or disk.id != root.id, natural_key(disk.name)))

    @property
    def root(self) -> Disk | None:
        """The one that would get the system."""
        return self.choice.disk if self.choice is not None else None

    @property
    def wiped(self) -> list[Disk]:
        """Those that would lose what is on them beside it: MAAS wipes the beginning of every disk."""
        return [disk for disk in self.disks if self.root is not None and disk.id != self.root.id]


def model_words(disk: Disk) -> str:
    """``Dell BOSS-N1 (960 GB)``: without the serial number, so that hosts can share a line."""
    return f"{identity_of(disk).model or 'unknown model'} ({size_words(disk.size)})"


def counted(disks: Iterable[Disk]) -> str:
    """``8 of Dell Ent NVMe (3.84 TB)``, several kinds separated by commas; ``none``."""
    kinds = Counter(model_words(disk) for disk in disks)
    return ", ".join(f"{number} of {kind}" for kind, number in sorted(kinds.items())) or "none"


def disks_report(hosts: Sequence[HostDisks], *, each: bool = False) -> Report:
    """A row for each disk for machines, for each host for people. :param each: on a line of its own."""
    told = [one for one in hosts if not one.unknown]
    return Report(
        SCHEMA,
        (),
        content=lambda: {"hosts": [_object(one) for one in hosts]},
        lines=lambda width: screen(told, width, each=each),
        table=lambda: Table(COLUMNS, [cells for one in told for cells in _rows(one)]),
        findings=[finding for one in told for finding in findings_of(one)],
        doubts=[(one.host, text) for one in hosts for text in (one.unknown, one.unread) if text],
        remarks=[
            *(
                (one.host, one.choice.caution)
                for one in told
                if one.choice is not None and one.choice.caution
            ),
            *((one.host, NOT_RECORDED) for one in told if not one.recorded and not one.unread),
        ],
        good=f"{many(len(told), 'host')}: each has one disk for the system, and no disk that is new",
        partly="could not tell",
        noun="host",
    )


def screen(told: Sequence[HostDisks], width: int, *, each: bool = False) -> list[Line]:
    """What would hold the system and why, then what would be wiped; hosts that say the same together."""
    said = [(one.host, _said(one)) for one in told]
    groups = [((host,), list(cells)) for host, cells in said] if each else alike_rows(said)
    if len(groups) > SHOWN and not each:  # what is unusual is shown, whatever is left out
        groups.sort(key=lambda group: group[1][0] == PLAIN)
    lines: list[Line] = []
    for hosts, (style, root, wiped, pools) in groups if each else groups[:SHOWN]:
        lines.append(((fold(hosts), BOLD),))
        lines += paragraph("  root", root, width, style, column=9, cut=False)
        if wiped:
            lines += paragraph("  wiped", wiped, width, BAD, column=9, cut=False)
        if pools:
            lines += paragraph("  pools", pools, width, BAD, column=9, cut=False)
    return [*lines, *more_line(0 if each else len(groups) - SHOWN, "kind of host")]


def _said(one: HostDisks) -> tuple[str, str, str, str]:
    style = BAD if one.root is None or one.changes else PLAIN
    pools = "; ".join(one.pools)
    if one.root is None or one.choice is None:
        return style, "none, see below", "", pools
    return style, f"{model_words(one.root)}: {one.choice.why}", counted(one.wiped), pools


def findings_of(one: HostDisks) -> list[BmcFinding]:
    """No disk for the system; other disks than were recorded."""
    found = []
    if one.choice is not None and one.choice.refused:
        found.append(BmcFinding(one.host, "boot-disk", f"{one.host}: {one.choice.refused}"))
    found += [BmcFinding(one.host, "disks-changed", f"{one.host}: {text}") for text in one.changes]
    return found


def _rows(one: HostDisks) -> list[tuple[str, ...]]:
    return [
        (
            *(one.host, disk.name, disk.serial, disk.model, str(disk.size), disk.id_path),
            *(
                _now(one, disk),
                would_be(one, disk),
                one.choice.why if disk == one.root and one.choice else "",
            ),
        )
        for disk in one.disks
    ]


def would_be(one: HostDisks, disk: Disk) -> str:
    """What a deployment makes of a disk."""
    if one.root is None:
        return LEFT
    return ROOT if disk.id == one.root.id else WIPED


def _now(one: HostDisks, disk: Disk) -> str:
    """What MAAS would make of it as it is laid out now."""
    machine = one.machine
    if machine is None:
        return ""
    words = ["boot"] if disk.id == machine.boot_disk else []
    return " ".join([*words, "root"] if disk.id == machine.root_disk else words)


def content_schema() -> dict[str, Any]:
    """Of hosts and their disks."""
    disk = {
        **texts(("disk", "serial", "model", "by_id")),
        "bytes": COUNT,
        "now": {**TEXT, "description": "boot, root or both, as it is laid out now"},
        "would_be": {"enum": [ROOT, WIPED, LEFT]},
    }
    host = {
        **texts(("host", "system_id", "root", "why", "refused", "caution")),
        "recorded": {**BOOLEAN, "description": "disks were recorded before"},
        "changes": listed(TEXT, "how they differ from those that were recorded"),
        "pools": listed(TEXT, "ZFS pools it had when it was asked last"),
        "disks": listed(row(disk)),
    }
    return {"hosts": listed(row(host))}


def _object(one: HostDisks) -> dict[str, Any]:
    choice = one.choice or DiskChoice(None)
    return {
        "host": one.host,
        "system_id": one.machine.id if one.machine is not None else "",
        "root": one.root.serial if one.root is not None else "",
        "why": choice.why,
        "refused": choice.refused,
        "caution": choice.caution,
        "recorded": one.recorded,
        "changes": list(one.changes),
        "pools": list(one.pools),
        "disks": [
            {
                "disk": disk.name,
                "serial": disk.serial,
                "model": disk.model,
                "by_id": disk.id_path,
                "bytes": disk.size,
                "now": _now(one, disk),
                "would_be": would_be(one, disk),
            }
            for disk in one.disks
        ],
    }
