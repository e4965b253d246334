"""The resource tree of one kind of BMC: registered once, shared by every BMC of that kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Body, FamilyBody, Handler, LiveBody
from tests.sim.idrac.template import Template

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

Members = Sequence[str] | Callable[["SimBmc"], Sequence[str]]


class Moment(Enum):
    """When a feature may want to be told."""

    POST_STARTED = "post started"
    """Power came on, or a running host was reset: POST begins. Pending settings are applied now."""
    POST_DONE = "post done"
    """POST is over: the boot device was chosen, the inventory collected."""
    POWERED_OFF = "powered off"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection: its members' paths, and how it is shown.

    :param paged: more than 50 members are given in pages (logs and Dell's own collections do; standard ones do not).
    """

    head: Template
    members: Members
    paged: bool = False

    def paths(self, bmc: SimBmc) -> Sequence[str]:
        """Members as they are now."""
        return self.members(bmc) if callable(self.members) else self.members


Entry = Template | Collection | LiveBody


class Tree:
    """Paths and what answers at them."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.families: list[tuple[re.Pattern[str], FamilyBody]] = []
        self.handlers: dict[tuple[str, str], Handler] = {}
        self.patterns: list[tuple[str, re.Pattern[str], Handler]] = []
        self.watchers: dict[Moment, list[Callable[[SimBmc], None]]] = {moment: [] for moment in Moment}
        self.anonymous: set[str] = set()
        self.hidden: list[Callable[[SimBmc, str, Sequence[str]], Sequence[str]]] = []
        """Functions (bmc, path of a collection, members) -> members that are shown; for what is not ready."""
        self.config_job: Callable[[SimBmc, Body], str] | None = None
        """Set by the jobs feature: makes a BIOS configuration job of these attributes, returns its id."""
        self.lifecycle_log: Callable[[SimBmc, str, Sequence[str]], None] | None = None
        """Set by the logs feature: writes one entry (message key, arguments) into the Lifecycle log."""

    def fixed(self, path: str, body: Body, *, anonymous: bool = False) -> None:
        """A resource that never changes but for identities, which are written with :func:`template.own`."""
        self.entries[path] = Template.of(body)
        if anonymous:
            self.anonymous.add(path)

    def live(self, path: str, body: LiveBody, *, anonymous: bool = False) -> None:
        """A resource computed at every request; None: not there now (404)."""
        self.entries[path] = body
        if anonymous:
            self.anonymous.add(path)

    def family(self, pattern: str, body: FamilyBody) -> None:
        """Resources whose paths match a pattern (jobs, sessions, log entries); None: there is no such one."""
        self.families.append((re.compile(pattern), body))

    def collection(
        self, path: str, kind: str, members: Members, *, name: str = "", about: str = "", paged: bool = False
    ) -> None:
        """A collection, ``kind`` as in ``DriveCollection``. Members are paths, all or by state."""
        head: Body = {
            "@odata.context": f"/redfish/v1/$metadata#{kind}.{kind}",
            "@odata.id": path,
            "@odata.type": f"#{kind}.{kind}",
            "Description": about or f"Collection of {kind.removesuffix('Collection')}",
            "Name": name or f"{kind.removesuffix('Collection')} Collection",
        }
        self.entries[path] = Collection(Template.of(head), members, paged)

    def on(self, method: str, path: str, handler: Handler, *, anonymous: bool = False) -> None:
        """What a POST, PATCH, PUT or DELETE at this very path does."""
        self.handlers[method, path] = handler
        if anonymous:
            self.anonymous.add(f"{method} {path}")

    def on_pattern(self, method: str, pattern: str, handler: Handler) -> None:
        """What a method does at every path that matches; groups are in ``call.match``."""
        self.patterns.append((method, re.compile(pattern), handler))

    def at(self, moment: Moment, watcher: Callable[[SimBmc], None]) -> None:
        """Tell a feature, of every BMC of this tree."""
        self.watchers[moment].append(watcher)

    def handler(self, method: str, path: str) -> tuple[Handler | None, re.Match[str] | None]:
        """What answers a method at a path."""
        exact = self.handlers.get((method, path))
        if exact is not None:
            return exact, None
        for its_method, pattern, handler in self.patterns:
            if its_method == method and (match := pattern.fullmatch(path)):
                return handler, match
        return None, None

    def methods(self, path: str) -> list[str]:
        """What may be done at a path, for the Allow header."""
        allowed = {method for method, its_path in self.handlers if its_path == path}
        allowed |= {method for method, pattern, _ in self.patterns if pattern.fullmatch(path)}
        if path in self.entries or any(pattern.fullmatch(path) for pattern, _ in self.families):
            allowed |= {"GET", "HEAD"}
        return sorted(allowed)
