"""Lane rates as OpenSM and ibdiagnet round them: ``SPD=50`` and ``LSA`` 50 are HDR.

Words: OpenSM ``opensm/osm_dump.c`` (2.5, 5, 10, FDR10, 14, 25) and ibdm's ``Fabric.h`` in ibdiagnet2
(``speed2char``: the same, then 50, 100, 200). ``??``, ``N/A`` and ``UNKNOWN`` are a tool that could not tell.
"""

from __future__ import annotations

from fabricctl.discovery.textlines import shown
from fabricctl.rates import Rate, parse_rate

SPEED_OF_ROUNDED: dict[str, str] = {
    "2.5": "SDR",
    "5": "DDR",
    "10": "QDR",
    "FDR10": "FDR10",
    "14": "FDR",
    "25": "EDR",
    "50": "HDR",
    "100": "NDR",
    "200": "XDR",
}
"""Rounded lane rate in Gb/s -> speed name."""

_UNTOLD = ("", "?", "??", "???", "N/A", "UNKNOWN")


def rounded_rate(width: str, speed: str) -> Rate | None:
    """``4x`` and ``50`` -> 4xHDR; None when the tool could not tell one of them.

    :raises ValueError: a width or speed that is none of the known words.
    """
    if width in _UNTOLD or speed in _UNTOLD:
        return None
    name = SPEED_OF_ROUNDED.get(speed)
    rate = parse_rate(width + name) if name else None
    if rate is None:
        known = ", ".join(SPEED_OF_ROUNDED)
        raise ValueError(
            f"width {shown(width)} at {shown(speed)} Gb/s a lane is not understood; lane rates are {known}"
        )
    return rate
