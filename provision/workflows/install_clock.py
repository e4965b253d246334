"""Before a first commissioning or installation, the clocks of controller, MAAS and BMCs are compared."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Protocol
from urllib.parse import urlsplit

from fabricctl.errors import BmcError, ProvisionerError
from provision.bmc.clock import CertificateDates, ClockReading, OwnClock, reading
from provision.bmc.target import Target
from provision.install.skew import MAAS, ClockGate, compare_clocks
from provision.redfish.fleet import ask_async
from provision.redfish.limits import FleetOptions
from provision.redfish.trust import fetch_certificate
from provision.report.common import reason
from provision.workflows.clock import LOOKS, Clocks, own_clock, read_clock, served_dates


class TellsTime(Protocol):
    """A provisioner that tells its time: :class:`provision.maas.provisioner.MaasProvisioner`."""

    async def server_date(self) -> datetime | None:
        """By the ``Date`` header of an answer."""
        ...


async def clock_gate(
    maas: TellsTime | None,
    url: str,
    targets: Sequence[Target],
    options: FleetOptions,
    *,
    max_skew_s: float,
    clocks: Clocks | None = None,
    own: Callable[[], OwnClock] = own_clock,
) -> ClockGate:
    """Compare all clocks, and the dates of the certificates with them. Nothing is changed.

    A BMC or MAAS that does not tell its time is a doubt, never an error.

    :param maas: None where another provisioner is used; :param url: of MAAS: its certificate is looked at when https.
    :param targets: BMCs of the hosts to be installed; :param max_skew_s: ``management.max_clock_skew_s``.
    """
    clocks = clocks or Clocks()
    (theirs, doubts), outcomes, ours = await asyncio.gather(
        _of_maas(maas, url, clocks),
        ask_async(targets, lambda bmc: read_clock(bmc, clocks, served_dates), options),
        asyncio.to_thread(own),
    )
    doubts += [(one.target.host, reason(one.error, one.target)) for one in outcomes if one.error is not None]
    told = [outcome.value for outcome in outcomes if outcome.value is not None]
    return compare_clocks(ours, theirs, told, max_skew_s, doubts=doubts)


async def _of_maas(
    maas: TellsTime | None, url: str, clocks: Clocks
) -> tuple[ClockReading | None, list[tuple[str, str]]]:
    if maas is None:
        return None, []
    dates, doubts = await _certificate(url)
    try:
        await maas.server_date()  # the connection is made with the first request: its time is not the clock's
        looks = [await _look(maas, clocks, dates) for _ in range(LOOKS)]
    except ProvisionerError as error:
        # its certificate may be why: a clock that is off makes it invalid, and nothing more is told then
        there = ClockReading(MAAS, None, clocks.now(), 0.0, certificate=dates)
        return (there if dates != CertificateDates() else None), [*doubts, (MAAS, str(error))]
    return min(looks, key=lambda look: look.bound_s), doubts


async def _look(maas: TellsTime, clocks: Clocks, dates: CertificateDates) -> ClockReading:
    sent, begun = clocks.now(), clocks.elapsed()
    date = await maas.server_date()
    return reading(MAAS, date, sent, clocks.elapsed() - begun, certificate=dates)


async def _certificate(url: str) -> tuple[CertificateDates, list[tuple[str, str]]]:
    """Dates of the certificate MAAS serves, whoever vouches for it; none over plain HTTP."""
    parts = urlsplit(url)
    if parts.scheme != "https":
        return CertificateDates(), []
    try:
        found = await fetch_certificate(Target(MAAS, parts.hostname or "", parts.port or 443))
    except BmcError as error:
        return CertificateDates(), [(MAAS, f"its certificate could not be looked at: {error.message}")]
    return CertificateDates(found.not_before, found.not_after), []
