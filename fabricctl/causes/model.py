"""What an explanation of wrong cables carries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from fabricctl.fabric import Link, Port
from fabricctl.panels import Panel


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
    fix: str = ""

    @property
    def links(self) -> int:
        """How many planned links it explains."""
        return len(self.explains)


class OtherSlot(NamedTuple):
    """An HCA that sits in another slot than on most hosts of its model, as learned from their BMCs or the PCI bus.

    :param hca: its name (``mlx5_3``); :param found: and :param usual: slots as the source calls them.
    """

    hca: str
    found: str
    usual: str


def _no_panel(_key: str) -> Panel | None:
    return None


@dataclass(frozen=True)
class CauseKnowledge:
    """What helps to tell a cause, beside plan and discovery; all of it may be absent.

    :param panel_of: plan key of a switch -> its panel; :param host_panel: host name -> its panel.
    :param other_slots: host name -> its HCAs that sit in another slot than usual.
    :param assembly_of: planned link -> kind of cable as ``AssemblyType`` spells it, where the plan's
        ``LinkDetail.assembly`` is not the word to take (a site's declaration); None asks the plan.
    """

    panel_of: Callable[[str], Panel | None] = _no_panel
    host_panel: Callable[[str], Panel | None] = _no_panel
    other_slots: Mapping[str, tuple[OtherSlot, ...]] = field(default_factory=dict)
    assembly_of: Callable[[Link], str] | None = None


@dataclass(frozen=True)
class Explanation:
    """Why cables are wrong.

    The ``explains`` of the causes are disjoint; with ``left`` they are every wrong planned link: swapped,
    miswired, or missing without being folded under an absent device.

    :param causes: largest first; plain exchanges of two links (``CauseKind.SWAPPED``) come last.
    :param left: ``Link.a`` of the wrong planned links that none explains, in the plan's order.
    :param wrong: how many planned links are wrong.
    """

    causes: tuple[Cause, ...] = ()
    left: tuple[Port, ...] = ()
    wrong: int = 0

    @property
    def explained(self) -> int:
        """How many wrong links a cause explains, plain exchanges included."""
        return sum(cause.links for cause in self.causes)

    @property
    def systematic(self) -> tuple[Cause, ...]:
        """The causes that are more than an exchange of two links."""
        return tuple(cause for cause in self.causes if cause.kind is not CauseKind.SWAPPED)

    @property
    def swaps(self) -> tuple[Cause, ...]:
        """The plain exchanges of two links."""
        return tuple(cause for cause in self.causes if cause.kind is CauseKind.SWAPPED)


def covered(explanation: Explanation) -> dict[Port, Cause]:
    """``Link.a`` of every planned link that a cause explains -> that cause."""
    return {port: cause for cause in explanation.causes for port in cause.explains}
