"""User data of one installation, and what becomes of the host key in it, by what is known of the sending."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from fabricctl.errors import FabricctlError
from provision.bmc.secret import Secret
from provision.workflows.install_send import NOT_DONE

if TYPE_CHECKING:
    from provision.workflows.install_node import Node


class Seeds(Protocol):
    """Makes what a host is told at its first boot, with host keys of its own."""

    async def make(self, host: str) -> Secret:
        """Fresh keys, recorded beside those that hold; the user data that brings them.

        :raises StateError: they cannot be recorded, so nothing must be sent.
        """
        ...

    async def accepted(self, host: str) -> None:
        """The installation with the keys that were made last was accepted: they alone hold."""
        ...

    async def refused(self, host: str) -> None:
        """It was refused, and nothing was changed: the keys that were made last are withdrawn."""
        ...


@dataclass
class OneInstallation:
    """The user data of one host: made once, whichever of two commands was carried out.

    :ivar strange: every installation that was asked for was refused; one that runs is somebody else's.
    """

    seeds: Seeds
    strange: bool = field(default=False, init=False)
    _made: Secret | None = field(default=None, init=False)
    _unsure: bool = field(default=False, init=False)

    async def send(self, node: Node, deploy: Callable[[Secret], Awaitable[None]]) -> None:
        """Ask for the installation. With an unknown outcome both keys stay: the host may show either.

        :raises ProvisionerError: of ``deploy``; :raises StateError: the keys cannot be recorded; nothing was sent.
        """
        if self._made is None:
            self._made = await self.seeds.make(node.host)
        data = self._made
        try:
            await node.call(lambda: deploy(data))
        except NOT_DONE:
            if not self._unsure:
                self.strange, self._made = True, None
                await self._settle(node, self.seeds.refused)
            raise
        except BaseException:
            self._unsure, self.strange = True, False
            raise
        self.strange = False
        await self._settle(node, self.seeds.accepted)

    async def _settle(self, node: Node, settle: Callable[[str], Awaitable[None]]) -> None:
        """What cannot be recorded here costs nothing: one key more is expected, and that is said."""
        try:
            await settle(node.host)
        except FabricctlError as error:
            node.notes.append(f"one ssh host key too many is recorded for it: {error}")
