"""What hosts are told at their first boot: users, clock, packages' proxy, and an ssh host key made here."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.adapters.files import decode, read_input
from fabricctl.adapters.known_hosts import site_file
from fabricctl.site.check_install import FILE
from provision.bmc.secret import Secret
from provision.install.cloud_init import LoginUser, UserData, render_user_data
from provision.workflows.install_access import maas_hosts
from provision.workflows.install_gathered import Gathered
from provision.workflows.install_keys import Change, HostKeys, accepting, offering, refusing

if TYPE_CHECKING:
    from fabricctl.site.schema import Site
    from provision.workflows.install_book import StoreBook

_LARGEST = 1 << 20


@dataclass
class SiteSeeds:
    """User data by the site file, with a host key of each host's own; see :class:`install_user_data.Seeds`.

    Keys are recorded on another thread, those of many hosts with one write.

    :param names: host -> names it is reached by, beside its own.
    """

    keys: HostKeys
    settings: UserData
    names: Mapping[str, Sequence[str]] = field(default_factory=dict)
    _made: dict[str, str] = field(default_factory=dict, init=False)
    _record: Gathered[Change] = field(init=False)

    def __post_init__(self) -> None:
        self._record = Gathered(self.keys.apply)

    async def make(self, host: str) -> Secret:
        """Fresh keys, recorded as expected; the user data that brings them.

        :raises StateError: they cannot be recorded. :raises UsageError: a name is none that ssh takes.
        """
        key = self.keys.make()
        await self._record.do(offering(host, key, [host, *self.names.get(host, ())]))
        self._made[host] = key.public
        settings = UserData(self.settings.users, self.settings.ntp_servers, self.settings.apt_proxy, key)
        return Secret(render_user_data(settings))

    async def accepted(self, host: str) -> None:
        """The keys that were made last alone hold."""
        await self._record.do(accepting(host, self._made[host]))

    async def refused(self, host: str) -> None:
        """The keys that were made last are withdrawn."""
        await self._record.do(refusing(host, self._made.pop(host)))


def site_seeds(site: Site, book: StoreBook) -> SiteSeeds:
    """Seeds of a site, whose keys are kept in the store of a book.

    :raises InputError: a file of public keys cannot be read; :raises UsageError: what is in it is no public key.
    """
    from fabricctl.workflows.state_place import operator

    keys = HostKeys(book.store, Path(site_file(site.name)), operator(), book.reason)
    settings = user_data(site)
    render_user_data(settings)  # what is wrong with it is said before anything is begun
    entries = maas_hosts(site) if site.maas is not None else {}
    names = {host: [f"{host}.{entry.domain}"] for host, entry in entries.items() if entry.domain}
    return SiteSeeds(keys, settings, names)


def user_data(site: Site) -> UserData:
    """What the site file says of users, clock and packages. :raises InputError: a file of keys cannot be read."""
    install = site.install
    users = [
        LoginUser(name, tuple(_public_keys(site, user.ssh_keys)), user.sudo, user.shell)
        for name, user in install.users.items()
    ]
    return UserData(tuple(users), tuple(install.ntp_servers), install.apt_proxy or "")


def _public_keys(site: Site, written: Sequence[str]) -> list[str]:
    """Keys as they are written, and those of the files that are named instead; comments are left out."""
    found: list[str] = []
    for text in written:
        if not text.startswith(FILE):
            found.append(text)
            continue
        path = str(Path(site.path).parent / os.path.expanduser(text.removeprefix(FILE)))
        lines = decode(read_input(path, limit_bytes=_LARGEST), path).splitlines()
        found += [line.strip() for line in lines if line.strip() and not line.lstrip().startswith("#")]
    return found
