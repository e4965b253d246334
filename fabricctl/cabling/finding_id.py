"""Stable ids of findings: what and where, never when.

*What* is the kind. *Where* is the fewest names that tell one fault from every other of its kind in a run and are the
same in every run: planned links by their two ports, devices by the name they are planned under (by GUID where a
name does not tell them apart, or nobody planned them). Ports are counted in the normal profile, whatever profile a
switch is in. Not in it: order and direction of what was read, line numbers, counts, rates, wording, and where a
cable ends up by mistake, unless that cable itself is the fault.

A planned link to an HCA is told by its switch port alone: a switch port has one planned cable, while the word for
the card at the other end may be learned from what else is seen (``HCA-4``, ``mlx5_3``).
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from fabricctl.cabling.model import Cable, End, Finding, FindingKind, Spot
from fabricctl.discovery.names import name_key

ID_DIGITS = 12
"""48 bits: among 300,000 findings of one history two share an id with a chance of 2 in 10,000."""

_WHOLE_FABRIC = frozenset({FindingKind.SPLIT_FABRIC, FindingKind.BAD_LINK_SHARE, FindingKind.INACTIVE})
"""Kinds of which there is one per fabric; their subject is a figure that changes from run to run."""

PLANNED_LINK = frozenset(
    {FindingKind.SWAPPED, FindingKind.MISWIRED, FindingKind.MISSING, FindingKind.DEGRADED}
)
"""Kinds that are about planned links."""

_SEEN_CABLE = frozenset({FindingKind.SELF_LOOP, FindingKind.UNEXPECTED, FindingKind.OUTSIDE_PLAN})
"""Kinds that are about a cable nobody planned."""

_PORT = frozenset({FindingKind.RESERVED_PORT, FindingKind.RAIL})
"""Kinds that are about the port their first cable speaks from, whatever is plugged in."""


@dataclass(frozen=True, slots=True)
class Where:
    """The place of a fault.

    :param links: of each link one spot (of a link to an HCA, or a lone port) or both, sorted.
    :param devices: keys of devices, sorted; beside links a word for what is wrong there.
    """

    links: tuple[tuple[Spot, ...], ...] = ()
    devices: tuple[str, ...] = ()

    def __str__(self) -> str:
        """``leaf1/21 - spine1/1 and leaf2/21 - spine1/3``, or names of devices; ports in the normal profile."""
        links = [" - ".join(map(spot_words, link)) for link in self.links]
        return " and ".join(links or self.devices)


NOWHERE = Where()
"""The whole fabric."""


def where_of(finding: Finding) -> Where:
    """The place of a finding; of two findings of one kind in one run the places differ."""
    kind = finding.kind
    if kind in _WHOLE_FABRIC:
        return NOWHERE
    if finding.cables and kind in _PORT:
        return Where(((finding.cables[0].a.spot,),), finding.where)
    if finding.where:
        return Where(devices=tuple(sorted(finding.where)))
    if finding.cables and kind in PLANNED_LINK:
        return Where(tuple(sorted({_planned(cable) for cable in finding.cables})))
    if finding.cables and kind in _SEEN_CABLE:
        return Where(tuple(sorted({_both(cable.a, cable.found) for cable in finding.cables})))
    return Where(devices=tuple(sorted(map(name_key, finding.devices))) or (name_key(finding.subject),))


def finding_id(finding: Finding) -> str:
    """``F-`` and twelve hexadecimal digits of kind and place; the same for the same fault in every run."""
    where = where_of(finding)
    links = ["=".join(map(spot_words, link)) for link in where.links]
    text = "\x1f".join([finding.kind.value, *links, *where.devices])
    return "F-" + blake2b(text.encode("utf-8", "replace"), digest_size=ID_DIGITS // 2).hexdigest()


def spot_words(spot: Spot) -> str:
    """``leaf1/27``, of a second half ``leaf1/27/2``."""
    return "/".join(map(str, spot))


def _planned(cable: Cable) -> tuple[Spot, ...]:
    far = cable.expected
    if far is None or cable.a.is_hca == far.is_hca:
        return _both(cable.a, far)
    return ((far if cable.a.is_hca else cable.a).spot,)


def _both(a: End, b: End | None) -> tuple[Spot, ...]:
    return tuple(sorted({end.spot for end in (a, b) if end is not None}))
