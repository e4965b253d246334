"""Whether a node has just booted what it is asked to boot, by an earlier run of the command."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from fabricctl.nodes.model import Event, EventKind
from provision.bmc.boot import BootSource, wanted_override
from provision.bmc.times import parse_time
from provision.workflows.boot import BootState

RECENT = timedelta(hours=6)
"""An installation is over by then, and who asks for a boot after it wants another one."""


def taken_words(last: Mapping[EventKind, Event], state: BootState, source: BootSource, now: datetime) -> str:
    """For people: ``Pxe, once was taken at …``; empty where the next restart would kill nothing that is known.

    A run that succeeded on some nodes only is repeated for the others; a restart of those that have taken their boot
    would end the installation that runs there.

    :param last: kind -> the node's event recorded last; :param now: the moment it is asked at.
    """
    boot, wanted = last.get(EventKind.NODE_BOOT), wanted_override(source)
    if boot is None or boot.after != wanted.words or wanted.off or not state.boot.override.off:
        return ""
    if now - boot.at > RECENT:
        return ""
    media = last.get(EventKind.NODE_MEDIA)
    if media is not None and media.at > boot.at:
        return ""  # another image than the one that was booted
    power, reset = last.get(EventKind.NODE_POWER), parse_time(state.system.last_reset, UTC)
    by_clock = reset is not None and boot.at <= reset <= now
    by_us = power is not None and power.at >= boot.at
    if reset is not None and not by_clock and not by_us:
        return ""  # the override is gone, and nothing was reset since: somebody took it back
    at = reset if by_clock and reset is not None else power.at if by_us and power is not None else boot.at
    moment = at.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    return f"{wanted.words} was taken at {moment} by the boot of this command; --again boots it once more"
