"""States of nodes as their BMCs show them: power, boot, jobs, virtual media."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fabricctl.report.lines import BAD, DIM, DOUBT, PLAIN
from provision.bmc.boot import BootView
from provision.bmc.jobs import Job, Phase
from provision.bmc.media import VirtualDrive
from provision.bmc.power import PowerState, SystemView
from provision.report.common import Table

POWER_SCHEMA = "fabricctl.bmc-power/1"
BOOT_SCHEMA = "fabricctl.bmc-boot/1"
JOB_SCHEMA = "fabricctl.bmc-jobs/1"
MEDIA_SCHEMA = "fabricctl.bmc-media/1"
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


def power_table(states: Mapping[str, tuple[SystemView, BootView]]) -> Table:
    """Host -> system and boot."""
    rows = [
        (host, system.power_words, boot.override.words, system.progress, system.last_reset)
        for host, (system, boot) in states.items()
    ]
    styles = [
        PLAIN if system.power in (PowerState.ON, PowerState.OFF) else DOUBT for system, _ in states.values()
    ]
    return Table(POWER_COLUMNS, rows, styles)


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
    return Table(BOOT_COLUMNS, rows)


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
    return Table(JOB_COLUMNS, rows, styles, ("phase", "percent", "name", "message", "text"))


def media_table(drives: Mapping[str, Sequence[VirtualDrive]]) -> Table:
    """Host -> its virtual drives, one row each."""
    rows = [
        (host, drive.path, " ".join(sorted(drive.types)), "yes" if drive.inserted else "no", drive.image)
        for host, listed in drives.items()
        for drive in listed
    ]
    drive_names = [row[1].partition("/redfish/v1/")[2] or row[1] for row in rows]
    return Table(
        MEDIA_COLUMNS, rows, brief=("inserted", "image", "types", "drive"), short={"drive": drive_names}
    )
