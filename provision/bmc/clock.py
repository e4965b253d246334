"""A BMC's clock against the controller's, and against the dates of its certificate."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from statistics import median

from provision.bmc.outcome import BmcFinding


@dataclass(frozen=True, slots=True)
class CertificateDates:
    """Dates of the certificate the BMC serves; None where it does not tell one."""

    not_before: datetime | None = None
    not_after: datetime | None = None


@dataclass(frozen=True, slots=True)
class ClockReading:
    """One look at a BMC's clock.

    :param bmc_time: as it says, None when it says none; :param controller: our clock half-way through the request.
    :param bound_s: how far off the reading may be: half of the round trip, and the second the BMC cuts off.
    :param written: as the BMC wrote it.
    """

    host: str
    bmc_time: datetime | None
    controller: datetime
    bound_s: float
    written: str = ""
    certificate: CertificateDates = CertificateDates()

    @property
    def skew_s(self) -> float | None:
        """Seconds the BMC is ahead of the controller; negative: behind."""
        if self.bmc_time is None:
            return None
        return (self.bmc_time - self.controller).total_seconds()


def reading(
    host: str,
    bmc_time: datetime | None,
    sent: datetime,
    took_s: float,
    *,
    written: str = "",
    certificate: CertificateDates = CertificateDates(),
) -> ClockReading:
    """A reading from when the request was sent and how long its answer took.

    BMCs write whole seconds, cut off: the true time is up to a second later, half a second on average.
    """
    middle = sent + timedelta(seconds=took_s / 2)
    cut = bmc_time is not None and bmc_time.microsecond == 0
    at = bmc_time + timedelta(seconds=0.5) if cut and bmc_time is not None else bmc_time
    return ClockReading(host, at, middle, took_s / 2 + (0.5 if cut else 0.0), written, certificate)


def clock_findings(one: ClockReading, max_skew_s: float) -> list[BmcFinding]:
    """What would break TLS and downloads later: skew beyond the bound, clocks outside the certificate's dates."""
    found = []
    skew = one.skew_s
    if skew is not None and abs(skew) - one.bound_s > max_skew_s:
        way = "ahead of" if skew > 0 else "behind"
        found.append(
            BmcFinding(
                one.host,
                "clock-skew",
                f"{one.host}: BMC clock is {span(abs(skew))} {way} the controller's (±{one.bound_s:.1f} s); "
                f"at most {max_skew_s:g} s is allowed: set it before any install",
                "bmc",
                f"{max_skew_s:g} s",
                f"{skew:+.1f} s",
            )
        )
    for clock, moment in (("the BMC", one.bmc_time), ("the controller", one.controller)):
        text = outside(one.certificate, moment, clock)
        if text:
            found.append(BmcFinding(one.host, "certificate-dates", f"{one.host}: {text}", "bmc", "", text))
    return found


def outside(certificate: CertificateDates, moment: datetime | None, clock: str) -> str:
    """Why a certificate is not valid at a moment; empty when it is, or its dates are not known.

    :param clock: whose clock tells the moment: ``the BMC``.
    """
    if moment is None:
        return ""
    start, end = certificate.not_before, certificate.not_after
    if start is not None and moment < start:
        return f"by {clock}'s clock the certificate is not valid yet: it begins {start:%Y-%m-%d %H:%M %Z}"
    if end is not None and moment > end:
        return f"by {clock}'s clock the certificate is not valid any more: it ended {end:%Y-%m-%d %H:%M %Z}"
    return ""


def span(seconds: float) -> str:
    """``4.2 s``, ``3 min``, ``5.0 h``, ``12 days``: as people say it."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    if seconds < 5_400:
        return f"{seconds / 60:.1f} min"
    if seconds < 172_800:
        return f"{seconds / 3600:.1f} h"
    return f"{seconds / 86_400:,.0f} days"


def culprit(readings: Sequence[ClockReading], max_skew_s: float) -> str:
    """Whether the controller's clock is the wrong one: said when BMCs agree with each other and not with it.

    At least three BMCs must have told a time, all but a fifth of them within the bound of their median, and that
    median outside it.
    """
    skews = [one.skew_s for one in readings if one.skew_s is not None]
    if len(skews) < 3:
        return ""
    middle = median(skews)
    agreeing = sum(abs(skew - middle) <= max_skew_s for skew in skews)
    if abs(middle) <= max_skew_s or agreeing * 5 < len(skews) * 4:
        return ""
    way = "behind" if middle > 0 else "ahead of"
    return (
        f"{agreeing} of {len(skews)} BMCs agree with each other: the controller's own clock is probably wrong, "
        f"{span(abs(middle))} {way} theirs"
    )


@dataclass(frozen=True, slots=True)
class OwnClock:
    """How sure the controller's clock is. :param offset_s: from its time source, None when nobody told."""

    source: str = ""
    offset_s: float | None = None
    synchronised: bool | None = None

    @property
    def words(self) -> str:
        """For people."""
        if self.synchronised is None and self.offset_s is None:
            return "how well the controller's clock is set is not known: neither chronyc nor timedatectl told"
        state = "synchronised" if self.synchronised else "NOT synchronised"
        off = "" if self.offset_s is None else f", {self.offset_s:+.3f} s from its source"
        return f"controller's clock: {state} by {self.source}{off}"


def read_chrony(text: str) -> OwnClock | None:
    """``chronyc -c tracking``: comma separated; field 5 is the system time's offset, the last the leap status.

    Fields by chronyc(1): reference id, name, stratum, reference time, system time offset (seconds, positive when the
    clock is slow of the source), …, leap status. None when it is something else.
    """
    fields = text.strip().split(",")
    if len(fields) < 14:
        return None
    try:
        offset = -float(fields[4])
    except ValueError:
        return None
    if not math.isfinite(offset):
        return None
    return OwnClock("chrony", offset, fields[-1].strip() != "Not synchronised")


def read_timedatectl(text: str) -> OwnClock | None:
    """``timedatectl show``: ``NTPSynchronized=yes``. None when it says nothing of it."""
    said: Mapping[str, str] = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
    word = said.get("NTPSynchronized")
    if word not in ("yes", "no"):
        return None
    return OwnClock("the system's time service", None, word == "yes")
