"""A BMC that answers from a map of path -> body, as the captures hold them: for tests of what is made of bodies."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from fabricctl.errors import BmcError, BmcNotFoundError, BmcUnsupportedError
from provision.bmc.outcome import Note
from provision.bmc.reply import Reply
from provision.bmc.target import Target
from provision.redfish.bmc import Group, Layout, Members, Resource

R750 = "dell_r750_h100_ib_idrac9_6.00.30.json"
DGX = "nvidia_dgx_h100_8xCX7.json"
DELL = Layout(
    "/redfish/v1/Systems/System.Embedded.1",
    "/redfish/v1/Managers/iDRAC.Embedded.1",
    ("/redfish/v1/Chassis/System.Embedded.1",),
    "Dell",
    9,
)
NVIDIA = Layout(
    "/redfish/v1/Systems/DGX",
    "/redfish/v1/Managers/BMC",
    ("/redfish/v1/Chassis/DGX", "/redfish/v1/Chassis/CPUBaseboard"),
    "AMI",
)


@cache
def load(path: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(path.read_text())
    return found


class DumpBmc:
    """The reading half of ``Bmc`` over a map.

    :param fail: path -> error raised instead of an answer; :param asked: every path, in order.
    """

    def __init__(
        self,
        bodies: Mapping[str, Any],
        layout: Layout = DELL,
        host: str = "gpu001",
        fail: Mapping[str, BmcError] | None = None,
    ) -> None:
        self.bodies, self._layout = bodies, layout
        self._target = Target(host, "192.0.2.1")
        self._fail = dict(fail or {})
        self._notes: list[Note] = []
        self.asked: list[str] = []

    @property
    def target(self) -> Target:
        return self._target

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes)

    def note(self, path: str, text: str) -> None:
        self._notes.append(Note(path, text))

    async def root(self) -> Resource:
        return (await self.get("/redfish/v1")).resource

    async def layout(self) -> Layout:
        return self._layout

    async def get(self, path: str, group: Group = Group.QUICK) -> Reply:
        self.asked.append(path)
        plain, _, query = path.partition("?")
        if plain in self._fail:
            raise self._fail[plain]
        body = self.bodies.get(plain)
        if body is None or set(body) == {"error"}:
            raise BmcNotFoundError(f"{plain} is not there", status=404)
        return Reply(path, 200, {}, self._expanded(body) if "$expand" in query else body)

    def _expanded(self, value: Any, depth: int = 0) -> Any:
        if isinstance(value, list):
            return [self._expanded(item, depth) for item in value]
        if not isinstance(value, dict):
            return value
        if depth and set(value) == {"@odata.id"}:
            found = self.bodies.get(value["@odata.id"])
            return value if found is None or set(found) == {"error"} else found
        return {name: self._expanded(item, depth + 1) for name, item in value.items()}

    async def members(
        self, path: str, group: Group = Group.QUICK, *, until: Callable[[Resource], bool] | None = None
    ) -> Members:
        found = Members()
        body = (await self.get(path, group)).resource
        for reference in body.get("Members", ()):
            member = self.bodies.get(reference["@odata.id"])
            if member is None or set(member) == {"error"}:
                self.note(reference["@odata.id"], "is not there")
            else:
                found.append(member)
        return found

    async def patch(self, path: str, body: Resource) -> Reply:
        raise BmcUnsupportedError("a dump is not changed")

    async def post(self, path: str, body: Resource | None = None) -> Reply:
        raise BmcUnsupportedError("a dump is not changed")

    async def delete(self, path: str) -> Reply:
        raise BmcUnsupportedError("a dump is not changed")

    async def wait(self, seconds: float) -> None:
        return
