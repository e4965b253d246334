"""MAAS's events: what they tell, and how to read on where one stopped."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from fabricctl.errors import ProvisionerGarbledError
from provision.maas.parse import items, mapping, text

LARGEST_PAGE = 1000
"""Events MAAS hands out at once; it refuses to be asked for more."""
LOOK_BACK = 64
"""Event numbers that are looked at again. MAAS gives a number when an event is written and shows the event when its
transaction ends, so a lower number may come to light after a higher one was read."""
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_CREATED = re.compile(
    r"(?:[A-Za-z]+,?\s+)?(?P<day>\d{1,2})\s+(?P<month>[A-Za-z]{3,9})\.?\s+(?P<year>\d{4})"
    r"\s+(?P<hour>\d{2}):(?P<minute>\d{2}):(?P<second>\d{2})(?:\s+\+0000)?\s*\Z",
    re.ASCII,
)
_USER = re.compile(r"^\([^)]*\)(?: - )?")


@dataclass(frozen=True, slots=True)
class Event:
    """One event. :param id: grows; :param node: ``system_id``; :param created: None where it cannot be read.

    :param type: MAAS's kind in words: ``Node changed status``; :param about: its description.
    """

    id: int
    node: str
    hostname: str
    level: str
    created: datetime | None
    type: str
    about: str

    @property
    def words(self) -> str:
        """Kind and description for people, without the name of the API user."""
        about = _USER.sub("", self.about)
        return f"{self.type}: {about}" if about else self.type

    @property
    def progress(self) -> bool:
        """Whether it tells of a step inside a phase only, so that the machine itself need not be read again."""
        return self.level == "DEBUG" and self.type == "Script result"

    @property
    def bad(self) -> bool:
        """Whether it is a warning or worse."""
        return self.level in ("WARNING", "ERROR", "CRITICAL")


def parse_created(created: str) -> datetime | None:
    """The time of an event, None where it is none.

    MAAS writes ``Sun, 29 Nov. 2026 16:46:23``: English, with a full stop behind every month, UTC without saying so.
    No locale of this machine changes the reading.
    """
    match = _CREATED.match(created.strip())
    if match is None or match["month"][:3].lower() not in _MONTHS:
        return None
    month = _MONTHS.index(match["month"][:3].lower()) + 1
    hour, minute, second = (int(match[part]) for part in ("hour", "minute", "second"))
    try:
        return datetime(int(match["year"]), month, int(match["day"]), hour, minute, second, tzinfo=UTC)
    except ValueError:
        return None


def events_of(raw: object) -> list[Event]:
    """Events of an answer, newest first as MAAS sends them. :raises ProvisionerGarbledError: it has no list of them."""
    listed = mapping(raw).get("events")
    if not isinstance(listed, list):
        raise ProvisionerGarbledError("expected events, found something else")
    found = (_event(mapping(one)) for one in items(listed))
    return sorted((event for event in found if event is not None), key=lambda event: -event.id)


def _event(fields: object) -> Event | None:
    raw = mapping(fields)
    id = raw.get("id")
    if not isinstance(id, int) or isinstance(id, bool):
        return None
    return Event(
        id=id,
        node=text(raw.get("node")),
        hostname=text(raw.get("hostname")),
        level=text(raw.get("level")).upper(),
        created=parse_created(text(raw.get("created"))),
        type=text(raw.get("type")),
        about=text(raw.get("description")),
    )


@dataclass(frozen=True, slots=True)
class Cursor:
    """Where reading stopped. :param last: highest number seen; :param seen: bit n is set when ``last - n`` was seen."""

    last: int
    seen: int = 1

    def __str__(self) -> str:
        return f"{self.last}.{self.seen:x}"

    @property
    def after(self) -> int:
        """The number to ask for events after."""
        return max(0, self.last - LOOK_BACK)

    def knows(self, id: int) -> bool:
        """Whether an event was read before."""
        back = self.last - id
        return back >= LOOK_BACK or (back >= 0 and bool(self.seen >> back & 1))

    def moved(self, ids: Sequence[int]) -> Cursor:
        """The cursor after these were read, too."""
        last = max((self.last, *ids))
        seen = self.seen << (last - self.last) if last - self.last < LOOK_BACK else 0
        for id in ids:
            if last - id < LOOK_BACK:
                seen |= 1 << (last - id)
        return Cursor(last, seen & ((1 << LOOK_BACK) - 1))


def parse_cursor(cursor: str) -> Cursor | None:
    """A cursor from its text, None for an empty one or none of ours: begin anew."""
    match = re.fullmatch(r"(\d{1,18})(?:\.([0-9a-f]{1,16}))?", cursor, re.ASCII)
    return Cursor(int(match[1]), int(match[2] or "1", 16)) if match else None
