"""The passwords of a site's BMCs, wherever they are kept.

::

    store = open_secrets(site)
    user_and_password = credentials_for(site, store, target)

Passwords never reach the state store, a report or a log. A store is read once; what it changes, it reads anew under
the lock and writes whole, so that two commands never lose each other's entries.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from fabricctl.errors import SecretError
from fabricctl.site.use import bmc_access
from provision.bmc.credential import Entry, Key, KeyKind
from provision.bmc.secret import Credentials
from provision.bmc.target import Target
from provision.secrets.document import from_document, to_document
from provision.secrets.places import Place, find_place
from provision.secrets.reference import read_reference

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

DEFAULT_USER = "root"


class SecretStore:
    """Entries of one site in one place."""

    def __init__(self, place: Place, site: str) -> None:
        self._place, self._site = place, site
        self._known: dict[Key, Entry] | None = None

    @property
    def reference(self) -> str:
        """Where it is, as people write it."""
        return self._place.reference

    def entries(self) -> Mapping[Key, Entry]:
        """All of them; empty when nothing was ever kept. :raises SecretError: the place cannot be read."""
        if self._known is None:
            self._known = self._read()
        return self._known

    def entry(self, host: str, service_tag: str) -> Entry | None:
        """The entry that counts for a BMC: of its host, else of its service tag."""
        entries = self.entries()
        return entries.get(Key(KeyKind.HOST, host)) or (
            entries.get(Key(KeyKind.TAG, service_tag.upper())) if service_tag else None
        )

    def get(self, host: str, service_tag: str, *, default_user: str = DEFAULT_USER) -> Credentials | None:
        """User and password that are known to hold, None when none are kept."""
        entry = self.entry(host, service_tag)
        return None if entry is None else entry.credentials(default_user)

    def put(self, entries: Iterable[Entry]) -> None:
        """Keep entries, each in place of the one with its key."""
        new = {entry.key: entry for entry in entries}
        self._change(lambda known: known.update(new))

    def begin(self, entries: Iterable[Entry]) -> None:
        """Keep new passwords as pending, before any BMC is asked to take them.

        :raises SecretError: one of them has another pending password meanwhile; nothing was kept.
        """
        new = {entry.key: entry for entry in entries}

        def edit(known: dict[Key, Entry]) -> None:
            taken = next(
                (k for k in new if k in known and known[k].pending not in (None, new[k].pending)), None
            )
            if taken is not None:
                raise SecretError(f"another password for {taken} is on its way", reference=self.reference)
            known.update(new)

        self._change(edit)

    def promote(self, keys: Iterable[Key], now: datetime, source: str) -> None:
        """The pending passwords hold: forget the former ones."""
        self._settle(
            keys,
            lambda old: replace(
                old,
                password=old.pending,
                since=now,
                source=source,
                factory=False,
                pending=None,
                pending_since=None,
            ),
        )

    def drop_pending(self, keys: Iterable[Key]) -> None:
        """The former passwords still hold: forget the pending ones, and entries that held nothing else."""
        self._settle(
            keys,
            lambda old: None if old.password is None else replace(old, pending=None, pending_since=None),
        )

    def alone(self) -> AbstractContextManager[None]:
        """Be the only one who changes passwords of BMCs. :raises SecretError: somebody else does."""
        return self._place.locked("rotate", "another fabricctl is changing passwords")

    def changing(self) -> str:
        """Who changes passwords of BMCs now, in words; empty when nobody does."""
        return self._place.holder("rotate")

    def _settle(self, keys: Iterable[Key], settled: Callable[[Entry], Entry | None]) -> None:
        wanted = list(keys)

        def edit(known: dict[Key, Entry]) -> None:
            for key in wanted:
                old = known.get(key)
                if old is None or old.pending is None:
                    continue
                new = settled(old)
                if new is None:
                    del known[key]
                else:
                    known[key] = new

        if wanted:
            self._change(edit)

    def _change(self, edit: Callable[[dict[Key, Entry]], None]) -> None:
        with self._place.locked():
            known = self._read()
            edit(known)
            self._place.write(to_document(known.values(), self._site))
            self._known = known

    def _read(self) -> dict[Key, Entry]:
        document = self._place.read()
        return {} if document is None else from_document(document, self._site, self.reference)


def open_secrets(site: Site) -> SecretStore:
    """The secret store of a site; nothing is read yet.

    :raises SecretError: its place cannot be used.
    """
    return SecretStore(find_place(site.management.secrets, site=site.name, site_path=site.path), site.name)


def credentials_for(site: Site, store: SecretStore, target: Target) -> Credentials:
    """User and password of a BMC: the entry of its host, of its service tag, else the site file's reference.

    :raises SecretError: there are none (it tells where it looked and what to run), or which password holds is not
        known since a change of it was interrupted.
    """
    access = bmc_access(site).get(target.host)
    user = access.user if access is not None and access.user else DEFAULT_USER
    entry = store.entry(target.host, target.service_tag)
    if entry is not None and entry.pending is not None:
        who = store.changing()
        if who:
            raise SecretError(
                f"passwords are being changed by {who}; which one this BMC takes is not known until then",
                hint="try again when that has ended",
            )
        raise SecretError(
            "a change of this BMC's password was interrupted, and which one holds is not known",
            hint=f"finish it: fabricctl bmc credentials rotate {target.host} --site {site.path}",
        )
    kept = entry.credentials(user) if entry is not None else None
    if kept is not None:
        return kept
    if access is not None and access.password:
        return Credentials(user, read_reference(access.password, os.path.dirname(site.path)))
    tag = f"its service tag {target.service_tag}" if target.service_tag else "its service tag (not known)"
    raise SecretError(
        f"no password for {target}: {store.reference} has none for {target.host} or {tag}, and the site file names "
        f"none under management.bmc_access",
        hint=no_password_hint(store, target, site.path),
    )


def no_password_hint(store: SecretStore, target: Target, site_path: str) -> str:
    """What brings a BMC its password: passwords that are kept by service tag are found once the tag is known."""
    imports = f"fabricctl bmc credentials import FILE --site {site_path}"
    if target.service_tag:
        return imports
    scan = f"fabricctl bmc scan {target.host} --record --site {site_path}"
    learns = f"{scan} records its tag, or --write-tags FILE writes it for the site file"
    by_tag = any(key.kind is KeyKind.TAG for key in store.entries())
    return learns if by_tag else f"{imports}; then {learns}"
