"""Causes in words of the hall: a technician reads one line and knows what happened."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from fabricctl.cabling.comparison import Comparison
from fabricctl.cabling.tiers import TIER_WORDS
from fabricctl.causes.candidate import Candidate
from fabricctl.causes.chance import SINGLE_ALARM, cage_swaps_expected
from fabricctl.causes.layout import DOWN, UP, Layout
from fabricctl.causes.model import Cause, CauseKind, CauseKnowledge, Confidence
from fabricctl.causes.per_rail import Layer
from fabricctl.causes.residual import Residual
from fabricctl.causes.stories import STORIES
from fabricctl.causes.swaps import Swap
from fabricctl.fabric import Port
from fabricctl.hostset import fold, natural_key
from fabricctl.panels import Panel
from fabricctl.words import many as count


def _no_hand(cables: str) -> str:
    return (
        f"no hand can do this with the declared {cables}: the kind of cable is declared wrongly, or a device is not "
        "the one it is taken for"
    )


def _look(where: str) -> str:
    return f"look at the cables of {where}: part number at the plug, serial number of the device"


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
        tell = STORIES[candidate.kind]
        subject, headline, evidence, fix = tell(self, candidate, fits)
        said = [evidence]
        other = candidate.links - fits
        if other > 0:
            said.append(f"{count(other, 'cable')} {'does' if other == 1 else 'do'} not fit")
        if candidate.unseen:
            said.append(
                f"{count(candidate.unseen, 'cable')} {'carries' if candidate.unseen == 1 else 'carry'} no link"
            )
        shared = fits - len(explained)
        if shared > 0:
            said.append(f"{count(shared, 'cable')} of them moved once more by another cause")
        if candidate.impossible:
            said.append(_no_hand(candidate.impossible))
            fix = _look(subject)
        if rival is not None:
            said.append(f"the same is seen when {self.story(rival)}")
        hosts = candidate.side == "host" or candidate.note == "hosts"
        devices = (
            tuple(sorted(candidate.devices, key=natural_key)) if hosts else self.names(candidate.devices)
        )
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
        return STORIES[candidate.kind](self, candidate, len(candidate.explained))[1]

    # -- layers and swaps -------------------------------------------------------------------------------------

    def layer(self, layer: Layer, explained: Sequence[int], torn: str = "") -> Cause:
        """A whole layer cabled by groups. :param torn: declared cables it cannot be done with."""
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
        if torn:
            said.append(_no_hand(torn))
        return Cause(
            CauseKind.CABLED_PER_RAIL,
            subject,
            f"{subject} are cabled {how}{falls}",
            self.keys_of(explained),
            "; ".join(said),
            Confidence.CERTAIN if layer.pure == layer.cables and not torn else Confidence.LIKELY,
            self.names(layer.uppers),
            fix=f"recable the {lower}-{upper} layer as planned: "
            f"every {upper} must see {lower} switches of every {layer.word}",
        )

    def swap(self, swap: Swap, swaps: int, total: int) -> Cause:
        """Two links exchanged; called by what they share only where that can hardly be chance."""
        first, second = (self.residual.cables[number].link for number in (swap.first, swap.second))
        kind, hint = swap.kind, ""
        by_chance = (
            kind
            in (
                CauseKind.TAILS_CROSSED,
                CauseKind.CAGE_PORTS_EXCHANGED,
                CauseKind.HOST_CAGE_PORTS_EXCHANGED,
            )
            and cage_swaps_expected(swaps - 1, total) > SINGLE_ALARM
        )
        device = self.layout.name(swap.device) if swap.device else ""
        if by_chance or (kind is CauseKind.SWAPPED and device):
            hint = f"; both are at {device}, {swap.where}"
            kind = CauseKind.SWAPPED
        a, b = (self.comparison.ends.planned(link.a) for link in (first, second))
        far_a, far_b = (self.comparison.ends.planned(link.b) for link in (first, second))
        subject, headline, fix = device, "", ""
        evidence = f"each of {a} and {b} is cabled as the plan has the other"
        if swap.more:
            evidence = f"4 of 4 links of two twin cables lie so: {evidence}, and so are the ports beside them"
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
            headline = f"twin cables at {a} and {b} exchanged" if swap.more else f"{a} and {b} exchanged"
            fix = f"exchange the {'twin ' if swap.more else ''}plugs at {far_a.full} and {far_b.full}"
        if swap.impossible:
            hint += f"; {_no_hand(swap.impossible)}"
            fix = _look(" and ".join(dict.fromkeys((a.device, b.device))))
        names = tuple(sorted({a.device, b.device, far_a.device, far_b.device}, key=natural_key))
        return Cause(
            kind,
            subject,
            headline,
            self.keys_of(swap.numbers),
            evidence + hint,
            Confidence.LIKELY if swap.impossible else Confidence.CERTAIN,
            names,
            fix=fix,
        )
