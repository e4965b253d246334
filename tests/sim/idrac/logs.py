"""The two logs of an iDRAC: the system event log and the Lifecycle log. Newest first, 50 a page."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.log_events import CLEARED, EVENTS, Entry, Event, lifecycle_history, sel_history
from tests.sim.idrac.messages import success
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import MANAGER, ROOT

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SERVICES = f"{MANAGER}/LogServices"
SEL, LCLOG, FAULTS = f"{SERVICES}/Sel", f"{SERVICES}/Lclog", f"{SERVICES}/FaultList"
CLEAR = f"{SEL}/Actions/LogService.ClearLog"


class Logs:
    """The logs of one BMC, oldest first here.

    What happened before the simulation is made when somebody first reads: hundreds of BMCs that nobody asks stay small.
    """

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self._new: list[tuple[datetime, Event, tuple[str, ...]]] = []
        self._lifecycle: list[Entry] | None = None
        self._sel: list[Entry] | None = None
        self.quiet = False
        """Start with empty logs."""

    @property
    def lifecycle(self) -> list[Entry]:
        """The Lifecycle log."""
        if self._lifecycle is None:
            dice = random.Random(f"log {self._bmc.service_tag}")
            self._lifecycle = [] if self.quiet else lifecycle_history(self._bmc.started, dice)
        for when, event, args in self._new:
            self._lifecycle.append(Entry(_next(self._lifecycle), when, event, args))
        self._new.clear()
        return self._lifecycle

    @property
    def sel(self) -> list[Entry]:
        """The system event log."""
        if self._sel is None:
            self._sel = [] if self.quiet else sel_history(self._bmc.started)
        return self._sel

    def write(self, key: str, *args: str, when: datetime | None = None) -> None:
        """One entry into the Lifecycle log."""
        event = EVENTS.get(key) or Event(key, " ".join(["{}"] * len(args)) or key)
        self._new.append((when or self._bmc.time(), event, args))

    def trouble(self, key: str, *args: str, when: datetime | None = None) -> None:
        """A hardware event: both logs get it."""
        self.write(key, *args, when=when)
        self.sel.append(Entry(_next(self.sel), when or self._bmc.time(), EVENTS[key], args))

    def clear_sel(self) -> None:
        """Empty it; the entry that says so stays."""
        self._sel = [Entry(1, self._bmc.time(), CLEARED)]


def _next(entries: Sequence[Entry]) -> int:
    return entries[-1].number + 1 if entries else 1


def _stamp(when: datetime) -> str:
    return when.replace(microsecond=0).isoformat()


def _sel_body(bmc: SimBmc, entry: Entry) -> Body:
    event = entry.event
    old = bmc.profile.value.generation < 10
    # An iDRAC9 gives the raw code of the event here (6.00.30, capture of 2024), newer ones the readable id.
    return {
        "@odata.context": f"{ROOT}/$metadata#LogEntry.LogEntry",
        "@odata.id": f"{SEL}/Entries/{entry.number}",
        "@odata.type": "#LogEntry.v1_9_0.LogEntry",
        "Created": _stamp(entry.created),
        "Description": f"Log Entry {entry.number}",
        "EntryCode": "Assert",
        "EntryType": "SEL",
        "GeneratorId": "0x0020",
        "Id": str(entry.number),
        "Links": {},
        "Message": entry.message,
        "MessageArgs": list(entry.args),
        "MessageArgs@odata.count": len(entry.args),
        "MessageId": event.code if old else f"{bmc.profile.value.registry}.{event.key}",
        "Name": f"Log Entry {entry.number}",
        "SensorNumber": 26,
        "SensorType": event.sensor,
        "Severity": event.severity,
    }


def _lifecycle_body(bmc: SimBmc, entry: Entry) -> Body:
    return {
        "@odata.context": f"{ROOT}/$metadata#LogEntry.LogEntry",
        "@odata.id": f"{LCLOG}/Entries/{entry.number}",
        "@odata.type": "#LogEntry.v1_9_0.LogEntry",
        "Created": _stamp(entry.created),
        "Description": f"Log Entry {entry.number}",
        "EntryType": "Oem",
        "Id": str(entry.number),
        "Links": {"OriginOfCondition": {"@odata.id": MANAGER}} if entry.event.category == "Audit" else {},
        "Message": entry.message,
        "MessageArgs": list(entry.args),
        "MessageArgs@odata.count": len(entry.args),
        "MessageId": f"{bmc.profile.value.registry}.{entry.event.key}",
        "Name": f"Log Entry {entry.number}",
        "Oem": {
            "Dell": {
                "@odata.type": "#DellLCLogEntry.v1_1_0.DellLCLogEntry",
                "Category": entry.event.category,
                "Comment": None,
                "LastUpdatedByUser": None,
            }
        },
        "OemRecordFormat": "Dell",
        "Severity": entry.event.severity,
    }


def _find(entries: Sequence[Entry], number: int) -> Entry | None:
    at = number - entries[0].number if entries else -1
    return entries[at] if 0 <= at < len(entries) else None


def _service(path: str, name: str, about: str, records: int, kind: str) -> Body:
    return {
        "@odata.context": f"{ROOT}/$metadata#LogService.LogService",
        "@odata.id": path,
        "@odata.type": "#LogService.v1_2_0.LogService",
        "Description": about,
        "Entries": {"@odata.id": f"{path}/Entries"},
        "Id": path.rpartition("/")[2],
        "LogEntryType": kind,
        "MaxNumberOfRecords": records,
        "Name": name,
        "OverWritePolicy": "WrapsWhenFull",
        "ServiceEnabled": True,
    }


def _services(tree: Tree) -> None:
    def dated(bmc: SimBmc, body: Body) -> Body:
        now = bmc.time()
        return {**body, "DateTime": _stamp(now), "DateTimeLocalOffset": now.isoformat()[-6:]}

    sel = _service(SEL, "SEL Log Service", "SEL Log Service", 1024, "SEL")
    sel["Actions"] = {"#LogService.ClearLog": {"target": CLEAR}}
    about = "LifeCycle Controller Log Service"
    lclog = _service(LCLOG, about, about, 500000, "OEM")
    faults = _service(FAULTS, "FaultList Service", "Fault List Service", 50, "Multiple")
    for path, body in ((SEL, sel), (LCLOG, lclog), (FAULTS, faults)):
        tree.live(path, lambda bmc, body=body: dated(bmc, body))  # type: ignore[misc]
    tree.collection(
        SERVICES,
        "LogServiceCollection",
        [SEL, LCLOG, FAULTS],
        name="Log Service Collection",
        about="Collection of Log Services for this Manager",
    )


def _clear(call: Call) -> Answer:
    logs = call.bmc.part(Logs)
    logs.clear_sel()
    logs.write("LOG203", call.user, call.client)
    return success(call.bmc.profile)


def install(tree: Tree, _profile: Profile) -> None:
    """Log services and their entries."""
    _services(tree)
    tree.collection(
        f"{SEL}/Entries",
        "LogEntryCollection",
        lambda bmc: [f"{SEL}/Entries/{entry.number}" for entry in reversed(bmc.part(Logs).sel)],
        name="Log Entry Collection",
        about="System Event Logs for this manager",
        paged=True,
        inline=True,
    )
    tree.collection(
        f"{LCLOG}/Entries",
        "LogEntryCollection",
        lambda bmc: [f"{LCLOG}/Entries/{entry.number}" for entry in reversed(bmc.part(Logs).lifecycle)],
        name="Log Entry Collection",
        about="LC Logs for this manager",
        paged=True,
        inline=True,
    )
    tree.collection(f"{FAULTS}/Entries", "LogEntryCollection", [], name="FaultList Entries Collection")

    def sel_entry(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        entry = _find(bmc.part(Logs).sel, int(match["number"]))
        return _sel_body(bmc, entry) if entry else None

    def lifecycle_entry(bmc: SimBmc, match: re.Match[str]) -> Body | None:
        entry = _find(bmc.part(Logs).lifecycle, int(match["number"]))
        return _lifecycle_body(bmc, entry) if entry else None

    tree.family(rf"{SEL}/Entries/(?P<number>\d+)", sel_entry)
    tree.family(rf"{LCLOG}/Entries/(?P<number>\d+)", lifecycle_entry)
    tree.on("POST", CLEAR, _clear)
    tree.lifecycle_log = lambda bmc, key, args: bmc.part(Logs).write(key, *args)
