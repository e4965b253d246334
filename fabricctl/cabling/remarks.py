"""Notes and doubts: what is worth knowing, and what could not be told."""

from __future__ import annotations

from collections import Counter

from fabricctl.cabling.binding import Binding
from fabricctl.cabling.classify import Classified
from fabricctl.cabling.model import LinkClass
from fabricctl.cabling.scope import Scope
from fabricctl.discovery.model import INFORMATION, Observation, Problem, ProblemKind
from fabricctl.discovery.names import name_key
from fabricctl.fabric import NodeKind
from fabricctl.hostset import fold
from fabricctl.plan.model import PlanFormat

_FINDINGS = (ProblemKind.DUPLICATE_GUID, ProblemKind.INACTIVE)
"""Problems of a source that are findings, not doubts."""


class Remarks:
    """Builds both, for one binding of one observation.

    :param planned: False when no plan was given; :param scope: of ``--only``, None judges all.
    """

    def __init__(
        self, binding: Binding, observation: Observation, *, planned: bool, scope: Scope | None
    ) -> None:
        self.binding, self.observation = binding, observation
        self.planned, self.scope = planned, scope
        self.seen = observation.fabric
        self.problems: dict[ProblemKind, list[str]] = {}
        for problem in observation.problems:
            if not (self._known_to_snapshot(problem) or self._out_of_scope(problem)):
                label = observation.sources[problem.source].label if observation.sources else ""
                text = f"{label}: {problem.text}" if label else problem.text
                self.problems.setdefault(problem.kind, []).append(text)

    def doubts(self, classified: Classified) -> list[str]:
        """Why the verdict cannot be the whole truth, one sentence each."""
        doubts = [
            f"{source.label}: {source.failed}" if source.failed else f"{source.label}: nothing was read"
            for source in self.observation.sources
            if source.failed or source.format is None
        ]
        doubts += [
            _first(texts)
            for kind, texts in self.problems.items()
            if kind not in INFORMATION and kind not in _FINDINGS
        ]
        doubts += self.binding.doubts
        reasons = Counter(
            j.reason for j in classified.judged if j.cls is LinkClass.NOT_JUDGED and not j.excused
        )
        doubts += [f"{_cables(number)} not judged: {reason}" for reason, number in reasons.most_common()]
        if classified.rate_untold:
            number = classified.rate_untold
            doubts.append(f"the source does not tell the rate of {number:,} cables that have an expected one")
        if not self.planned and not self.seen.links:
            doubts.append("no cable was seen at all")
        return doubts

    def notes(self, classified: Classified, expected_absent: list[str], *, rates_stated: bool) -> list[str]:
        """What changes no verdict, one sentence each.

        :param expected_absent: plan keys of devices that may be absent.
        :param rates_stated: the plan or the site says how fast links should be.
        """
        notes = [_first(texts) for kind, texts in self.problems.items() if kind in INFORMATION]
        notes += self._same_names()
        if classified.capable_of_more:
            number = classified.capable_of_more
            notes.append(
                f"{number:,} links could be wider or faster by what both ends support, as nearly all of their kind: "
                "taken as how the hardware is set, not as a fault of cables"
            )
        return notes + self._about_plan(expected_absent, rates_stated) if self.planned else notes

    def _about_plan(self, expected_absent: list[str], rates_stated: bool) -> list[str]:
        notes = []
        plan, seen_of = self.binding.plan.fabric, self.binding.seen_of
        strange = sum(node.key not in self.binding.plan_of for node in self.seen.switches())
        unseen = sum(n.kind is NodeKind.SWITCH and k not in seen_of for k, n in plan.nodes.items())
        switches = sum(n.kind is NodeKind.SWITCH for n in plan.nodes.values())
        if 2 * min(strange, unseen) > switches and not self.binding.undecided:
            notes.append("most switches are not known by name: add --identify to find out who is who")
        unsure = [n.name for k, n in plan.nodes.items() if n.kind is NodeKind.UNKNOWN and k not in seen_of]
        if unsure:
            shown = fold(unsure[:3])
            notes.append(
                f"{len(unsure):,} unseen devices may be switches or hosts: the plan does not say ({shown})"
            )
        here = [plan.nodes[key].name for key in expected_absent if key in seen_of]
        if here:
            notes.append(f"expected absent, but seen: {fold(here)}")
        if not rates_stated:
            rates = Counter(str(link.rate) for link in self.seen.each_link() if link.rate)
            shown = ", ".join(f"{number:,} at {rate}" for rate, number in rates.most_common(4))
            notes += [f"the plan states no rate; the cables run {shown}"] if shown else []
        return notes

    def _same_names(self) -> list[str]:
        """Names used twice where they decide nothing."""
        needed = {name_key(name) for clash in self.binding.clashes for name in clash.names}
        counts = Counter(node.name for node in self.seen.nodes.values() if node.name != node.key)
        twice = [name for name, number in counts.items() if number > 1 and name_key(name) not in needed]
        if not twice:
            return []
        shown = ", ".join(twice[:3]) + (", ..." if len(twice) > 3 else "")
        what = "name is" if len(twice) == 1 else "names are"
        return [f"{len(twice)} {what} used by several devices ({shown}); GUIDs tell them apart here"]

    def _out_of_scope(self, problem: Problem) -> bool:
        """A doubt about devices that ``--only`` leaves out."""
        if self.scope is None or not problem.nodes:
            return False
        planned = (self.binding.plan_of.get(key) for key in problem.nodes)
        return self.scope.nodes.isdisjoint(key for key in planned if key is not None)

    def _known_to_snapshot(self, problem: Problem) -> bool:
        """A golden snapshot that had not read these nodes either makes them no news."""
        plan = self.binding.plan
        if (
            not self.planned
            or plan.format is not PlanFormat.SNAPSHOT
            or problem.kind is not ProblemKind.UNREAD_NODE
        ):
            return False
        nodes = [plan.fabric.nodes.get(key) for key in problem.nodes]
        return bool(nodes) and all(node is not None and not node.listed for node in nodes)


def _first(texts: list[str]) -> str:
    more = f" (and {len(texts) - 1:,} more like it)" if len(texts) > 1 else ""
    return texts[0] + more


def _cables(number: int) -> str:
    return f"{number:,} planned cable{'' if number == 1 else 's'}"
