"""Passwords of BMCs: those a vendor's list brings, and which BMC has one."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from fabricctl.adapters.files import STDIN, decode, read_input
from fabricctl.errors import SecretError
from fabricctl.site.use import bmc_access
from provision.bmc.credential import CredentialState, Entry, Key, KeyKind
from provision.bmc.password_lists import Holding, Import
from provision.bmc.target import Target
from provision.bmc.vendor_file import LIMIT_BYTES, is_workbook, read_text, read_workbook
from provision.bmc.vendor_list import Delivered
from provision.secrets.reference import read_reference
from provision.secrets.store import DEFAULT_USER, SecretStore

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


def read_list(path: str) -> list[Delivered]:
    """Machines of a vendor's list. :raises InputError: with file and line; no cell is repeated."""
    data = read_input(path, limit_bytes=LIMIT_BYTES)
    return read_workbook(data, path) if is_workbook(data) else read_text(decode(data, path), path)


def open_to_others(path: str) -> str:
    """The mode of a file that others may read (``0644``), empty when nobody else may."""
    if path == STDIN:
        return ""
    try:
        mode = stat.S_IMODE(os.stat(path).st_mode)
    except OSError:
        return ""
    return f"{mode:04o}" if mode & 0o044 else ""


def plan_import(
    machines: Sequence[Delivered],
    targets: Sequence[Target],
    store: SecretStore,
    *,
    source: str,
    now: datetime,
    replace: bool = False,
) -> Import:
    """Compare a list with the site and with what is kept.

    :param targets: all BMCs of the site; :param source: as the entries tell it; :param replace: also passwords that
        were changed meanwhile: the machine got a new BMC, or was reset to its factory's.
    :raises SecretError: the secret store cannot be read.
    """
    hosts = {target.service_tag: target.host for target in targets if target.service_tag}
    new, replaced, same, rotated = [], [], [], []
    for machine in machines:
        key = Key(KeyKind.TAG, machine.tag)
        entry = Entry(key, machine.user, machine.password, now, source, factory=True)
        old = store.entries().get(key)
        if old is None:
            new.append(entry)
        elif old.pending is None and old.password == machine.password and old.user == machine.user:
            same.append(machine.tag)
        elif old.state is CredentialState.FACTORY or replace:
            replaced.append(entry)
        else:
            rotated.append(machine.tag)
    listed = {machine.tag for machine in machines}
    return Import(
        tuple(new),
        tuple(replaced),
        tuple(same),
        tuple(rotated),
        {tag: host for tag, host in hosts.items() if tag in listed},
        tuple(machine.tag for machine in machines if machine.tag not in hosts),
        tuple(
            t.host
            for t in targets
            if t.service_tag and t.service_tag not in listed and store.entry(t.host, t.service_tag) is None
        ),
        tuple(target.host for target in targets if not target.service_tag),
    )


def holdings(
    site: Site, store: SecretStore, targets: Sequence[Target], *, strangers: bool
) -> Iterator[Holding]:
    """Who has a password; no password is in it.

    :param strangers: also entries that belong to no BMC of the site. :raises SecretError: the store cannot be read.
    """
    access = bmc_access(site)
    used: set[Key] = set()
    changing = store.changing()
    for target in targets:
        entry = store.entry(target.host, target.service_tag)
        own = access.get(target.host)
        user = own.user if own is not None and own.user else DEFAULT_USER
        if entry is not None:
            used |= {entry.key, Key(KeyKind.TAG, target.service_tag)}
            yield _holding(entry, target.host, target.service_tag, user, changing)
        elif own is not None and own.password:
            yield Holding(
                target.host,
                target.service_tag,
                user,
                own.password,
                "reference",
                trouble=_trouble(own.password, os.path.dirname(site.path)),
            )
        else:
            yield Holding(target.host, target.service_tag, trouble="no password is kept")
    if strangers:
        for key in sorted(set(store.entries()) - used):
            tag = key.name if key.kind is KeyKind.TAG else ""
            yield _holding(
                store.entries()[key],
                key.name if key.kind is KeyKind.HOST else "",
                tag,
                DEFAULT_USER,
                changing,
            )


def _holding(entry: Entry, host: str, tag: str, user: str, changing: str) -> Holding:
    since = entry.pending_since if entry.pending is not None else entry.since
    trouble = ""
    if entry.pending is not None:
        why = f"passwords are being changed by {changing}" if changing else "a change was interrupted"
        trouble = f"{why}; which one holds is not known"
    kept = f"{entry.key.kind.value} {entry.key.name}"
    return Holding(host, tag, entry.user or user, kept, entry.state.value, since, entry.source, trouble)


def _trouble(reference: str, folder: str) -> str:
    try:
        read_reference(reference, folder)
    except SecretError as exc:
        return str(exc)
    return ""
