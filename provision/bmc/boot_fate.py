"""What became of a one-time boot that was set some time ago."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

from provision.bmc.boot import Override
from provision.bmc.times import parse_time

_LATEST = timezone(timedelta(hours=-12))
"""A time without an offset may be of any zone; this is the latest moment it can mean."""


def fate_words(at: datetime, told: str, now: Override, last_reset: str) -> str:
    """For people: ``Pxe, once: consumed``.

    :param at: when it was set; :param told: the override then, in its words; :param now: the override;
    :param last_reset: of the system as written. A BMC's clock may be wrong, so it only ever adds a doubt.
    """
    if not told.endswith(", once"):
        return told
    if now.words == told:
        return f"{told}: not consumed yet"
    if not now.off:
        return f"{told}: replaced by {now.words}"
    moment = parse_time(last_reset, _LATEST)
    if moment is not None and moment < at:
        return f"{told}: gone, but by the BMC's clock no reset since"
    return f"{told}: consumed"
