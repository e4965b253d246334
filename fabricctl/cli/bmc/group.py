"""The command group ``fabricctl bmc``."""

from __future__ import annotations

import typer

from fabricctl.cli.bmc import credentials, scan, trust

app = typer.Typer(
    help="BMCs over Redfish: find them, harvest addresses, power, boot, settings, logs.",
    short_help="BMCs: scan, harvest, power, boot, BIOS, firmware, logs.",
    no_args_is_help=True,
)
for commands in (credentials, scan, trust):
    commands.register(app)
