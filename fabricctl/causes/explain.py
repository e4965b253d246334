"""Why cables are wrong: the largest explanation first, then the next in what it leaves. Pure.

A cause is an act on plugs, so it predicts where each of its cables really lies; it explains those that lie there.
Taking it moves the planned cables, and what is still wrong then is looked at afresh: the pattern that a fault at
one end paints at the other end is gone with it, and a second fault on top of the first is seen in its own shape.
Of causes that explain equally many the one that somebody did fewer times is taken, then the more general kind.
"""

from __future__ import annotations

from fabricctl.cable_kinds import assembly_of_part
from fabricctl.cabling.comparison import Comparison
from fabricctl.causes.blocks import block_candidates, within_switches
from fabricctl.causes.candidate import MIN_LINKS, Candidate, folded, rank
from fabricctl.causes.chance import rare_enough
from fabricctl.causes.exchanges import exchange_candidates, host_exchanges
from fabricctl.causes.hosts import host_candidates
from fabricctl.causes.layout import Layout
from fabricctl.causes.merging import Taken, as_whole_switches
from fabricctl.causes.model import Cause, CauseKind, CauseKnowledge, Explanation
from fabricctl.causes.per_rail import Layer, by_rule, grouped_layers, within_groups
from fabricctl.causes.plugs import TWINS, WORDS, Plugs, find_twins
from fabricctl.causes.profiles import renumbered
from fabricctl.causes.residual import Residual
from fabricctl.causes.splitters import SPLITTERS, Splitter, find_splitters, splitter_candidates
from fabricctl.causes.swaps import Swap, find_swaps
from fabricctl.causes.words import Words
from fabricctl.fabric import Link
from fabricctl.panels import Panel

RENUMBERED_FIT = 0.25
"""Of a renumbered switch so many cables must be right once its ports are translated: which ports carry cables has
told it already, and the rest may be wrong by something else (a layer cabled per rail)."""


def explain(comparison: Comparison, knowledge: CauseKnowledge | None = None) -> Explanation:
    """The causes of a comparison's wrong links.

    Wrong are the planned links that are swapped, miswired or missing; those folded under an absent device have
    their explanation already. The same for every order of plan and discovery.
    """
    return _Explainer(comparison, knowledge or CauseKnowledge()).run()


class _Explainer:
    def __init__(self, comparison: Comparison, knowledge: CauseKnowledge) -> None:
        self.comparison, self.knowledge = comparison, knowledge
        self.assembly_of = knowledge.assembly_of or _declared
        self.residual = Residual(comparison)
        near = {port.node for port in self.residual.at}
        near |= {far.node for port in self.residual.at if (far := self.residual.actual(port)) is not None}
        near &= comparison.binding.plan.fabric.nodes.keys()
        self.layout = Layout(comparison, near)
        self.panels: dict[str, Panel | None] = {
            key: knowledge.panel_of(key) for key in near if self.layout.is_switch(key)
        }
        self.total = max(1, comparison.binding.plan.fabric.link_count)
        self.taken: list[Taken] = []
        self.layers: list[tuple[Layer, list[int]]] = []

    def run(self) -> Explanation:
        if not self.residual.cables:
            return Explanation()
        for candidate in renumbered(self.comparison, self.residual, self.layout, self.panels):
            candidate.weigh(self.residual)
            if len(candidate.explained) >= max(MIN_LINKS, RENUMBERED_FIT * candidate.links):
                self.take(candidate, None)
        for layer in grouped_layers(self.comparison, self.residual, self.layout):
            known = by_rule(layer, self.residual, self.layout.tier)
            by_their_rule = self.residual.lay(known) if known else []
            self.layers.append((layer, by_their_rule))
        self.splitters = self.find_splitters()
        self.plugs = self.find_plugs()
        while self.residual.wrong and self.round():
            pass
        for layer, explained in self.layers:  # what follows the groups, if not the rule
            explained += self.residual.settle(within_groups(layer, self.residual))
        swaps = self.swaps()
        return self.told(swaps)

    def find_splitters(self) -> list[Splitter]:
        links = [j.link for j in self.residual.judged if self.assembly_of(j.link) in SPLITTERS]
        return find_splitters(links, self.layout, self.assembly_of, self.panels) if links else []

    def find_plugs(self) -> Plugs:
        links = [j.link for j in self.residual.judged if self.assembly_of(j.link) in TWINS]
        twins = find_twins(links, self.layout, self.assembly_of, self.panels) if links else {}
        return Plugs(self.layout, self.panels, self.splitters, twins)

    def round(self) -> bool:
        """Take every cause that stands by itself in the present residual; False when there is none."""
        held = self.candidates()
        changed: set[int] = set()
        took = False
        for candidate in held:
            touched = self.residual.touched(candidate.moves)
            if took and (not changed.isdisjoint(touched) or self._weighs_otherwise(candidate)):
                changed.update(
                    touched
                )  # looked at again in the next round, and what it may explain then waits for it
                continue
            rival = _rival(candidate, held)
            changed.update(self.take(candidate, rival))
            took = True
        return took

    def _weighs_otherwise(self, candidate: Candidate) -> bool:
        """Whether what speaks for and against a candidate has been changed by one that was just taken."""
        before = candidate.explained, candidate.links
        candidate.weigh(self.residual)
        return before != (candidate.explained, candidate.links)

    def candidates(self) -> list[Candidate]:
        residual, layout = self.residual, self.layout
        displaced = residual.displaced()
        found = list(block_candidates(within_switches(displaced, layout), layout, self.panels))
        found += exchange_candidates(displaced, layout)
        found += host_exchanges(displaced, layout)
        found += host_candidates(displaced, layout, self.knowledge.host_panel)
        found += splitter_candidates(self.splitters, displaced, layout)
        for candidate in found:
            candidate.impossible = self.plugs.torn_by(candidate.moves)
        wrong = len(residual.wrong)
        held = [
            c
            for c in folded(found, residual)
            if len(c.explained) >= MIN_LINKS and rare_enough(c, wrong, self.total)
        ]
        return sorted(held, key=rank)

    def take(self, candidate: Candidate, rival: Candidate | None) -> list[int]:
        moved = self.residual.touched(candidate.moves)
        explained = self.residual.take(candidate.moves)
        self.taken.append(Taken(candidate, moved, explained, rival))
        return moved

    def swaps(self) -> list[Swap]:
        found = find_swaps(
            self.residual, self.layout, self.knowledge, self.panels, self.splitters, self.plugs
        )
        for swap in found:
            self.residual.settle(swap.numbers)
        return found

    def torn(self, numbers: list[int]) -> str:
        """What declared twin cables are called whose two links do not lie between the same two cages; empty if none."""
        for number in numbers:
            link = self.residual.cables[number].link
            for plug in filter(None, map(self.plugs.at.get, (link.a, link.b))):
                far = [there for port in plug if (there := self.residual.actual(port)) is not None]
                if len(far) == len(plug) and self.plugs.torn_by(dict(zip(plug, far, strict=True))):
                    return WORDS.get(self.plugs.type[plug], "")
        return ""

    def told(self, swaps: list[Swap]) -> Explanation:
        """Everything in words, largest first, plain exchanges last."""
        residual = self.residual
        words = Words(self.comparison, self.layout, residual, self.panels, self.knowledge)
        causes: list[Cause] = []
        for taken in as_whole_switches(self.taken, self.layout):
            fits = sum(number not in residual.wrong for number in taken.moved)
            if taken.explained:
                causes.append(words.of(taken.candidate, taken.explained, fits, taken.rival))
        causes += (
            words.layer(layer, explained, self.torn(explained))
            for layer, explained in self.layers
            if explained
        )
        causes += (words.swap(swap, len(swaps), self.total) for swap in swaps)
        plain = CauseKind.SWAPPED
        causes.sort(key=lambda cause: (cause.kind is plain, -cause.links, cause.explains))
        left = [residual.cables[number].link.a for number in residual.wrong]
        return Explanation(tuple(causes), tuple(sorted(left)), len(residual.cables))


def _declared(link: Link) -> str:
    """Type of a planned cable as the plan declares it: by word, else by its part number."""
    detail = link.detail
    if detail is None:
        return ""
    return detail.assembly or assembly_of_part(detail.part_number) or assembly_of_part(detail.cable) or ""


_AT_ONE_END = (CauseKind.SHIFTED, CauseKind.REVERSED, CauseKind.CAGE_PORTS_EXCHANGED)


def _rival(candidate: Candidate, held: list[Candidate]) -> Candidate | None:
    """Another story that explains the same links and was done as few times, if there is one worth telling.

    The same exchange told from the device the bundles lead to is no other story.
    """
    for other in held:
        if (
            other is candidate
            or len(other.explained) < len(candidate.explained)
            or other.acts > candidate.acts
            or (other.impossible and not candidate.impossible)
        ):
            continue
        if other.explained != candidate.explained or set(other.devices) & set(candidate.devices):
            continue
        if candidate.kind in _AT_ONE_END or other.kind not in _AT_ONE_END:
            return other
    return None
