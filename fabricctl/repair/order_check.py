"""Which steps of a work order are done, told from a discovery alone: the order carries GUIDs and ports of both ends.

A plug cannot be seen, only the link it makes. A step is done when its target ports are joined to the far end of its
own cable, be it where that end is today or where it goes by a later step. A plug that hangs shows as a port without
link; when both ends of a cable move and neither shows a link, nobody can tell from here which of them hangs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from fabricctl.discovery.model import INFORMATION, Observation, ProblemKind
from fabricctl.discovery.names import name_key
from fabricctl.errors import EXIT_COULD_NOT_TELL, EXIT_FINDINGS, EXIT_OK
from fabricctl.fabric import Port, PortState
from fabricctl.repair.order_model import DOCS, Joint, Part, PortId, Spot, Step, StepKind, WorkOrder
from fabricctl.repair.order_pieces import spots_of

_FINDINGS = (ProblemKind.DUPLICATE_GUID, ProblemKind.INACTIVE)
_EVERYWHERE = (ProblemKind.TIMEOUT, ProblemKind.CUT)
"""Problems that, naming no node, put every port without a link in doubt."""


class StepState(StrEnum):
    """What became of a step."""

    DONE = "done"
    WRONG = "wrong"
    OPEN = "open"
    COULD_NOT_TELL = "could_not_tell"


@dataclass(frozen=True, slots=True)
class StepCheck:
    """One step looked at."""

    __pydantic_config__ = DOCS

    number: int
    id: str
    state: StepState
    words: str
    """What is there, one sentence."""
    out_of_date: str
    """What has changed otherwise since the order was made, empty when nothing has."""


@dataclass(frozen=True, slots=True)
class PartCheck:
    """One separate order looked at: whether its links are up now."""

    __pydantic_config__ = DOCS

    id: str
    links_up: int
    links: int
    """Links it is about; 0 when the plan wants none there."""
    words: str


@dataclass(frozen=True, slots=True)
class OrderCheck:
    """A work order looked at."""

    __pydantic_config__ = DOCS

    steps: tuple[StepCheck, ...]
    parts: tuple[PartCheck, ...]
    """Separate orders; they do not count for the exit code."""
    doubts: tuple[str, ...]
    """What may be missing from the discovery."""
    device: str
    """The device that was asked about, empty for all."""

    def count(self, state: StepState) -> int:
        """Steps in a state."""
        return sum(check.state is state for check in self.steps)

    @property
    def exit_code(self) -> int:
        """0 all done, 1 some open or wrong, 3 some could not be told."""
        if self.count(StepState.COULD_NOT_TELL):
            return EXIT_COULD_NOT_TELL
        return EXIT_OK if self.count(StepState.DONE) == len(self.steps) else EXIT_FINDINGS


def check(order: WorkOrder, observation: Observation, device: str = "") -> OrderCheck:
    """Look at every step. :param device: only steps that touch this switch or host."""
    return _Checker(order, observation).check(device)


class _Checker:
    def __init__(self, order: WorkOrder, observation: Observation) -> None:
        self.order, self.observation, self.seen = order, observation, observation.fabric
        self.spot_of: dict[Port, str] = {}
        self._by_name: dict[str, str | None] = {}
        for key, node in self.seen.nodes.items():
            named = name_key(node.name)
            self._by_name[named] = None if named in self._by_name else key
        self.here: dict[Port, set[Port]] = defaultdict(set)
        """Port -> what it is joined to before or after its steps."""
        for step in order.steps:
            for joint in step.joints:
                far = [port for end in joint.far if (port := self.port(end)) is not None]
                for own in (joint.source, joint.target):
                    port = self.port(own) if own is not None else None
                    if port is not None:
                        self.here[port].update(far)
                        for end in far:
                            self.here[end].add(port)
            for spot in (*spots_of(step), *(far.now for far in step.others)):
                self._name_spot(spot)
        self.doubtful = {
            node: problem.text
            for problem in observation.problems
            if problem.kind not in INFORMATION and problem.kind not in _FINDINGS
            for node in problem.nodes
        }
        self.doubt_everywhere = next(
            (p.text for p in observation.problems if p.kind in _EVERYWHERE and not p.nodes), ""
        )

    def _name_spot(self, spot: Spot) -> None:
        for own in spot.ports:
            port = self.port(own)
            if port is not None:
                device = f"{spot.device} {spot.hca}".rstrip()
                self.spot_of.setdefault(port, f"{device} {spot.short}" if not spot.hca else device)

    # -- reading the discovery ------------------------------------------------------------------------------

    def port(self, own: PortId) -> Port | None:
        """The port in the discovery's keys; None when its device is not there."""
        if own.guid:
            return Port(own.guid, own.port) if own.guid in self.seen.nodes else None
        key = self._by_name.get(name_key(own.name))
        return Port(key, own.port) if key is not None else None

    def peer(self, own: PortId | None) -> Port | None:
        port = self.port(own) if own is not None else None
        return self.seen.peer(port) if port is not None else None

    def words(self, port: Port) -> str:
        """A port in words: as the order calls it, else by name and number."""
        found = self.spot_of.get(port)
        if found is not None:
            return found
        node = self.seen.nodes[port.node]
        return node.name if node.host and port.number == 1 else f"{node.name}/{port.number}"

    def spoken(self, own: PortId) -> str:
        port = self.port(own)
        return self.words(port) if port is not None else f"{own.name}/{own.port}"

    def joined(self, own: PortId | None, far: Iterable[PortId]) -> bool:
        peer = self.peer(own)
        return peer is not None and any(peer == self.port(end) for end in far)

    def unseen(self, ends: Iterable[PortId | None]) -> str:
        """Name of the first device that was not discovered, empty when all were."""
        return next((end.name for end in ends if end is not None and self.port(end) is None), "")

    def dark(self, own: PortId | None) -> str:
        """Why the absence of a link at a port proves nothing, empty when it does."""
        port = self.port(own) if own is not None else None
        if own is None or port is None:
            return ""
        if self.seen.state(port) is PortState.UNKNOWN:
            return f"the discovery does not tell the state of {self.words(port)}"
        if port in self.observation.disputed:
            return f"the sources contradict each other about {self.words(port)}"
        return self.doubtful.get(port.node, self.doubt_everywhere)

    def unexpected(self, own: PortId | None) -> Port | None:
        """What a port is joined to that no step of the order explains."""
        port, peer = self.port(own) if own is not None else None, self.peer(own)
        return peer if port is not None and peer is not None and peer not in self.here[port] else None

    # -- steps ----------------------------------------------------------------------------------------------

    def check(self, device: str) -> OrderCheck:
        steps = [step for step in self.order.steps if not device or _touches(step, device)]
        parts = [part for part in self.order.parts if not device or _names(part.spots, device)]
        doubts = [
            f"{source.label}: {source.failed or 'nothing was read'}"
            for source in self.observation.sources
            if source.failed or source.format is None
        ]
        doubts += list(
            dict.fromkeys(
                problem.text
                for problem in self.observation.problems
                if problem.kind not in INFORMATION and problem.kind not in _FINDINGS
            )
        )
        checks = tuple(map(self.step, steps))
        return OrderCheck(checks, tuple(map(self.part, parts)), tuple(doubts), device)

    def step(self, step: Step) -> StepCheck:
        judge = {StepKind.MOVE: self.move, StepKind.PULL: self.pull, StepKind.LAY: self.lay}[step.kind]
        state, text = judge(step)
        stale = ""
        if state is not StepState.DONE:
            for joint in step.joints:
                for own in (joint.source, joint.target):
                    peer = self.unexpected(own)
                    if own is not None and peer is not None and not stale:
                        stale = f"{self.spoken(own)} is joined to {self.words(peer)}, which no step explains"
        return StepCheck(step.number, step.id, state, text, stale)

    def move(self, step: Step) -> tuple[StepState, str]:
        joints = step.joints
        at_target = [joint for joint in joints if self.joined(joint.target, joint.far)]
        if joints and len(at_target) == len(joints):
            twice = next((joint for joint in joints if self.joined(joint.source, joint.far)), None)
            if twice is not None:
                text = f"{self._joined_words(twice.target)}, and {self._joined_words(twice.source)}"
                return StepState.WRONG, f"{text}: two cables where the order knows one"
            return StepState.DONE, self._joined_words(joints[0].target)
        missing = self.unseen(joint.target for joint in joints) if joints else "its cable"
        if missing:
            return StepState.COULD_NOT_TELL, f"{missing} was not seen"
        if at_target:
            dead = next(joint.target for joint in joints if joint not in at_target)
            assert dead is not None
            return StepState.WRONG, f"in place, but {self.spoken(dead)} has no such link"
        at_source = next((joint for joint in joints if self.joined(joint.source, joint.far)), None)
        if at_source is not None:
            return StepState.OPEN, f"still where it was: {self._joined_words(at_source.source)}"
        return self._neither(step, joints)

    def _neither(self, step: Step, joints: Sequence[Joint]) -> tuple[StepState, str]:
        """The plug makes no link where it was nor where it should be."""
        for joint in joints:
            wrong = self.unexpected(joint.target)
            if wrong is not None:
                return StepState.WRONG, self._instead(joint, wrong)
        steady = [joint for joint in joints if len(joint.far) == 1]
        for joint in steady:
            peer = self.peer(joint.far[0])
            if peer is not None:
                return StepState.WRONG, f"its plug is in {self.words(peer)} instead of {self._aim(joint)}"
        missing = self.unseen(end for joint in joints for end in joint.far)
        if missing:
            return StepState.COULD_NOT_TELL, f"{missing}, at the other end, was not seen"
        doubt = next((text for j in joints for end in (j.target, *j.far) if (text := self.dark(end))), "")
        if doubt:
            return StepState.COULD_NOT_TELL, f"no link, but {doubt}"
        taken = any(self.peer(joint.target) is not None for joint in joints)
        if steady or taken:
            return StepState.OPEN, "unplugged: its cable makes no link"
        if not joints[0].far:
            return StepState.COULD_NOT_TELL, "what its cable leads to was never seen"
        other = " and ".join(str(far.step) for far in step.others if far.step)
        return (
            StepState.COULD_NOT_TELL,
            f"one end of its cable is unplugged: this one or that of step {other}; look there",
        )

    def _instead(self, joint: Joint, found: Port) -> str:
        assert joint.target is not None
        wanted = self.spoken(joint.far[-1]) if joint.far else "its cable's far end"
        return f"{self.spoken(joint.target)} is joined to {self.words(found)} instead of {wanted}"

    def _aim(self, joint: Joint) -> str:
        return self.spoken(joint.target) if joint.target is not None else "its place"

    def _joined_words(self, own: PortId | None) -> str:
        peer = self.peer(own)
        assert own is not None
        assert peer is not None
        return f"{self.spoken(own)} is joined to {self.words(peer)}"

    def pull(self, step: Step) -> tuple[StepState, str]:
        still = next((joint for joint in step.joints if self.joined(joint.source, joint.far)), None)
        if still is not None:
            return StepState.OPEN, f"still there: {self._joined_words(still.source)}"
        for joint in step.joints:
            if self.peer(joint.source) is not None:
                continue  # another cable is in its place: it is out, whatever is in doubt
            missing = self.unseen([joint.source, *joint.far])
            if missing:
                return StepState.COULD_NOT_TELL, f"{missing} was not seen"
            doubt = self.dark(joint.source)
            if doubt:
                return StepState.COULD_NOT_TELL, f"no link, but {doubt}"
        return StepState.DONE, "the link is gone"

    def lay(self, step: Step) -> tuple[StepState, str]:
        joints = step.joints
        up = [joint for joint in joints if self.joined(joint.target, joint.far)]
        if joints and len(up) == len(joints):
            return StepState.DONE, self._joined_words(joints[0].target)
        missing = self.unseen(end for joint in joints for end in (joint.target, *joint.far)) if joints else ""
        if missing:
            return StepState.COULD_NOT_TELL, f"{missing} was not seen"
        for joint in joints:
            for own, far in ((joint.target, joint.far[:1]), (joint.far[0], (joint.target,))):
                wrong = self.unexpected(own)
                if own is not None and wrong is not None:
                    wanted = self.spoken(far[0]) if far and far[0] is not None else "the new cable"
                    return (
                        StepState.WRONG,
                        f"{self.spoken(own)} is joined to {self.words(wrong)} instead of {wanted}",
                    )
        if not joints:
            return StepState.COULD_NOT_TELL, "the plan joins no port there"
        doubt = next((text for joint in joints if (text := self.dark(joint.target))), "")
        if doubt:
            return StepState.COULD_NOT_TELL, f"no link, but {doubt}"
        return StepState.OPEN, f"{len(up)} of {len(joints)} links are up" if up else "not there yet"

    def part(self, part: Part) -> PartCheck:
        """Links of a separate order that are up now."""
        pairs = [
            (own.ports[0], far.ports[0])
            for own, far in zip(part.spots, part.far, strict=True)
            if far is not None
        ]
        up = sum(self.joined(own, [far]) for own, far in pairs)
        missing = self.unseen(end for pair in pairs for end in pair)
        text = f"{up} of {len(pairs)} links are up" if pairs else "no planned link to look at"
        return PartCheck(part.id, up, len(pairs), f"{text}; {missing} is not seen" if missing else text)


def _touches(step: Step, device: str) -> bool:
    return _names((*spots_of(step), *(far.now for far in step.others)), device)


def _names(spots: Iterable[Spot], device: str) -> bool:
    return any(device in (spot.device, f"{spot.device} {spot.hca}") for spot in spots)


def counts(result: OrderCheck) -> dict[StepState, int]:
    """Steps per state, every state once."""
    found = Counter(check.state for check in result.steps)
    return {state: found[state] for state in StepState}
