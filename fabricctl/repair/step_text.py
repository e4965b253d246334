"""One step of a work order in words: what to do, what comes first, how it is known to be right, how to undo it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from fabricctl.cabling.comparison import Comparison
from fabricctl.fabric import NodeKind, Port
from fabricctl.hostset import fold
from fabricctl.repair import order_words as words
from fabricctl.repair.jobs import Job, Placed
from fabricctl.repair.model import Assembly, Move, MoveKind, Socket
from fabricctl.repair.order_model import FarEnd, Joint, Spot, Step, StepKind
from fabricctl.repair.service import Service
from fabricctl.repair.spots import Spots

_KINDS = {MoveKind.MOVE: StepKind.MOVE, MoveKind.PULL: StepKind.PULL, MoveKind.NEW: StepKind.LAY}


class Numbered(NamedTuple):
    """A job with its running number. :param group: 1-based, :param rank: 1-based in a group of ``size``."""

    number: int
    group: int
    rank: int
    size: int
    placed: Placed
    id: str


SpotOf = Callable[[Socket, Assembly], Spot]


class StepMaker:
    """Turns numbered jobs into steps."""

    def __init__(
        self,
        comparison: Comparison,
        spots: Spots,
        spot: SpotOf,
        numbered: Sequence[Numbered],
        service: Service,
    ) -> None:
        self.comparison, self.spots, self.spot, self.numbered = comparison, spots, spot, numbered
        self.service = service
        self.move_of = {
            cable_key(move): move
            for one in numbered
            for move in one.placed.job.moves
            if move.kind is MoveKind.MOVE
        }
        """Cable and plug -> how the plug moves."""
        self.step_of = {cable_key(move): one.number for one in numbered for move in one.placed.job.moves}
        self.out_at = {id(job): one.number for one in numbered for job in one.placed.clears}
        """Job -> number of the step before which its plug was taken out."""

    def steps(self) -> list[Step]:
        """Every job as a step."""
        return [self.step(one) for one in self.numbered]

    def step(self, one: Numbered) -> Step:
        """One job as a step."""
        job = one.placed.job
        cable = job.cable
        sources = tuple(self.spot(m.source, cable) for m in job.moves if m.source is not None)
        targets = tuple(self.spot(m.target, cable) for m in job.moves if m.target is not None)
        others = tuple(self.others(job))
        here, far, now = self.labels(job, others)
        becomes = job.moves[0].becomes
        names, hosts_words = self.hosts(one)
        hosts, in_service, draining = (
            fold(names),
            self.service.in_service(names),
            self.service.draining(names),
        )
        since = self.out_at.get(id(job), 0)
        return Step(
            number=one.number,
            id=one.id,
            kind=_KINDS[job.kind],
            group=one.group,
            place_in_group=one.rank,
            group_size=one.size,
            text=self.text(job, sources, targets, since),
            first=tuple(self.first(other) for other in one.placed.clears),
            hangs_since=since,
            sources=sources,
            targets=targets,
            others=others,
            label_here=here,
            label_far=far,
            label_now=now,
            plan_label=becomes.label if becomes is not None else cable.label,
            cable=cable.type,
            cable_words=words.cable_words(cable),
            type_from=cable.type_from,
            expect=self.expect(one, targets, others),
            hosts=hosts,
            hosts_words="; ".join((hosts_words, *words.busy(in_service, draining))),
            minutes=self.minutes(one, sources, targets),
            stop_if=(*self.stop_if(job, hosts), *words.busy_stops(in_service, draining)),
            undo=self.undo(one, sources, targets),
            joints=tuple(self.joints(job)),
            in_service=in_service,
            draining=draining,
        )

    # -- what to do ---------------------------------------------------------------------------------------

    def plug(self, move: Move) -> str:
        """What the plug is called."""
        plug = move.cable.plugs[move.plug]
        return words.plug_name(move.cable.type, plug.role, plug.number)

    def text(self, job: Job, sources: tuple[Spot, ...], targets: tuple[Spot, ...], since: int) -> str:
        """What to do."""
        if job.kind is MoveKind.MOVE:
            return self._move_text(self.plug(job.moves[0]), sources[0], targets[0], since)
        names = [self.plug(move) for move in job.moves]
        if job.kind is MoveKind.PULL:
            ends = "; ".join(f"{name} at {spot.words}" for name, spot in zip(names, sources, strict=True))
            return f"take the whole cable out: {ends}"
        ends = "; ".join(
            f"{name} into {spot.stand}, {spot.careful}" for name, spot in zip(names, targets, strict=True)
        )
        return f"lay a new cable ({words.CABLE_WORDS[job.cable.type]}): {ends}"

    @staticmethod
    def _move_text(plug: str, source: Spot, target: Spot, since: int) -> str:
        same = (source.rack, source.unit, source.device) == (target.rack, target.unit, target.device)
        if since:
            was = source.short if same else source.brief
            return f"{target.stand}: put {plug} that hangs since step {since} (it was in {was}) into {target.careful}"
        if same:
            return f"{target.stand}: move {plug} from {source.where} to {target.careful}"
        return f"move {plug} from {source.words} to {target.stand}, {target.careful}"

    def first(self, job: Job) -> str:
        """Take a plug out that is in the way."""
        move = job.moves[0]
        assert move.source is not None
        spot = self.spot(move.source, job.cable)
        cap = "cap it, " if job.cable.type in words.FIBRES else ""
        number = self.step_of[cable_key(move)]
        return f"take {self.plug(move)} out of {spot.words}, {cap}tie it up loosely and let it hang until step {number}"

    # -- the other end and the labels -----------------------------------------------------------------------

    def others(self, job: Job) -> Iterator[FarEnd]:
        """The plugs of the cable that this step does not touch."""
        touched = {move.plug for move in job.moves}
        for at, plug in enumerate(job.cable.plugs):
            if at in touched or job.kind is MoveKind.NEW:
                continue
            move = self.move_of.get(plug_key(job.cable, at))
            later = (
                self.spot(move.target, job.cable) if move is not None and move.target is not None else None
            )
            step = self.step_of.get(plug_key(job.cable, at), 0)
            yield FarEnd(self.spot(plug.socket, job.cable), later, step, plug.role)

    def labels(self, job: Job, others: tuple[FarEnd, ...]) -> tuple[str, str, str]:
        """Label at this end and at the far end when done, and at this end as it runs today."""
        cable, first = job.cable, job.moves[0]
        if job.kind is MoveKind.MOVE:
            assert first.source is not None
            assert first.target is not None
            far_now = "+".join(other.now.label for other in others)
            far = "+".join((other.later or other.now).label for other in others)
            here = self.spot(first.target, cable).label
            now = f"{self.spot(first.source, cable).label} to {far_now}" if far_now else ""
        else:
            spots = [self.spot(s, cable).label for m in job.moves if (s := m.source or m.target) is not None]
            here, far = spots[0], "+".join(spots[1:])
            now = ""
        return (f"{here} to {far}", f"{far} to {here}", now) if far else (here, "", now)

    # -- what it does to others -----------------------------------------------------------------------------

    def hosts(self, one: Numbered) -> tuple[set[str], str]:
        """Hosts that lose a link while the step is done, and that as a sentence."""
        hcas, hosts = set[str](), set[str]()
        for job in (one.placed.job, *one.placed.clears):
            for move in job.moves:
                for port in move.source.ports if move.source is not None else ():
                    for end in (port, self.comparison.actual.get(port)):
                        node = self.spots.node(end.node) if end is not None else None
                        if node is not None and node.kind is NodeKind.HCA:
                            hosts.add(node.host or node.name)
                            hcas.add(node.name)
        if not hosts:
            return hosts, "no host hangs on this plug"
        verb = "loses its link" if len(hcas) == 1 else "lose their links"
        return hosts, f"{fold(hcas).replace(',', ', ')} {verb} while this is done"

    def expect(self, one: Numbered, targets: tuple[Spot, ...], others: tuple[FarEnd, ...]) -> str:
        """The sign of success."""
        check = "work-order check: done"
        if one.placed.job.kind is MoveKind.PULL:
            return f"the places are empty or taken by their next plug; {check}"
        open_ends = sorted({other.step for other in others if other.step > one.number})
        if open_ends:
            numbers = " and ".join(map(str, open_ends))
            return f"the link is right only after step {numbers}, until then the LED may stay dark; {check}"
        places = " and ".join(spot.short for spot in targets)
        return f"link LED at {places} solid green within 60 s; {check}"

    def minutes(self, one: Numbered, sources: tuple[Spot, ...], targets: tuple[Spot, ...]) -> float:
        """Estimate; the figures stand in ``order_words``."""
        job = one.placed.job
        plugs = len(job.moves)
        clean = words.CLEAN_MIN if job.cable.type in words.FIBRES else 0.0
        racks = len({spot.rack for spot in (*sources, *targets)})
        walk = words.RACK_MIN * (racks - 1)
        if job.kind is MoveKind.PULL:
            return plugs * (words.FIND_MIN + words.PLUG_MIN) + words.REMOVE_MIN + walk
        if job.kind is MoveKind.NEW:
            return plugs * (words.FIND_MIN + words.PLUG_MIN + clean) + words.LAY_MIN + walk + words.VERIFY_MIN
        out = 0.0 if one.placed.hangs else words.PLUG_MIN
        moved = words.FIND_MIN + out + words.PLUG_MIN + clean + words.VERIFY_MIN
        cleared = len(one.placed.clears) * (words.FIND_MIN + words.PLUG_MIN)
        return moved + cleared + (walk + words.REROUTE_MIN if racks > 1 else 0.0)

    def stop_if(self, job: Job, hosts: str) -> Iterator[str]:
        """Reasons to stop beside those of every step."""
        if hosts:
            yield f"a job runs on {hosts}: ask who owns it first"
        for move in job.moves:
            if not move.links:
                yield "no cable of this make links there at the planned speed: lay a new one instead"
            elif move.reaches is False or _too_short(move):
                has = f"it spans {move.has_m:g} m" if move.has_m is not None else "it is too short"
                needs = f", the new way is {move.needs_m:g} m" if move.needs_m is not None else ""
                yield f"it does not reach, as it seems ({has}{needs}): lay a new cable instead"
            if move.note:
                yield f"note: {move.note}"

    @staticmethod
    def undo(one: Numbered, sources: tuple[Spot, ...], targets: tuple[Spot, ...]) -> str:
        """The way back."""
        job = one.placed.job
        later = "the later steps of the group first, backwards; then " if one.rank < one.size else ""
        if job.kind is MoveKind.PULL:
            return f"{later}put the plugs back: {'; '.join(spot.brief for spot in sources)}"
        if job.kind is MoveKind.NEW:
            return f"{later}take the new cable out again"
        back = f"plug back into {sources[0].brief}"
        if one.placed.hangs:
            back = f"let the plug hang again (it was in {sources[0].brief})"
        if one.placed.clears:
            back += f", and the hanging one into {targets[0].brief}"
        return f"{later}{back}"

    # -- for the check --------------------------------------------------------------------------------------

    def joints(self, job: Job) -> Iterator[Joint]:
        """The links that this step makes or ends, each once."""
        if job.kind is MoveKind.MOVE:
            move = job.moves[0]
            assert move.source is not None
            assert move.target is not None
            for source, target in zip(move.source.ports, move.target.ports, strict=False):
                yield self._moving(job.cable, source, target)
            return
        peers = self.comparison.actual if job.kind is MoveKind.PULL else self.comparison.intended
        seen = set[Port]()
        for move in job.moves:
            socket = move.source if job.kind is MoveKind.PULL else move.target
            for port in socket.ports if socket is not None else ():
                far = peers.get(port)
                if port in seen or far is None:
                    continue
                seen |= {port, far}
                own, other = self.spots.port_id(port), self.spots.port_id(far)
                yield Joint(own, None, (other,)) if job.kind is MoveKind.PULL else Joint(None, own, (other,))

    def _moving(self, cable: Assembly, source: Port, target: Port) -> Joint:
        """One position of a plug that moves; its far end may move too."""
        far = self.comparison.actual.get(source)
        ends: list[Port] = []
        if far is not None:
            ends.append(far)
            later = self._later(cable, far)
            if later is not None:
                ends.append(later)
        else:
            wanted = self.comparison.intended.get(target)
            ends += [wanted] if wanted is not None else []
        ids = tuple(self.spots.port_id(port) for port in dict.fromkeys(ends))
        return Joint(self.spots.port_id(source), self.spots.port_id(target), ids)

    def _later(self, cable: Assembly, port: Port) -> Port | None:
        """Where the position at ``port`` of another plug of this cable goes, None when it stays."""
        for at, plug in enumerate(cable.plugs):
            if port in plug.socket.ports:
                move = self.move_of.get(plug_key(cable, at))
                if move is None or move.target is None:
                    return None
                index = plug.socket.ports.index(port)
                return move.target.ports[index] if index < len(move.target.ports) else None
        return None


def plug_key(cable: Assembly, plug: int) -> tuple[bool, Socket, int]:
    """What a plug is found by; where an existing cable sits, no other does."""
    return False, cable.plugs[0].socket, plug


def cable_key(move: Move) -> tuple[bool, Socket, int]:
    """The plug that a move moves; a new cable may be planned for where an old one sits."""
    return move.kind is MoveKind.NEW, move.cable.plugs[0].socket, move.plug


def _too_short(move: Move) -> bool:
    """The plan wants a longer cable there than this one is."""
    has, wants = move.cable.length_m, move.becomes.length_m if move.becomes is not None else None
    return move.reaches is None and has is not None and wants is not None and has < wants
