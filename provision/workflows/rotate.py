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

import secrets
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Protocol, TypeVar

from fabricctl.errors import (
    BmcAnswerError,
    BmcError,
    BmcLockedOutError,
    BmcLoginError,
    BmcOutcomeUnknownError,
    BmcPasswordChangeError,
    BmcSessionsFullError,
    BmcUnsupportedError,
)
from provision.bmc.account import Account, find_account, lengths
from provision.bmc.credential import Entry
from provision.bmc.json_bodies import link, service_link
from provision.bmc.new_password import Dice, fitting_length, new_password
from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target
from provision.redfish.bmc import Bmc
from provision.redfish.fleet import FleetOptions, ask
from provision.secrets.store import SecretStore
from provision.workflows.rotate_plan import Fate, PasswordChange, Rotated

T = TypeVar("T")
SOURCE = "rotate"


class Asker(Protocol):
    """Does work on BMCs, logged in with the credentials it is given; outcomes in the order of the targets."""

    def __call__(
        self,
        targets: Sequence[Target],
        work: Callable[[Bmc], Awaitable[T]],
        known: Callable[[Target], Credentials],
        *,
        writes: bool = False,
    ) -> list[Outcome[T]]:
        """Ask them. :param writes: it changes them."""
        ...


def asker(options: FleetOptions) -> Asker:
    """Speaks to BMCs as the options say, also to those that let nothing be done but change the password."""

    def asked(
        targets: Sequence[Target],
        work: Callable[[Bmc], Awaitable[T]],
        known: Callable[[Target], Credentials],
        *,
        writes: bool = False,
    ) -> list[Outcome[T]]:
        return ask(targets, work, replace(options, credentials=known, change_password=True, writes=writes))

    return asked


class Rotation:
    """Carries a plan out, wave by wave.

    :param ask: speaks to BMCs; :param length: of new passwords; :param record: keeps that a BMC has its new one, just
        before the old one is forgotten; :param step: told the name of each step once it is done, for progress. Whoever
        calls holds ``store.alone()``.
    """

    def __init__(
        self,
        store: SecretStore,
        ask: Asker,
        *,
        length: int,
        choose: Dice = secrets.choice,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        record: Callable[[PasswordChange], None] = lambda job: None,  # noqa: ARG005
        step: Callable[[str], None] = lambda name: None,  # noqa: ARG005
    ) -> None:
        self._store, self._ask, self._length = store, ask, length
        self._choose, self._now, self._record, self._step = choose, now, record, step

    def run(self, jobs: Sequence[PasswordChange], wave: int) -> Iterator[list[Rotated]]:
        """Results, one wave after the other, each in the order of its jobs. What a wave reached is kept."""
        for first in range(0, len(jobs), wave):
            yield self._wave(jobs[first : first + wave])

    def _wave(self, jobs: Sequence[PasswordChange]) -> list[Rotated]:
        done: dict[str, Rotated] = {}
        self._finish_former([job for job in jobs if job.pending is not None], done)
        ready = self._prepare([job for job in jobs if job.host not in done], done)
        chosen = self._begin(ready, done)
        sent = self._change(chosen, done)
        self._prove(sent, done)
        return [done[job.host] for job in jobs]

    def _finish_former(self, jobs: Sequence[PasswordChange], done: dict[str, Rotated]) -> None:
        """Step 1. Refused by name is an answer; anything else leaves both passwords where they are."""
        for job, outcome in self._asked(jobs, _look(jobs), lambda job: job.pending):
            if outcome.error is None:
                done[job.host] = Rotated(job, Fate.FINISHED)
            elif not _refused(outcome.error) or job.current is None:
                done[job.host] = Rotated(job, Fate.UNKNOWN, outcome.error)
        self._step("former tried")
        self._promote(
            [done[job.host].job for job in jobs if job.host in done and done[job.host].fate is Fate.FINISHED]
        )

    def _prepare(
        self, jobs: Sequence[PasswordChange], done: dict[str, Rotated]
    ) -> list[tuple[PasswordChange, Account]]:
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
            done[job.host] = Rotated(job, Fate.UNKNOWN if job.pending is not None else Fate.UNCHANGED, error)
        self._step("prepared")
        return ready

    def _begin(
        self, ready: Sequence[tuple[PasswordChange, Account]], done: dict[str, Rotated]
    ) -> list[tuple[PasswordChange, Account, Credentials]]:
        """Step 3: on disk before any BMC hears of it."""
        chosen, entries = [], []
        for job, account in ready:
            length = fitting_length(self._length, account.shortest, account.longest)
            if not length:
                text = f"it wants passwords of {account.shortest} to {account.longest} characters"
                done[job.host] = Rotated(job, Fate.UNCHANGED, BmcUnsupportedError(text, bmc=str(job.target)))
                continue
            new = job.pending or Credentials(job.user, new_password(length, self._choose))
            chosen.append((job, account, new))
            entries.append(self._entry(job, new.password))
        if entries:
            self._store.begin(entries)
        self._step("kept")
        return chosen

    def _entry(self, job: PasswordChange, new: Secret) -> Entry:
        now = self._now()
        old = job.entry or Entry(job.key, job.user, None, now, SOURCE)
        return replace(old, user=job.user, pending=new, pending_since=old.pending_since or now)

    def _change(
        self, chosen: Sequence[tuple[PasswordChange, Account, Credentials]], done: dict[str, Rotated]
    ) -> list[tuple[PasswordChange, Credentials, BmcError | None]]:
        """Step 4. Gives those whose BMC may have taken the new password, with the error that leaves it open."""
        of = {job.host: (account.path, new.password) for job, account, new in chosen}

        async def work(bmc: Bmc) -> None:
            path, password = of[bmc.target.host]
            await bmc.patch(path, {"Password": password.reveal()})

        sent, refused = [], []
        jobs = [job for job, _, _ in chosen]
        for (job, outcome), (_, _, new) in zip(
            self._asked(jobs, work, lambda job: job.current, writes=True), chosen, strict=True
        ):
            if outcome.error is not None and _never_taken(outcome.error):
                refused.append(job.key)
                done[job.host] = Rotated(job, Fate.UNCHANGED, _explained(outcome.error))
            else:
                sent.append((job, new, outcome.error))
        self._step("sent")
        self._store.drop_pending(refused)
        return sent

    def _prove(
        self, sent: Sequence[tuple[PasswordChange, Credentials, BmcError | None]], done: dict[str, Rotated]
    ) -> None:
        """Steps 5 and 6."""
        new = {job.host: credentials for job, credentials, _ in sent}
        open_error = {job.host: error for job, _, error in sent}
        jobs = [job for job, _, _ in sent]
        doubtful = []
        for job, outcome in self._asked(jobs, _look(jobs), lambda job: new[job.host]):
            if outcome.error is None:
                done[job.host] = Rotated(job, Fate.CHANGED)
            elif _refused(outcome.error) and open_error[job.host] is not None:
                doubtful.append(job)
            else:
                done[job.host] = Rotated(job, Fate.UNKNOWN, outcome.error)
        self._step("proved")
        self._promote([job for job in jobs if job.host in done and done[job.host].fate is Fate.CHANGED])
        self._old_still_holds(doubtful, open_error, done)

    def _old_still_holds(
        self, jobs: Sequence[PasswordChange], errors: dict[str, BmcError | None], done: dict[str, Rotated]
    ) -> None:
        """The answer was lost and the new password is refused: only a login with the old one tells what holds."""
        dropped = []
        for job, outcome in self._asked(jobs, _look(jobs), lambda job: job.current):
            if outcome.error is None:
                dropped.append(job.key)
                done[job.host] = Rotated(job, Fate.UNCHANGED, errors[job.host])
            else:
                done[job.host] = Rotated(job, Fate.UNKNOWN, outcome.error)
        self._store.drop_pending(dropped)

    def _promote(self, jobs: Sequence[PasswordChange]) -> None:
        for job in jobs:
            self._record(job)
        self._store.promote([job.key for job in jobs], self._now(), SOURCE)
        self._step("promoted")

    def _asked(
        self,
        jobs: Sequence[PasswordChange],
        work: Callable[[Bmc], Awaitable[T]],
        credentials: Callable[[PasswordChange], Credentials | None],
        *,
        writes: bool = False,
    ) -> list[tuple[PasswordChange, Outcome[T]]]:
        if not jobs:
            return []
        of = {job.host: credentials(job) for job in jobs}

        def known(target: Target) -> Credentials:
            found = of[target.host]
            assert found is not None
            return found

        outcomes = self._ask([job.target for job in jobs], work, known, writes=writes)
        return list(zip(jobs, outcomes, strict=True))


def _look(jobs: Sequence[PasswordChange]) -> Callable[[Bmc], Awaitable[Account]]:
    """Log in and find the account."""
    users = {job.host: job.user for job in jobs}

    async def work(bmc: Bmc) -> Account:
        user = users[bmc.target.host]
        root = await bmc.root()
        try:
            service = await bmc.get(service_link(root, "AccountService"))
        except BmcPasswordChangeError as exc:
            # DSP0266, "Password change required handling": it names the account, and nothing else can be read
            if not exc.account:
                raise
            return Account(exc.account)
        members = await bmc.members(link(service.resource, "Accounts") or f"{service.path}/Accounts")
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
    if not error.sent:
        return True
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
