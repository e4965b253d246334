"""The event log and its query."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import datetime
from itertools import islice
from typing import Any
from urllib.parse import urlencode

from tests.sim.maas.call import Answer, Incoming, Refusal, invalid, ok, refused

LEVELS = {"AUDIT": 0, "DEBUG": 10, "INFO": 20, "WARNING": 30, "ERROR": 40, "CRITICAL": 50}
DEFAULT, MOST = 100, 1000
_KEPT = ("agent_name", "domain", "hostname", "id", "level", "limit", "mac_address", "op", "owner", "zone")


@dataclass(frozen=True)
class Event:
    """One event. :param node: system id; :param user: ``unknown`` where none is."""

    id: int
    node: str
    level: str
    created: datetime
    type: str
    description: str
    user: str = "unknown"

    def shown(self, hostname: str) -> dict[str, Any]:
        """As the API shows it. The host name is the machine's present one."""
        return {
            "username": self.user,
            "node": self.node,
            "hostname": hostname,
            "id": self.id,
            "level": self.level,
            "created": self.created.strftime("%a, %d %b. %Y %H:%M:%S"),
            "type": self.type,
            "description": self.description,
        }


class EventLog:
    """All events, oldest first; their ids count up."""

    def __init__(self, wall: Callable[[], datetime]) -> None:
        self._wall = wall
        self._last = 0
        self.events: list[Event] = []

    def add(self, node: str, level: str, kind: str, description: str = "", user: str = "unknown") -> Event:
        """Append one."""
        self._last += 1
        event = Event(self._last, node, level, self._wall(), kind, description, user)
        self.events.append(event)
        return event

    def drop(self, node: str) -> None:
        """Forget the events of a machine that was deleted."""
        self.events = [event for event in self.events if event.node != node]

    def of(self, node: str) -> list[Event]:
        """Of one machine, oldest first."""
        return [event for event in self.events if event.node == node]


def query(log: EventLog, incoming: Incoming, hostnames: dict[str, str], wanted: set[str] | None) -> Answer:
    """Answer ``events/?op=query``.

    :param hostnames: of all machines by system id; :param wanted: those whose events are asked for, None: all.
    """
    asked = incoming.query
    limit = _whole(asked.get("limit"), DEFAULT) or 1
    if limit > MOST:
        raise Refusal(refused(400, f"Requested number of events {limit} is greater than limit: {MOST}"))
    level = asked.get("level", "INFO")
    if level not in LEVELS:
        raise Refusal(refused(400, f"Unrecognised log level: {level}"))
    after, before = (_number(asked.get(name), name) for name in ("after", "before"))
    if after is not None and before is not None:
        text = "There is undetermined behaviour when both `after` and `before` are specified."
        raise Refusal(refused(400, text))
    least = LEVELS[level]
    ordered: Iterable[Event] = reversed(log.events)
    if after is not None:
        ordered = islice(log.events, bisect_right(log.events, after, key=lambda event: event.id), None)
    found: list[Event] = []
    for event in ordered:
        if before is not None and event.id >= before:
            continue
        if LEVELS[event.level] < least or (wanted is not None and event.node not in wanted):
            continue
        found.append(event)
        if len(found) == limit:
            break
    if after is not None:
        found.reverse()
    return ok(
        {
            "count": len(found),
            "events": [event.shown(hostnames.get(event.node, "")) for event in found],
            "next_uri": _next(incoming, found, before),
            "prev_uri": _previous(incoming, found, after),
        }
    )


def _next(incoming: Incoming, found: list[Event], before: int | None) -> str:
    if found:
        return _uri(incoming, "after", found[0].id)
    return _uri(incoming, "after", before - 1) if before is not None else _uri(incoming, "", 0)


def _previous(incoming: Incoming, found: list[Event], after: int | None) -> str | None:
    if found:
        return _uri(incoming, "before", found[-1].id)
    return _uri(incoming, "before", after + 1) if after is not None else None


def _uri(incoming: Incoming, name: str, number: int) -> str:
    pairs = [
        (key, value) for key, values in incoming.query.fields.items() if key in _KEPT for value in values
    ]
    if name:
        pairs.append((name, str(number)))
    elif incoming.query.has("after"):
        pairs.append(("after", incoming.query.get("after")))
    return f"/MAAS/api/2.0/events/?{urlencode(pairs)}"


def _whole(text: str, default: int) -> int:
    return max(1, _number(text, "limit") or 1) if text else default


def _number(text: str, name: str) -> int | None:
    if not text:
        return None
    try:
        return int(text)
    except ValueError:
        raise Refusal(invalid({name: ["Please enter an integer value"]})) from None
