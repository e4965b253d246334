"""The command group ``fabricctl maas``."""

from __future__ import annotations

import typer

from fabricctl.cli.maas import commission, deploy, disks, doctor, enrol, release, replace, status
from fabricctl.cli.tree import Sorted

app = typer.Typer(
    cls=Sorted,
    help="MAAS: hosts are enrolled, commissioned, installed on the disk the site file says, and given back.",
    short_help="MAAS: enrol, commission, install and release hosts.",
    no_args_is_help=True,
)

commission.register(app)
deploy.register(app)
disks.register(app)
doctor.register(app)
enrol.register(app)
release.register(app)
replace.register(app)
status.register(app)
