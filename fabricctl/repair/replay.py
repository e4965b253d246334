"""The moves carried out on the model: what the fabric will look like when a technician has followed the plan."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from fabricctl.fabric import Port
from fabricctl.repair.assemblies import joined, kind_of
from fabricctl.repair.model import Assembly, Move, MoveKind, Plug, RepairPlan, Socket


class OccupiedError(ValueError):
    """A plug was to go where another one sits: the plan is wrong."""


@dataclass
class _Hand:
    """A cable under way: where each of its plugs is, None while it hangs free or is gone."""

    cable: Assembly
    lit: set[tuple[tuple[int, int], tuple[int, int]]]
    sockets: list[Socket | None] = field(default_factory=list)


def replay(actual: dict[Port, Port], plan: RepairPlan) -> dict[Port, Port]:
    """The matching of ports after the plan's moves, in the order of their steps.

    Only what carries light is in a matching: a tail that was dark before stays dark, wherever it is.

    :param actual: port -> port at the other end, as ``Comparison.actual``; it is not changed.
    :raises OccupiedError: a plug goes into a place where another one still sits.
    """
    links = dict(actual)
    hands = _hands(actual, plan)
    for hand in hands.values():
        for a, b in _links(hand):
            links.pop(a, None)
            links.pop(b, None)
    taken: dict[Port, object] = dict.fromkeys(links, "a cable that stays")
    for key, hand in hands.items():
        for socket in hand.sockets:
            if socket is not None:
                taken.update(dict.fromkeys(socket.ports, key))
    for move, comes_out in _steps(plan):
        hand = hands[move.cable]
        if comes_out:
            assert move.source is not None
            hand.sockets[move.plug] = None
            for port in move.source.ports:
                taken.pop(port, None)
        else:
            assert move.target is not None
            for port in move.target.ports:
                if port in taken:
                    raise OccupiedError(f"{port.node}/{port.number} is taken when a plug is to go in")
                taken[port] = move.cable
            hand.sockets[move.plug] = move.target
    for hand in hands.values():
        for a, b in _links(hand):
            links[a], links[b] = b, a
    return links


def _hands(actual: dict[Port, Port], plan: RepairPlan) -> dict[Assembly, _Hand]:
    """By value: a plan that was written to a file and read again is replayed alike."""
    hands: dict[Assembly, _Hand] = {}
    for move in plan.moves:
        cable = move.cable
        if cable in hands:
            continue
        new = move.kind is MoveKind.NEW
        lit = {
            joint
            for joint, (a, b) in zip(_joints(cable), joined(cable), strict=True)
            if new or actual.get(a) == b
        }
        hands[cable] = _Hand(cable, lit, [None if new else plug.socket for plug in cable.plugs])
    return hands


def _joints(cable: Assembly) -> Iterator[tuple[tuple[int, int], tuple[int, int]]]:
    """(plug index in the cable, position) of both ends of every link, in the order of ``joined``."""
    kind = kind_of(cable)
    at: dict[int, tuple[int, Plug]] = {kind.index(plug): (n, plug) for n, plug in enumerate(cable.plugs)}
    for near, far in kind.joins:
        if near.plug in at and far.plug in at:
            (m, a), (n, b) = at[near.plug], at[far.plug]
            if near.at < len(a.socket.ports) and far.at < len(b.socket.ports):
                yield (m, near.at), (n, far.at)


def _links(hand: _Hand) -> Iterator[tuple[Port, Port]]:
    for (m, p), (n, q) in hand.lit:
        a, b = hand.sockets[m], hand.sockets[n]
        if a is not None and b is not None:
            yield a.ports[p], b.ports[q]


def _steps(plan: RepairPlan) -> Iterator[tuple[Move, bool]]:
    """Every time a plug comes out (True) or goes in (False), in order."""
    events = [
        (move.component, step, not comes_out, index, comes_out)
        for index, move in enumerate(plan.moves)
        for step, comes_out in ((move.out, True), (move.into, False))
        if step
    ]
    for _, _, _, index, comes_out in sorted(events):
        yield plan.moves[index], comes_out
