"""How BMCs are asked about passwords: with which login, for which account, and what a refusal proves."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Protocol, TypeVar

from fabricctl.errors import (
    BmcAnswerError,
    BmcBusyError,
    BmcError,
    BmcGarbledError,
    BmcLockedOutError,
    BmcLoginError,
    BmcNotReadyError,
    BmcPasswordChangeError,
    BmcSessionsFullError,
    BmcUnsupportedError,
)
from provision.bmc.account import Account, find_account, lengths
from provision.bmc.json_bodies import link, service_link
from provision.bmc.outcome import Outcome
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target
from provision.redfish.bmc import Bmc
from provision.redfish.fleet import FleetOptions, ask
from provision.workflows.rotate_plan import PasswordChange

T = TypeVar("T")


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
        return ask(
            targets,
            work,
            replace(options, credentials=known, change_password=True, writes=writes, identity=True),
        )

    return asked


def look(jobs: Sequence[PasswordChange]) -> Callable[[Bmc], Awaitable[Account]]:
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


def refused(error: BmcError) -> bool:
    """Whether user or password were refused, and not the login for another reason."""
    other = (BmcPasswordChangeError, BmcLockedOutError, BmcSessionsFullError)
    return isinstance(error, BmcLoginError) and not isinstance(error, other)


async def try_to_change(bmc: Bmc, path: str, password: Secret, trying: Callable[[], None]) -> None:
    """Change the account once. :param trying: called when the new password is about to leave, not before.

    Reading the account first costs nothing, as its ETag is wanted anyway, and tells a login that fails from a change
    that fails.
    """
    with suppress(BmcAnswerError, BmcUnsupportedError, BmcGarbledError, BmcPasswordChangeError):
        await bmc.get(path)  # what cannot be read may be written all the same
    trying()
    await bmc.patch(path, {"Password": password.reveal()})


def says_no(error: BmcError) -> bool:
    """Whether the BMC most likely keeps its old password, so that a login with that one is tried first.

    It proves nothing: BMCs end the sessions of an account whose password was changed, or restart a service, and then
    answer the very change with 401 or 503.
    """
    if isinstance(error, BmcAnswerError):
        return 400 <= error.status < 500 and error.status not in (401, 408)
    likely = (BmcUnsupportedError, BmcPasswordChangeError, BmcNotReadyError, BmcBusyError)
    return isinstance(error, likely) or not error.sent
