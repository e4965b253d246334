"""InfiniBand link widths and speeds.

Names and lane rates: InfiniBand Trade Association roadmap; lane rates in Gb/s as iblinkinfo prints them
(infiniband-diags 44, ``mad_dump_linkspeedext``: FDR 14.0625, EDR 25.78125, HDR 53.125, NDR 106.25).
"""

from __future__ import annotations

import re
from typing import NamedTuple

LANE_GBPS: dict[str, float] = {
    "SDR": 2.5,
    "DDR": 5.0,
    "QDR": 10.0,
    "FDR10": 10.3125,
    "FDR": 14.0625,
    "EDR": 25.78125,
    "HDR": 53.125,
    "NDR": 106.25,
    "XDR": 212.5,
}
"""Signalling rate of one lane, by speed name, slowest first."""

SPEED_OF_LANE_GBPS: dict[str, str] = {
    "2.5": "SDR",
    "5.0": "DDR",
    "10.0": "QDR",
    "10.3125": "FDR10",
    "14.0625": "FDR",
    "25.78125": "EDR",
    "53.125": "HDR",
    "106.25": "NDR",
    "212.5": "XDR",
}
"""The speed name behind the lane rate iblinkinfo prints."""

NOMINAL_GBPS: dict[str, int] = {
    "SDR": 10,
    "DDR": 20,
    "QDR": 40,
    "FDR10": 40,
    "FDR": 56,
    "EDR": 100,
    "HDR": 200,
    "NDR": 400,
    "XDR": 800,
}
"""What people call a 4x port of that speed, in Gb/s."""

WIDTHS = (1, 2, 4, 8, 12)

_RATE = re.compile(r"([0-9]{1,2})[xX][ \t]*([A-Za-z]+(?:10)?)\Z")


class Rate(NamedTuple):
    """A link's width in lanes and its speed name: ``Rate(4, "HDR")`` prints as ``4xHDR``."""

    width: int
    speed: str

    def __str__(self) -> str:
        return f"{self.width}x{self.speed}"

    @property
    def gbps(self) -> float:
        """Signalling rate of the whole link in Gb/s."""
        return self.width * LANE_GBPS[self.speed]

    def below(self, other: Rate) -> bool:
        """True when this link is narrower or slower than ``other``."""
        return self.width < other.width or LANE_GBPS[self.speed] < LANE_GBPS[other.speed]


def parse_rate(text: str) -> Rate | None:
    """``4xHDR``, ``4x HDR``, ``4X NDR`` -> Rate; None when it is not a known width and speed."""
    match = _RATE.match(text.strip())
    if match is None:
        return None
    width, speed = int(match[1]), match[2].upper()
    if width not in WIDTHS or speed not in LANE_GBPS:
        return None
    return Rate(width, speed)
