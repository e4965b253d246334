"""Machines as a provisioner has them, for people and machines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl.report.lines import BAD, DIM, DOUBT, PLAIN, Line
from provision.bmc.outcome import BmcFinding
from provision.install.machine import QUARANTINE_TAG, Machine, Stage
from provision.report.common import Table
from provision.report.fleet import Report
from provision.report.schema_parts import BOOLEAN, COUNT, TEXT, listed, row, texts

SCHEMA = "fabricctl.maas-status/1"
COLUMNS = (
    *("host", "system_id", "status", "said", "power", "series", "kernel", "root_disk", "disks", "memory_gib"),
    *("service_tag", "bmc", "macs", "pool", "zone", "owner", "notes"),
)
_BRIEF = ("status", "power", "series", "kernel", "root", "disks", "memory_gib", "pool", "owner", "notes")
NOT_ENROLLED = "not enrolled"
_STYLES = {Stage.FAILED: BAD, Stage.BROKEN: BAD, Stage.DEPLOYED: PLAIN, Stage.READY: PLAIN}


@dataclass(frozen=True)
class Seen:
    """One host.

    :param machine: None when the provisioner has none; :param why: of a machine that failed, in its own words.
    :param wrong: what its hardware lacks by the site file, or that another disk than the rule's holds the system.
    :param untold: what of its hardware should be known, and is not. :param recorded: id of its machine as enrolled.
    :param recorded_bad: its node record says quarantined.
    """

    host: str
    machine: Machine | None = None
    why: str = ""
    wrong: tuple[str, ...] = ()
    untold: tuple[str, ...] = ()
    recorded: str = ""
    recorded_bad: bool = False


def status_report(seen: Sequence[Seen], name: str, *, each: bool = False) -> Report:
    """One row a host. :param name: of the provisioner; :param each: a line a host on the screen."""
    table = status_table(seen)
    return Report(
        SCHEMA,
        (),
        content=lambda: {"provisioner": name, "machines": [_object(one) for one in seen]},
        lines=lambda width: table.lines(width, each=each) or _nobody(),
        table=lambda: table,
        findings=[finding for one in seen for finding in findings_of(one, name)],
        doubts=[(one.host, text) for one in seen for text in _doubts(one, name)],
        noun="host",
    )


def _nobody() -> list[Line]:
    return [(("no hosts", DIM),)]


def status_table(seen: Sequence[Seen]) -> Table:
    """One row per host; hosts that say the same share a line on the screen."""
    return Table(
        COLUMNS,
        [_row(one) for one in seen],
        [_style(one) for one in seen],
        _BRIEF,
        {"root": [root_model(one.machine) for one in seen]},
    )


def _doubts(one: Seen, name: str) -> list[str]:
    told = one.machine.untold if one.machine is not None else ()
    return [*(f"{name} does not tell {what}" for what in told), *one.untold]


def _gone(one: Seen, name: str) -> Iterator[BmcFinding]:
    """The machine that was enrolled is not the one that is there."""
    id = one.machine.id if one.machine is not None else ""
    if not one.recorded or id == one.recorded or (one.machine is not None and not id):
        return
    kind, found = ("other-machine", f"found {id} under this name") if id else ("gone", f"not in {name}")
    text = f"{one.host}: recorded as machine {one.recorded}, {found}"
    yield BmcFinding(one.host, kind, text, expected=one.recorded, found=id)


def findings_of(one: Seen, name: str) -> Iterator[BmcFinding]:
    """What is not as it should be: failed phases, quarantine, hardware that is not what the site file says."""
    machine = one.machine
    yield from _gone(one, name)
    if machine is None:
        return
    if machine.stage in (Stage.FAILED, Stage.BROKEN) or QUARANTINE_TAG in machine.tags:
        kind = "failed" if machine.stage is Stage.FAILED else "quarantined"
        said = one.why or machine.said or "no reason is given"
        yield BmcFinding(one.host, kind, f"{one.host}: {machine.status}: {said}", found=machine.status)
    elif one.recorded_bad:
        words = f"{one.host}: it is {machine.status}, and its node record says quarantined"
        yield BmcFinding(one.host, "quarantined", words, found=machine.status)
    for text in one.wrong:
        yield BmcFinding(one.host, "hardware", f"{one.host}: {text}")


def _style(one: Seen) -> str:
    if one.machine is None:
        return BAD if one.recorded else DIM
    return BAD if one.wrong else _STYLES.get(one.machine.stage, DOUBT)


def _row(one: Seen) -> list[str]:
    machine = one.machine
    if machine is None:
        return [one.host, "", NOT_ENROLLED, *[""] * (len(COLUMNS) - 3)]
    return [
        *(one.host, machine.id, machine.status, one.why or machine.said, machine.power),
        *(_series(machine), machine.kernel if machine.stage in _INSTALLED else "", root_words(machine)),
        *(str(len(_physical(machine))), f"{machine.memory_mib / 1024:g}" if machine.memory_mib else ""),
        *(machine.service_tag, machine.bmc_address, " ".join(machine.macs)),
        *(machine.pool, machine.zone, machine.owner, "; ".join(notes(machine))),
    ]


_INSTALLED = (Stage.DEPLOYING, Stage.DEPLOYED)


def _series(machine: Machine) -> str:
    return machine.series if machine.stage in _INSTALLED else ""


def notes(machine: Machine) -> list[str]:
    """What else should be known of it, in words."""
    told = ["quarantined"] if QUARANTINE_TAG in machine.tags else []
    return [*told, "locked"] if machine.locked else told


def root_words(machine: Machine) -> str:
    """Model and serial number of the disk the system is or would be on, empty when none is laid out."""
    disk = machine.disk(machine.root_disk or machine.boot_disk)
    return f"{disk.model} {disk.serial}".strip() if disk is not None else ""


def root_model(machine: Machine | None) -> str:
    """The same without the serial number, which every host has another of."""
    disk = machine.disk(machine.root_disk or machine.boot_disk) if machine is not None else None
    return disk.model or "?" if disk is not None else ""


def _physical(machine: Machine) -> list[object]:
    return [disk for disk in machine.disks if disk.kind == "physical"]


def content_schema() -> dict[str, Any]:
    """Of the machines."""
    machine = {
        **texts(
            ("host", "system_id", "stage", "status", "said", "failed_phase", "power", "series", "kernel")
        ),
        "root_disk": {**TEXT, "description": "serial number of the disk the system is or would be on"},
        "disks": COUNT,
        "memory_mib": COUNT,
        **texts(("service_tag", "bmc", "pool", "zone", "owner")),
        "macs": listed(TEXT),
        "tags": listed(TEXT),
        "enrolled": BOOLEAN,
        "quarantined": BOOLEAN,
        "locked": BOOLEAN,
    }
    return {"provisioner": TEXT, "machines": listed(row(machine))}


def _object(one: Seen) -> dict[str, Any]:
    known = one.machine is not None
    machine = one.machine or Machine("", one.host, Stage.NEW, NOT_ENROLLED)
    root = machine.disk(machine.root_disk or machine.boot_disk)
    return {
        "host": one.host,
        "system_id": machine.id,
        "stage": machine.stage.value if known else "",
        "status": machine.status,
        "said": one.why or machine.said,
        "failed_phase": machine.failed.value if machine.failed is not None else "",
        "power": machine.power if known else "",
        "series": machine.series,
        "kernel": machine.kernel,
        "root_disk": root.serial if root is not None else "",
        "disks": len(_physical(machine)),
        "memory_mib": machine.memory_mib,
        "service_tag": machine.service_tag,
        "bmc": machine.bmc_address,
        "pool": machine.pool,
        "zone": machine.zone,
        "owner": machine.owner,
        "macs": [str(mac) for mac in machine.macs],
        "tags": list(machine.tags),
        "enrolled": known,
        "quarantined": QUARANTINE_TAG in machine.tags,
        "locked": machine.locked,
    }
