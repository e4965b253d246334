"""The command group ``fabricctl ironic``."""

from __future__ import annotations

import typer

from fabricctl.cli.ironic import deploy, enrol, manage, release, status
from fabricctl.cli.tree import Sorted

app = typer.Typer(
    cls=Sorted,
    help="OpenStack Ironic on its own, for sites without MAAS: hosts are enrolled, managed, installed and given back.",
    short_help="Ironic in the place of MAAS: enrol, install, release hosts.",
    no_args_is_help=True,
)

deploy.register(app)
enrol.register(app)
manage.register(app)
release.register(app)
status.register(app)
