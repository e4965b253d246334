"""How likely a pattern is when nobody made it: the bar every cause must clear.

Model: w of the plan's e links are wrong by random exchanges of two links (the hardest noise there is, as a third
of all links may be wrong while every port is up). The plug that belongs in one given port then sits in another
given port with probability

    q = (w / e) * (3 / e)

(it is one of the wrong ones, and of all places of its layer, about a third of all, it sits in this one). An
exchange brings two plugs at once, so a pattern of n plugs, m of which fit, needs m / 2 such coincidences out of
n / 2 places: at most C(n/2, m/2) * q^(m/2). A cause is one of ``TRIED`` patterns per device, at most; with e links
there are fewer than e devices, so the expected number of patterns that appear by chance is below

    TRIED * e * C(n/2, m/2) * q^(m/2)

and a cause is named only where that is below ``ALARM``. In a hall of 12,288 links with 2,000 random exchanges
(w = 4,000) q is 7.9e-5: a dozen single exchanges that fit some pattern are expected; two that make up a pattern
of four links are not (9e-4), nor are four of a block of 32 (1e-8); two of a block of 32 may be (0.11), and are
not named there. That is why a cause needs ``MIN_LINKS`` = 4 links, and why an exchange within one cage is called
that only where few links are wrong.
"""

from __future__ import annotations

from math import comb

from fabricctl.causes.candidate import Candidate

ALARM = 0.01
"""Expected number of chance patterns above which nothing is named."""
SINGLE_ALARM = 0.002
"""The same for one exchange inside a cage, a host's cage or a splitter: it has two links only on its side."""
LAYERS = 3
"""People exchange cables of one layer: hosts to leaves, leaves to spines, spines to cores."""
TRIED = 12
"""Patterns tried on a device: shifts, reversals, cages and exchanges of each of its blocks, as far as they differ."""
SMALL = 400
"""Below this many links the argument has no room: there four links in one pattern are taken as one."""


def chance_of_pair(wrong: int, total: int) -> float:
    """q: probability that the plug of a given port sits in another given port. Both numbers count links."""
    return LAYERS * wrong / total / total


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
    size = max(max(one.links, one.among) for one in found)
    together = expected_by_chance(fits, max(size, fits), wrong - len(candidate.explained), total)
    return together < ALARM or together ** len(found) < ALARM


def cage_swaps_expected(swaps: int, total: int) -> float:
    """Expected number of exchanges that meet inside one cage (or one host's cage, or one splitter) by chance.

    Each of the two ends of a link has one such neighbour: 2 / e per exchange.
    """
    return 2 * swaps / total
