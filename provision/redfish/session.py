"""One login per BMC per run, and always a logout."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fabricctl.errors import (
    BmcDeadlineError,
    BmcError,
    BmcGarbledError,
    BmcLinkError,
    BmcLoginError,
    BmcSessionsFullError,
    SecretError,
)
from provision.bmc.messages import Meaning, meaning
from provision.bmc.reply import Reply
from provision.bmc.secret import Credentials
from provision.bmc.session_list import still_ours
from provision.redfish.answers import error_of, password_change
from provision.redfish.interrupt import finish
from provision.redfish.keeper import Keeper
from provision.redfish.link import Link
from provision.redfish.paths import plain_path

SESSIONS = "/redfish/v1/SessionService/Sessions"
"""Where DSP0266 puts them from version 1.6 on; the service root's link comes first."""
LOGIN_S = 20.0
LOGOUT_S = 10.0
FULL_PAUSE_S = 12.0
"""Seconds before the one more try when every session is taken: those of a run that was just killed end so fast."""


class Session:
    """The login of one BMC: made when first needed, renewed once, always ended."""

    def __init__(self, link: Link, keeper: Keeper | None) -> None:
        self._link = link
        self._keeper = keeper
        self._credentials: Credentials | None = None
        self._token = ""
        self._uri = ""
        self._number = 0
        self._path = SESSIONS
        self._lock = asyncio.Lock()
        self._worked = False
        self._refused: BmcError | None = None
        self.ended: list[str] = []
        """Sessions of killed runs that were ended at login."""

    @property
    def uri(self) -> str:
        """Where the session lives, empty without one."""
        return self._uri

    async def headers(self, sessions_path: Callable[[], Awaitable[str]]) -> dict[str, str]:
        """What proves the login, logging in first where needed.

        :param sessions_path: tells where sessions are made. :raises BmcLoginError: and its kinds, never tried twice.
        """
        if self._token:
            return {"X-Auth-Token": self._token}
        if self._refused is not None:
            raise self._refused
        if self._link.target.basic:
            return {"Authorization": _basic(self._known())}
        async with self._lock:
            if not self._token:
                if self._refused is not None:
                    raise self._refused
                self._path = await sessions_path()
                await self._login()
        return {"X-Auth-Token": self._token}

    async def renew(self, stale: Mapping[str, str]) -> bool:
        """Log in again after a 401; whether there is now another login than the one that was refused.

        Only where the refused one has worked before: a BMC that accepts no login at all is not asked for more of them.
        """
        token = stale.get("X-Auth-Token", "")
        if not token:
            return False
        async with self._lock:
            if self._token != token:
                return bool(self._token)  # somebody else did meanwhile
            if not self._worked:
                return False
            self._worked = False
            self._forget()
            await self._login()
        return True

    def worked(self, login: Mapping[str, str]) -> None:
        """An answer other than 401 came to this login."""
        if self._token and login.get("X-Auth-Token") == self._token:
            self._worked = True

    def _known(self) -> Credentials:
        if self._credentials is None:
            source = self._link.options.credentials
            if source is None:
                raise BmcLoginError(
                    "this needs a login, and no credentials are used", bmc=str(self._link.target)
                )
            try:
                self._credentials = source(self._link.target)
            except SecretError as exc:
                raise BmcLoginError(f"no password to log in with: {exc}", bmc=str(self._link.target)) from exc
        return self._credentials

    async def _login(self) -> None:
        try:
            try:
                await self._open()
            except BmcSessionsFullError:
                await self._link.options.sleep(
                    FULL_PAUSE_S * (1.0 + 0.5 * self._link.options.random.random())
                )
                await self._open_after_all()
        except BmcLoginError as exc:
            self._refused = exc
            raise
        await self._end_stale()

    async def _open_after_all(self) -> None:
        """The one more try when every session was taken."""
        try:
            await self._open()
        except BmcSessionsFullError as exc:
            left = self._keeper.stale(self._link.target, self._known().user) if self._keeper else []
            if left:
                exc.hint = (
                    f"{len(left)} of them were left by a fabricctl that was killed; they end when idle (iDRAC9: after "
                    "30 minutes), and a BMC reset ends all"
                )
            raise

    async def _open(self) -> None:
        credentials = self._known()
        body = {"UserName": credentials.user, "Password": credentials.password.reveal()}
        reply = await finish(
            # sent again when its answer was lost, once: a session more is found and ended by the keeper, but every
            # refused password brings the account nearer to its lock
            self._link.until_ready(
                lambda counts: self._post(body, credentials, counts), idempotent=True, repeats=1
            )
        )
        if not reply.ok:
            raise error_of(self._link.target, "login", reply)
        if not self._token:
            raise BmcGarbledError(
                f"login: expected X-Auth-Token and Location, found HTTP {reply.status} without them",
                bmc=str(self._link.target),
            )
        wants_change = reply.says("PasswordChangeRequired") or meaning(reply) is Meaning.PASSWORD_CHANGE
        if wants_change and not self._link.options.change_password:
            await self.close()
            raise password_change(self._link.target, reply)

    async def _post(self, body: Mapping[str, Any], credentials: Credentials, counts: bool) -> Reply:
        """One login; the keeper knows of it before it is sent and as soon as it is answered."""
        number = self._keeper.asking(self._link.target, self._path, credentials) if self._keeper else 0
        try:
            reply = await self._link.send(
                "POST", self._path, deadline_s=LOGIN_S, headers={}, body=body, counts=counts
            )
        except BmcError as exc:
            if self._keeper and not exc.sent:
                self._keeper.closed(number)
            raise
        token = reply.headers.get("x-auth-token", "")
        uri = _made_at(reply)
        if reply.ok and token and uri:
            self._token, self._uri, self._number = token, uri, number
            if self._keeper:
                self._keeper.opened(number, uri, token)
        elif self._keeper and not reply.ok:
            self._keeper.closed(number)
        return reply

    async def _end_stale(self) -> None:
        """End what earlier runs left here, as far as it is certain to be theirs."""
        if self._keeper is None:
            return
        stale = self._keeper.stale(self._link.target, self._known().user)
        if not stale:
            return
        own = await self._look(self._uri)
        for uri in stale:
            other = await self._look(uri)
            # a BMC that was restarted counts its sessions anew: this may be somebody else's by now
            if other is not None and own is not None and still_ours(own, other) and await self._delete(uri):
                self.ended.append(uri)
            self._keeper.cleaned(self._link.target, uri)

    async def _look(self, uri: str) -> Mapping[str, Any] | None:
        try:
            reply = await self._link.send(
                "GET", uri, deadline_s=LOGOUT_S, headers={"X-Auth-Token": self._token}
            )
        except BmcError:
            return None
        return reply.resource if reply.ok else None

    async def _delete(self, uri: str) -> bool:
        """Whether the session is gone; 401 and 404 say that it was already.

        https://github.com/DMTF/python-redfish-library/issues/160: a session that timed out answers 401 to its logout.
        """
        for _ in range(2):
            try:
                reply = await self._link.send(
                    "DELETE", uri, deadline_s=LOGOUT_S, headers={"X-Auth-Token": self._token}, counts=False
                )
            except BmcDeadlineError:
                return False
            except BmcError:
                continue
            return reply.ok or meaning(reply) in (Meaning.UNAUTHORIZED, Meaning.NOT_FOUND)
        return False

    def _forget(self) -> None:
        if self._keeper and self._number:
            self._keeper.closed(self._number)
        self._token, self._uri, self._number = "", "", 0

    async def close(self) -> bool:
        """Log out; whether nothing is left behind. What could not be ended stays with the keeper."""
        if not self._token:
            return True
        gone = await self._delete(self._uri)
        if gone:
            self._forget()
        self._token = ""
        return gone


def _made_at(reply: Reply) -> str:
    """Where the new session lives; empty when the answer does not tell.

    On this BMC, whatever host the answer names: a BMC behind address translation knows only its inner address.
    """
    for link in (reply.location, str(reply.resource.get("@odata.id") or "")):
        try:
            return plain_path(link)
        except BmcLinkError:
            continue
    return ""


def _basic(credentials: Credentials) -> str:
    pair = f"{credentials.user}:{credentials.password.reveal()}"
    return "Basic " + base64.b64encode(pair.encode()).decode()
