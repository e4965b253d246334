"""States of nodes as their BMCs show them: power, boot, jobs, virtual media."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from fabricctl.report.screen import BAD, DIM, DOUBT, PLAIN
from provision.bmc.boot import BootView
from provision.bmc.jobs import Job, Phase
from provision.bmc.media import Drive
from provision.bmc.power import PowerState, SystemView
from provision.report.change_report import changed_table
from provision.report.common import Table, table_schema

POWER_COLUMNS = ("host", "power", "boot_override", "boot_progress", "last_reset")
BOOT_COLUMNS = ("host", "power", "override", "mode", "first_of_order", "set_last")
JOB_COLUMNS = (
    "host",
    "id",
    "phase",
    "state",
    "percent",
    "kind",
    "name",
    "message",
    "text",
    "started",
    "ended",
)
MEDIA_COLUMNS = ("host", "drive", "types", "inserted", "image")
_STYLES = {
    Phase.FAILED: BAD,
    Phase.STUCK: BAD,
    Phase.DONE: DIM,
    Phase.DONE_WITH_ERRORS: BAD,
    Phase.UNKNOWN: DOUBT,
}


def schema_of(name: str) -> dict[str, Any]:
    """JSON schema of a list: ``bmc-power``, ``bmc-boot``, ``bmc-jobs``, ``bmc-media``, ``bmc-changes``."""
    tables = (power_table({}), boot_table({}, {}), job_table({}), media_table({}), changed_table(()))
    return next(table_schema(table) for table in tables if table.schema == f"fabricctl.{name}/1")


def power_table(states: Mapping[str, tuple[SystemView, BootView]]) -> Table:
    """Host -> system and boot."""
    rows = [
        (host, system.power_words, boot.override.words, system.progress, system.last_reset)
        for host, (system, boot) in states.items()
    ]
    styles = [
        PLAIN if system.power in (PowerState.ON, PowerState.OFF) else DOUBT for system, _ in states.values()
    ]
    return Table("fabricctl.bmc-power/1", "nodes", POWER_COLUMNS, rows, styles=styles)


def boot_table(states: Mapping[str, tuple[SystemView, BootView]], told: Mapping[str, str]) -> Table:
    """Host -> system and boot. :param told: what became of what was set last."""
    rows = [
        (
            host,
            system.power_words,
            boot.override.words,
            boot.mode,
            next(iter(boot.order), ""),
            told.get(host, ""),
        )
        for host, (system, boot) in states.items()
    ]
    return Table("fabricctl.bmc-boot/1", "nodes", BOOT_COLUMNS, rows)


def job_table(jobs: Mapping[str, Sequence[Job]]) -> Table:
    """Host -> its jobs, one row each."""
    rows, styles = [], []
    for host, listed in jobs.items():
        for job in listed:
            percent = "" if job.percent is None else str(job.percent)
            rows.append(
                (
                    *(host, job.id, job.phase.value, job.state, percent, job.kind, job.name),
                    *(job.key, job.text, job.started, job.ended),
                )
            )
            styles.append(_STYLES.get(job.phase, PLAIN))
    return Table("fabricctl.bmc-jobs/1", "jobs", JOB_COLUMNS, rows, styles=styles)


def media_table(drives: Mapping[str, Sequence[Drive]]) -> Table:
    """Host -> its virtual drives, one row each."""
    rows = [
        (host, drive.path, " ".join(sorted(drive.types)), "yes" if drive.inserted else "no", drive.image)
        for host, listed in drives.items()
        for drive in listed
    ]
    return Table("fabricctl.bmc-media/1", "drives", MEDIA_COLUMNS, rows)
