"""Certificates of BMCs as they were at first contact."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Connection, Row, bindparam, insert, select, true, update

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.events import IN_LIST, write_events
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
        return {pin.host: pin.fingerprint for pin in self.holding()}

    def holding(self) -> list[Pin]:
        """Those that hold, one a host, oldest first."""
        return self._read(pins.c.until.is_(None))

    def all(self) -> list[Pin]:
        """Every one ever recorded, oldest first."""
        return self._read(true())

    def _read(self, which: ColumnElement[bool]) -> list[Pin]:
        query = select(pins).where(which).order_by(pins.c.number)
        with self._database.reading() as connection:
            return [_pin(row) for row in connection.execute(query)]

    def record(self, made: Iterable[Pin], reason: str) -> None:
        """Record certificates, all or none; each takes the place of the host's former one and is an event.

        :param made: one a host.
        """
        with self._database.writing() as connection:
            wanted = {pin.host: pin for pin in made}
            held = _held(connection, sorted(wanted))
            fresh = [
                pin
                for host, pin in sorted(wanted.items())
                if host not in held or held[host].fingerprint != pin.fingerprint
            ]
            ended = [{"row": held[p.host].number, "moment": p.since} for p in fresh if p.host in held]
            if ended:
                connection.execute(_END, ended)
            if fresh:
                connection.execute(insert(pins), [_row(pin) for pin in fresh])
            before = {host: f"certificate {row.fingerprint}" for host, row in held.items()}
            write_events(connection, [_event(pin, reason, before.get(pin.host, "")) for pin in fresh])


_END = update(pins).where(pins.c.number == bindparam("row")).values(until=bindparam("moment"))


def _held(connection: Connection, hosts: Sequence[str]) -> dict[str, Row[Any]]:
    """What holds of hosts, kept from others until the transaction ends; in one order: no two wait in a circle."""
    query = select(pins).where(pins.c.until.is_(None)).order_by(pins.c.host).with_for_update()
    parts = (hosts[at : at + IN_LIST] for at in range(0, len(hosts), IN_LIST))
    return {row.host: row for some in parts for row in connection.execute(query.where(pins.c.host.in_(some)))}


def _row(pin: Pin) -> dict[str, Any]:
    names = ("host", "address", "fingerprint", "since", "who")
    return {name: getattr(pin, name) for name in names}


def _event(pin: Pin, reason: str, before: str) -> Event:
    after = f"certificate {pin.fingerprint} at {pin.address}"
    return Event(EventKind.BMC_TRUST, pin.host, pin.since, pin.who, reason, before, after)


@reads_row
def _pin(row: Row[Any]) -> Pin:
    return Pin(row.host, row.address, row.fingerprint, row.since, row.who, row.until)
