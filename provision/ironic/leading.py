"""Leading a node through states Ironic does not go through by itself."""

from __future__ import annotations

from typing import Any

from fabricctl.errors import (
    ProvisionerDeadlineError,
    ProvisionerPowerError,
    ProvisionerRefusedError,
    ProvisionerStateError,
)
from provision.ironic.link import IronicLink
from provision.ironic.reading import Reader

STEP_S = 2.0
FIELDS = "uuid,provision_state,last_error,maintenance,fault"
_REACHING = ("verifying",)
_LOOKING = ("inspecting", "inspect wait")
_CLEANING = ("cleaning", "clean wait", "clean hold")
_MANAGED_FROM = ("enroll", "available", "inspect failed", "clean failed", "adopt failed")
_ABORTED = {"clean wait": "abort", "inspect wait": "abort", "wait call-back": "deleted"}
_AT_WORK = ("verifying", "inspecting", "cleaning", "deploying", "deleting")


class Leader:
    """Moves nodes. :param inspect: look at the hardware on the way."""

    def __init__(self, link: IronicLink, reader: Reader) -> None:
        self._link, self._reader = link, reader

    async def tell(self, id: str, target: str, more: dict[str, Any] | None = None) -> None:
        """Ask for a change of state. :raises ProvisionerStateError: not from here."""
        await self._link.write("PUT", f"/v1/nodes/{id}/states/provision", {"target": target, **(more or {})})

    async def manage(self, id: str) -> None:
        """Reach the BMC, look at the hardware where that is wanted, and begin to make it available.

        It goes on from wherever a node is on this way, so it may be asked for again.

        :raises ProvisionerPowerError: the BMC was not reached; :raises ProvisionerRefusedError: inspection failed.
        :raises ProvisionerDeadlineError: Ironic takes too long.
        """
        node = await self._rest(id, await self._look(id), _REACHING)
        if node["provision_state"] in _CLEANING:
            return  # what was asked for is under way
        if node["provision_state"] in _MANAGED_FROM:
            if node["provision_state"] == "clean failed" and node.get("fault"):
                await self._link.write("DELETE", f"/v1/nodes/{id}/maintenance")
            await self.tell(id, "manage")
            node = await self._rest(id, await self._look(id), _REACHING)
        if node["provision_state"] == "enroll":
            raise ProvisionerPowerError(
                f"Ironic did not reach its BMC: {node.get('last_error') or 'no reason told'}"
            )
        if self._link.settings.inspect:
            node = await self._inspected(id, node)
        try:
            await self.tell(id, "provide")
        except ProvisionerStateError:
            # asked for before, by one whose answer was lost
            if (await self._look(id))["provision_state"] not in (*_CLEANING, "available"):
                raise

    async def _inspected(self, id: str, node: dict[str, Any]) -> dict[str, Any]:
        if node["provision_state"] not in _LOOKING:
            await self.tell(id, "inspect")
            node = await self._look(id)
        node = await self._rest(id, node, _LOOKING)
        if node["provision_state"] == "inspect failed":
            raise ProvisionerRefusedError(f"inspection failed: {node.get('last_error') or 'no reason told'}")
        return node

    async def abort(self, id: str) -> None:
        """End what a node waits for. While Ironic itself works on it, nobody can."""
        state = (await self._look(id))["provision_state"]
        if state in _AT_WORK:
            raise ProvisionerStateError(
                f"Ironic is at work on it ({state}): that cannot be ended, only waited for"
            )
        await self.tell(id, _ABORTED.get(state, "abort"))

    async def _look(self, id: str) -> dict[str, Any]:
        return await self._reader.node(id, FIELDS)

    async def _rest(self, id: str, node: dict[str, Any], moving: tuple[str, ...]) -> dict[str, Any]:
        """Wait until a node is in none of these states."""
        limit = self._link.settings.managed_s
        until = self._link.clock() + limit
        while node["provision_state"] in moving:
            if self._link.clock() > until:
                raise ProvisionerDeadlineError(f"still {node['provision_state']} after {limit:g} s")
            await self._link.sleep(STEP_S)
            node = await self._look(id)
        return node
