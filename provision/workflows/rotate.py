"""New passwords for BMCs, so that the one that holds is never lost.

For every wave of BMCs, in this order:

1. A password that an earlier, interrupted run left pending is tried. Where the BMC takes it, it is the current one.
2. With the current one: find the account by its user name, and which lengths are accepted.
3. The new password is kept as pending, on disk, before any BMC hears of it.
4. With the current one: ``PATCH`` the account. Sent once; a lost answer is no reason to send it again.
5. With the new one: log in and read the account.
6. Where that works, the new one becomes the current one and the old one is forgotten. The pending one is forgotten
   only where a login with the old one works, or the change never left: no answer to the change proves that.

Killed at any point, the next run finds the pending password and begins with 1. A password that is refused is tried
once: an account that is locked by its own keeper helps nobody.
"""

from __future__ import annotations

import secrets
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TypeVar

from fabricctl.errors import (
    BmcError,
    BmcLoginError,
    BmcOutcomeUnknownError,
    BmcPasswordChangeError,
    BmcUnsupportedError,
)
from fabricctl.nodes.model import EventKind
from provision.bmc.account import Account
from provision.bmc.credential import Entry
from provision.bmc.new_password import Dice, fitting_length, new_password
from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target
from provision.redfish.bmc import Bmc
from provision.secrets.store import SecretStore
from provision.workflows.change import SENDING
from provision.workflows.journal import FORGET, Begun, Record
from provision.workflows.rotate_ask import Asker, look, refused, says_no, try_to_change
from provision.workflows.rotate_plan import Fate, PasswordChange, Rotated

T = TypeVar("T")
SOURCE = "rotate"
NEW = "new password"
UNPROVED = "accepted, not proved by a login"
UNANSWERED = "answer lost, not proved by a login"
_Chosen = tuple[PasswordChange, Account, Credentials]


@dataclass(frozen=True)
class _Sent:
    """A BMC that may have the new password. :param error: what leaves that open; None where it said yes."""

    job: PasswordChange
    new: Credentials
    error: BmcError | None

    def fate(self, done: Mapping[str, Rotated]) -> Fate | None:
        """What became of it, None while that is open."""
        found = done.get(self.job.host)
        return None if found is None else found.fate


class Rotation:
    """Carries a plan out, wave by wave.

    :param ask: speaks to BMCs; :param length: of new passwords; :param record: keeps each change
        from before it is sent, and that a BMC has its new one just before the old one is forgotten; :param step: told
        the name of each step once it is done, for progress. Whoever calls holds ``store.alone()``.
    """

    def __init__(
        self,
        store: SecretStore,
        ask: Asker,
        *,
        length: int,
        choose: Dice = secrets.choice,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
        record: Record = FORGET,
        step: Callable[[str], None] = lambda name: None,  # noqa: ARG005
    ) -> None:
        self._store, self._ask, self._length = store, ask, length
        self._choose, self._now, self._record, self._step = choose, now, record, step
        self._begun: dict[str, Begun] = {}

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
        for job, outcome in self._asked(jobs, look(jobs), lambda job: job.pending):
            if outcome.error is None:
                done[job.host] = Rotated(job, Fate.FINISHED)
            elif not refused(outcome.error) or job.current is None:
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
        for job, outcome in self._asked(jobs, look(jobs), lambda job: job.current):
            error = outcome.error
            if outcome.value is not None:
                ready.append((job, outcome.value))
                continue
            assert error is not None
            if job.pending is not None and refused(error):
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
    ) -> list[_Chosen]:
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

    def _change(self, chosen: Sequence[_Chosen], done: dict[str, Rotated]) -> list[_Sent]:
        """Step 4. Gives those whose BMC may have taken the new password.

        Nothing that a BMC answers to the change proves that it was not taken; only what failed before it left is sure.
        """
        of = {job.host: (account.path, new.password) for job, account, new in chosen}
        left: set[str] = set()

        async def work(bmc: Bmc) -> None:
            host = bmc.target.host
            await try_to_change(bmc, *of[host], lambda: left.add(host))

        jobs = [job for job, _, _ in chosen]
        for job in jobs:
            self._keep(job, f"{NEW}: {SENDING}")
        sent, never = [], []
        for (job, outcome), (_, _, new) in zip(
            self._asked(jobs, work, lambda job: job.current, writes=True), chosen, strict=True
        ):
            if outcome.error is not None and job.host not in left:
                never.append(job)
                done[job.host] = Rotated(job, Fate.UNCHANGED, _explained(outcome.error))
                self._keep(job, f"not changed: {outcome.error.message}")
            else:
                self._keep(
                    job, f"{NEW}: {UNPROVED if outcome.error is None else _words(outcome.error, UNANSWERED)}"
                )
                sent.append(_Sent(job, new, outcome.error))
        self._step("sent")
        self._store.drop_pending([job.key for job in never])
        return sent

    def _prove(self, sent: Sequence[_Sent], done: dict[str, Rotated]) -> None:
        """Steps 5 and 6: first the login that most likely works, so that hardly any is refused."""
        unlikely = [one for one in sent if one.error is not None and says_no(one.error)]
        likely = [one for one in sent if one not in unlikely]
        refused_old = self._old_holds(unlikely, done, last=False)
        refused_new = self._new_holds([*likely, *refused_old], done)
        self._step("proved")
        self._promote([one.job for one in sent if one.fate(done) is Fate.CHANGED])
        self._old_holds([one for one in refused_new if one not in refused_old], done, last=True)

    def _new_holds(self, sent: Sequence[_Sent], done: dict[str, Rotated]) -> list[_Sent]:
        """A login with the new password. Gives those whose BMC refuses it though nothing proves that it was taken."""
        new = {one.job.host: one.new for one in sent}
        doubtful = []
        jobs = [one.job for one in sent]
        for one, (job, outcome) in zip(
            sent, self._asked(jobs, look(jobs), lambda job: new[job.host]), strict=True
        ):
            if outcome.error is None:
                done[job.host] = Rotated(job, Fate.CHANGED)
                continue
            if refused(outcome.error) and one.error is not None:
                doubtful.append(one)
            self._unknown(job, outcome.error, done)
        return doubtful

    def _old_holds(self, sent: Sequence[_Sent], done: dict[str, Rotated], *, last: bool) -> list[_Sent]:
        """A login with the old password: the only proof that the new one was not taken. Gives those that refuse it."""
        kept, gone = [], []
        jobs = [one.job for one in sent]
        for one, (job, outcome) in zip(
            sent, self._asked(jobs, look(jobs), lambda job: job.current), strict=True
        ):
            if outcome.error is None:
                kept.append(job.key)
                done[job.host] = Rotated(job, Fate.UNCHANGED, one.error and _explained(one.error))
                self._keep(job, f"not changed: {_words(one.error, 'the old one holds')}")
            elif refused(outcome.error) and not last:
                gone.append(one)
            else:
                self._unknown(job, outcome.error, done)
        self._store.drop_pending(kept)
        return gone

    def _unknown(self, job: PasswordChange, error: BmcError, done: dict[str, Rotated]) -> None:
        done[job.host] = Rotated(job, Fate.UNKNOWN, error)
        self._keep(job, f"{NEW}: not known which one holds: {error.message}")

    def _promote(self, jobs: Sequence[PasswordChange]) -> None:
        for job in jobs:
            self._keep(job, f"{NEW}, kept by {job.key.kind.words}")
        self._store.promote([job.key for job in jobs], self._now(), SOURCE)
        self._step("promoted")

    def _keep(self, job: PasswordChange, after: str) -> None:
        """One event for each BMC, begun by the first word of it."""
        if job.host in self._begun:
            self._begun[job.host].tell([after])
        else:
            self._begun[job.host] = self._record.begin(EventKind.BMC_PASSWORD, job.host, [(job.state, after)])

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


def _words(error: BmcError | None, otherwise: str) -> str:
    """What a BMC answered, where there was an answer."""
    return otherwise if error is None or isinstance(error, BmcOutcomeUnknownError) else error.message


def _explained(error: BmcError) -> BmcError:
    """A factory password that even ``PATCH`` may not change: https://github.com/dell/iDRAC-Redfish-Scripting/issues/346
    (R6625, registry IDRAC.2.9: SWC1908)."""
    if isinstance(error, BmcPasswordChangeError):
        error.hint = (
            "this BMC refuses even that over Redfish: change it once in its web interface or with racadm set "
            "iDRAC.Users.2.Password, then import the new one"
        )
    return error
