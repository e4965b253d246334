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
