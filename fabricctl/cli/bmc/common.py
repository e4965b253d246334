"""What every ``fabricctl bmc`` command has in common: whom it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.changing import ALL
from fabricctl.cli.state_options import read_site
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.adapters.store.location import Location
    from fabricctl.nodes.model import NodeState
    from fabricctl.site.schema import Site
    from provision.bmc.target import Target

SiteFile = Annotated[str, typer.Option("--site", metavar="FILE", help="Site file that names the BMCs.")]


@dataclass(frozen=True)
class Desk:
    """What a command works on.

    :param changes: opened by a command that changes nodes: also what it reads first is asked of the right machine only.
    :param states: host -> state of its node record; hosts without a record are not in it.
    """

    site: Site
    location: Location
    targets: Sequence[Target]
    states: Mapping[str, NodeState]
    changes: bool = False

    @property
    def hosts(self) -> list[str]:
        """Names, in order."""
        return [target.host for target in self.targets]


def open_desk(hosts: str, site_file: str, state: str, *, changes: bool = False, nobody: bool = False) -> Desk:
    """Resolve a host set against the site file, the recorded certificates and the node record.

    :param hosts: host set; ``all`` means every host of the site that has a BMC address.
    :param changes: the command changes nodes; :param nobody: it has something to do also where no BMC has an address.
    :raises UsageError: no host (an empty variable of a script must not mean all), no site file, an unknown host, or one
        without a BMC address; for changes: an address that two hosts share.
    """
    from fabricctl.hostset import expand
    from fabricctl.workflows.state_place import locate
    from provision.workflows.desk import read_desk
    from provision.workflows.targets import refuse_shared

    if not hosts.strip():
        raise UsageError("which BMCs? name them, or say all")
    site = read_site(site_file)
    if site is None:
        raise UsageError("which BMCs? give --site FILE: the site file names their addresses")
    location = locate(site, state)
    names = None if hosts.strip() == ALL else expand(hosts)
    targets, states = read_desk(site, location, names)
    if not targets and not nobody:
        raise UsageError(
            f"nothing to ask: {site.path} gives no BMC addresses",
            hint="write them under management.bmc_addresses",
        )
    if changes:
        refuse_shared(site, targets)
    return Desk(site, location, targets, states, changes)
