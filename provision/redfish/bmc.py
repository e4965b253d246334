"""The one small interface to a BMC, behind which transports, sessions, trust and retries live."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol

from provision.bmc.outcome import Note
from provision.bmc.reply import Reply
from provision.bmc.target import Target


class Group(Enum):
    """Resources by how long they may take; ``Limits`` holds the deadlines."""

    QUICK = "quick"
    """Most resources, and every write."""
    SLOW = "slow"
    """Logs, firmware, whatever the BMC must ask its parts for."""


Again = Callable[[], Awaitable[bool]]
"""Looks whether a command that was answered "not ready" should be sent again."""
Resource = Mapping[str, Any]
"""The JSON object of one resource."""


class Members(list[Resource]):
    """Members of a collection.

    :param cut: why the rest of them was not read; empty when these are all.
    """

    def __init__(self, found: Iterable[Resource] = (), cut: str = "") -> None:
        super().__init__(found)
        self.cut = cut


@dataclass(frozen=True, slots=True)
class Layout:
    """Where this BMC keeps its main resources; no trailing slash.

    :param system: ``/redfish/v1/Systems/System.Embedded.1``; :param chassis: every chassis worth asking, the main one
        first; enclosures and parts of it that have no network adapters are left out.
    :param vendor: of the service root (``Dell``); :param generation: of an iDRAC (8, 9, 10), 0 for others and unknown.
    """

    system: str
    manager: str
    chassis: tuple[str, ...]
    vendor: str = ""
    generation: int = 0

    @property
    def idrac(self) -> bool:
        """Whether it is an iDRAC, with the job queue, Lifecycle Controller and pending values of one."""
        return self.vendor == "Dell" or self.generation > 0


class Bmc(Protocol):
    """One BMC, logged in (or logging in at the first request that needs it).

    Reads are repeated where the BMC says "not ready", within its budget; writes never are. Every error is a
    ``BmcError`` that names the BMC. At most two reads and one write of a BMC are under way at any time.
    """

    @property
    def target(self) -> Target:
        """Whom it is."""
        ...

    def note(self, path: str, text: str) -> None:
        """Record something odd that is tolerated; it comes back in the outcome."""
        ...

    @property
    def notes(self) -> tuple[Note, ...]:
        """What was noted so far."""
        ...

    @property
    def session_uri(self) -> str:
        """Where its login lives; empty before the first request that needs one, and with HTTP Basic."""
        ...

    async def root(self) -> Resource:
        """The service root, asked once and without login."""
        ...

    async def layout(self) -> Layout:
        """Where the main resources are, worked out once (for an iDRAC without a request beyond the root)."""
        ...

    async def generation(self) -> int:
        """Of an iDRAC: 8, 9 or 10, asked once and then also in the layout; 0 for others."""
        ...

    async def get(self, path: str, group: Group = Group.QUICK, *, absent_s: float = 0.0) -> Reply:
        """One resource.

        :param absent_s: seconds the BMC may be away altogether, because it is known to restart.
        :raises BmcNotFoundError: it is not there; :raises BmcLinkError: it is on another host, and not asked for.
        :raises BmcError: any other failure.
        """
        ...

    async def members(
        self,
        path: str,
        group: Group = Group.QUICK,
        *,
        until: Callable[[Resource], bool] | None = None,
    ) -> Members:
        """Members of a collection, all pages; expanded (``$expand=*($levels=1)``) where possible, else one by one.

        A member whose link dangles is noted and left out; pages that repeat end the walk and are noted. Where the rest
        was not read, ``cut`` of the result says why, and the outcome has an error beside its value.

        :param until: stop at the first member it accepts (logs come newest first); that one is left out.
        """
        ...

    async def patch(self, path: str, body: Resource) -> Reply:
        """Change a resource, with If-Match where it has an ETag; a 412 is answered once by reading anew.

        :raises BmcOutcomeUnknownError: the answer was lost. Read the state and decide; nothing was sent twice.
        """
        ...

    async def post(self, path: str, body: Resource | None = None, *, again: Again | None = None) -> Reply:
        """An action, or a new member. Sent once, but for an explicit "not ready", after which it is sent again.

        :param again: asked before that: False where something shows that it was carried out all the same.
        :raises BmcOutcomeUnknownError: the answer was lost. Read the state and decide; nothing was sent twice.
        """
        ...

    async def delete(self, path: str) -> Reply:
        """Remove a member; one that is gone already counts as done."""
        ...

    async def wait(self, seconds: float) -> None:
        """Let time pass between two looks; the clock of tests may run faster."""
        ...
