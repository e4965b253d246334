"""JSON schemas of what ``fabricctl bmc`` and ``fabricctl maas`` write with ``--format json``."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from provision.report import (
    bios_report,
    change_report,
    clock_report,
    credentials_report,
    doctor_report,
    firmware_report,
    harvest_lists,
    install_changes,
    install_disks,
    install_status,
    logs_report,
    power_report,
    scan_report,
    sessions_report,
    status_report,
    trust_report,
)
from provision.report.schema_parts import document_schema, listed, row, texts


def schema_of(name: str) -> dict[str, Any]:
    """The schema of ``bmc-NAME`` or ``maas-NAME``. :raises KeyError: there is none of that name."""
    title, content = _CONTENT[name]
    defs = harvest_lists.DEFS if name == "bmc-harvest" else None
    return document_schema(name, title, content(), defs)


def _list_of(key: str, columns: tuple[str, ...]) -> Callable[[], Mapping[str, Any]]:
    return lambda: {key: listed(row(texts(columns)))}


_CONTENT: Mapping[str, tuple[str, Callable[[], Mapping[str, Any]]]] = {
    "bmc-bios": (bios_report.SCHEMA, bios_report.content_schema),
    "bmc-bios-diff": (bios_report.DIFF_SCHEMA, _list_of("comparisons", bios_report.DIFF_COLUMNS)),
    "bmc-boot": (power_report.BOOT_SCHEMA, _list_of("nodes", power_report.BOOT_COLUMNS)),
    "bmc-changes": (change_report.SCHEMA, change_report.content_schema),
    "bmc-clock": (clock_report.SCHEMA, clock_report.content_schema),
    "bmc-credentials": (credentials_report.SCHEMA, credentials_report.content_schema),
    "bmc-firmware": (firmware_report.SCHEMA, firmware_report.content_schema),
    "bmc-firmware-diff": (firmware_report.DIFF_SCHEMA, _list_of("comparisons", firmware_report.DIFF_COLUMNS)),
    "bmc-harvest": (harvest_lists.SCHEMA, harvest_lists.content_schema),
    "bmc-jobs": (power_report.JOB_SCHEMA, _list_of("jobs", power_report.JOB_COLUMNS)),
    "bmc-logs": (logs_report.SCHEMA, logs_report.content_schema),
    "bmc-media": (power_report.MEDIA_SCHEMA, _list_of("drives", power_report.MEDIA_COLUMNS)),
    "bmc-power": (power_report.POWER_SCHEMA, _list_of("nodes", power_report.POWER_COLUMNS)),
    "bmc-scan": (scan_report.SCHEMA, scan_report.content_schema),
    "bmc-sessions": (sessions_report.SCHEMA, _list_of("sessions", sessions_report.COLUMNS)),
    "bmc-status": (status_report.SCHEMA, status_report.content_schema),
    "bmc-trust": (trust_report.SCHEMA, trust_report.content_schema),
    "maas-changes": (install_changes.SCHEMA, install_changes.content_schema),
    "maas-disks": (install_disks.SCHEMA, install_disks.content_schema),
    "maas-doctor": (doctor_report.SCHEMA, doctor_report.content_schema),
    "maas-status": (install_status.SCHEMA, install_status.content_schema),
}
NAMES = tuple(_CONTENT)
