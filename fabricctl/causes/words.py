"""Causes in words of the hall: a technician reads one line and knows what happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.tiers import TIER_WORDS
from fabricctl.causes.candidate import Candidate
from fabricctl.causes.chance import SINGLE_ALARM, cage_swaps_expected
from fabricctl.causes.layout import ALL, DOWN, UP, Layout
from fabricctl.causes.model import Cause, CauseKind, CauseKnowledge, Confidence
from fabricctl.causes.per_rail import Layer
from fabricctl.causes.residual import Residual
from fabricctl.causes.swaps import Swap
from fabricctl.fabric import Port
from fabricctl.hostset import fold, natural_key
from fabricctl.panels import Panel

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def number_word(number: int) -> str:
    """``one`` to ``eight``, then digits."""
    return _NUMBERS[number] if 0 <= number < len(_NUMBERS) else f"{number:,}"


def count(number: int, word: str) -> str:
    """``1 cable``, ``32 cables``."""
    return f"{number:,} {word}{'' if number == 1 else 'es' if word.endswith('h') else 's'}"


class Words:
    """Turns candidates into causes."""

    def __init__(
        self,
        comparison: Comparison,
        layout: Layout,
        residual: Residual,
        panels: Mapping[str, Panel | None],
        knowledge: CauseKnowledge,
    ) -> None:
        self.comparison, self.layout, self.residual = comparison, layout, residual
        self.panels, self.knowledge = panels, knowledge

    # -- pieces -----------------------------------------------------------------------------------------------

    def names(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Names of devices, in natural order."""
        return tuple(sorted({self.layout.name(key) for key in keys}, key=natural_key))

    def folded(self, keys: Iterable[str]) -> str:
        """Names of devices, folded."""
        return fold(self.names(keys))

    def keys_of(self, numbers: Iterable[int]) -> tuple[Port, ...]:
        """End a of the planned links, in order."""
        return tuple(sorted(self.residual.cables[number].link.a for number in numbers))

    def cables(self, candidate: Candidate) -> str:
        """What the block's cables are called: ``uplinks``, ``host cables``."""
        if candidate.far:
            return f"cables to {self.layout.name(candidate.far)}"
        tier = self.layout.tier.get(candidate.devices[0], -1)
        if candidate.side == UP:
            return "uplinks"
        if candidate.side == DOWN:
            return f"{TIER_WORDS.get(tier - 1, 'lower')} cables" if tier > 0 else "cables"
        return "cables"

    def port(self, port: Port) -> str:
        """A port with its panel label when that is known."""
        return str(self.comparison.ends.planned(port).full)

    def of(self, candidate: Candidate, explained: Sequence[int], fits: int, rival: Candidate | None) -> Cause:
        """The cause a candidate is.

        :param explained: cables it explains by itself; :param fits: those and the ones that another cause moved too.
        """
        tell = _TELL[candidate.kind]
        subject, headline, evidence, fix = tell(self, candidate, fits)
        said = [evidence]
        other = candidate.links - fits
        if other > 0:
            said.append(f"{count(other, 'cable')} {'does' if other == 1 else 'do'} not fit")
        if candidate.unseen:
            said.append(f"{count(candidate.unseen, 'cable')} {'carries' if candidate.unseen == 1 else 'carry'} no link")
        shared = fits - len(explained)
        if shared > 0:
            said.append(f"{count(shared, 'cable')} of them moved once more by another cause")
        if candidate.impossible:
            said.append("the plan declares splitters here, whose ports cannot move singly: wrong type or wrong identity")
        if rival is not None:
            said.append(f"the same is seen when {self.story(rival)}")
        hosts = candidate.side == "host" or candidate.note == "hosts"
        devices = tuple(sorted(candidate.devices, key=natural_key)) if hosts else self.names(candidate.devices)
        sure = other <= 0 and rival is None and not candidate.impossible
        return Cause(
            candidate.kind,
            subject,
            headline,
            self.keys_of(explained),
            "; ".join(said),
            Confidence.CERTAIN if sure else Confidence.LIKELY,
            devices,
            fix=fix,
        )

    def story(self, candidate: Candidate) -> str:
        """A candidate's headline, to be named as the other possibility."""
        return _TELL[candidate.kind](self, candidate, len(candidate.explained))[1]

    # -- blocks -----------------------------------------------------------------------------------------------

    def shifted(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """A block of ports, or a host's rails, some steps further."""
        if one.side == "host":
            return self._rails_shifted(one, fits)
        names, what = self.folded(one.devices), self.cables(one)
        per_cage = self._per_cage(one)
        step, unit = abs(one.step), "port"
        if per_cage > 1 and step % per_cage == 0:
            step, unit = step // per_cage, "cage"
        way = "further" if one.step > 0 else "back"
        by = f"{number_word(step)} {unit}{'' if step == 1 else 's'}"
        part = self._part(one)
        if one.members and part and not one.far:
            part = ""
            what = f"blocks of {one.size} {what}" if one.note == "run" or one.side != ALL else what
        turned = f"rotated by {by}" if one.wraps else f"shifted by {by}"
        if one.wraps and 2 * abs(one.step) == one.size:
            turned = f"exchanged in halves ({by} apart)"
        headline = f"{what}{part} of {names} {turned}"
        evidence = f"{fits:,} of {one.links:,} {what}{part} sit {by} {way}"
        last = ", those pushed over the end go to the other end" if one.wraps else ""
        back = "back" if one.step > 0 else "further"
        fix = f"at {names}: move these plugs {by} {back}{last}"
        return names, headline, evidence, fix

    def _per_cage(self, one: Candidate) -> int:
        panel = self.panels.get(one.devices[0])
        return panel.ports_per_cage if panel is not None else 1

    def _part(self, one: Candidate) -> str:
        """Which ports, when it is not the whole block."""
        if one.note != "run":
            return ""
        ports = sorted(port.number for port in one.moves)
        return f" on ports {ports[0]}-{ports[-1]}"

    def _rails_shifted(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        names = fold(one.devices)
        by = f"{number_word(abs(one.step))} rail{'' if abs(one.step) == 1 else 's'}"
        way = "further" if one.step > 0 else "back"
        return (
            names,
            f"cables of {names} sit {by} {way}",
            f"{fits:,} of {one.links:,} cables sit {by} {way}, the last on the first",
            f"at {names}: move every plug {by} {'back' if one.step > 0 else 'further'}",
        )

    def reversed_(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """A block whose first plug sits last."""
        names, what, part = self.folded(one.devices), self.cables(one), self._part(one)
        if one.members:
            part = f" (blocks of {one.size})" if one.note == "run" else ""
        ports = sorted(port.number for port in one.moves)
        adds = "" if one.members else f", own port and found port add up to {ports[0] + ports[-1]}"
        return (
            names,
            f"{what}{part} of {names} in reverse order: a trunk or tray is flipped",
            f"{fits:,} of {one.links:,} {what}{part} sit in reverse order{adds}",
            f"turn the trunk or tray at {names} round, or plug its cables in the opposite order",
        )

    def cages(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """The two ports of cages exchanged."""
        names, what = self.folded(one.devices), self.cables(one)
        cages = fits // 2
        told = "" if one.note == "panel" else " (taken as ports 1 and 2, 3 and 4, ...: no panel of this model is known)"
        which = "" if one.members or cages > 8 else f" {self._cage_names(one)}"
        return (
            names,
            f"the two ports of {'each cage' if cages > 8 or one.members else 'cages' + which} exchanged: {what} of {names}",
            f"{fits:,} of {one.links:,} {what} sit in the other port of their cage{told}",
            f"at {names}: exchange the two plugs of each of {count(cages, 'cage')}",
        )

    def _cage_names(self, one: Candidate) -> str:
        panel = self.panels.get(one.devices[0])
        ports = sorted(port.number for port in one.moves)
        if panel is not None:
            found = [panel.at(number) for number in ports]
            return fold({port.cage for port in found if port is not None})
        return ", ".join(f"{a}/{b}" for a, b in zip(ports[::2], ports[1::2], strict=False))

    # -- exchanges --------------------------------------------------------------------------------------------

    def bundles(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """The cables of one block of several devices exchanged."""
        names, what = self.folded(one.devices), self.cables(one)
        pair = self._pair(one)
        headline = f"{what} of {pair} exchanged" if one.wraps else f"{what} of {one_by_one(self, one)}"
        return (
            names,
            headline,
            f"{fits:,} of {one.links:,} {what} sit on the other device, on the same ports"
            if one.wraps
            else f"{fits:,} of {one.links:,} {what} sit there, on the same ports",
            f"exchange the {what} of {pair}, port by port",
        )

    def _pair(self, one: Candidate) -> str:
        rings = [ring for ring in one.pairs if ring]
        if not rings:
            return self.folded(one.devices)
        hosts = one.side == "host"
        word = (lambda keys: fold(keys)) if hosts else self.folded
        if len(rings) == 1 and len(rings[0]) > 2:
            shown = list(rings[0]) if hosts else [self.layout.name(key) for key in rings[0]]
            return ", ".join(shown[:8]) + (", ..." if len(shown) > 8 else "") + " (each with the next)"
        columns = [word([ring[at] for ring in rings]) for at in range(len(rings[0]))]
        return " and ".join(columns) if len(columns) == 2 else ", ".join(columns) + " (each with the next)"

    def wrong_rack(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """Whole devices in each other's place."""
        hosts = one.side == "host"
        names = fold(one.devices) if hosts else self.folded(one.devices)
        pair = self._pair(one)
        if one.wraps:
            headline = f"{pair} stand in each other's place, or are named so"
            evidence = f"{fits:,} of {one.links:,} cables are those planned for the other, on the same ports"
            fix = f"read the serial numbers of {pair}: correct the names, or exchange the devices or all their cables"
        else:
            headline = f"{one_by_one(self, one)}: a device stands in another's place, or is named so"
            evidence = f"{fits:,} of {one.links:,} cables are those planned for the other, on the same ports"
            fix = f"read the serial numbers of {names}: correct the names, or move the devices"
        return names, headline, evidence, fix

    def wrong_unit(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """Hosts, or leaves, of one unit cabled to another."""
        if one.note == "hosts":
            names = fold(one.devices)
            groups = [fold(group) for group in one.pairs]
            there = self._leaf_words(one)
            if len(groups) > 1:
                headline = f"hosts {groups[0]} and {groups[1]} are cabled to each other's unit: {there}"
            else:
                headline = f"hosts {groups[0]} are cabled to another unit: {there}"
            same = "rail and port" if all(a.number == b.number for a, b in one.moves.items()) else "rail"
            evidence = f"{fits:,} of {one.links:,} cables go to the same {same} of the other unit"
            return names, headline, evidence, f"recable hosts {' and '.join(groups)} to the leaves of their own unit"
        names, pair, what = self.folded(one.devices), self._pair(one), self.cables(one)
        return (
            names,
            f"{what} of {pair} are cabled to each other's unit",
            f"{fits:,} of {one.links:,} {what} go to the other unit, on the same rails and ports",
            f"exchange the {what} of {pair}, device by device, port by port",
        )

    def _leaf_words(self, one: Candidate) -> str:
        leaves = {port.node for port in one.moves}
        to = {port.node for port in one.moves.values()}
        if to == leaves:
            return f"leaves {self.folded(leaves)}"
        return f"{self.folded(to - leaves or to)} instead of {self.folded(leaves)}"

    # -- hosts ------------------------------------------------------------------------------------------------

    def host_panel(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """A host's HCAs in another order."""
        names = fold(one.devices)
        each = "" if len(one.devices) == 1 else f" each of {count(len(one.devices), 'host')}:"
        rails = self._rails(one)
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

    def _rails(self, one: Candidate) -> str:
        """``rails 1<->4, 2<->3``: of the first host, which stands for all."""
        keys = self.layout.hcas[one.devices[0]]
        rail = {key: self.layout.rail.get(key, place) for place, key in enumerate(keys, 1)}
        moved = {(rail[a.node], rail[b.node]) for a, b in one.moves.items() if a.node in rail and b.node in rail}
        both = sorted({(min(pair), max(pair)) for pair in moved if pair[0] != pair[1]})
        return "rails " + ", ".join(f"{a}<->{b}" for a, b in both)

    # -- splitters and numbering ------------------------------------------------------------------------------

    def tails(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """Tails of splitters crossed."""
        names = self.folded(one.devices)
        splitters = len(one.members) or 1
        return (
            names,
            f"tails of {count(splitters, 'splitter')} at {names} crossed",
            f"{fits:,} of {one.links:,} tails sit where the other tail of their splitter belongs",
            "exchange the tails of each of these splitters; their heads stay",
        )

    def heads(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """Heads of splitters exchanged."""
        names = self.folded(one.devices)
        ports = [Port(node, int(number)) for node, number in one.pairs]
        if len(ports) == 2:
            which = " and ".join(self.port(port) for port in ports)
            headline, fix = f"splitter heads at {which} exchanged", f"exchange the heads at {which}"
        else:
            headline = f"{count(one.size, 'splitter head')} at {names} moved round"
            fix = f"move each of the {one.size} heads to its own cage"
        per = len(one.moves) // max(1, one.size)
        return names, headline, f"{fits:,} of {one.links:,} cables follow their head, {per} to a head", fix

    def split_ready(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """The profile that renumbers every port."""
        names = self.folded(one.devices)
        are = "is" if len(one.devices) == 1 else "are"
        return (
            names,
            f"{names} {are} in split-ready profile: every port p has become 2p-1; no cable is wrong by that",
            f"{fits:,} of {one.links:,} cables are right once the ports are translated",
            "translate the port numbers, or take the profile off, then verify again",
        )

    def as_cage(self, one: Candidate, fits: int) -> tuple[str, str, str, str]:
        """A plan that counts cages."""
        names = self.folded(one.devices)
        return (
            names,
            f"the plan's port numbers of {names} are cages, not InfiniBand ports: n means 2n-1 or 2n",
            f"{fits:,} of {one.links:,} cables are right once the numbers are read as cages",
            "say in the plan what its bare numbers mean (cage or InfiniBand port), then verify again",
        )

    # -- layers and swaps -------------------------------------------------------------------------------------

    def layer(self, layer: Layer, explained: Sequence[int]) -> Cause:
        """A whole layer cabled by groups."""
        upper, lower = TIER_WORDS.get(layer.upper, "upper"), TIER_WORDS.get(layer.lower, "lower")
        how = {"rail": "per rail", "unit": "per unit"}.get(layer.word, "in separate groups")
        subject = f"{lower} uplinks" if layer.upper == 2 else f"{upper}s"
        falls = f": the fabric falls into {layer.pieces} islands" if layer.pieces else ""
        share = layer.of_planned / max(1, layer.planned)
        word = "one rail" if layer.word == "rail" else "one unit" if layer.word == "unit" else "one group"
        said = [
            f"{layer.pure:,} of {layer.cables:,} {lower}-{upper} cables stay in {word} ({layer.groups} of them); "
            f"by the plan {100 * share:.0f} % would",
        ]
        if layer.pieces:
            said.append(f"{layer.pieces} islands seen")
        done = set(explained)
        rest = [number for number in layer.wrong if number not in done]
        left = sum(number in self.residual.wrong for number in rest)
        if len(rest) > left:
            said.append(f"{count(len(rest) - left, 'more wrong cable')} of the layer by another cause")
        if left:
            said.append(f"{count(left, 'wrong cable')} of the layer {'does' if left == 1 else 'do'} not fit")
        return Cause(
            CauseKind.CABLED_PER_RAIL,
            subject,
            f"{subject} are cabled {how}{falls}",
            self.keys_of(explained),
            "; ".join(said),
            Confidence.CERTAIN if layer.pure == layer.cables else Confidence.LIKELY,
            self.names(layer.uppers),
            fix=f"recable the {lower}-{upper} layer as planned: every {upper} must see {lower} switches of every {layer.word}",
        )

    def swap(self, swap: Swap, swaps: int, total: int) -> Cause:
        """Two links exchanged; called by what they share only where that can hardly be chance."""
        first, second = (self.residual.cables[number].link for number in (swap.first, swap.second))
        kind, hint = swap.kind, ""
        by_chance = kind in (
            CauseKind.TAILS_CROSSED,
            CauseKind.CAGE_PORTS_EXCHANGED,
            CauseKind.HOST_CAGE_PORTS_EXCHANGED,
        ) and cage_swaps_expected(swaps - 1, total) > SINGLE_ALARM
        device = self.layout.name(swap.device) if swap.device else ""
        if by_chance or (kind is CauseKind.SWAPPED and device):
            hint = f"; both are at {device}, {swap.where}"
            kind = CauseKind.SWAPPED
        a, b = (self.comparison.ends.planned(link.a) for link in (first, second))
        far_a, far_b = (self.comparison.ends.planned(link.b) for link in (first, second))
        subject, headline, fix = device, "", ""
        evidence = f"each of {a} and {b} is cabled as the plan has the other"
        if kind is CauseKind.TAILS_CROSSED:
            headline = f"tails of the splitter at {device}, {swap.where}, crossed"
            fix = f"exchange its two tails at {a.full} and {b.full}"
        elif kind is CauseKind.CARD_IN_OTHER_SLOT:
            slots = ", ".join(f"{slot.hca} in {slot.found} (usually {slot.usual})" for slot in swap.slots)
            headline = f"{swap.where} of {device} sit in each other's slot"
            evidence += f"; learned slots: {slots}"
            fix = f"exchange the two cards of {device}, or their plugs and the plan"
        elif kind in (CauseKind.CAGE_PORTS_EXCHANGED, CauseKind.HOST_CAGE_PORTS_EXCHANGED):
            headline = f"the two ports of {swap.where} of {device} exchanged"
            fix = f"at {device}: exchange the two plugs of {swap.where}"
        else:
            subject = f"{a} and {b}"
            headline = f"{a} and {b} exchanged"
            fix = f"exchange the plugs at {far_a.full} and {far_b.full}"
        names = tuple(sorted({a.device, b.device, far_a.device, far_b.device}, key=natural_key))
        return Cause(
            kind, subject, headline, self.keys_of((swap.first, swap.second)), evidence + hint,
            Confidence.CERTAIN, names, fix=fix,
        )


def one_by_one(words: Words, one: Candidate) -> str:
    """``A went to B`` for a chain that does not close."""
    ring = one.pairs[0] if one.pairs else one.devices
    hosts = one.side == "host"
    shown = [key if hosts else words.layout.name(key) for key in ring]
    return " -> ".join(shown[:6]) + (" -> ..." if len(shown) > 6 else "")


_TELL = {
    CauseKind.SHIFTED: Words.shifted,
    CauseKind.REVERSED: Words.reversed_,
    CauseKind.CAGE_PORTS_EXCHANGED: Words.cages,
    CauseKind.BUNDLES_EXCHANGED: Words.bundles,
    CauseKind.WRONG_RACK: Words.wrong_rack,
    CauseKind.WRONG_UNIT: Words.wrong_unit,
    CauseKind.HOST_PANEL_REVERSED: Words.host_panel,
    CauseKind.HOST_CAGE_PORTS_EXCHANGED: Words.host_panel,
    CauseKind.TAILS_CROSSED: Words.tails,
    CauseKind.HEADS_EXCHANGED: Words.heads,
    CauseKind.SPLIT_READY: Words.split_ready,
    CauseKind.NUMBER_AS_CAGE: Words.as_cage,
}
