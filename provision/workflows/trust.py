"""First contact: certificates are fetched, judged and recorded; no credentials are sent."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.pins import Pin
from fabricctl.adapters.store.reading import read_store
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import BmcError
from provision.bmc.certificates import Expected, JudgedCertificate, Recorded, Shown, Standing, judge
from provision.bmc.target import Target
from provision.redfish.trust import Certificate, fetch_certificate

AT_ONCE = 128

Fetch = Callable[[Target], Certificate]


@dataclass(frozen=True)
class FirstContact:
    """What the BMCs showed. :param unread: BMCs whose certificate could not be read, and why."""

    judged: tuple[JudgedCertificate, ...]
    unread: tuple[tuple[Target, BmcError], ...]


def look(
    targets: Sequence[Target],
    recorded: Mapping[str, Recorded],
    expected: Expected | None = None,
    *,
    at_once: int = AT_ONCE,
    done: Callable[[int], None] | None = None,
) -> FirstContact:
    """Fetch the certificates of BMCs and judge them."""
    answers = asyncio.run(_fetch_all(targets, at_once, done))
    shown = [
        Shown(target, found.fingerprint, found.subject, found.issuer, found.not_before, found.not_after)
        for target, found in zip(targets, answers, strict=True)
        if isinstance(found, Certificate)
    ]
    unread = [
        (target, found) for target, found in zip(targets, answers, strict=True) if isinstance(found, BmcError)
    ]
    return FirstContact(tuple(judge(shown, recorded, expected)), tuple(unread))


async def _fetch_all(
    targets: Sequence[Target], at_once: int, done: Callable[[int], None] | None
) -> list[Certificate | BmcError]:
    gate = asyncio.Semaphore(at_once)
    count = 0

    async def one(target: Target) -> Certificate | BmcError:
        nonlocal count
        async with gate:
            try:
                return await fetch_certificate(target)
            except BmcError as exc:
                return exc
            finally:
                count += 1
                if done is not None:
                    done(count)

    return list(await asyncio.gather(*(one(target) for target in targets)))


def to_record(judged: Sequence[JudgedCertificate], *, replace: bool) -> list[JudgedCertificate]:
    """Those to write down. :param replace: changed ones, too."""
    wanted = {Standing.NEW, Standing.CHANGED} if replace else {Standing.NEW}
    return [one for one in judged if one.standing in wanted]


def recorded_pins(location: Location, site: str) -> dict[str, Recorded]:
    """Host -> the certificate that holds; none of a store that was never written.

    :raises StateError: the store cannot be read.
    """
    with read_store(location, site) as store:
        held = store.pins.holding() if store is not None else []
    return {pin.host: Recorded(pin.fingerprint, pin.since, pin.who) for pin in held}


def record(
    location: Location,
    site: str,
    judged: Sequence[JudgedCertificate],
    *,
    who: str,
    reason: str,
    now: datetime,
) -> None:
    """Write certificates down, all or none; each is an event. :raises StateError: the store cannot be written."""
    pins = [
        Pin(one.shown.target.host, one.shown.target.address, one.shown.fingerprint, now, who)
        for one in judged
    ]
    with open_store(location, site=site) as store:
        store.pins.record(pins, reason)
