"""New passwords for BMCs, so that the one that holds is never lost.

For every wave of BMCs, in this order:

1. A password that an earlier, interrupted run left pending is tried. Where the BMC takes it, it is the current one.
2. With the current one: find the account by its user name, and which lengths are accepted.
3. The new password is kept as pending, on disk, before any BMC hears of it.
4. With the current one: ``PATCH`` the account. Sent once; a lost answer is no reason to send it again.
5. With the new one: log in and read the account.
6. Where that works, the new one becomes the current one and the old one is forgotten. Where the BMC refused the
   change, or still takes the old one, the pending one is forgotten.

Killed at any point, the next run finds the pending password and begins with 1. A password that is refused is tried
once: an account that is locked by its own keeper helps nobody.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol, TypeVar

from fabricctl.errors import (
    BmcAnswerError,
    BmcError,
    BmcLockedOutError,
    BmcLoginError,
    BmcOutcomeUnknownError,
    BmcPasswordChangeError,
    BmcSessionsFullError,
    BmcUnsupportedError,
    SecretError,
)
from fabricctl.site.use import bmc_access
from provision.bmc.account import Account, find_account, lengths
from provision.bmc.credential import CredentialState, Entry, Key, KeyKind
from provision.bmc.new_password import Dice, fitting_length, new_password
from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target
from provision.redfish.bmc import Bmc
from provision.redfish.paths import link_of
from provision.secrets.reference import read_reference
from provision.secrets.store import DEFAULT_USER, SecretStore

if TYPE_CHECKING:
    from fabricctl.site.schema import Site

T = TypeVar("T")
SOURCE = "rotate"


class Asker(Protocol):
    """Does work on BMCs, logged in with the credentials it is given; outcomes in the order of the targets."""

    def __call__(
        self,
        targets: Sequence[Target],
        work: Callable[[Bmc], Awaitable[T]],
        known: Callable[[Target], Credentials],
    ) -> list[Outcome[T]]:
        """Ask them."""
        ...


class Fate(str):
    """What became of a password, in a word for machines."""

    __slots__ = ()


CHANGED, FINISHED, UNCHANGED, UNKNOWN = Fate("changed"), Fate("finished"), Fate("unchanged"), Fate("unknown")


@dataclass(frozen=True)
class Job:
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
    def pending(self) -> Credentials | None:
        """A new password that an interrupted run left."""
        left = self.entry.pending if self.entry is not None else None
        return Credentials(self.user, left) if left is not None else None

    @property
    def state(self) -> str:
        """What holds now, in a word: ``factory``, ``current``, ``pending``, ``reference``."""
        return self.entry.state.value if self.entry is not None else "reference"


@dataclass(frozen=True)
class Rotated:
    """What became of one BMC's password. :param error: why it is not the new one; None when it is."""

    job: Job
    fate: Fate
    error: BmcError | SecretError | None = None


@dataclass(frozen=True)
class Plan:
    """:param jobs: BMCs to change; :param hopeless: BMCs without any password to log in with, and why."""

    jobs: tuple[Job, ...]
    hopeless: tuple[tuple[Target, SecretError], ...]


def plan_rotation(site: Site, store: SecretStore, targets: Sequence[Target]) -> Plan:
    """Whose password can be changed, and what is known of it. :raises SecretError: the store cannot be read."""
    access = bmc_access(site)
    jobs: list[Job] = []
    hopeless: list[tuple[Target, SecretError]] = []
    for target in targets:
        own = access.get(target.host)
        user = own.user if own is not None and own.user else DEFAULT_USER
        entry = store.entry(target.host, target.service_tag)
        current = entry.credentials(user) if entry is not None else None
        key = entry.key if entry is not None else _key(target)
        try:
            if current is None and own is not None and own.password:
                current = Credentials(user, read_reference(own.password, os.path.dirname(site.path)))
        except SecretError as exc:
            if entry is None or entry.pending is None:
                hopeless.append((target, exc))
                continue
        if current is None and (entry is None or entry.pending is None):
            hint = f"fabricctl bmc credentials import FILE --site {site.path}"
            hopeless.append(
                (target, SecretError(f"no password for {target}", reference=store.reference, hint=hint))
            )
            continue
        jobs.append(Job(target, key, (entry.user if entry is not None else "") or user, entry, current))
    return Plan(tuple(jobs), tuple(hopeless))


def _key(target: Target) -> Key:
    """A password belongs to the machine, wherever it is put; to the host only where its tag is not known."""
    return Key(KeyKind.TAG, target.service_tag) if target.service_tag else Key(KeyKind.HOST, target.host)


class Rotation:
    """Carries a plan out, wave by wave.

    :param ask: speaks to BMCs; :param length: of new passwords; :param step: told the name of each step once it is
        done, for progress. Whoever calls holds ``store.alone()``.
    """

    def __init__(
        self,
        store: SecretStore,
        ask: Asker,
        *,
        length: int,
        choose: Dice = secrets.choice,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        step: Callable[[str], None] = lambda name: None,  # noqa: ARG005
    ) -> None:
        self._store, self._ask, self._length = store, ask, length
        self._choose, self._now, self._step = choose, now, step

    def run(self, jobs: Sequence[Job], wave: int) -> Iterator[list[Rotated]]:
        """Results, one wave after the other, each in the order of its jobs. What a wave reached is kept."""
        for first in range(0, len(jobs), wave):
            yield self._wave(jobs[first : first + wave])

    def _wave(self, jobs: Sequence[Job]) -> list[Rotated]:
        done: dict[Key, Rotated] = {}
        self._finish_former([job for job in jobs if job.pending is not None], done)
        ready = self._prepare([job for job in jobs if job.key not in done], done)
        chosen = self._begin(ready, done)
        sent = self._change(chosen, done)
        self._prove(sent, done)
        return [done[job.key] for job in jobs]

    def _finish_former(self, jobs: Sequence[Job], done: dict[Key, Rotated]) -> None:
        """Step 1. Refused by name is an answer; anything else leaves both passwords where they are."""
        for job, outcome in self._asked(jobs, _look(jobs), lambda job: job.pending):
            if outcome.error is None:
                done[job.key] = Rotated(job, FINISHED)
            elif not _refused(outcome.error) or job.current is None:
                done[job.key] = Rotated(job, UNKNOWN, outcome.error)
        self._step("former tried")
        self._promote(
            [done[job.key].job for job in jobs if job.key in done and done[job.key].fate is FINISHED]
        )

    def _prepare(self, jobs: Sequence[Job], done: dict[Key, Rotated]) -> list[tuple[Job, Account]]:
        """Step 2."""
        ready = []
        for job, outcome in self._asked(jobs, _look(jobs), lambda job: job.current):
            error = outcome.error
            if outcome.value is not None:
                ready.append((job, outcome.value))
                continue
            assert error is not None
            if job.pending is not None and _refused(error):
                error = BmcLoginError(
                    "neither the former password nor the new one is accepted",
                    bmc=str(job.target),
                    hint="somebody else changed it: set one at the console (racadm set iDRAC.Users.2.Password), and "
                    "import it",
                )
            done[job.key] = Rotated(job, UNKNOWN if job.pending is not None else UNCHANGED, error)
        self._step("prepared")
        return ready

    def _begin(
        self, ready: Sequence[tuple[Job, Account]], done: dict[Key, Rotated]
    ) -> list[tuple[Job, Account, Credentials]]:
        """Step 3: on disk before any BMC hears of it."""
        chosen, entries = [], []
        for job, account in ready:
            length = fitting_length(self._length, account.shortest, account.longest)
            if not length:
                text = f"it wants passwords of {account.shortest} to {account.longest} characters"
                done[job.key] = Rotated(job, UNCHANGED, BmcUnsupportedError(text, bmc=str(job.target)))
                continue
            new = job.pending or Credentials(job.user, new_password(length, self._choose))
            chosen.append((job, account, new))
            entries.append(self._entry(job, new.password))
        if entries:
            self._store.begin(entries)
        self._step("kept")
        return chosen

    def _entry(self, job: Job, new: Secret) -> Entry:
        now = self._now()
        old = job.entry or Entry(job.key, job.user, None, now, SOURCE)
        return replace(old, user=job.user, pending=new, pending_since=old.pending_since or now)

    def _change(
        self, chosen: Sequence[tuple[Job, Account, Credentials]], done: dict[Key, Rotated]
    ) -> list[tuple[Job, Credentials, BmcError | None]]:
        """Step 4. Gives those whose BMC may have taken the new password, with the error that leaves it open."""
        of = {job.target.host: (account.path, new.password) for job, account, new in chosen}

        async def work(bmc: Bmc) -> None:
            path, password = of[bmc.target.host]
            await bmc.patch(path, {"Password": password.reveal()})

        sent, refused = [], []
        jobs = [job for job, _, _ in chosen]
        for (job, outcome), (_, _, new) in zip(
            self._asked(jobs, work, lambda job: job.current), chosen, strict=True
        ):
            if outcome.error is not None and _never_taken(outcome.error):
                refused.append(job.key)
                done[job.key] = Rotated(job, UNCHANGED, _explained(outcome.error))
            else:
                sent.append((job, new, outcome.error))
        self._step("sent")
        self._store.drop_pending(refused)
        return sent

    def _prove(
        self, sent: Sequence[tuple[Job, Credentials, BmcError | None]], done: dict[Key, Rotated]
    ) -> None:
        """Steps 5 and 6."""
        new = {job.key: credentials for job, credentials, _ in sent}
        open_error = {job.key: error for job, _, error in sent}
        jobs = [job for job, _, _ in sent]
        doubtful = []
        for job, outcome in self._asked(jobs, _look(jobs), lambda job: new[job.key]):
            if outcome.error is None:
                done[job.key] = Rotated(job, CHANGED)
            elif _refused(outcome.error) and open_error[job.key] is not None:
                doubtful.append(job)
            else:
                done[job.key] = Rotated(job, UNKNOWN, outcome.error)
        self._step("proved")
        self._promote([job for job in jobs if job.key in done and done[job.key].fate is CHANGED])
        self._old_still_holds(doubtful, open_error, done)

    def _old_still_holds(
        self, jobs: Sequence[Job], errors: dict[Key, BmcError | None], done: dict[Key, Rotated]
    ) -> None:
        """The answer was lost and the new password is refused: only a login with the old one tells what holds."""
        dropped = []
        for job, outcome in self._asked(jobs, _look(jobs), lambda job: job.current):
            if outcome.error is None:
                dropped.append(job.key)
                done[job.key] = Rotated(job, UNCHANGED, errors[job.key])
            else:
                done[job.key] = Rotated(job, UNKNOWN, outcome.error)
        self._store.drop_pending(dropped)

    def _promote(self, jobs: Sequence[Job]) -> None:
        self._store.promote([job.key for job in jobs], self._now(), SOURCE)
        self._step("promoted")

    def _asked(
        self,
        jobs: Sequence[Job],
        work: Callable[[Bmc], Awaitable[T]],
        credentials: Callable[[Job], Credentials | None],
    ) -> list[tuple[Job, Outcome[T]]]:
        if not jobs:
            return []
        of = {job.target.host: credentials(job) for job in jobs}

        def known(target: Target) -> Credentials:
            found = of[target.host]
            assert found is not None
            return found

        return list(zip(jobs, self._ask([job.target for job in jobs], work, known), strict=True))


def _look(jobs: Sequence[Job]) -> Callable[[Bmc], Awaitable[Account]]:
    """Log in and find the account."""
    users = {job.target.host: job.user for job in jobs}

    async def work(bmc: Bmc) -> Account:
        user = users[bmc.target.host]
        root = await bmc.root()
        service = await bmc.get(link_of(root.get("AccountService")) or "/redfish/v1/AccountService")
        members = await bmc.members(link_of(service.resource.get("Accounts")) or f"{service.path}/Accounts")
        path = find_account(members, user)
        if not path:
            raise BmcUnsupportedError(f"it shows no account of user {user}", bmc=str(bmc.target))
        return Account(path, *lengths(service.resource))

    return work


def _refused(error: BmcError) -> bool:
    """Whether user or password were refused, and not the login for another reason."""
    other = (BmcPasswordChangeError, BmcLockedOutError, BmcSessionsFullError)
    return isinstance(error, BmcLoginError) and not isinstance(error, other)


def _never_taken(error: BmcError) -> bool:
    """Whether it is certain that the BMC keeps its old password: it said no, or was never asked."""
    if isinstance(error, BmcOutcomeUnknownError):
        return False
    client_fault = isinstance(error, BmcAnswerError) and 400 <= error.status < 500
    return client_fault or isinstance(error, BmcLoginError)


def _explained(error: BmcError) -> BmcError:
    """A factory password that even ``PATCH`` may not change: https://github.com/dell/iDRAC-Redfish-Scripting/issues/346
    (R6625, registry IDRAC.2.9: SWC1908)."""
    if isinstance(error, BmcPasswordChangeError):
        error.hint = (
            "this BMC refuses even that over Redfish: change it once in its web interface or with racadm set "
            "iDRAC.Users.2.Password, then import the new one"
        )
    return error


__all__ = ["Asker", "CredentialState", "Job", "Plan", "Rotated", "Rotation", "plan_rotation"]
