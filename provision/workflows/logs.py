"""Logs of one BMC, all pages, back to a moment."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from fabricctl.errors import BmcAnswerError, BmcDeadlineError, BmcError, BmcGarbledError, BmcNotFoundError
from provision.bmc.json_bodies import link, links
from provision.bmc.log_marks import Mark, after
from provision.bmc.logs import (
    EVENTS,
    LIFECYCLE,
    SEL,
    BackInTime,
    LogEntry,
    Service,
    fold_repeats,
    kind_of,
    newest_first,
    read_entry,
)
from provision.bmc.times import parse_offset, parse_time
from provision.redfish.bmc import Bmc, Group, Resource

READ_KINDS = (SEL, LIFECYCLE, EVENTS)


@dataclass(frozen=True, slots=True)
class LogQuery:
    """What is asked for.

    :param since: that moment and later; :param span: or this long back from the BMC's own now; neither: all there is.
    :param kinds: of :data:`READ_KINDS`; :param now: the controller's clock.
    :param marks: log -> the entry seen last: only what came after it; other logs as ``since`` and ``span`` say.
    """

    now: datetime
    since: datetime | None = None
    span: timedelta | None = None
    kinds: Collection[str] = READ_KINDS
    marks: Mapping[str, Mark] = field(default_factory=dict)


@dataclass(frozen=True)
class BmcLogs:
    """What was read of one BMC.

    :param entries: newest first in each log; :param unread: logs that could not be read, and why.
    :param cut: ids of logs whose older entries were not all read.
    :param read: ids of the logs that were read; :param skew_s: seconds the BMC's clock is ahead, None when not told.
    """

    entries: tuple[LogEntry, ...]
    read: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    skew_s: float | None = None
    cut: frozenset[str] = frozenset()


async def read_logs(bmc: Bmc, query: LogQuery) -> BmcLogs:
    """Every log of the kinds asked for. A log that cannot be read is named; the others stand.

    :raises BmcError: none could be read, or the BMC has none.
    """
    entries: list[LogEntry] = []
    read: list[str] = []
    unread: list[str] = []
    skews: list[float] = []
    cut: set[str] = set()
    last: BmcError | None = None
    for body in await _services(bmc):
        service = _service(body)
        if service is None or service.kind not in query.kinds:
            continue
        bmc_now = parse_time(body.get("DateTime"), service.zone)
        if bmc_now is not None:
            skews.append((bmc_now - query.now).total_seconds())
        try:
            found, whole = await _entries(bmc, service, query, bmc_now or query.now)
            entries += found
            cut |= set() if whole else {service.id}
            read.append(service.id)
        except (BmcAnswerError, BmcDeadlineError, BmcGarbledError) as error:
            unread.append(f"{service.id}: {error.message}")
            last = error
    if last is not None and not read:
        raise last
    if not read:
        raise BmcNotFoundError("has no log of the kind asked for", bmc=str(bmc.target))
    return BmcLogs(tuple(entries), tuple(read), tuple(unread), skews[0] if skews else None, frozenset(cut))


async def _services(bmc: Bmc) -> list[Resource]:
    layout = await bmc.layout()
    owners = [layout.manager]
    if not layout.idrac:  # an iDRAC has all its logs at the manager, others at their systems too
        owners.append(layout.system)
        owners += [path for path in await _systems(bmc) if path != layout.system]
    found: list[Resource] = []
    for owner in owners:
        try:
            found += await bmc.members(f"{owner}/LogServices")
        except BmcNotFoundError:
            continue
    return found


async def _systems(bmc: Bmc) -> list[str]:
    """Every system: the baseboard of a DGX H100 is one of its own, with the log of the GPUs' errors."""
    try:
        return links((await bmc.get("/redfish/v1/Systems")).resource, "Members")
    except BmcAnswerError:
        return []


def _service(body: Resource) -> Service | None:
    path = link(body, "Entries")
    own = str(body.get("Id") or "")
    if not path or not own:
        return None
    zone = parse_offset(str(body.get("DateTimeLocalOffset") or ""))
    return Service(own, path, kind_of(own, str(body.get("LogEntryType") or "")), zone)


async def _entries(
    bmc: Bmc, service: Service, query: LogQuery, bmc_now: datetime
) -> tuple[list[LogEntry], bool]:
    """What was asked for, and whether the log was read that far back."""
    latest = max(bmc_now, query.now)
    mark = query.marks.get(service.id)
    since = bmc_now - query.span if query.span is not None else query.since
    if mark is not None:
        since = mark.at
    walk = BackInTime(since, service.zone, latest)
    members = await bmc.members(service.entries, Group.SLOW, until=walk)
    host = bmc.target.host
    entries = newest_first([read_entry(host, service.id, body, service.zone, latest) for body in members])
    wanted = after(fold_repeats(entries), mark)
    late = [entry for entry in wanted if since is None or entry.at is None or entry.at >= since]
    return late, not members.cut
