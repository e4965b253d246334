"""The work order: a repair plan in the words of the hall, in the order of a walk along the racks.

Groups of moves that belong together stay together. They are ordered by the racks they touch, first rack first, then
by unit and port: whatever needs rack A01 alone comes first, then what needs A01 and A02, and so on, so that one walk
along the racks sees every group at the first of its racks. The walk goes row by row and along each row where the site
tells how racks stand, else in natural order of their names. Inside a group the order is the one that
can be done (``jobs.in_turn``).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any

from fabricctl.cabling.comparison import Comparison
from fabricctl.hostset import fold, natural_key
from fabricctl.repair.jobs import Job, Placed, in_turn
from fabricctl.repair.knowledge import RepairKnowledge, walk_key
from fabricctl.repair.model import Move, PartOrder, RepairPlan, Socket
from fabricctl.repair.order_model import About, LookFirst, Part, Spot, Step, WorkOrder
from fabricctl.repair.order_words import ESTIMATE_NOTE, PART_ACTIONS, busy_stops
from fabricctl.repair.parts import slow_by_rule
from fabricctl.repair.service import Service
from fabricctl.repair.spots import Spots
from fabricctl.repair.step_text import Numbered, StepMaker

NAMES_SHOWN = 200
"""Characters of a folded list of devices in a note."""


def make_order(
    plan: RepairPlan, comparison: Comparison, knowledge: RepairKnowledge, about: About | None = None
) -> WorkOrder:
    """The work order of a repair plan; empty when there is nothing to do.

    :param comparison: what the plan was made from; :param knowledge: panels and places.
    :param about: what heads the document.
    """
    return _Maker(plan, comparison, knowledge).order(about or About())


class _Maker:
    def __init__(self, plan: RepairPlan, comparison: Comparison, knowledge: RepairKnowledge) -> None:
        self.plan, self.comparison, self.racks = plan, comparison, knowledge.racks
        self.spots = Spots(comparison, knowledge)
        self.service = Service({})
        self._spots: dict[tuple[Socket, object], Spot] = {}

    def order(self, about: About) -> WorkOrder:
        self.service = Service(about.states)
        steps = self.steps()
        parts = sorted(
            map(self.part, self.plan.parts),
            key=lambda part: (part.kind, *map(self.spot_key, part.spots[:1]), part.id),
        )
        look = [
            LookFirst(mismatch.words, tuple(self.spots.spot([port], None) for port in mismatch.ports))
            for mismatch in self.plan.mismatches
        ]
        return WorkOrder(
            site=about.site,
            plan=about.plan,
            discoveries=about.discoveries,
            made=about.made,
            steps=tuple(steps),
            parts=tuple(parts),
            look_first=(*(LookFirst(text, ()) for text in about.look_first), *self.slow(), *look),
            not_covered=about.not_covered,
            notes=(*self.notes(bool(steps)), *about.notes),
        )

    # -- steps --------------------------------------------------------------------------------------------

    def spot(self, socket: Socket, cable: Any) -> Spot:
        """The spot of a socket, made once."""
        key = (socket, cable.type)
        found = self._spots.get(key)
        if found is None:
            found = self._spots[key] = self.spots.spot(socket.ports, cable.type)
        return found

    def steps(self) -> list[Step]:
        by_group: dict[int, list[Move]] = defaultdict(list)
        for move in self.plan.moves:
            by_group[move.component].append(move)
        groups = [in_turn(moves) for moves in by_group.values()]
        groups.sort(key=self.group_key)
        numbered: list[Numbered] = []
        for number, placed in enumerate(groups, 1):
            for index, one in enumerate(placed, 1):
                numbered.append(Numbered(len(numbered) + 1, number, index, len(placed), one, ""))
        ids = self.ids([one.placed.job for one in numbered])
        numbered = [one._replace(id=ids[at]) for at, one in enumerate(numbered)]
        return StepMaker(self.comparison, self.spots, self.spot, numbered, self.service).steps()

    def job_spots(self, job: Job) -> list[Spot]:
        sockets = [
            socket for move in job.moves for socket in (move.source, move.target) if socket is not None
        ]
        return [self.spot(socket, job.cable) for socket in sockets]

    def group_key(self, placed: Sequence[Placed]) -> Any:
        """Racks as people walk, then the lowest place."""
        spots = [spot for one in placed for spot in self.job_spots(one.job)]
        racks = sorted({walk_key(spot.rack, self.racks) for spot in spots})
        return racks, min(map(self.spot_key, spots)), min(self.identity(one.job) for one in placed)

    def spot_key(self, spot: Spot) -> Any:
        """A place, as people walk; unknown racks last."""
        return (
            walk_key(spot.rack, self.racks),
            natural_key(spot.unit),
            natural_key(spot.device),
            natural_key(spot.hca),
            tuple(port.port for port in spot.ports),
        )

    def identity(self, job: Job) -> str:
        """What a job does, by names: the same in every run, whatever the order of the input."""
        moves = job.moves
        ends = [(self.names(move.source), self.names(move.target)) for move in moves]
        return f"{job.kind}|" + "|".join(f"{source}>{target}" for source, target in sorted(ends))

    def names(self, socket: Socket | None) -> str:
        if socket is None:
            return ""
        return ",".join(sorted(map(self.spots.name, socket.ports)))

    def ids(self, jobs: Iterable[Job]) -> list[str]:
        return unique_ids("W-", [self.identity(job) for job in jobs])

    # -- parts and notes ----------------------------------------------------------------------------------

    def slow(self) -> Iterable[LookFirst]:
        """Rates so many links share that no cable is at fault: something to look at, though no hand is needed."""
        classified = self.comparison.classified
        planned = self.comparison.binding.plan.fabric.link_count
        for (rate, expected), links in slow_by_rule(classified.judged, planned).items():
            yield LookFirst(
                f"{links:,} links run at {rate} where {expected} is expected: so many alike are no fault of cables; "
                "look at what plan and site file expect, and how the switches are set, before any part is exchanged",
                (),
            )

    def part(self, order: PartOrder) -> Part:
        spots = tuple(self.spots.spot([port], None) for port in order.ports)
        intended = self.comparison.intended
        far = tuple(
            self.spots.spot([peer], None) if (peer := intended.get(port)) is not None else None
            for port in order.ports
        )
        name = self._device_name(order)
        what = f"{order.kind}|{name}|" + ",".join(sorted(map(self.spots.name, order.ports)))
        (part_id,) = unique_ids("P-", [what])
        hosts = {spot.device for spot in (*spots, *far) if spot is not None and spot.hca}
        busy = self.service.in_service(hosts), self.service.draining(hosts)
        action = " ".join((PART_ACTIONS[order.kind], *(f"Mind: {text}." for text in busy_stops(*busy))))
        return Part(part_id, order.kind, name, order.words, action, spots, far, *busy)

    def _device_name(self, order: PartOrder) -> str:
        known = self.comparison.binding.plan.fabric.nodes.get(order.device)
        return known.name if known is not None else order.device

    def notes(self, any_steps: bool) -> Iterable[str]:
        yield from self.plan.notes
        if self.plan.assumed and any_steps:
            yield (
                f"{self.plan.assumed:,} cables are of an assumed kind: neither plan nor cable memory tells; such "
                "steps say so"
            )
        if self.spots.unknown_panels:
            yield (
                f"cage numbers are not known of {_folded(self.spots.unknown_panels)}: InfiniBand port numbers or HCA "
                "names stand instead"
            )
        if self.spots.unknown_places:
            yield f"no rack is known of {_folded(self.spots.unknown_places)}"
        if any_steps:
            yield ESTIMATE_NOTE


def unique_ids(prefix: str, texts: Sequence[str]) -> list[str]:
    """``prefix`` and ten hexadecimal digits of each text; texts that meet in one get a running number."""
    made: list[str] = []
    used: dict[str, int] = {}
    for text in texts:
        digest = prefix + blake2b(text.encode("utf-8", "replace"), digest_size=5).hexdigest()
        used[digest] = used.get(digest, 0) + 1
        made.append(digest if used[digest] == 1 else f"{digest}-{used[digest]}")
    return made


def _folded(names: Iterable[str]) -> str:
    text = fold(names)
    return text if len(text) <= NAMES_SHOWN else f"{len(set(names)):,} devices"
