"""What an explanation of wrong cables carries."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fabricctl.fabric import Port


class CauseKind(StrEnum):
    """What somebody did. The order is that of generality: the report sorts by links explained."""

    CABLED_PER_RAIL = "cabled_per_rail"
    """Cores or leaf uplinks cabled per rail or per group: the fabric falls into islands."""
    WRONG_UNIT = "wrong_unit"
    WRONG_RACK = "wrong_rack_position"
    SPLIT_READY = "split_ready_profile"
    NUMBER_AS_CAGE = "bare_number_read_as_cage"
    BUNDLES_EXCHANGED = "bundles_exchanged"
    SHIFTED = "block_shifted"
    REVERSED = "block_reversed"
    CAGE_PORTS_EXCHANGED = "cage_ports_exchanged"
    TAILS_CROSSED = "splitter_tails_crossed"
    HEADS_EXCHANGED = "splitter_heads_exchanged"
    HOST_PANEL_REVERSED = "host_panel_reversed"
    HOST_CAGE_PORTS_EXCHANGED = "host_cage_ports_exchanged"
    CARD_IN_OTHER_SLOT = "card_in_other_slot"
    SWAPPED = "links_swapped"


class Confidence(StrEnum):
    """How sure."""

    CERTAIN = "certain"
    """Every link it speaks of fits, and no other explanation covers as many."""
    LIKELY = "likely"
    """Nearly all fit, or one other explanation covers as many."""


@dataclass(frozen=True, slots=True)
class Cause:
    """One explanation.

    :param subject: device, pair or group, folded; :param headline: one line, in words of the hall.
    :param explains: end a of every planned link (``Link.a``, plan keys) that it accounts for.
    :param silenced: planned links that are wrong only as a consequence, or noise below it; same form.
    :param evidence: what fits, with numbers, one line ("31 of 32 uplinks sit one port further").
    :param fix: what to do, one line.
    """

    kind: CauseKind
    subject: str
    headline: str
    explains: tuple[Port, ...]
    evidence: str
    confidence: Confidence
    devices: tuple[str, ...] = ()
    silenced: tuple[Port, ...] = ()
    fix: str = ""

    @property
    def links(self) -> int:
        """How many planned links it explains."""
        return len(self.explains)
