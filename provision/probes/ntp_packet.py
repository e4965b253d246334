"""The 48 bytes of NTP, as a client asks and a server answers (RFC 5905, figure 8; RFC 4330)."""

from __future__ import annotations

import struct

from provision.install.doctor_seen import NtpSeen

SIZE = 48
EPOCH = 2_208_988_800
"""Seconds between 1900, NTP's beginning, and 1970."""
ERA = 2**32
"""Seconds of an era: the first one ends in February 2036."""
_CLIENT, _SERVER = 3, 4
_VERSION = 4
_PACKET = struct.Struct("!BBbbII4sQQQQ")


def ask(stamp: int) -> bytes:
    """A client's packet. :param stamp: 64 bits that the answer must repeat; a random number tells nothing of us."""
    return _PACKET.pack(_VERSION << 3 | _CLIENT, 0, 6, -20, 0, 0, bytes(4), 0, 0, 0, stamp)


def read(data: bytes, stamp: int, sent: float, came: float) -> NtpSeen | None:
    """An answer; None when it is none, or not to our packet.

    :param sent: and ``came``: our clock, Unix seconds, when the question left and the answer came.
    """
    if len(data) < SIZE:
        return None
    first, stratum, _, _, delay, dispersion, reference, _, origin, received, transmitted = _PACKET.unpack(
        data[:SIZE]
    )
    if first & 7 != _SERVER or origin != stamp:
        return None
    leap = first >> 6
    theirs = [_unix(moment, came) for moment in (received, transmitted)]
    taken = came - sent - (theirs[1] - theirs[0])
    return NtpSeen(
        offset_s=((theirs[0] - sent) + (theirs[1] - came)) / 2 if transmitted else 0.0,
        delay_s=max(taken, 0.0) if transmitted else 0.0,
        leap=leap,
        stratum=stratum,
        root_delay_s=delay / 2**16,
        root_dispersion_s=dispersion / 2**16,
        reference=reference.rstrip(b"\x00").decode("ascii", "replace") if stratum <= 1 else "",
    )


def _unix(stamp: int, near: float) -> float:
    """Unix seconds of a timestamp, of the era that brings it nearest to a moment."""
    seconds = stamp / 2**32 - EPOCH
    return seconds + round((near - seconds) / ERA) * ERA
