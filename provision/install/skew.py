"""Clocks compared before the first install: the controller's, the provisioner's, the BMCs', and certificates' dates.

A host starts with the clock its BMC keeps. When that is off by more than five minutes MAAS refuses its signed requests
(https://bugs.launchpad.net/maas/+bug/978127), and no certificate is valid to it that is not valid by that clock.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum

from provision.bmc.clock import CertificateDates, ClockReading, OwnClock, culprit, span

CONTROLLER = "the controller"


class SkewKind(StrEnum):
    """What was compared."""

    CLOCK = "clock-skew"
    CERTIFICATE = "certificate-dates"
    OWN = "own-clock"


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate that hosts or we meet. :param name: whose, for people: ``MAAS``, ``the BMC of gpu001``."""

    name: str
    dates: CertificateDates


@dataclass(frozen=True, slots=True)
class SkewFinding:
    """A clock or a certificate that would break an install, or one that could not be judged.

    :param name: whose clock; :param expected: and ``found``: in few words; :param words: the whole of it.
    :param told: False where it could not be told, because nothing was read or the measurement is too rough.
    """

    kind: SkewKind
    name: str
    expected: str
    found: str
    words: str
    told: bool = True


def compare_clocks(
    readings: Sequence[ClockReading],
    certificates: Sequence[Certificate] = (),
    *,
    controller: datetime,
    max_skew_s: float,
    own: OwnClock | None = None,
) -> list[SkewFinding]:
    """Every clock against the controller's, every certificate against every clock.

    :param readings: of provisioner and BMCs, each with its bound (see :func:`provision.bmc.clock.reading`).
    :param controller: our clock now; :param own: how well it is set, None when nobody looked.
    """
    found = [finding for one in readings for finding in _skew(one, max_skew_s)]
    found += _own(readings, max_skew_s, own)
    clocks = [_Clock(CONTROLLER, controller, 0.0)]
    clocks += [_Clock(one.host, one.bmc_time, one.bound_s) for one in readings if one.bmc_time is not None]
    return found + [
        finding for certificate in certificates for clock in clocks for finding in _dates(certificate, clock)
    ]


def _skew(one: ClockReading, max_skew_s: float) -> Iterator[SkewFinding]:
    """Finding when it is surely too far off, nothing when it surely is not, else could not tell."""
    skew, expected = one.skew_s, f"at most {max_skew_s:g} s from the controller's"
    if skew is None:
        words = f"{one.host}: could not tell whether its clock is right: it told no time"
        yield SkewFinding(SkewKind.CLOCK, one.host, expected, "", words, told=False)
        return
    found = f"{span(abs(skew))} {'ahead' if skew > 0 else 'behind'}"
    seen = f"{found} (±{one.bound_s:.1f} s)"
    if abs(skew) - one.bound_s > max_skew_s:
        words = f"{one.host}: clock is {seen}, {expected} is allowed: set it before any install"
        yield SkewFinding(SkewKind.CLOCK, one.host, expected, found, words)
    elif abs(skew) + one.bound_s > max_skew_s:
        words = f"{one.host}: could not tell whether its clock is right: it is {seen}, expected {expected}: look again"
        yield SkewFinding(SkewKind.CLOCK, one.host, expected, found, words, told=False)


def _own(readings: Sequence[ClockReading], max_skew_s: float, own: OwnClock | None) -> Iterator[SkewFinding]:
    """The controller's own clock: what its time service says, and what the others agree on."""
    expected = "synchronised"
    if own is not None and own.synchronised is False:
        yield SkewFinding(SkewKind.OWN, CONTROLLER, expected, "not synchronised", own.words)
    elif own is not None and own.offset_s is not None and abs(own.offset_s) > max_skew_s:
        found = f"{own.offset_s:+.1f} s"
        yield SkewFinding(SkewKind.OWN, CONTROLLER, f"within {max_skew_s:g} s", found, own.words)
    others = culprit(readings, max_skew_s)
    if others:
        yield SkewFinding(SkewKind.OWN, CONTROLLER, "the time all others agree on", "another", others)


@dataclass(frozen=True, slots=True)
class _Clock:
    name: str
    at: datetime
    bound_s: float


def _dates(certificate: Certificate, clock: _Clock) -> Iterator[SkewFinding]:
    edges = (
        (certificate.dates.not_before, 1, "not valid yet: it begins"),
        (certificate.dates.not_after, -1, "not valid any more: it ended"),
    )
    bound = timedelta(seconds=clock.bound_s)
    for edge, way, words in edges:
        if edge is None:
            continue
        outside = (edge - clock.at) * way  # positive: outside
        if outside <= -bound and outside <= timedelta(0):
            continue
        when = f"{edge:%Y-%m-%d %H:%M %Z}".rstrip()
        by = f"by the clock of {clock.name} the certificate of {certificate.name}"
        sure = outside > bound
        said = (
            f"{by} is {words} {when}" if sure else f"could not tell whether {by} is valid: its edge is {when}"
        )
        yield SkewFinding(
            SkewKind.CERTIFICATE, clock.name, f"valid at {clock.at:%Y-%m-%d %H:%M}", when, said, told=sure
        )
