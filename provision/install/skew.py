"""The clocks of controller, MAAS and BMCs beside each other before an installation: whose is off.

A clock minutes off breaks an installation in places that do not say so: MAAS refuses the machine's login, certificates
are not valid yet, packages' signatures lie in the future (https://bugs.launchpad.net/maas/+bug/978127).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from statistics import median

from fabricctl.words import many
from provision.bmc.clock import ClockReading, OwnClock, clock_findings, outside, span
from provision.bmc.outcome import BmcFinding

CONTROLLER, MAAS = "controller", "MAAS"
"""Names of findings' hosts that are no hosts: what is wrong there is wrong for all."""


@dataclass(frozen=True)
class ClockGate:
    """What came of comparing the clocks.

    :param own: how well the controller's clock is set; :param maas: None when MAAS did not tell its time.
    :param findings: whose clock or certificate is off: ``controller``, ``MAAS`` or a host.
    :param doubts: of whom nothing could be told, and why.
    """

    own: OwnClock
    maas: ClockReading | None
    bmcs: Sequence[ClockReading] = ()
    findings: Sequence[BmcFinding] = ()
    doubts: Sequence[tuple[str, str]] = ()

    def refused(self, hosts: Iterable[str]) -> dict[str, str]:
        """Hosts that must not be installed yet -> why: by a finding of theirs, or of the controller or MAAS."""
        everywhere = [one.text for one in self.findings if one.host in (CONTROLLER, MAAS)]
        own: dict[str, list[str]] = {}
        for one in self.findings:
            own.setdefault(one.host, []).append(one.text)
        return {host: why[0] for host in hosts if (why := own.get(host, everywhere))}


def compare_clocks(
    own: OwnClock,
    maas: ClockReading | None,
    bmcs: Sequence[ClockReading],
    max_skew_s: float,
    *,
    doubts: Sequence[tuple[str, str]] = (),
) -> ClockGate:
    """Judge all clocks at once.

    Where MAAS and BMCs agree with each other and not with the controller, the controller's clock is the wrong one, and
    the others are held against each other's instead of each being blamed.
    """
    untold = [(one.host, "it tells no time") for one in bmcs if one.skew_s is None]
    if maas is not None and maas.skew_s is None and MAAS not in dict(doubts):
        untold.insert(0, (MAAS, "its answers have no Date header"))
    shift = agreed_shift(maas, bmcs, max_skew_s)
    others = [*([maas] if maas is not None else []), *bmcs]
    findings = _controller(shift, others, max_skew_s) if shift else []
    findings += _maas(maas, shift, max_skew_s) if maas is not None else []
    for one in bmcs:
        findings += _bmc(one, shift, max_skew_s)
    return ClockGate(own, maas, bmcs, tuple(findings), (*doubts, *untold))


def agreed_shift(maas: ClockReading | None, bmcs: Sequence[ClockReading], max_skew_s: float) -> float:
    """Seconds by which the others are ahead of the controller, when they agree on that; 0 when the controller is right.

    MAAS decides where it told its time: BMCs that were all set alike at the factory are no witnesses against both. All
    but a fifth of the BMCs must be within the bound of MAAS's clock, or, without it, of the median of three or more.
    """
    skews = [one.skew_s for one in bmcs if one.skew_s is not None]
    if maas is not None and maas.skew_s is not None:
        middle, bound, enough = maas.skew_s, maas.bound_s, 1
    elif skews:
        middle, bound, enough = median(skews), max(one.bound_s for one in bmcs), 3
    else:
        return 0.0
    agreeing = sum(abs(skew - middle) <= max_skew_s for skew in skews)
    off = abs(middle) - bound > max_skew_s
    return middle if off and len(skews) >= enough and agreeing * 5 >= len(skews) * 4 else 0.0


def _controller(shift: float, others: Sequence[ClockReading], max_skew_s: float) -> list[BmcFinding]:
    told = [one for one in others if one.skew_s is not None]
    agreeing = [one for one in told if abs((one.skew_s or 0.0) - shift) <= max_skew_s]
    bmcs = sum(one.host != MAAS for one in agreeing)
    who = [MAAS] if len(agreeing) > bmcs else []
    who += [f"{bmcs:,} of {many(sum(one.host != MAAS for one in told), 'BMC')}"] if bmcs else []
    way = "behind" if shift > 0 else "ahead of"
    text = (
        f"{CONTROLLER}: its clock is {span(abs(shift))} {way} that of {' and '.join(who)}, which agree with "
        f"each other; at most {max_skew_s:g} s is allowed: set this machine's clock before any install"
    )
    return [BmcFinding(CONTROLLER, "clock-skew", text, "", f"{max_skew_s:g} s", f"{-shift:+.1f} s")]


def _maas(one: ClockReading, shift: float, max_skew_s: float) -> list[BmcFinding]:
    found = []
    skew = one.skew_s
    if skew is not None and abs(skew - shift) - one.bound_s > max_skew_s:
        way = "ahead of" if skew > shift else "behind"
        whose = "that of the BMCs" if shift else "the controller's"
        text = (
            f"{MAAS}: its clock is {span(abs(skew - shift))} {way} {whose} (±{one.bound_s:.1f} s); at most "
            f"{max_skew_s:g} s is allowed: set the region controller's clock before any install"
        )
        found.append(BmcFinding(MAAS, "clock-skew", text, "", f"{max_skew_s:g} s", f"{skew - shift:+.1f} s"))
    clocks: Mapping[str, datetime | None] = {MAAS: one.bmc_time, f"the {CONTROLLER}": one.controller}
    for clock, moment in clocks.items():
        why = outside(one.certificate, moment, clock)
        if why:
            found.append(BmcFinding(MAAS, "certificate-dates", f"{MAAS}: {why}", "", "", why))
    return found


def _bmc(one: ClockReading, shift: float, max_skew_s: float) -> list[BmcFinding]:
    """As ``bmc clock`` says it; where the controller is the wrong one, against the clock the others agree on."""
    found = clock_findings(one, max_skew_s)
    if not shift or one.skew_s is None:
        return found
    found = [finding for finding in found if finding.kind != "clock-skew"]
    off = one.skew_s - shift
    if abs(off) - one.bound_s > max_skew_s:
        way = "ahead of" if off > 0 else "behind"
        text = (
            f"{one.host}: BMC clock is {span(abs(off))} {way} that of the others (±{one.bound_s:.1f} s); at most "
            f"{max_skew_s:g} s is allowed: set it before any install"
        )
        skew = BmcFinding(one.host, "clock-skew", text, "bmc", f"{max_skew_s:g} s", f"{off:+.1f} s")
        return [skew, *found]
    return found
