"""Splitters have three plugs or more, so who serves which slot is an assignment problem.

Only pairs that share a place have weight, at most one per plug, so the weights are sparse; each cable may also serve
none. A full matching of least cost over cables then is the assignment of most plugs that stay, and among those the one
whose pairs together cost people least (``weight_of``; a sum over pairs: what two pairs share is counted twice).
"""

from __future__ import annotations

from collections import Counter

from fabricctl.repair.chains import Answer
from fabricctl.repair.cost import Visits, pairings, weight_of
from fabricctl.repair.knowledge import Devices
from fabricctl.repair.model import Assembly, Socket
from fabricctl.repair.reach import Pair, Reach


def assign(
    cables: list[Assembly], slots: list[Assembly], devices: Devices, reach: Reach, visited: Counter[str]
) -> Answer:
    """Most plugs stay; what is left over on both sides is paired, too, since a cable at hand need not be bought.

    :param visited: devices other components visit; what this one visits is added.
    """
    pairs = _sharing(cables, slots, devices)
    answer = Answer(pairs=_matching(len(cables), len(slots), pairs, devices, reach))
    used = {id(pair.cable) for pair in answer.pairs}
    filled = {id(pair.slot) for pair in answer.pairs}
    spare = [cable for cable in cables if id(cable) not in used]
    empty = [slot for slot in slots if id(slot) not in filled]
    while spare:
        cable = spare.pop(0)
        fitting = [
            (weight_of(p, devices, reach), n)
            for n, s in enumerate(empty)
            for p in pairings(cable, s, devices)
        ]
        if not fitting:
            answer.pulled.append(cable)
            continue
        slot = empty.pop(min(fitting)[1])
        answer.pairs.append(min(pairings(cable, slot, devices), key=lambda p: weight_of(p, devices, reach)))
    answer.laid += empty
    visits = Visits(devices, reach, visited)
    for pair in answer.pairs:
        visits.pair(pair)
    visited.update(visits.places())
    return answer


def _sharing(cables: list[Assembly], slots: list[Assembly], devices: Devices) -> dict[tuple[int, int], Pair]:
    """(cable, slot) -> the pairing with most plugs that stay, for those that share a place."""
    wanted: dict[Socket, int] = {plug.socket: n for n, slot in enumerate(slots) for plug in slot.plugs}
    found: dict[tuple[int, int], Pair] = {}
    for index, cable in enumerate(cables):
        for near in {wanted[plug.socket] for plug in cable.plugs if plug.socket in wanted}:
            best = max(pairings(cable, slots[near], devices), key=lambda pair: pair.stays, default=None)
            if best is not None and best.stays:
                found[index, near] = best
    return found


def _matching(
    cables: int, slots: int, pairs: dict[tuple[int, int], Pair], devices: Devices, reach: Reach
) -> list[Pair]:
    """The pairs of greatest total weight. Each cable has a column of its own for "serves none", of weight zero."""
    if not pairs:
        return []
    # a quarter of a second to import: only where splitters are wrong. scipy brings no types of its own.
    from scipy.sparse import csr_array  # type: ignore[import-untyped]
    from scipy.sparse.csgraph import min_weight_full_bipartite_matching  # type: ignore[import-untyped]

    cost = {key: weight_of(pair, devices, reach) for key, pair in pairs.items()}
    stay = 1 + cables * max(cost.values())  # one plug that stays outweighs whatever all pairs may cost
    gain = {key: pair.stays * stay - cost[key] for key, pair in pairs.items()}
    top = 1 + max(gain.values())
    rows = [c for c, _ in gain] + list(range(cables))
    columns = [s for _, s in gain] + [slots + c for c in range(cables)]
    weights = [float(top - value) for value in gain.values()] + [float(top)] * cables
    graph = csr_array((weights, (rows, columns)), shape=(cables, slots + cables))
    matched = zip(*min_weight_full_bipartite_matching(graph), strict=True)
    return [pairs[int(c), int(s)] for c, s in matched if s < slots]
