"""``fabricctl schema``: published schemas of machine-readable output."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class SchemaName(StrEnum):
    """What has a schema."""

    VERIFY_CABLING = "verify-cabling"
    IDENTIFY = "identify"
    SITE = "site"
    WORK_ORDER = "work-order"
    FINDINGS = "findings"
    NODES = "nodes"
    EVENTS = "events"
    BMC_BIOS = "bmc-bios"
    BMC_BIOS_DIFF = "bmc-bios-diff"
    BMC_BOOT = "bmc-boot"
    BMC_CHANGES = "bmc-changes"
    BMC_CLOCK = "bmc-clock"
    BMC_CREDENTIALS = "bmc-credentials"
    BMC_FIRMWARE = "bmc-firmware"
    BMC_FIRMWARE_DIFF = "bmc-firmware-diff"
    BMC_HARVEST = "bmc-harvest"
    BMC_JOBS = "bmc-jobs"
    BMC_LOGS = "bmc-logs"
    BMC_MEDIA = "bmc-media"
    BMC_POWER = "bmc-power"
    BMC_SCAN = "bmc-scan"
    BMC_SESSIONS = "bmc-sessions"
    BMC_STATUS = "bmc-status"
    BMC_TRUST = "bmc-trust"
    MAAS_CHANGES = "maas-changes"
    MAAS_DISKS = "maas-disks"
    MAAS_DOCTOR = "maas-doctor"
    MAAS_STATUS = "maas-status"


def register(app: typer.Typer) -> None:
    """Add the command to the tree."""
    app.command("schema", short_help="Print the JSON schema of a report or file.")(schema)


def schema(
    name: Annotated[SchemaName, typer.Argument(metavar="NAME", help="Which schema to print.")],
) -> None:
    """Print a JSON schema: of a JSON report, of the site file, or of a work order."""
    import json

    from fabricctl.cli.console import print_text

    if name is SchemaName.VERIFY_CABLING:
        from fabricctl.report.schema import report_schema

        found = report_schema()
    elif name is SchemaName.IDENTIFY:
        from fabricctl.report.identity_json import identity_schema

        found = identity_schema()
    elif name is SchemaName.SITE:
        from fabricctl.site.schema import Site

        found = Site.model_json_schema()
    elif name is SchemaName.WORK_ORDER:
        from fabricctl.report.work_order_json import work_order_schema

        found = work_order_schema()
    elif name is SchemaName.FINDINGS:
        from fabricctl.report.findings_schema import findings_schema

        found = findings_schema()
    elif name is SchemaName.NODES or name is SchemaName.EVENTS:
        from fabricctl.report import node_report

        found = node_report.nodes_schema() if name is SchemaName.NODES else node_report.events_schema()
    else:
        from provision.report.schemas import schema_of

        found = schema_of(name.value)
    print_text(json.dumps(found, indent=2))
