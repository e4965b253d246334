"""A part of a comparison: of some devices, kinds or statuses."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from fabricctl.cabling.model import FindingKind
from fabricctl.discovery.names import name_key, short_key
from fabricctl.history.compare import Change, Status


def select(
    change: Change,
    *,
    devices: Sequence[str] = (),
    kinds: Collection[FindingKind] = (),
    statuses: Collection[Status] = (),
) -> Change:
    """The standings that fit; an empty choice fits all.

    :param devices: hosts, switches or HCAs; a host stands for its HCAs, a name without a domain for any.
    """
    wanted = {name_key(device) for device in devices}
    standings = tuple(
        standing
        for standing in change.standings
        if (not kinds or standing.known.kind in kinds)
        and (not statuses or standing.status in statuses)
        and (not wanted or _named(standing.known.devices, wanted))
    )
    offenders = tuple(o for o in change.offenders if not wanted or _named((o.device,), wanted))
    return replace(change, standings=standings, offenders=offenders)


def _named(devices: Sequence[str], wanted: Collection[str]) -> bool:
    for device in devices:
        whole, short = name_key(device), short_key(device)
        if {whole, short, whole.partition(" ")[0], short.partition(" ")[0]} & set(wanted):
            return True
    return False
