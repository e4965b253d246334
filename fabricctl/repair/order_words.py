"""Words and figures that work orders share: minutes, rules of handling, kinds of cables, reasons to stop.

Minutes are estimates of this program, no published figures: a site that measures its own work reads the sums with
them in mind. Handling rules name their source; what is not confirmed says so.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import NamedTuple

from fabricctl.hostset import fold
from fabricctl.repair.model import Assembly, AssemblyType, OrderKind, TypeSource

FIND_MIN = 1.0
"""Find the port, read the label, photograph before."""
PLUG_MIN = 0.5
"""One plug out or in."""
CLEAN_MIN = 2.0
"""Inspect, clean, inspect one fibre end."""
RACK_MIN = 3.0
"""Walk to another rack."""
REROUTE_MIN = 10.0
"""Lay the loose end of a cable from one rack to another."""
LAY_MIN = 20.0
"""Lay a new cable; REMOVE_MIN: take one out of its trays."""
REMOVE_MIN = 10.0
VERIFY_MIN = 0.5
"""Wait for the link."""

FIBRES = frozenset({AssemblyType.FIBRE, AssemblyType.FIBRE_SPLIT_2})
"""Kinds whose ends are cleaned and may sit in pairs in one transceiver."""

CABLE_WORDS = {
    AssemblyType.FIBRE: "straight fibre, MPO to MPO",
    AssemblyType.FIBRE_SPLIT_2: "fibre splitter 1:2, one MPO head and two tails",
    AssemblyType.TWIN_DAC: "twin-port copper cable (DAC)",
    AssemblyType.TWIN_ACC: "twin-port active copper cable (ACC)",
    AssemblyType.DAC_SPLIT_2: "copper splitter 1:2, one twin-port head and two tails",
    AssemblyType.DAC_SPLIT_4: "copper splitter 1:4, one twin-port head and four tails",
    AssemblyType.SINGLE_DAC: "single-port copper cable (DAC)",
}
"""What a person sees."""

TYPE_FROM_WORDS = {
    TypeSource.PLAN: "as the plan says",
    TypeSource.CABLE_INFO: "as its own memory says",
    TypeSource.ASSUMED: "assumed: stop if it is another kind",
}
"""How the kind is known."""

PART_ACTIONS = {
    OrderKind.CABLE: "Write down what was found, and part and serial number of what goes in.",
    OrderKind.TRANSCEIVER: "Write down what was found, and part and serial number of what goes in.",
    OrderKind.SWITCH: "Is it powered? If it is, reach its management port; if it stays silent, exchange it and declare "
    "the new GUID in the site file.",
    OrderKind.HCA: "Is the host powered on and its driver loaded? If it is, reseat the card; if nothing changes, "
    "exchange it.",
}
"""What to do about a part that is missing or dead."""

PART_TITLES = {
    OrderKind.CABLE: "Cables to look at or to order",
    OrderKind.TRANSCEIVER: "Transceivers",
    OrderKind.SWITCH: "Switches",
    OrderKind.HCA: "HCAs",
}
"""Heading of each separate order."""

STOP_ALWAYS = (
    "the label on the plug names neither of the two ends written in the step",
    "the place the plug should go to is taken by a plug that no step names",
    "the cable does not reach without tension or below its bend radius",
    "connector or transceiver does not fit (finned top in a switch cage, flat top in a host or a liquid-cooled switch)",
    "the link LED stays dark 60 s after cleaning and reseating once",
    "anything looks different from what the step says",
)
"""Reasons to stop that hold for every step: leave it as it is, write it down, ask who ordered the work."""

_CABLE_PAGE = "docs.nvidia.com/networking/display/intrcnctcabreqndr400eth/mpo/lc+cable+requirements"


class Rule(NamedTuple):
    """One rule of handling. :param status: confirmed, derived or indicative; :param source: the document."""

    words: str
    status: str
    source: str
    fibre: bool | None = None


HANDLING = (
    Rule(
        "Pull by the tab, never by the cable; hook-and-loop ties only; support every 2 m; keep transceivers and fans "
        "free to come out.",
        "confirmed",
        "docs.nvidia.com/dgx-superpod/design-guide-cabling-data-centers/latest/cable-management-best-practices.html",
    ),
    Rule(
        "Every mating of a fibre: inspect, clean, inspect, then plug in. Cap what hangs.",
        "confirmed (secondary)",
        "IEC 61300-3-35 as cited in studylib.net/doc/18238496 (Cisco 51834)",
        fibre=True,
    ),
    Rule(
        "Transceivers stay in their cages: only the MPO plugs move.",
        "confirmed",
        "docs.nvidia.com/networking/display/400g100gpam4ovpub/transceivers-and-fiber-details-100g-pam4",
        fibre=True,
    ),
    Rule("MPO ends are green (APC) and of polarity type B.", "confirmed", _CABLE_PAGE, fibre=True),
    Rule(
        "Both fibres of a twin transceiver are of one kind and about equally long.",
        "confirmed",
        "docs.nvidia.com/networking/display/mms4x00nm800g500m/application+overview",
        fibre=True,
    ),
    Rule(
        "Bend radius of a 3 mm fibre: 30 mm at rest, 60 mm while it is moved.",
        "derived",
        f"{_CABLE_PAGE}; factor: Ruijie RG-S5300 manual",
        fibre=True,
    ),
    Rule(
        "Bend radius of copper: 30 AWG (4.5 mm) 21 mm once, 45 mm repeatedly; 26 AWG (5.8 mm) 29 mm once, 58 mm "
        "repeatedly.",
        "indicative: a vendor's figures for other DACs",
        "docs.oracle.com/en/engineered-systems/exadata-database-machine/dbmmr/"
        "reviewing-cable-management-arm-guidelines.html",
        fibre=False,
    ),
)
"""Rules to print, with their sources."""

ESTIMATE_NOTE = (
    "minutes are estimates of this program, not measured: "
    f"{FIND_MIN:g} to find the port, {PLUG_MIN:g} per plug, {CLEAN_MIN:g} to clean a fibre end, {RACK_MIN:g} to "
    f"another rack, {REROUTE_MIN:g} to lay a loose end to another rack, {LAY_MIN:g} to lay a new cable"
)


def cable_words(cable: Assembly) -> str:
    """Kind, length, numbers and how the kind is known, in one line."""
    parts = [CABLE_WORDS[cable.type]]
    if cable.length_m is not None:
        parts.append(f"{cable.length_m:g} m")
    if cable.part_number:
        parts.append(f"part {cable.part_number}")
    if cable.serial:
        parts.append(f"serial {cable.serial}")
    return f"{', '.join(parts)} ({TYPE_FROM_WORDS[cable.type_from]})"


def plug_name(kind: AssemblyType, role: str, number: int) -> str:
    """What the plug is called: ``the MPO plug``, ``the head``, ``tail 2``."""
    if role == "head":
        return "the MPO head" if kind in FIBRES else "the twin-port head"
    if role == "tail":
        return f"tail {number}"
    if kind in FIBRES:
        return "the MPO plug"
    return "the twin-port plug" if kind in (AssemblyType.TWIN_DAC, AssemblyType.TWIN_ACC) else "the plug"


def span(minutes: float) -> str:
    """``12 min``, ``3 h 20 min``."""
    whole = max(1, round(minutes))
    hours, rest = divmod(whole, 60)
    if not hours:
        return f"{rest} min"
    return f"{hours:,} h {rest} min" if rest else f"{hours:,} h"


def busy(in_service: Collection[str], draining: Collection[str]) -> Iterator[str]:
    """Which hosts jobs may run on: one phrase each for those in service and those that drain."""
    if in_service:
        yield f"in service by the node record: {fold(in_service)}"
    if draining:
        yield f"draining by the node record: {fold(draining)}"


def busy_stops(in_service: Collection[str], draining: Collection[str]) -> Iterator[str]:
    """Reasons to stop at a step that disconnects such hosts."""
    for phrase in busy(in_service, draining):
        yield f"{phrase}: go on only when no job is left there"


def busy_first(in_service: Collection[str], draining: Collection[str]) -> Iterator[str]:
    """What to do about them before the work begins."""
    if in_service:
        them = "it" if len(in_service) == 1 else "them"
        command = f'fabricctl node set {fold(in_service)} --to draining --reason "work order"'
        yield f"in service by the node record: {fold(in_service)}: drain {them} first ({command})"
    if draining:
        yield f"draining by the node record: {fold(draining)}: wait until no job is left there"
