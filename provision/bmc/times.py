"""Times as BMCs write them: with and without offset, without leading zeros, and times of a clock that was never set."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone, tzinfo

_TIME = re.compile(
    r"(?P<year>[0-9]{4})-(?P<month>[0-9]{1,2})-(?P<day>[0-9]{1,2})"
    r"[T ](?P<hour>[0-9]{1,2}):(?P<minute>[0-9]{1,2}):(?P<second>[0-9]{1,2})(?P<fraction>[.,][0-9]+)?"
    r"\s*(?P<offset>Z|[+-][0-9]{1,2}:?[0-9]{2})?\Z",
    re.IGNORECASE,
)
_OFFSET = re.compile(r"(?P<sign>[+-])(?P<hours>[0-9]{1,2}):?(?P<minutes>[0-9]{2})\Z")
_SPAN = re.compile(r"(?P<number>[0-9]+)\s*(?P<unit>[smhdw])\Z", re.IGNORECASE)
_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}

FIRST_TRUE = datetime(2010, 1, 1, tzinfo=UTC)
"""No Redfish BMC was in service before (DSP0266 is of 2015): an earlier time is of a clock that was not set. Seen:
2000-01-01T00:00:10 in the diagnostic log of a DGX H100; IPMI clocks begin at 1970."""
AHEAD = timedelta(days=2)
"""A log time this far ahead of now is no time either: an unset IPMI time is 2106-02-07."""


def parse_offset(text: str) -> tzinfo | None:
    """``-05:00`` as a time zone; None when it is none."""
    if text.strip().upper() in ("Z", "+00:00", "-00:00"):
        return UTC
    match = _OFFSET.match(text.strip())
    if match is None:
        return None
    span = timedelta(hours=int(match["hours"]), minutes=int(match["minutes"]))
    if span >= timedelta(hours=24):
        return None
    return timezone(-span if match["sign"] == "-" else span)


def parse_time(text: object, zone: tzinfo | None = None) -> datetime | None:
    """A moment with time zone, None when the text is none.

    Leading zeros may be absent (``2024-2-15T05:59:20+00:00`` in certificates of a DGX H100, firmware 23.11).

    :param zone: where a time without offset was written; UTC when not told.
    """
    match = _TIME.match(text.strip()) if isinstance(text, str) else None
    if match is None:
        return None
    offset = match["offset"]
    where = parse_offset(offset) if offset else zone or UTC
    if where is None:
        return None
    fraction = int(match["fraction"][1:7].ljust(6, "0")) if match["fraction"] else 0
    try:
        moment = datetime(
            int(match["year"]),
            int(match["month"]),
            int(match["day"]),
            int(match["hour"]),
            int(match["minute"]),
            int(match["second"]),
            fraction,
            where,
        )
        moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    return moment


def believable(moment: datetime | None, now: datetime) -> bool:
    """Whether a log's time can be true: not from a clock that was never set, not of the far future."""
    return moment is not None and FIRST_TRUE <= moment <= now + AHEAD


def parse_span(text: str) -> timedelta | None:
    """``7d``, ``12h``, ``30m``; None when it is no span of time."""
    match = _SPAN.match(text.strip())
    if match is None or len(match["number"]) > 9:
        return None
    try:
        return timedelta(seconds=int(match["number"]) * _SECONDS[match["unit"].lower()])
    except OverflowError:
        return None
