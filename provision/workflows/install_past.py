"""What was begun on a host before, by its events: what a later run goes on from, and what it proves."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from fabricctl.nodes.model import Event, EventKind
from provision.workflows.install_send import is_open

PHASES = frozenset(
    {
        EventKind.NODE_COMMISSION,
        EventKind.NODE_DEPLOY,
        EventKind.NODE_RELEASE,
        EventKind.NODE_QUARANTINE,
    }
)
"""Kinds of events that tell how far a host is."""
COMPARED = "hardware compared"
"""At the end of an event of commissioning: what the machine has was compared, and nothing was wrong."""
VERIFIED = "boot disk verified"
"""At the end of an event of an installation: the system is on the disk it should be on."""
_LATER = "found by a later run"
LEFT_S = 86400.0
"""Seconds. An installation that was begun longer ago says nothing about what a machine is at now."""


@dataclass(frozen=True)
class Past:
    """Of one host. :param newest: kind -> its newest event, of :data:`PHASES`."""

    newest: Mapping[EventKind, Event] = field(default_factory=dict)

    @property
    def last(self) -> Event | None:
        """The last of all; None where nothing is recorded."""
        return max(self.newest.values(), key=lambda event: event.number, default=None)

    def left(self, status: str, now: datetime) -> bool:
        """Whether our installation, begun lately, was accepted or may have been, and its end was not seen.

        :param status: the provisioner's word for its state; a later run may have found that, and been killed in turn.
        """
        last, since = self.last, self.since_s(EventKind.NODE_DEPLOY, now)
        if last is None or since is None or since > LEFT_S:
            return False
        return self.open or last.after == found_later(status)

    @property
    def open(self) -> bool:
        """Whether nobody recorded what came of the last thing."""
        return self.last is not None and is_open(self.last.after)

    def under_way_s(self, kind: EventKind, now: datetime) -> float | None:
        """Seconds since what is under way was begun by us; None when that is not recorded, or too long ago to be it."""
        since = self.since_s(kind, now) if self.open else None
        return since if since is not None and since <= LEFT_S else None

    def since_s(self, kind: EventKind, now: datetime) -> float | None:
        """Seconds since the last thing was begun; None when it is of another kind."""
        last = self.last
        return (now - last.at).total_seconds() if last is not None and last.kind is kind else None

    def installed_s(self, status: str, now: datetime) -> float | None:
        """Seconds since the installation was begun by which it is installed; None when that was not ours.

        :param status: the provisioner's word for its state: the event was told that, or nothing of its end yet.
        """
        since = self.since_s(EventKind.NODE_DEPLOY, now)
        if since is None or self.last is None or not (self.open or self.last.after.startswith(status)):
            return None
        return max(0.0, since)

    @property
    def compared(self) -> bool | None:
        """Whether its hardware was compared since it was commissioned last; None where no commissioning is recorded."""
        event = self.newest.get(EventKind.NODE_COMMISSION)
        return COMPARED in event.after if event is not None else None

    def installed_after(self, moment: datetime) -> bool:
        """Whether an installation that was begun later came to its end, by its event."""
        event = self.newest.get(EventKind.NODE_DEPLOY)
        return event is not None and self.verified and event.at > moment

    @property
    def verified(self) -> bool:
        """Whether the boot disk of its last installation was looked at."""
        event = self.newest.get(EventKind.NODE_DEPLOY)
        return event is not None and VERIFIED in event.after


NO_PAST = Past()


def found_later(status: str) -> str:
    """What an event is told by a run that did not see its end: ``Deployed, found by a later run``."""
    return f"{status}, {_LATER}"


def proved(status: str, what: str) -> str:
    """What an event is told of an end that was looked at: ``Ready; hardware compared``."""
    return f"{status}; {what}"
