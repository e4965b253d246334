"""How far a log was read: the entry that was seen last, and what came after it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from provision.bmc.json_bodies import is_number
from provision.bmc.logs import LogEntry

FIELD = "log.seen"
"""Field of the fact that keeps a mark; the log is its part."""


@dataclass(frozen=True, slots=True)
class Mark:
    """An entry seen. :param written: its time as the BMC wrote it: ids begin anew when a log is cleared.

    :param times: how often it had come then; :param at: when it was written, None when that is not known.
    """

    id: str
    written: str
    times: int = 1
    at: datetime | None = None

    def value(self) -> dict[str, Any]:
        """For keeping."""
        at = self.at.isoformat() if self.at is not None else ""
        return {"id": self.id, "written": self.written, "times": self.times, "at": at}


def mark_of(entry: LogEntry) -> Mark:
    """The mark that says an entry was seen."""
    return Mark(entry.id, entry.written, entry.times, entry.at)


def read_mark(value: object) -> Mark | None:
    """A mark that was kept; None when it is none."""
    if not isinstance(value, Mapping) or not value.get("id"):
        return None
    times, at = value.get("times"), str(value.get("at") or "")
    try:
        moment = datetime.fromisoformat(at) if at else None
    except ValueError:
        moment = None
    return Mark(
        str(value["id"]), str(value.get("written") or ""), times if isinstance(times, int) else 1, moment
    )


def after(entries: Sequence[LogEntry], mark: Mark | None) -> list[LogEntry]:
    """Of entries that are listed newest first, those that came after a mark.

    All of them when the marked one is not among them: the log was cleared, or has gone round. An entry that was
    repeated since is new for as often as it was.
    """
    if mark is None:
        return list(entries)
    for at, entry in enumerate(entries):
        if entry.id == mark.id and entry.written == mark.written:
            more = entry.times - mark.times
            return [*entries[:at], *([replace(entry, times=more)] if more > 0 else [])]
    return list(entries)


def latest(entries: Iterable[LogEntry]) -> dict[tuple[str, str], LogEntry]:
    """Host and log -> the newest of its entries: the highest id, the first listed where ids are no numbers."""
    found: dict[tuple[str, str], LogEntry] = {}
    for entry in entries:
        key = (entry.host, entry.log)
        known = found.get(key)
        if known is None or (is_number(entry.id) and is_number(known.id) and int(entry.id) > int(known.id)):
            found[key] = entry
    return found
