"""The command group ``fabricctl bmc``."""

from __future__ import annotations

import typer

from fabricctl.cli.bmc import bios, clock, firmware, logs, status

app = typer.Typer(
    help="BMCs over Redfish: find them, harvest addresses, power, boot, settings, logs.",
    short_help="BMCs: scan, harvest, power, boot, BIOS, firmware, logs.",
    no_args_is_help=True,
)

for _command in (bios, clock, firmware, logs, status):
    _command.register(app)
