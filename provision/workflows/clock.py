"""The clock of one BMC, looked at with the controller's."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from time import monotonic
from typing import Any

from fabricctl.adapters.command import Deadline
from fabricctl.adapters.local import LocalSession
from fabricctl.errors import BmcAnswerError, BmcDeadlineError, BmcError, BmcUnsupportedError, ViewerError
from provision.bmc.clock import (
    CertificateDates,
    ClockReading,
    OwnClock,
    read_chrony,
    read_timedatectl,
    reading,
)
from provision.bmc.target import Target
from provision.bmc.times import parse_offset, parse_time
from provision.redfish.bmc import Bmc, Resource
from provision.redfish.trust import fetch_certificate

LOOKS = 2
"""Measured looks of which the quicker one counts: one may have waited for something."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Clocks:
    """The controller's clocks. :param now: wall clock, in UTC; :param elapsed: seconds that only grow."""

    now: Callable[[], datetime] = _utc_now
    elapsed: Callable[[], float] = monotonic


Served = Callable[[Target], Awaitable[CertificateDates]]


async def served_dates(target: Target) -> CertificateDates:
    """Dates of the certificate that is really served: what a client will hold against its clock.

    :raises BmcError: no TLS with it.
    """
    found = await fetch_certificate(target)
    return CertificateDates(found.not_before, found.not_after)


async def read_clock(
    bmc: Bmc,
    clocks: Clocks = Clocks(),
    served: Served | None = None,
) -> ClockReading:
    """The BMC's time (of its ``Date`` header where the manager tells none) and the dates of its certificate.

    :param served: asks for the served certificate; the BMC's own word counts without it, or where it fails.
    :raises BmcError: the manager cannot be read.
    """
    layout = await bmc.layout()
    await bmc.get(layout.manager)  # a login may be part of the first request: its time is not the clock's
    certificate = await _dates(bmc, layout.manager, served)
    looks = [await _look(bmc, layout.manager, clocks, certificate) for _ in range(LOOKS)]
    return min(looks, key=lambda look: look.bound_s)


async def _dates(bmc: Bmc, manager: str, served: Served | None) -> CertificateDates:
    if served is not None:
        try:
            return await served(bmc.target)
        except BmcError as error:
            bmc.note("TLS", f"dates of the certificate are taken from the BMC's own word: {error.message}")
    return await _certificate(bmc, manager)


async def _look(bmc: Bmc, manager: str, clocks: Clocks, certificate: CertificateDates) -> ClockReading:
    sent, begun = clocks.now(), clocks.elapsed()
    reply = await bmc.get(manager)
    took_s = clocks.elapsed() - begun
    written = str(reply.resource.get("DateTime") or "")
    zone = parse_offset(str(reply.resource.get("DateTimeLocalOffset") or ""))
    moment = parse_time(written, zone)
    if moment is None:
        written = reply.headers.get("date", "")
        moment = _http_date(written)
    return reading(bmc.target.host, moment, sent, took_s, written=written, certificate=certificate)


def _http_date(text: str) -> datetime | None:
    try:
        moment = parsedate_to_datetime(text)
    except ValueError:
        return None
    return moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)


async def _certificate(bmc: Bmc, manager: str) -> CertificateDates:
    path = f"{manager}/NetworkProtocol/HTTPS/Certificates"
    try:
        members = await bmc.members(path)
    except (BmcAnswerError, BmcDeadlineError, BmcUnsupportedError) as error:
        bmc.note(path, f"dates of the certificate are not known: {error.message}")
        return CertificateDates()
    served = next((body for body in members if "Web" in _usage(body)), members[0] if members else {})
    return CertificateDates(parse_time(served.get("ValidNotBefore")), parse_time(served.get("ValidNotAfter")))


def _usage(body: Resource) -> Any:
    held: Mapping[str, Any] = body
    usage = held.get("CertificateUsageTypes")
    return usage if isinstance(usage, list) else []


def own_clock(seconds: float = 3.0) -> OwnClock:
    """How well this machine's clock is set, by chrony or the system's time service; not known is a result."""
    with LocalSession() as session:
        for argv, read in (
            (("chronyc", "-c", "tracking"), read_chrony),
            (("timedatectl", "show", "--property=NTPSynchronized"), read_timedatectl),
        ):
            try:
                done = session.run(argv, Deadline(seconds))
            except ViewerError:
                continue
            found = read(done.stdout.decode("utf-8", "replace"))
            if found is not None:
                return found
    return OwnClock()
