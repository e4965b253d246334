"""Certificates of BMCs as they were at first contact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import Row, insert, select, update

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.events import write_events
from fabricctl.adapters.store.failures import reads_row
from fabricctl.adapters.store.schema import pins
from fabricctl.nodes.model import Event, EventKind


@dataclass(frozen=True, slots=True)
class Pin:
    """One recorded certificate.

    :param fingerprint: SHA-256 of the DER form, 64 lower-case digits; :param since: when, :param who: by whom.
    :param until: when another took its place, None while it holds.
    """

    host: str
    address: str
    fingerprint: str
    since: datetime
    who: str
    until: datetime | None = None


class PinStore:
    """Recorded certificates of a store; none is ever forgotten."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def current(self) -> dict[str, str]:
        """Host -> fingerprint that holds."""
        return {pin.host: pin.fingerprint for pin in self.all() if pin.until is None}

    def all(self) -> list[Pin]:
        """Every one ever recorded, oldest first."""
        with self._database.reading() as connection:
            return [_pin(row) for row in connection.execute(select(pins).order_by(pins.c.number))]

    def record(self, made: Iterable[Pin], reason: str) -> None:
        """Record certificates, all or none; each takes the place of the host's former one and is an event."""
        with self._database.writing() as connection:
            for new in sorted(made, key=lambda pin: pin.host):
                holds = (pins.c.host == new.host, pins.c.until.is_(None))
                old = connection.execute(select(pins).where(*holds).with_for_update()).first()
                if old is not None and old.fingerprint == new.fingerprint:
                    continue
                connection.execute(update(pins).where(*holds).values(until=new.since))
                values = {
                    "host": new.host,
                    "address": new.address,
                    "fingerprint": new.fingerprint,
                    "since": new.since,
                    "who": new.who,
                }
                connection.execute(insert(pins).values(**values))
                before = "" if old is None else f"certificate {old.fingerprint}"
                after = f"certificate {new.fingerprint} at {new.address}"
                write_events(
                    connection,
                    [Event(EventKind.BMC_TRUST, new.host, new.since, new.who, reason, before, after)],
                )


@reads_row
def _pin(row: Row[Any]) -> Pin:
    return Pin(row.host, row.address, row.fingerprint, row.since, row.who, row.until)
