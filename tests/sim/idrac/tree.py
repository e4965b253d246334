"""The resource tree of one kind of BMC: registered once, shared by every BMC of that kind."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING, Any

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
    INVENTORY_COLLECTED = "inventory collected"
    """What POST found is shown from now on."""
    POWERED_OFF = "powered off"


@dataclass(frozen=True, slots=True)
class Collection:
    """A collection: its members' paths, and how it is shown.

    :param paged: more than 50 members are given in pages (logs and Dell's own collections do; standard ones do not).
    :param inline: members come whole without being asked for (entries of logs, Dell's switch connections).
    """

    head: Template
    members: Members
    paged: bool = False
    inline: bool = False

    def paths(self, bmc: SimBmc) -> Sequence[str]:
        """Members as they are now."""
        return self.members(bmc) if callable(self.members) else self.members


ConfigJob = Callable[["SimBmc", Body, Callable[[], None]], str]
"""(bmc, BIOS attributes, apply) -> job id. The job calls ``apply`` when it runs in POST."""


@dataclass(frozen=True, slots=True)
class Mixed:
    """A resource of which some fields are computed at every request."""

    fixed: Template
    live: LiveBody


Entry = Template | Collection | Mixed | LiveBody


def _parts_of(value: Any) -> Iterator[Body]:
    """Dictionaries anywhere below."""
    for inner in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        if isinstance(inner, dict):
            yield inner
        yield from _parts_of(inner)


class Tree:
    """Paths and what answers at them."""

    def __init__(self) -> None:
        self.entries: dict[str, Entry] = {}
        self.families: list[tuple[re.Pattern[str], FamilyBody]] = []
        self.handlers: dict[tuple[str, str], Handler] = {}
        self.patterns: list[tuple[str, re.Pattern[str], Handler]] = []
        self.watchers: dict[Moment, list[Callable[[SimBmc], None]]] = {moment: [] for moment in Moment}
        self.anonymous: set[str] = set()
        self.aliases: dict[str, str] = {}
        """Old place of a resource and all below it -> where it lives now."""
        self.allowed: dict[str, str] = {}
        """Allow headers by path, worked out once."""
        self.inventory: set[str] = set()
        """Collections of parts of the host: empty until a POST has collected the inventory for the first time."""
        self.hidden: list[Callable[[SimBmc, str, Sequence[str]], Sequence[str]]] = []
        """Functions (bmc, path of a collection, members) -> members that are shown; for what is not ready."""
        self.config_job: ConfigJob | None = None
        """Set by the jobs feature: makes a configuration job, returns its id. Without it, what is to be configured
        just happens in the next POST."""
        self.lifecycle_log: Callable[[SimBmc, str, Sequence[str]], None] | None = None
        """Set by the logs feature: writes one entry (message key, arguments) into the Lifecycle log."""

    def home(self, path: str) -> str:
        """Where a path lives: old firmware served some resources elsewhere, and still answers there."""
        for old, new in self.aliases.items():
            if path.startswith(old) and path[len(old) : len(old) + 1] in ("", "/"):
                return new + path[len(old) :]
        return path

    def fixed(self, path: str, body: Body, *, anonymous: bool = False, embedded: bool = True) -> None:
        """A resource that never changes but for identities, which are written with :func:`template.own`.

        :param embedded: resources that stand whole in it (Dell's own) are served at their own paths too.
        """
        self.entries[path] = Template.of(body)
        if embedded:
            self._embedded(body)
        if anonymous:
            self.anonymous.add(path)

    def mixed(self, path: str, body: Body, live: Callable[[SimBmc], Body]) -> None:
        """A fixed resource with some more fields that are computed at every request (none of them in ``body``)."""
        self.entries[path] = Mixed(Template.of(body), live)
        self._embedded(body)

    def _embedded(self, body: Body) -> None:
        for inner in _parts_of(body):
            path = str(inner.get("@odata.id", ""))
            if len(inner) > 1 and path and "#" not in path and path not in self.entries:
                name = str(inner.get("@odata.type", "")).rpartition(".")[2]
                about = f"An instance of {name}."  # stands at its own path only
                self.entries[path] = Template.of({"Description": about, "Name": name, **inner})
                home = path.rpartition("/")[0]
                if "/Oem/Dell/" in home:
                    self._joins(home, path)

    def _joins(self, home: str, path: str) -> None:
        """Dell's own resources are in collections of their kind."""
        entry = self.entries.get(home)
        if entry is None:
            self.collection(
                home, f"{home.rpartition('/')[2].removesuffix('s')}Collection", [path], paged=True
            )
        elif isinstance(entry, Collection) and isinstance(entry.members, list):
            entry.members.append(path)

    def live(self, path: str, body: LiveBody, *, anonymous: bool = False) -> None:
        """A resource computed at every request; None: not there now (404)."""
        self.entries[path] = body
        if anonymous:
            self.anonymous.add(path)

    def family(self, pattern: str, body: FamilyBody) -> None:
        """Resources whose paths match a pattern (jobs, sessions, log entries); None: there is no such one."""
        self.families.append((re.compile(pattern), body))

    def collection(
        self,
        path: str,
        kind: str,
        members: Members,
        *,
        name: str = "",
        about: str = "",
        paged: bool = False,
        inline: bool = False,
    ) -> None:
        """A collection, ``kind`` as in ``DriveCollection``. Members are paths, all or by state."""
        head: Body = {
            "@odata.context": f"/redfish/v1/$metadata#{kind}.{kind}",
            "@odata.id": path,
            "@odata.type": f"#{kind}.{kind}",
            "Description": about or f"Collection of {kind.removesuffix('Collection')}",
            "Name": name or f"{kind.removesuffix('Collection')} Collection",
        }
        self.entries[path] = Collection(Template.of(head), members, paged, inline)

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
