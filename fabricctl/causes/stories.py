"""What each kind of candidate says: subject, headline, evidence, fix."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from fabricctl.causes.candidate import Candidate
from fabricctl.causes.model import CauseKind
from fabricctl.fabric import Port
from fabricctl.hostset import fold
from fabricctl.words import many as count

if TYPE_CHECKING:
    from fabricctl.causes.words import Words

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")

_FEW = 8
"""Names in a ring that a headline lists in their order."""
Told = tuple[str, str, str, str]
"""Subject, headline, evidence, fix."""


def number_word(number: int) -> str:
    """``one`` to ``eight``, then digits."""
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else f"{number:,}"


# -- blocks -----------------------------------------------------------------------------------------------


def shifted(words: Words, one: Candidate, fits: int) -> Told:
    """A block of ports, or a host's rails, some steps further."""
    if one.side == "host":
        return _rails_shifted(one, fits)
    names, what = words.folded(one.devices), words.cables(one)
    step, unit = _step(words, one)
    way = "further" if one.step > 0 else "back"
    by = f"{number_word(step)} {unit}{'' if step == 1 else 's'}"
    part = "" if one.members else _part(words, one)
    where, inside = what, ""
    if one.members and one.note and not one.far:
        where = f"{'bundles' if one.note == 'bundle' else 'blocks'} of {one.size} {what}"
        inside = f" in their {'bundle' if one.note == 'bundle' else 'block'}"
    turned = f"rotated by {by}" if one.wraps else f"shifted by {by}"
    if one.wraps and 2 * abs(one.step) == one.size:
        turned = f"exchanged in halves ({by} apart)"
    headline = f"{where}{part} of {names} {turned}"
    evidence = f"{fits:,} of {one.links:,} {what}{part} sit {by} {way}{inside}"
    last = ", those pushed over the end go to the other end" if one.wraps else ""
    back = "back" if one.step > 0 else "further"
    fix = f"at {names}: move these plugs {by} {back}{last}"
    return names, headline, evidence, fix


def _step(words: Words, one: Candidate) -> tuple[int, str]:
    """How far, and in what: cages where it is whole ones."""
    step, ends = abs(one.step), words.layout.ends
    panel = words.panels.get(one.devices[0])
    per_port = 1
    if ends.splits(one.devices[0]) and (
        not one.wraps or any(len(ends.normal(port)) > 1 for port in one.moves)
    ):
        per_port = 2  # counted by halves
    if step % per_port:
        return step, "half port"
    step //= per_port
    per_cage = panel.ports_per_cage if panel is not None else 1
    return (step // per_cage, "cage") if per_cage > 1 and step % per_cage == 0 else (step, "port")


def _part(words: Words, one: Candidate) -> str:
    """Which ports, when it is not the whole block."""
    if one.note != "run":
        return ""
    ports = _own(words, one)
    return f" on ports {ports[0]}-{ports[-1]}"


def _own(words: Words, one: Candidate) -> list[int]:
    """Its port numbers as the switches show them."""
    return sorted(map(words.layout.ends.own_number, one.moves))


def _rails_shifted(one: Candidate, fits: int) -> Told:
    names = fold(one.devices)
    by = f"{number_word(abs(one.step))} rail{'' if abs(one.step) == 1 else 's'}"
    way = "further" if one.step > 0 else "back"
    return (
        names,
        f"cables of {names} sit {by} {way}",
        f"{fits:,} of {one.links:,} cables sit {by} {way}, the last on the first",
        f"at {names}: move every plug {by} {'back' if one.step > 0 else 'further'}",
    )


def reversed_(words: Words, one: Candidate, fits: int) -> Told:
    """A block whose first plug sits last."""
    names, what, part = words.folded(one.devices), words.cables(one), _part(words, one)
    if one.members:
        part = f" (blocks of {one.size})" if one.note == "run" else ""
    ports = _own(words, one)
    adds = "" if one.members else f", own port and found port add up to {ports[0] + ports[-1]}"
    return (
        names,
        f"{what}{part} of {names} in reverse order: a trunk or tray is flipped",
        f"{fits:,} of {one.links:,} {what}{part} sit in reverse order{adds}",
        f"turn the trunk or tray at {names} round, or plug its cables in the opposite order",
    )


def cages(words: Words, one: Candidate, fits: int) -> Told:
    """The two ports of cages exchanged."""
    names, what = words.folded(one.devices), words.cables(one)
    cages = fits // 2
    told = (
        ""
        if one.note == "panel"
        else " (taken as ports 1 and 2, 3 and 4, ...: no panel of this model is known)"
    )
    few = not one.members and cages <= 8
    which = f"cages {_cage_names(words, one)}" if few else "each cage"
    return (
        names,
        f"the two ports of {which} exchanged: {what} of {names}",
        f"{fits:,} of {one.links:,} {what} sit in the other port of their cage{told}",
        f"at {names}: exchange the two plugs of each of {count(cages, 'cage')}",
    )


def _cage_names(words: Words, one: Candidate) -> str:
    panel = words.panels.get(one.devices[0])
    if panel is not None:
        found = [words.layout.ends.panel_port(port, panel) for port in one.moves]
        return fold({port.cage for port in found if port is not None})
    ports = _own(words, one)
    return ", ".join(f"{a}/{b}" for a, b in zip(ports[::2], ports[1::2], strict=False))


# -- exchanges --------------------------------------------------------------------------------------------


def bundles(words: Words, one: Candidate, fits: int) -> Told:
    """The cables of one block of several devices exchanged."""
    names, what = words.folded(one.devices), words.cables(one)
    pair = _pair(words, one)
    if one.far:
        what, pair = "cables", f"{pair} towards {words.layout.name(one.far)}"
    headline = f"{what} of {pair} exchanged" if one.wraps else f"{what} of {_one_by_one(words, one)}"
    return (
        names,
        headline,
        f"{fits:,} of {one.links:,} {what} sit on the other device, on the same ports"
        if one.wraps
        else f"{fits:,} of {one.links:,} {what} sit there, on the same ports",
        f"exchange the {what} of {pair}, port by port",
    )


def _pair(words: Words, one: Candidate) -> str:
    rings = [ring for ring in one.pairs if ring]
    if not rings:
        return words.folded(one.devices)
    hosts = one.side == "host"
    word = (lambda keys: fold(keys)) if hosts else words.folded
    if hosts and len(rings) == 1 and len(rings[0]) > _FEW:
        return f"{len(rings[0])} hosts {fold(rings[0])}"
    if len(rings) == 1 and len(rings[0]) > 2:
        shown = list(rings[0]) if hosts else [words.layout.name(key) for key in rings[0]]
        return ", ".join(shown) + " (each with the next)"
    columns = [word([ring[at] for ring in rings]) for at in range(len(rings[0]))]
    return " and ".join(columns) if len(columns) == 2 else ", ".join(columns) + " (each with the next)"


def _whose_place(ring: Sequence[str]) -> str:
    """Of a ring of devices, each of which stands where the one before it belongs: named so, is by its place."""
    said = ", ".join(f"{named} is {place}" for place, named in zip(ring, (*ring[1:], ring[0]), strict=True))
    return f"; by its cables, what is named {said}"


def wrong_rack(words: Words, one: Candidate, fits: int) -> Told:
    """Whole devices in each other's place."""
    hosts = one.side == "host"
    names = fold(one.devices) if hosts else words.folded(one.devices)
    pair = _pair(words, one)
    if one.wraps:
        headline = f"{pair} stand in each other's place, or are named so"
        evidence = f"{fits:,} of {one.links:,} cables are those planned for the other, on the same ports"
        fix = f"read the serial numbers of {pair}: correct the names, or exchange the devices or all their cables"
        fix += "".join(_whose_place(ring) for ring in one.pairs if hosts and len(ring) > _FEW)
    else:
        headline = f"{_one_by_one(words, one)}: a device stands in another's place, or is named so"
        evidence = f"{fits:,} of {one.links:,} cables are those planned for the other, on the same ports"
        fix = f"read the serial numbers of {names}: correct the names, or move the devices"
    return names, headline, evidence, fix


def wrong_unit(words: Words, one: Candidate, fits: int) -> Told:
    """Hosts, or leaves, of one unit cabled to another."""
    if one.note == "hosts":
        names = fold(one.devices)
        groups = [fold(group) for group in one.pairs]
        there = _leaf_words(words, one)
        if len(groups) > 1:
            headline = f"hosts {groups[0]} and {groups[1]} are cabled to each other's unit: {there}"
        else:
            headline = f"hosts {groups[0]} are cabled to another unit: {there}"
        same = "rail and port" if all(a.number == b.number for a, b in one.moves.items()) else "rail"
        evidence = f"{fits:,} of {one.links:,} cables go to the same {same} of the other unit"
        return (
            names,
            headline,
            evidence,
            f"recable hosts {' and '.join(groups)} to the leaves of their own unit",
        )
    names, pair, what = words.folded(one.devices), _pair(words, one), words.cables(one)
    return (
        names,
        f"{what} of {pair} are cabled to each other's unit",
        f"{fits:,} of {one.links:,} {what} go to the other unit, on the same rails and ports",
        f"exchange the {what} of {pair}, device by device, port by port",
    )


def _leaf_words(words: Words, one: Candidate) -> str:
    leaves = {port.node for port in one.moves}
    to = {port.node for port in one.moves.values()}
    if to == leaves:
        return f"leaves {words.folded(leaves)}"
    return f"{words.folded(to - leaves or to)} instead of {words.folded(leaves)}"


# -- hosts ------------------------------------------------------------------------------------------------


def host_panel(words: Words, one: Candidate, fits: int) -> Told:
    """A host's HCAs in another order."""
    names = fold(one.devices)
    each = "" if len(one.devices) == 1 else f" each of {count(len(one.devices), 'host')}:"
    rails = _rails(words, one)
    headline = {
        "rails reversed": f"HCAs of {names} are cabled in reverse order",
        "cages reversed": f"cages of {names} are cabled in reverse order",
        "panel turned": f"panel of {names} is cabled upside down: cages reversed and their ports exchanged",
    }.get(one.note, f"the two ports of each cage of {names} exchanged")
    evidence = f"{fits:,} of {one.links:,} cables fit:{each} {rails}"
    fix = {
        "rails reversed": f"at {names}: plug rail 1 where the last rail is now, and so on",
        "cages reversed": f"at {names}: exchange the plugs of the first and the last cage, and so on inwards",
        "panel turned": f"at {names}: plug in the opposite order, from the last port of the last cage on",
    }.get(one.note, f"at {names}: exchange the two plugs of each cage")
    return names, headline, evidence, fix


def _rails(words: Words, one: Candidate) -> str:
    """``rails 1<->4, 2<->3``: of the first host, which stands for all."""
    keys = words.layout.hcas[one.devices[0]]
    rail = {key: words.layout.rail.get(key, place) for place, key in enumerate(keys, 1)}
    moved = {(rail[a.node], rail[b.node]) for a, b in one.moves.items() if a.node in rail and b.node in rail}
    both = sorted({(min(pair), max(pair)) for pair in moved if pair[0] != pair[1]})
    return "rails " + ", ".join(f"{a}<->{b}" for a, b in both)


# -- splitters and numbering ------------------------------------------------------------------------------


def tails(words: Words, one: Candidate, fits: int) -> Told:
    """Tails of splitters crossed."""
    names = words.folded(one.devices)
    splitters = sum(member.size for member in one.members) or one.size
    return (
        names,
        f"tails of {count(splitters, 'splitter')} at {names} crossed",
        f"{fits:,} of {one.links:,} tails sit where the other tail of their splitter belongs",
        "exchange the tails of each of these splitters; their heads stay",
    )


def heads(words: Words, one: Candidate, fits: int) -> Told:
    """Heads of splitters exchanged."""
    names = words.folded(one.devices)
    ports = [Port(node, int(number)) for node, number in one.pairs]
    if len(ports) == 2:
        which = " and ".join(words.port(port) for port in ports)
        headline, fix = f"splitter heads at {which} exchanged", f"exchange the heads at {which}"
    else:
        headline = f"{count(one.size, 'splitter head')} at {names} moved round"
        fix = f"move each of the {one.size} heads to its own cage"
    per = len(one.moves) // max(1, one.size)
    return names, headline, f"{fits:,} of {one.links:,} cables follow their head, {per} to a head", fix


def split_ready(words: Words, one: Candidate, fits: int) -> Told:
    """The profile that renumbers every port."""
    names = words.folded(one.devices)
    are = "is" if len(one.devices) == 1 else "are"
    return (
        names,
        f"{names} {are} in split-ready profile: every port p has become 2p-1; no cable is wrong by that",
        f"{fits:,} of {one.links:,} cables are right once the ports are translated",
        "translate the port numbers, or take the profile off, then verify again",
    )


def as_cage(words: Words, one: Candidate, fits: int) -> Told:
    """A plan that counts cages."""
    names = words.folded(one.devices)
    return (
        names,
        f"the plan's port numbers of {names} are cages, not InfiniBand ports: n means 2n-1 or 2n",
        f"{fits:,} of {one.links:,} cables are right once the numbers are read as cages",
        "say in the plan what its bare numbers mean (cage or InfiniBand port), then verify again",
    )


def _one_by_one(words: Words, one: Candidate) -> str:
    """``A went to B`` for a chain that does not close."""
    ring = one.pairs[0] if one.pairs else one.devices
    hosts = one.side == "host"
    shown = [key if hosts else words.layout.name(key) for key in ring]
    return " -> ".join(shown[:6]) + (" -> ..." if len(shown) > 6 else "")


Story = Callable[["Words", Candidate, int], Told]

STORIES: Mapping[CauseKind, Story] = {
    CauseKind.SHIFTED: shifted,
    CauseKind.REVERSED: reversed_,
    CauseKind.CAGE_PORTS_EXCHANGED: cages,
    CauseKind.BUNDLES_EXCHANGED: bundles,
    CauseKind.WRONG_RACK: wrong_rack,
    CauseKind.WRONG_UNIT: wrong_unit,
    CauseKind.HOST_PANEL_REVERSED: host_panel,
    CauseKind.HOST_CAGE_PORTS_EXCHANGED: host_panel,
    CauseKind.TAILS_CROSSED: tails,
    CauseKind.HEADS_EXCHANGED: heads,
    CauseKind.SPLIT_READY: split_ready,
    CauseKind.NUMBER_AS_CAGE: as_cage,
}
"""Kind -> its story; the number is that of the cables that fit."""
