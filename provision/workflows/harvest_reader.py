"""Reading for an inventory: what cannot be read becomes a gap of it, and reading goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from fabricctl.errors import (
    BmcCutError,
    BmcDeadlineError,
    BmcError,
    BmcLoginError,
    BmcNotFoundError,
    BmcTlsError,
)
from provision.bmc.bodies import Bodies
from provision.bmc.inventory import Depth, Family, Gap
from provision.bmc.json_bodies import Body
from provision.redfish.bmc import Bmc, Group

T = TypeVar("T")
_FATAL = (BmcLoginError, BmcTlsError)
"""Nothing else will be answered either, and a login that is tried again may lock the account."""

PATIENCE_S = 60.0
"""Longest wait for one group of a full harvest (firmware, storage, ...), repetitions and all: slow groups of real BMCs
take 20 s, and a BMC that keeps saying "not ready" there has told everything else."""


class Reader:
    """What is read of one machine, and what could not be.

    :param answers: resources that came; :param first_error: the first failure.
    """

    def __init__(self, bmc: Bmc, depth: Depth, patience_s: float = PATIENCE_S) -> None:
        self.bmc = bmc
        self.patience_s = patience_s
        self.bodies = Bodies(depth)
        self.answers = 0
        self.first_error: BmcError | None = None

    async def members(self, path: str, what: str, family: Family, group: Group = Group.QUICK) -> list[Body]:
        """A collection; none when it is not there, a gap when it cannot be read."""
        found = await self.attempt(self.bmc.members(path, group), path, what, family, missing=True)
        if found is not None and found.cut:
            self.gap(what, path, BmcCutError(f"read in part: {found.cut}"), family)
        return list(found or ())

    async def get(
        self, path: str, what: str, family: Family, group: Group = Group.QUICK, *, missing: bool = False
    ) -> Body | None:
        """A resource; None and a gap when it cannot be read. :param missing: it may well not be there."""
        reply = await self.attempt(self.bmc.get(path, group), path, what, family, missing=missing)
        return reply.resource if reply is not None else None

    async def attempt(
        self, work: Awaitable[T], path: str, what: str, family: Family, *, missing: bool = False
    ) -> T | None:
        """What some reading gives; None and a gap when it fails. :param missing: it may well not be there."""
        try:
            found = await work
        except BmcNotFoundError as exc:
            if missing:
                self.bmc.note(path, "is not there")
            else:
                self.gap(what, path, exc, family)
            return None
        except _FATAL:
            raise
        except BmcError as exc:
            self.gap(what, path, exc, family)
            return None
        self.answers += 1
        return found

    async def linked(self, path: str, family: Family) -> Body | None:
        """A resource that another one names; when it is not there, the link dangles, which is noted."""
        return await self.get(path, path.rpartition("/")[2], family, missing=True)

    async def patiently(
        self, what: str, path: str, family: Family, work: Callable[[], Coroutine[Any, Any, None]]
    ) -> None:
        """Do a group of a full harvest within its deadline; a gap when that passes."""
        try:
            async with asyncio.timeout(self.patience_s):
                await work()
        except TimeoutError:
            late = BmcDeadlineError(f"not read within {self.patience_s:g} s", bmc=str(self.bmc.target))
            self.gap(what, path, late, family)

    def gap(self, what: str, path: str, exc: BmcError, family: Family) -> None:
        """Record what could not be read."""
        self.first_error = self.first_error or exc
        self.bodies.gaps.append(Gap(what, path, exc.message, family))
