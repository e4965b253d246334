"""What every ``fabricctl maas`` command has in common: whom it is about, and the end of what MAAS is asked."""

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

SiteFile = Annotated[str, typer.Option("--site", metavar="FILE", help="Site file that names MAAS.")]
Wait = Annotated[
    bool, typer.Option("--wait/--no-wait", help="Wait until MAAS is done with it; else begin it and end.")
]
FromQuarantine = Annotated[
    bool, typer.Option("--from-quarantine", help="Also machines in quarantine, and those that failed.")
]

Redeploy = Annotated[
    bool, typer.Option("--redeploy", help="Also hosts that are installed: released first, every disk wiped.")
]
Again = Annotated[
    bool, typer.Option("--again", help="With --redeploy: also those whose installation was begun within 6 h.")
]


@dataclass(frozen=True)
class Desk:
    """What a command works on.

    :param hosts: in the order of the site file, or as they were given.
    :param states: host -> state of its node record; hosts without a record are not in it.
    :param provisioner: for people: ``MAAS``, ``Ironic``.
    """

    site: Site
    location: Location
    hosts: Sequence[str]
    states: Mapping[str, NodeState]
    provisioner: str = "MAAS"


def asked_again(again: bool, *, redeploy: bool) -> None:
    """:raises UsageError: ``--again`` says nothing without ``--redeploy``."""
    if again and not redeploy:
        raise UsageError("--again goes with --redeploy: without it, installed hosts are left alone")


def open_desk(hosts: str, site_file: str, state: str) -> Desk:
    """Resolve a host set against the site file and the node record.

    :param hosts: host set; ``all`` means every host that ``maas.hosts`` names, or every host where it names none.
    :raises UsageError: no host, no site file, no MAAS there, or an unknown host.
    """
    from fabricctl.site.check_install import enrolled_hosts

    if not hosts.strip():
        raise UsageError("which hosts? name them, or say all")
    site = read_site(site_file)
    if site is None:
        raise UsageError("which MAAS? give --site FILE: the site file names it")
    if site.maas is None:
        raise UsageError(f"{site.path} names no MAAS", hint="write maas: {url: http://HOST:5240/MAAS}")
    return desk_of(site, names_of_hosts(site, hosts, enrolled_hosts(site)), state)


def desk_of(site: Site, names: Sequence[str], state: str, provisioner: str = "MAAS") -> Desk:
    """A desk of hosts that are known. :raises StateError: the store cannot be read."""
    from fabricctl.adapters.store.reading import read_store
    from fabricctl.workflows.state_place import locate

    location = locate(site, state)
    with read_store(location, site.name) as store:
        records = store.nodes.all(names) if store is not None else {}
    states = {name: record.state for name, record in records.items()}
    return Desk(site, location, names, states, provisioner)


def names_of_hosts(site: Site, hosts: str, every: Sequence[str]) -> Sequence[str]:
    """Hosts of a host set. :param every: what ``all`` means. :raises UsageError: one is unknown, or not among them."""
    from fabricctl.hostset import expand, fold
    from fabricctl.near import did_you_mean
    from fabricctl.site.use import all_hosts

    if hosts.strip() == ALL:
        return every
    known = all_hosts(site)
    names = list(dict.fromkeys(expand(hosts)))
    unknown = next((name for name in names if name not in set(known)), None)
    if unknown is not None:
        raise UsageError(f"the site has no node {unknown!r}", hint=did_you_mean(unknown, known))
    others = [name for name in names if name not in set(every)]
    if others:
        are = "is" if len(others) == 1 else "are"
        raise UsageError(
            f"{fold(others)} {are} not among the hosts of this provisioner in {site.path}",
            hint="maas.hosts or ironic.hosts names them",
        )
    return names
