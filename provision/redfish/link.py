"""The wire to one BMC: requests counted, broken off when it is sick, waited for while it is not ready."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from fabricctl.errors import (
    BmcBusyError,
    BmcDeadlineError,
    BmcError,
    BmcGarbledError,
    BmcNotReadyError,
    BmcSkippedError,
    BmcTlsError,
    BmcTooLargeError,
    BmcUnreachableError,
)
from provision.bmc.messages import Meaning, asked_wait, meaning, said, told
from provision.bmc.reply import Reply
from provision.bmc.schedule import Budget
from provision.bmc.target import Target
from provision.redfish.limits import FleetOptions
from provision.redfish.mask import Mask
from provision.redfish.transport import Transport

FAILURES = 3
"""Transport failures in a row after which a BMC is not asked any more."""
REPEATS = 2
"""Times a read is sent again when its connection broke or its answer was cut short."""
TRIES = 3
"""Times a resource is asked that answers 503 (or 429) and no word why, with pauses of 2 to 4 and 4 to 8 seconds: a web
server whose Redfish service is starting, or one resource that is broken for good."""
NO_REASON_SHARE = 1 / 6
"""Of a BMC's budget, for all such answers; the rest is for those that say "not ready", or when to come back."""
LOOK_S = 6.0
"""Seconds, and up to half of it more, between looks at a BMC that restarts. It takes one to ten minutes: looking
oftener would tell nothing sooner, and a handshake costs it most while it starts."""
_LOST = (BmcUnreachableError, BmcDeadlineError, BmcGarbledError)


class Link:
    """One BMC, its requests and its patience."""

    def __init__(self, target: Target, transport: Transport, options: FleetOptions) -> None:
        self.target = target
        self.options = options
        self.requests = 0
        self.answered_at = options.clock()
        self._transport = transport
        self._budget = Budget(options.limits.budget_s, options.random)
        self._without_reason = Budget(options.limits.budget_s * NO_REASON_SHARE, options.random)
        self._failures = 0
        self._broken: BmcError | None = None
        self._met = False
        self._bytes = 0
        self._waits = False

    async def send(
        self,
        method: str,
        path: str,
        *,
        deadline_s: float,
        headers: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
        counts: bool = True,
    ) -> Reply:
        """One request, once.

        :param counts: whether a failure counts against the BMC: not while it is known to be away.
        :raises BmcSkippedError: it failed too often; :raises BmcError: as the transport says.
        """
        if self._broken is not None and counts:
            raise BmcSkippedError(
                f"not asked any more: {self._broken.message}", bmc=str(self.target)
            ) from self._broken
        if self._bytes > self.options.limits.all_bytes and counts:
            most = self.options.limits.all_bytes / 2**20
            raise BmcSkippedError(f"not asked any more: it sent more than {most:g} MiB", bmc=str(self.target))
        self.requests += 1
        try:
            reply = await self._transport.send(
                method, path, deadline_s=deadline_s, headers=headers, body=body
            )
        except BmcTlsError as exc:
            self._broken = exc
            raise
        except BmcError as exc:
            if counts:
                self._failed(exc)
            raise
        self._bytes += reply.size
        self._failures = 0
        self._met = True
        self._broken = None
        self.answered_at = self.options.clock()
        return reply

    def _failed(self, exc: BmcError) -> None:
        self._failures += 1
        # a BMC that let its very first request hang will let the others hang, too
        silent = not self._met and isinstance(exc, BmcDeadlineError)
        if self._failures >= FAILURES or silent:
            self._broken = exc

    async def until_ready(
        self,
        send: Callable[[bool], Awaitable[Reply]],
        *,
        idempotent: bool,
        repeats: int = REPEATS,
        absent_s: float = 0.0,
        unready: Callable[[Reply], str] | None = None,
    ) -> Reply:
        """Send until the BMC is ready, within its budget.

        :param send: sends once; told whether a failure counts against the BMC.
        :param idempotent: also again when the connection broke and nobody knows what happened; else only what the
            BMC refused by name, or what never left.
        :param repeats: how often at most for a broken connection.
        :param absent_s: seconds it may be away altogether: it is restarting, and its caller knows.
        :param unready: why an answer that looks like a success is none, empty when it is one.
        :raises BmcNotReadyError: :raises BmcBusyError: the budget is spent; :raises BmcError: what ``send`` raises.
        """
        away_until = self.options.clock() + absent_s
        attempt = lost = tries = 0
        while True:
            try:
                reply = await send(absent_s <= 0)
            except _LOST as exc:
                if not idempotent and exc.sent:
                    raise
                if self.options.clock() < away_until:
                    await self._look_later()
                    continue
                wait = self._again(exc, lost, repeats)
                if wait is None:
                    raise
                lost += 1
                await self._pause(wait)
                continue
            why = self._why_wait(reply, idempotent, unready)
            if not why:
                self._goes_on()
                return reply
            if reply.ok or _gives_reason(reply):
                wait = self._budget.take(
                    attempt, asked_wait(reply, self.options.now()), now=self.options.clock()
                )
                if wait is None:
                    raise self._spent(reply, why)
                attempt += 1
                await self._pause(wait)
                continue
            tries += 1
            if self.options.clock() < away_until:
                await self._look_later()
                continue
            wait = (
                self._without_reason.take(tries + 1, now=self.options.clock())
                if tries < TRIES and absent_s <= 0
                else None
            )
            if wait is None:
                raise self._mute(reply, tries)
            await self._pause(wait)

    async def _pause(self, seconds: float) -> None:
        """Wait for the BMC, and let it be known."""
        self._waits = True
        self.options.waiting(self.target, True)
        await self.options.sleep(seconds)

    def _goes_on(self) -> None:
        if self._waits:
            self._waits = False
            self.options.waiting(self.target, False)

    async def _look_later(self) -> None:
        await self._pause(LOOK_S * (1.0 + 0.5 * self.options.random.random()))

    def _again(self, exc: BmcError, lost: int, repeats: int) -> float | None:
        """The pause before a lost read is sent again; None when it is not: a BMC that hangs has had its deadline."""
        if (
            lost >= repeats
            or self._broken is not None
            or isinstance(exc, (BmcDeadlineError, BmcTooLargeError))
        ):
            return None
        return self._budget.take(lost, now=self.options.clock())

    def _why_wait(self, reply: Reply, idempotent: bool, unready: Callable[[Reply], str] | None) -> str:
        """Why to ask again, empty when the answer stands."""
        if reply.ok:
            return unready(reply) if unready is not None else ""
        if meaning(reply) not in (Meaning.NOT_READY, Meaning.BUSY):
            return ""
        # a bare 503 to a command may come from something between, after the BMC has carried it out
        return said(reply) if idempotent or _gives_reason(reply) else ""

    def _spent(self, reply: Reply, why: str) -> BmcError:
        kind = BmcBusyError if meaning(reply) is Meaning.BUSY else BmcNotReadyError
        asked = asked_wait(reply, self.options.now())
        wants = f", and it asks for {asked:.0f} s more" if asked else ""
        return kind(
            f"{reply.path}: still not ready after {self._budget.spent_s:.0f} s of waiting{wants}: {why}",
            bmc=str(self.target),
        )

    def _mute(self, reply: Reply, tries: int) -> BmcError:
        often = f", asked {tries} times" if tries > 1 else ""
        error = BmcNotReadyError(f"{reply.path}: {said(reply)} without a reason{often}", bmc=str(self.target))
        error.named = False
        return error

    @property
    def mask(self) -> Mask:
        """The secrets of this link."""
        return self._transport.mask

    async def close(self) -> None:
        """Close its connections."""
        await self._transport.close()


def _gives_reason(reply: Reply) -> bool:
    """Whether an answer itself says that the BMC is not ready, or when to come back."""
    return told(reply) is not None or "retry-after" in reply.headers
