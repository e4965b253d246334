"""How likely a pattern is when nobody made it: the bar every cause must clear.

Model: w of the plan's e links are wrong by random exchanges of two links (the hardest noise there is, as a third
of all links may be wrong while every port is up). The plug that belongs in one given port then sits in another
given port with probability

    q = (w / e) * (1 / e)

(it is one of the wrong ones, and of all places it sits in this one). An exchange brings two plugs at once, so a
pattern of n plugs, m of which fit, needs m / 2 such coincidences out of n / 2 places: at most
C(n/2, m/2) * q^(m/2). A cause is one of ``TRIED`` patterns per device, at most; with e links there are fewer than
e devices of either sort, so the expected number of patterns that appear by chance is below

    TRIED * e * C(n/2, m/2) * q^(m/2)

and a cause is named only where that is below ``ALARM``. In a hall of 12,288 links with 2,000 random exchanges
(w = 4,000) q is 2.6e-5: one exchange that fits some pattern is expected (0.8 of them per pattern tried), two in
one pattern are not (about 1e-3 for a block of 32). That is why a cause needs ``MIN_LINKS`` = 4 links, and why an
exchange within one cage is called that only where few links are wrong.
"""

from __future__ import annotations

from math import comb

from fabricctl.causes.candidate import Candidate

ALARM = 0.01
"""Expected number of chance patterns above which nothing is named."""
SINGLE_ALARM = 0.002
"""The same for one exchange inside a cage, a host's cage or a splitter: it has two links only on its side."""
TRIED = 12
"""Patterns tried on a device: shifts, reversals, cages and exchanges of each of its blocks, as far as they differ."""
SMALL = 400
"""Below this many links the argument has no room: there four links in one pattern are taken as one."""


def chance_of_pair(wrong: int, total: int) -> float:
    """q: probability that the plug of a given port sits in another given port. Both numbers count links."""
    return wrong / total / total


def expected_by_chance(fits: int, size: int, wrong: int, total: int) -> float:
    """Expected number of patterns of ``size`` links of which ``fits`` fit, in a fabric with random exchanges."""
    pairs, places = max(1, fits // 2), max(1, size // 2, fits // 2)
    return TRIED * total * comb(places, pairs) * float(chance_of_pair(wrong, total)) ** pairs


def rare_enough(candidate: Candidate, wrong: int, total: int) -> bool:
    """Whether a candidate, folded or not, would hardly come about by chance."""
    if total < SMALL:
        return True
    found = candidate.members or (candidate,)
    fits = min(len(one.explained) for one in found)
    size = max(one.links for one in found)
    together = expected_by_chance(fits, max(size, fits), wrong - len(candidate.explained), total)
    return together < ALARM or together ** len(found) < ALARM


def cage_swaps_expected(swaps: int, total: int) -> float:
    """Expected number of exchanges that meet inside one cage (or one host's cage, or one splitter) by chance.

    Each of the two ends of a link has one such neighbour: 2 / e per exchange.
    """
    return 2 * swaps / total
