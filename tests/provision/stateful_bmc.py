"""A BMC in memory for tests of decisions that need no wire: resources in a dictionary, actions as functions.

Its clock runs when somebody waits. What concerns transports is tested against the simulator.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from types import MappingProxyType
from typing import Any, TypeVar

from fabricctl.errors import BmcAnswerError, BmcError, BmcNotFoundError
from provision.bmc.outcome import Note
from provision.bmc.reply import Reply
from provision.bmc.target import Target
from provision.redfish.bmc import Again, Group, Layout, Members, Resource

T = TypeVar("T")
ROOT = "/redfish/v1"
Answer = Reply | BmcError
Handler = Callable[[Mapping[str, Any]], Answer]

DELL = Layout(
    system="/redfish/v1/Systems/System.Embedded.1",
    manager="/redfish/v1/Managers/iDRAC.Embedded.1",
    chassis=("/redfish/v1/Chassis/System.Embedded.1",),
    vendor="Dell",
    generation=9,
)
DGX = Layout(
    "/redfish/v1/Systems/DGX",
    "/redfish/v1/Managers/BMC",
    ("/redfish/v1/Chassis/DGX", "/redfish/v1/Chassis/CPUBaseboard"),
    "AMI",
)


class StatefulBmc:
    """The ``Bmc`` protocol over a dictionary.

    :param resources: path -> body; a body may be a function of the time, and one that is an error is not there.
    :param fail: path -> error raised instead of an answer.
    :param sent: writes as method, path, body; :param asked: every path that was read, with its query.
    """

    def __init__(
        self,
        resources: dict[str, Any],
        layout: Layout = DELL,
        *,
        fail: Mapping[str, BmcError] = MappingProxyType({}),
    ) -> None:
        self.fail = fail
        self.asked: list[str] = []
        self.resources = resources
        self.handlers: dict[tuple[str, str], Handler] = {}
        self.sent: list[tuple[str, str, Mapping[str, Any]]] = []
        self.now = 0.0
        self.silent: Callable[[float], BmcError | None] = lambda now: None
        self._layout = layout
        self._notes: list[Note] = []

    @property
    def target(self) -> Target:
        return Target("gpu001", "192.0.2.1")

    @property
    def notes(self) -> tuple[Note, ...]:
        return tuple(self._notes)

    @property
    def session_uri(self) -> str:
        return ""

    def note(self, path: str, text: str) -> None:
        self._notes.append(Note(path, text))

    async def root(self) -> Resource:
        self.asked.append(ROOT)
        found: Resource = self.resources.get(ROOT) or {"Vendor": self._layout.vendor}
        return found

    async def layout(self) -> Layout:
        return self._layout

    def body(self, path: str) -> Any:
        error = self.silent(self.now)
        if error is not None:
            raise error
        if path in self.fail:
            raise self.fail[path]
        held = self.resources.get(path)
        found = held(self.now) if callable(held) else held
        if found is None or set(found) == {"error"}:
            raise BmcNotFoundError(
                "no such resource", status=404, ids=("Base.1.12.ResourceMissingAtURI",), bmc="gpu001"
            )
        return found

    async def generation(self) -> int:
        return self._layout.generation

    async def get(self, path: str, group: Group = Group.QUICK, *, absent_s: float = 0.0) -> Reply:
        self.asked.append(path)
        plain, _, query = path.partition("?")
        body = self.body(plain)
        return Reply(path, 200, body=self._expanded(body) if "$expand" in query else body)

    def _expanded(self, value: Any, depth: int = 0) -> Any:
        """One level of links replaced by what they lead to, as ``$expand=*($levels=1)`` does (DSP0266)."""
        if isinstance(value, list):
            return [self._expanded(item, depth) for item in value]
        if not isinstance(value, dict):
            return value
        if depth and set(value) == {"@odata.id"}:
            found = self.resources.get(value["@odata.id"])
            return value if found is None or set(found) == {"error"} else found
        return {name: self._expanded(item, depth + 1) for name, item in value.items()}

    async def members(
        self,
        path: str,
        group: Group = Group.QUICK,
        *,
        until: Callable[[Resource], bool] | None = None,
    ) -> Members:
        self.asked.append(path)
        found = Members()
        for link in self.body(path).get("Members", ()):
            try:
                body = self.body(link["@odata.id"]) if set(link) == {"@odata.id"} else link
            except BmcNotFoundError:
                self.note(link["@odata.id"], "listed, but not there")
                continue
            if until is not None and until(body):
                break
            found.append(body)
        return found

    async def patch(self, path: str, body: Resource) -> Reply:
        return self._write("PATCH", path, body)

    async def post(self, path: str, body: Resource | None = None, *, again: Again | None = None) -> Reply:
        return self._write("POST", path, body or {})

    async def delete(self, path: str) -> Reply:
        return self._write("DELETE", path, {})

    async def wait(self, seconds: float) -> None:
        self.now += seconds
        await asyncio.sleep(0)

    def _write(self, method: str, path: str, body: Resource) -> Reply:
        error = self.silent(self.now)
        if error is not None:
            raise error
        self.sent.append((method, path, body))
        handler = self.handlers.get((method, path))
        if handler is None:
            raise BmcAnswerError(
                "not allowed", status=405, ids=("Base.1.12.OperationNotAllowed",), bmc="gpu001"
            )
        answer = handler(body)
        if isinstance(answer, BmcError):
            raise answer
        return answer


def run(work: Coroutine[Any, Any, T] | Awaitable[T]) -> T:
    """One piece of work, in its own loop."""

    async def main() -> T:
        return await work

    return asyncio.run(main())


def refusal(status: int, *keys: str) -> BmcAnswerError:
    """An error answer with message ids as an iDRAC9 6.x writes them."""
    return BmcAnswerError(
        f"HTTP {status}", status=status, ids=tuple(f"IDRAC.2.7.{key}" for key in keys), bmc="gpu001"
    )
