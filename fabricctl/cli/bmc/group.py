"""The command group ``fabricctl bmc``."""

from __future__ import annotations

import typer

from fabricctl.cli.bmc import (
    bios,
    boot,
    clock,
    credentials,
    firmware,
    harvest,
    jobs,
    locate,
    logs,
    media,
    power,
    scan,
    sessions,
    status,
    trust,
)
from fabricctl.cli.tree import Sorted

app = typer.Typer(
    cls=Sorted,
    help="BMCs over Redfish: find them, harvest addresses, power, boot, settings, logs.",
    short_help="BMCs: scan, harvest, power, boot, BIOS, firmware, logs.",
    no_args_is_help=True,
)

bios.register(app)
boot.register(app)
clock.register(app)
credentials.register(app)
firmware.register(app)
harvest.register(app)
jobs.register(app)
locate.register(app)
logs.register(app)
media.register(app)
power.register(app)
scan.register(app)
sessions.register(app)
status.register(app)
trust.register(app)
