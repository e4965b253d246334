"""ZFS pools of hosts that are to be installed anew: their state is kept, and the plan says what will be lost."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk
    from fabricctl.site.schema import Site
    from provision.workflows.install_book import StoreBook
    from provision.workflows.install_pools import PoolExport
    from provision.workflows.install_state import Kept

NOTHING = "no ZFS pools"
AT_ONCE = 16
"""Hosts asked over ssh at the same time."""


def keep_pools(desk: Desk, hosts: Sequence[str], reason: str) -> Mapping[str, str]:
    """Ask hosts for their pools and keep what they say: host -> what was kept, or why nothing could be.

    :raises StateError: the store cannot be written.
    """
    from concurrent.futures import ThreadPoolExecutor

    from fabricctl.adapters.store.store import open_store
    from fabricctl.cli.progress import progress
    from provision.workflows.install_book import StoreBook

    if not hosts:
        return {}
    with open_store(desk.location, site=desk.site.name) as store, progress() as tell:
        tell(f"asking {len(hosts):,} hosts for their ZFS pools")
        export = pool_export(desk, StoreBook(store, reason, "maas"))
        with ThreadPoolExecutor(AT_ONCE) as threads:
            said = threads.map(export.keep, hosts)
            return {host: _alike(host, text) for host, text in zip(hosts, said, strict=True)}


def recorded_pools(desk: Desk, hosts: Sequence[str], kept: Kept, *, wipes: bool = True) -> Mapping[str, str]:
    """Pools that were recorded of hosts which cannot be asked: host -> which will be lost, and of when that is known.

    :param wipes: an installation wipes every disk, so that pools recorded before the last one are lost already.
    :raises StateError: the store cannot be read.
    """
    from fabricctl.adapters.store.reading import read_store
    from provision.workflows.install_pools import pools_on_record

    with read_store(desk.location, desk.site.name) as store:
        found = pools_on_record(store, hosts) if store is not None else {}
    return {
        host: one.lost
        for host, one in found.items()
        if not wipes or not kept.past(host).installed_after(one.confirmed)
    }


def _alike(host: str, text: str) -> str:
    """Without the host's name, so that equal words fold; nothing where there is nothing to lose."""
    if text == NOTHING:
        return ""
    from provision.report.impersonal import impersonal

    return impersonal(text, host)


def pool_export(desk: Desk, book: StoreBook) -> PoolExport:
    """Keeps the state of pools in the store of a book; hosts are known by the keys they were installed with."""
    from fabricctl.adapters.known_hosts import site_file
    from fabricctl.adapters.ssh_config import SshOptions
    from fabricctl.workflows.state_place import operator
    from provision.workflows.install_pools import PoolExport

    options = SshOptions(recorded=(site_file(desk.site.name),))
    return PoolExport(book.store, options, operator(), book.reason, user=login_user(desk.site))


def login_user(site: Site) -> str:
    """Of the users made on every host the first that may do everything, else the first; empty where there is none."""
    users = site.install.users
    return next((name for name, user in users.items() if user.sudo), next(iter(users), ""))
