"""Entries of a BMC's logs: read, filtered, judged, and grouped across hosts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from enum import IntEnum
from typing import Any

from provision.bmc.json_bodies import inner, is_number, link
from provision.bmc.outcome import BmcFinding
from provision.bmc.reply import message_key
from provision.bmc.times import believable, parse_time

PAGE = 50
"""Entries an iDRAC puts on one page; so many older ones in a row end a walk back in time."""
_REPEATED = re.compile(r"previous log entry was repeated (?P<times>[0-9]+) times", re.IGNORECASE)


class Severity(IntEnum):
    """As Redfish grades entries, in order. A word nobody knows counts as a warning: it is shown, not swallowed."""

    OK = 0
    WARNING = 1
    CRITICAL = 2

    @property
    def word(self) -> str:
        """For people."""
        return self.name.lower() if self else "ok"


_SEVERITIES = {"ok": Severity.OK, "warning": Severity.WARNING, "critical": Severity.CRITICAL}


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One entry.

    :param log: id of the log service (``Sel``, ``Lclog``); :param id: in that log.
    :param key: message id without registry and version (``USR0030``).
    :param at: when it was written; None when the text is no time, or of a clock that was not set.
    :param written: the time as the BMC wrote it; :param part: path of what it is about; :param times: it and repeats.
    """

    host: str
    log: str
    id: str
    key: str
    text: str
    severity: Severity
    at: datetime | None
    written: str
    category: str = ""
    part: str = ""
    times: int = 1


@dataclass(frozen=True, slots=True)
class Service:
    """One log service of a BMC. :param zone: where it writes times that have no offset."""

    id: str
    entries: str
    kind: str
    zone: tzinfo | None = None


LIFECYCLE, SEL, EVENTS, AUDIT, DUMPS = "lifecycle", "sel", "events", "audit", "dumps"
_KINDS = (
    (re.compile(r"lclog\Z", re.IGNORECASE), LIFECYCLE),
    (re.compile(r"audit", re.IGNORECASE), AUDIT),
    (re.compile(r"dump|diagnostic|journal|fault|decoded|postcode", re.IGNORECASE), DUMPS),
    (re.compile(r"sel\Z", re.IGNORECASE), SEL),
)


def kind_of(service_id: str, entry_type: str) -> str:
    """Which sort of log: by its name, then by what its entries are.

    A DGX H100 has, beside the SEL, an audit log of its own requests and logs of dumps and of decoded SEL entries: they
    say nothing about hardware that the SEL does not say. FaultList of an iDRAC repeats what rolls up into its health.
    """
    for pattern, kind in _KINDS:
        if pattern.search(service_id):
            return kind
    return SEL if entry_type == "SEL" else EVENTS


def read_entry(host: str, log: str, body: Mapping[str, Any], zone: tzinfo | None, now: datetime) -> LogEntry:
    """One entry of a body. A time nobody can believe leaves ``at`` empty; the entry stays."""
    written = str(body.get("Created") or body.get("EventTimestamp") or "")
    moment = parse_time(written, zone)
    return LogEntry(
        host=host,
        log=log,
        id=str(body.get("Id") or ""),
        key=message_key(str(body.get("MessageId") or "")),
        text=" ".join(str(body.get("Message") or body.get("Name") or "").split()),
        severity=_SEVERITIES.get(str(body.get("Severity") or "ok").lower(), Severity.WARNING),
        at=moment if believable(moment, now) else None,
        written=written,
        category=str(inner(body, "Oem", "Dell").get("Category") or ""),
        part=link(body, "Links", "OriginOfCondition"),
    )


def fold_repeats(entries: Iterable[LogEntry]) -> list[LogEntry]:
    """Entries newest first; "the previous log entry was repeated N times" (LOG007) is added to that entry."""
    found: list[LogEntry] = []
    carried = 0
    for entry in entries:
        match = _REPEATED.search(entry.text)
        if match is not None:
            carried += int(match["times"][:9])
            continue
        found.append(replace(entry, times=1 + carried) if carried else entry)
        carried = 0
    return found


def newest_first(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Entries of one log, the latest first, whichever way the BMC lists them.

    By id where ids are numbers (the order they were written in, even while the clock was wrong), else as listed.
    """
    if len(entries) > 1 and all(is_number(entry.id) for entry in entries):
        return sorted(entries, key=lambda entry: -int(entry.id))
    return list(entries)


class BackInTime:
    """When to stop walking back in a log: after a page of entries in a row that are older than asked for.

    One older entry alone may be from a time when the clock was wrong. A log that lists its oldest entry first (a DGX
    H100 does, an iDRAC lists the newest first) is read whole.
    """

    def __init__(self, since: datetime | None, zone: tzinfo | None, now: datetime, page: int = PAGE) -> None:
        self._since, self._zone, self._now, self._page = since, zone, now, page
        self._last_id: int | None = None
        self._older = 0
        self._rising = False

    def __call__(self, body: Mapping[str, Any]) -> bool:
        """Whether the walk ends at this entry."""
        if self._since is None:
            return False
        own = str(body.get("Id") or "")
        number = int(own) if is_number(own) else None
        if number is not None and self._last_id is not None and number > self._last_id:
            self._rising = True
        self._last_id = number if number is not None else self._last_id
        moment = parse_time(body.get("Created"), self._zone)
        if moment is None or not believable(moment, self._now):
            return False
        self._older = self._older + 1 if moment < self._since else 0
        return self._older > self._page and not self._rising and number is not None


Ignore = Callable[[LogEntry], str]
"""Why an entry is not serious; empty when nothing says so."""


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of an ignore-list: a message id with ``*``, or a ``/regular expression/`` over id and text."""

    pattern: re.Pattern[str]
    expression: bool
    reason: str

    def takes(self, entry: LogEntry) -> bool:
        """Whether it is about this entry."""
        if self.expression:
            return self.pattern.search(f"{entry.key} {entry.text}") is not None
        return self.pattern.fullmatch(entry.key) is not None


def parse_rule(text: str, reason: str = "") -> IgnoreRule:
    """``USR*``, ``RAC0182`` or ``/expression/``; case aside.

    :raises ValueError: an expression that does not compile, or nothing at all; it says which.
    """
    word = text.strip()
    why = reason or f"log_ignore {word}"
    if len(word) > 1 and word.startswith("/") and word.endswith("/"):
        try:
            return IgnoreRule(re.compile(word[1:-1], re.IGNORECASE), True, why)
        except re.error as exc:
            raise ValueError(f"{word} is no regular expression: {exc}") from exc
    if not word.strip("*"):
        raise ValueError(f"expected a message id or /expression/, found {text!r}: it would hide everything")
    shape = ".*".join(re.escape(piece) for piece in word.split("*"))
    return IgnoreRule(re.compile(shape, re.IGNORECASE), False, why)


def ignore_by(rules: Sequence[IgnoreRule]) -> Ignore:
    """The first rule that takes an entry gives the reason."""
    return lambda entry: next((rule.reason for rule in rules if rule.takes(entry)), "")


TOGETHER_S = 300.0
"""Seconds within which the two logs of an iDRAC write the same event."""


def without_doubles(entries: Sequence[LogEntry]) -> list[LogEntry]:
    """Entries, those of a SEL left out that the Lifecycle log has as well: an iDRAC writes a hardware event to both.

    The one of the Lifecycle log stays, for it has the message id.
    """
    told: dict[tuple[str, Severity, str], list[datetime]] = {}
    for entry in entries:
        if kind_of(entry.log, "") == LIFECYCLE and entry.at is not None:
            told.setdefault((entry.host, entry.severity, entry.text), []).append(entry.at)

    def double(entry: LogEntry) -> bool:
        if kind_of(entry.log, "") != SEL or entry.at is None:
            return False
        times = told.get((entry.host, entry.severity, entry.text), ())
        return any(abs((entry.at - at).total_seconds()) <= TOGETHER_S for at in times)

    return [entry for entry in entries if not double(entry)]


@dataclass(frozen=True, slots=True)
class LogGroup:
    """Entries of one message and severity across hosts.

    :param hosts: in order, each once; :param entries: newest of each host first; :param times: with repeats.
    """

    key: str
    severity: Severity
    text: str
    hosts: tuple[str, ...]
    entries: tuple[LogEntry, ...]
    times: int
    first: datetime | None
    last: datetime | None


def group(entries: Iterable[LogEntry]) -> list[LogGroup]:
    """By message id (SEL entries without one by their text), most severe first, then most hosts."""
    table: dict[tuple[str, Severity], list[LogEntry]] = {}
    for entry in entries:
        table.setdefault((entry.key or entry.text, entry.severity), []).append(entry)
    groups = [_group(key, severity, found) for (key, severity), found in table.items()]
    return sorted(groups, key=lambda one: (-one.severity, -len(one.hosts), -one.times, one.key))


def _group(key: str, severity: Severity, found: list[LogEntry]) -> LogGroup:
    times = [entry.at for entry in found if entry.at is not None]
    return LogGroup(
        key=key if key != found[0].text else "",
        severity=severity,
        text=found[0].text,
        hosts=tuple(dict.fromkeys(entry.host for entry in found)),
        entries=tuple(found),
        times=sum(entry.times for entry in found),
        first=min(times, default=None),
        last=max(times, default=None),
    )


def log_findings(groups: Iterable[LogGroup]) -> list[BmcFinding]:
    """One finding per group and host: an entry of at least a warning that no ignore-list knows."""
    findings = []
    for one in groups:
        for host in one.hosts:
            own = [entry for entry in one.entries if entry.host == host]
            count = sum(entry.times for entry in own)
            times = "" if count == 1 else f" ({count:,} times)"
            name = f"{one.key}: " if one.key else ""
            findings.append(
                BmcFinding(
                    host,
                    "log-entry",
                    f"{host}: {one.severity.word}, {name}{own[0].text}{times}",
                    own[0].part,
                    "",
                    one.key or one.text,
                )
            )
    return findings
