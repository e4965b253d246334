"""What every ``fabricctl ironic`` command has in common: whom it is about, and reading Ironic before the plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.maas.common import desk_of, names_of_hosts
from fabricctl.cli.state_options import read_site
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.cli.maas.machines import Situation
    from provision.install.lifecycle import Wish

SiteFile = Annotated[str, typer.Option("--site", metavar="FILE", help="Site file that names Ironic.")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Wait until Ironic is done with it; else begin it and end.")
]


def open_desk(hosts: str, site_file: str, state: str) -> Desk:
    """Resolve a host set against the site file and the node record.

    :param hosts: host set; ``all`` means every host that ``ironic.hosts`` names, or every host where it names none.
    :raises UsageError: no host, no site file, no Ironic there, or an unknown host.
    """
    from provision.workflows.install_ironic import hosts_of_ironic, ironic_of

    if not hosts.strip():
        raise UsageError("which hosts? name them, or say all")
    site = read_site(site_file)
    if site is None:
        raise UsageError("which Ironic? give --site FILE: the site file names it")
    ironic_of(site)
    return desk_of(site, names_of_hosts(site, hosts, hosts_of_ironic(site)), state, "Ironic")


def read_situation(desk: Desk, wish: Wish, *, boots: bool = True) -> Situation:
    """Machines, what is kept of them, and where something boots the power of those that would be started or stopped."""
    from fabricctl.cli.maas.machines import read_situation as read
    from provision.workflows.install_ironic import open_site_ironic

    return read(desk, wish, open_site_ironic, boots=boots)
