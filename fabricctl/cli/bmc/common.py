"""What every ``fabricctl bmc`` command has in common: whom it is about, plan and consent, interruption, exit code."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

import typer

from fabricctl.cli.state_options import read_site
from fabricctl.errors import UsageError

if TYPE_CHECKING:
    from fabricctl.adapters.store.location import Location
    from fabricctl.nodes.model import NodeState
    from fabricctl.site.schema import Site
    from provision.bmc.target import Target

ALL = "all"
"""As HOSTS: every host with a BMC address."""
Hosts = Annotated[str, typer.Argument(metavar="HOSTS", hidden=True)]
"""Hidden: the list of arguments would say no more than "HOSTS <str>"; each command's text explains it."""
SiteFile = Annotated[str, typer.Option("--site", metavar="FILE", help="Site file that names the BMCs.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do it without asking.")]
Force = Annotated[
    bool, typer.Option("--force-in-service", help="Also nodes in service, on which jobs may run.")
]
Reason = Annotated[str, typer.Option(metavar="TEXT", help="Why; kept with the change.")]


@dataclass(frozen=True)
class Desk:
    """What a command works on.

    :param states: host -> state of its node record; hosts without a record are not in it.
    """

    site: Site
    location: Location
    targets: Sequence[Target]
    states: Mapping[str, NodeState]

    @property
    def hosts(self) -> list[str]:
        """Names, in order."""
        return [target.host for target in self.targets]


def open_desk(hosts: str, site_file: str, state: str) -> Desk:
    """Resolve a host set against the site file, the recorded certificates and the node record.

    :param hosts: host set; ``all`` means every host of the site that has a BMC address.
    :raises UsageError: no host (an empty variable of a script must not mean all), no site file, an unknown host, or one
        without a BMC address.
    """
    from fabricctl.hostset import expand
    from fabricctl.workflows.history import locate
    from provision.workflows.desk import read_desk

    if not hosts.strip():
        raise UsageError("which BMCs? name them, or say all")
    site = read_site(site_file)
    if site is None:
        raise UsageError("which BMCs? give --site FILE: the site file names their addresses")
    location = locate(site, state)
    names = None if hosts.strip() == ALL else expand(hosts)
    targets, states = read_desk(site, location, names)
    return Desk(site, location, targets, states)


def guard_change(desk: Desk, hosts: Sequence[str], action: str, *, force: bool) -> None:
    """Refuse what would disturb a node in service, or touch more nodes than the site allows at once.

    :param hosts: those that would really be changed; :param action: in words that follow "would".
    :raises InServiceError: :raises UsageError: as they say.
    """
    from fabricctl.nodes.transitions import guard

    guard({host: desk.states[host] for host in hosts if host in desk.states}, action, force=force)
    cap = desk.site.gates.max_nodes_per_change
    if len(hosts) > cap:
        raise UsageError(
            f"this would change {len(hosts):,} nodes; at most {cap:,} may be changed at once",
            hint="do it in parts, or raise gates.max_nodes_per_change in the site file",
        )


def consent(number: int, *, yes: bool, ask: bool = True) -> None:
    """Go on only with ``--yes`` or a typed number: it is not typed by accident.

    :param ask: a person has seen the plan, and the question does no harm to what is written.
    :raises UsageError: neither; nothing was changed.
    """
    sys.stdout.flush()
    if yes:
        return
    if not ask or not sys.stdin.isatty():
        raise UsageError("nothing was changed: confirm with --yes")
    if typer.prompt(f"Type {number} to go on", default="", show_default=False).strip() != str(number):
        raise UsageError("nothing was changed")
