"""Whose password is to be changed, and what came of it."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from typing import TYPE_CHECKING

from fabricctl.errors import (
    BmcAnswerError,
    BmcError,
    BmcLoginError,
    BmcUnsupportedError,
    SecretError,
    UsageError,
)
from fabricctl.hostset import fold
from fabricctl.site.management import BmcAccess
from fabricctl.site.use import bmc_access
from provision.bmc.credential import CredentialState, Entry, Key, KeyKind
from provision.bmc.secret import Credentials
from provision.bmc.target import Target
from provision.report.change_report import Changed, Planned, Result
from provision.report.common import reason
from provision.secrets.reference import read_reference
from provision.secrets.store import DEFAULT_USER, SecretStore, no_password_hint

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


REFERENCE = "reference"
"""State of a password that stands nowhere but behind a reference of the site file."""


class Fate(StrEnum):
    """What became of a password."""

    CHANGED = "changed"
    """The new one holds: a login with it succeeded."""
    FINISHED = "finished"
    """The one an interrupted run left holds."""
    UNCHANGED = "unchanged"
    """The old one holds."""
    UNKNOWN = "unknown"
    """Old and new one are both kept: run again."""


@dataclass(frozen=True)
class PasswordChange:
    """One BMC whose password is to be changed.

    :param entry: what is kept now, None where the site file has a reference; :param key: what it will be kept under.
    :param current: user and password that are known to have held, None where only a pending one is kept.
    """

    target: Target
    key: Key
    user: str
    entry: Entry | None
    current: Credentials | None

    @property
    def host(self) -> str:
        """Name of the node."""
        return self.target.host

    @property
    def pending(self) -> Credentials | None:
        """A new password that an interrupted run left."""
        left = self.entry.pending if self.entry is not None else None
        return Credentials(self.user, left) if left is not None else None

    @property
    def state(self) -> str:
        """What holds now, in a word: ``factory``, ``current``, ``pending``, ``reference``."""
        return self.entry.state.value if self.entry is not None else REFERENCE


@dataclass(frozen=True)
class Rotated:
    """What became of one BMC's password. :param error: why it is not the new one; None when it is."""

    job: PasswordChange
    fate: Fate
    error: BmcError | None = None


@dataclass(frozen=True)
class Plan:
    """:param jobs: BMCs to change; :param hopeless: BMCs without any password to log in with, and why.

    :param spared: BMCs that could be changed, too, and were not asked for.
    """

    jobs: tuple[PasswordChange, ...]
    hopeless: tuple[tuple[Target, SecretError], ...]
    spared: tuple[PasswordChange, ...] = ()


KINDS = (*(state.value for state in CredentialState), REFERENCE)


@dataclass(frozen=True)
class Wanted:
    """Which passwords are to be changed.

    :param kinds: of :data:`KINDS`, all when there are none; :param before: only those kept before that moment, when not
        None. A change that was interrupted is finished in any case, and a password by reference has no age: it is old.
    """

    kinds: frozenset[str] = frozenset()
    before: datetime | None = None

    def has(self, job: PasswordChange) -> bool:
        """Whether it is wanted."""
        if self.kinds and job.state not in self.kinds:
            return False
        since = job.entry.since if job.entry is not None and job.pending is None else None
        return self.before is None or since is None or since < self.before


def wanted(only: str, older_than: int | None, now: datetime) -> Wanted:
    """``factory,pending`` and a number of days. :raises UsageError: a kind that is none."""
    kinds = [word.strip().lower() for word in only.split(",") if word.strip()]
    unknown = next((kind for kind in kinds if kind not in KINDS), None)
    if unknown is not None or (only and not kinds):
        raise UsageError(f"--only {only!r}: expected some of {', '.join(KINDS)}")
    return Wanted(frozenset(kinds), None if older_than is None else now - timedelta(days=older_than))


def narrowed(plan: Plan, which: Wanted) -> Plan:
    """The part of a plan that is wanted."""
    return Plan(
        tuple(job for job in plan.jobs if which.has(job)),
        plan.hopeless,
        tuple(job for job in plan.jobs if not which.has(job)),
    )


def plan_rotation(site: Site, store: SecretStore, targets: Sequence[Target]) -> Plan:
    """Whose password can be changed, and what is known of it. :raises SecretError: the store cannot be read."""
    store.entries()  # a store that cannot be read is no matter of single BMCs
    access = bmc_access(site)
    jobs: list[PasswordChange] = []
    hopeless: list[tuple[Target, SecretError]] = []
    taken: dict[Key, str] = {}
    for target in targets:
        try:
            job = _job(target, access.get(target.host) or BmcAccess(), store, site.path)
        except SecretError as exc:
            hopeless.append((target, exc))
            continue
        if taken.setdefault(job.key, target.host) == target.host:
            jobs.append(job)
        else:
            text = f"{taken[job.key]} and {target.host} share {job.key}: one machine has one BMC"
            hopeless.append((target, SecretError(text, reference=store.reference)))
    return Plan(tuple(jobs), tuple(hopeless))


def _job(target: Target, access: BmcAccess, store: SecretStore, site_path: str) -> PasswordChange:
    """What is known of one BMC's password. :raises SecretError: nothing to log in with."""
    entry = store.entry(target.host, target.service_tag)
    user = (entry.user if entry is not None else "") or access.user or DEFAULT_USER
    current = entry.credentials(user) if entry is not None else None
    unfinished = entry is not None and entry.pending is not None
    if current is None and access.password:
        try:
            current = Credentials(user, read_reference(access.password, os.path.dirname(site_path)))
        except SecretError:
            if not unfinished:
                raise
    if current is None and not unfinished:
        hint = no_password_hint(store, target, site_path)
        raise SecretError("no password is kept", reference=store.reference, hint=hint)
    return PasswordChange(target, entry.key if entry is not None else _key(target), user, entry, current)


def _key(target: Target) -> Key:
    """A password belongs to the machine, wherever it is put; to the host only where its tag is not known."""
    return Key(KeyKind.TAG, target.service_tag) if target.service_tag else Key(KeyKind.HOST, target.host)


def planned(plan: Plan, length: int) -> list[Planned]:
    """The plan for people."""
    listed = [
        Planned(job.host, f"finish the change of {job.user}'s password that was interrupted")
        if job.pending is not None
        else Planned(job.host, f"new password of {length} characters for {job.user}, now {job.state}")
        for job in plan.jobs
    ]
    listed += [Planned(job.host, already=f"{job.state}, not asked for") for job in plan.spared]
    return listed + [Planned(target.host, refused=str(error)) for target, error in plan.hopeless]


def count_words(plan: Plan) -> str:
    """``of them factory: 380, pending: 32``, in the order of :data:`KINDS`."""
    counts = Counter(job.state for job in plan.jobs)
    return ", ".join(f"{kind}: {counts[kind]:,}" for kind in KINDS if counts[kind])


def goes_on(plan: Plan, results: Sequence[Rotated], place: str) -> str:
    """The command that finishes an interrupted run, and changes nothing that it changed.

    :param place: the options that name the site.
    """
    done = {one.job.host for one in results if one.fate in HOLDS}
    rest = [job for job in plan.jobs if job.host not in done]
    if all(job.state in CONTINUED for job in rest):
        hosts, only = fold([job.target.host for job in plan.jobs]), f" --only {','.join(CONTINUED)}"
    else:
        hosts, only = fold([job.target.host for job in rest]), ""
    return f"fabricctl bmc credentials rotate '{hosts}'{only}{place}"


CONTINUED = (CredentialState.FACTORY.value, CredentialState.PENDING.value)
"""Kinds that are left when a change of factory passwords is interrupted."""


def left_open(one: Rotated) -> bool:
    """Whether it could not be told what holds, or the BMC did not say why it refused."""
    said_no = (BmcLoginError, BmcAnswerError, BmcUnsupportedError)
    return one.fate is Fate.UNKNOWN or (one.fate is Fate.UNCHANGED and not isinstance(one.error, said_no))


def changed(results: Sequence[Rotated], hopeless: Sequence[tuple[Target, SecretError]] = ()) -> list[Changed]:
    """What came of it, for people."""
    listed = []
    for one in results:
        before = after = said = ""
        if one.fate in HOLDS:
            before, after = one.job.state, f"new password, kept by {one.job.key.kind.words}"
        elif one.error is not None:
            said = reason(one.error, one.job.target)
            more = "run again to find out which password holds" if one.fate is Fate.UNKNOWN else ""
            said = f"{said}; {more or 'nothing was changed'}"
        listed.append(Changed(one.job.host, _RESULTS[one.fate], before, after, said))
    return listed + [Changed(target.host, Result.UNKNOWN, said=str(error)) for target, error in hopeless]


HOLDS = (Fate.CHANGED, Fate.FINISHED)
_RESULTS = {
    Fate.CHANGED: Result.DONE,
    Fate.FINISHED: Result.DONE,
    Fate.UNCHANGED: Result.NOT_REACHED,
    Fate.UNKNOWN: Result.UNKNOWN,
}
