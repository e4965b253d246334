"""Clocks before the first install. Figures are worked out by hand from the seconds each test gives."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.bmc.clock import CertificateDates, ClockReading, OwnClock, reading
from provision.install.skew import CONTROLLER, Certificate, SkewFinding, SkewKind, compare_clocks

NOW = datetime(2026, 11, 30, 12, 0, 0, tzinfo=UTC)
DAY = timedelta(days=1)


def clock(name: str, ahead_s: float, bound_s: float = 0.5) -> ClockReading:
    return ClockReading(name, NOW + timedelta(seconds=ahead_s), NOW, bound_s)


def judged(
    *readings: ClockReading, certificates: tuple[Certificate, ...] = (), own: OwnClock | None = None
) -> list[SkewFinding]:
    return compare_clocks(readings, certificates, controller=NOW, max_skew_s=5, own=own)


def certificate(begins: timedelta, ends: timedelta) -> Certificate:
    return Certificate("MAAS", CertificateDates(NOW + begins, NOW + ends))


def test_clocks_that_agree_are_right() -> None:
    assert judged(clock("MAAS", 0.4), clock("gpu001", -2)) == []


def test_a_clock_five_minutes_behind_is_a_finding_with_its_bound() -> None:
    (found,) = judged(clock("gpu001", -300))
    assert found.told
    assert found.words == (
        "gpu001: clock is 5.0 min behind (±0.5 s), at most 5 s from the controller's is allowed: "
        "set it before any install"
    )


@given(st.floats(-100, 100), st.floats(0, 50), st.floats(-1, 1))
def test_a_finding_and_a_silence_are_true_wherever_in_its_bound_the_clock_is(
    true_s: float, bound_s: float, error: float
) -> None:
    found = judged(clock("gpu001", true_s + error * bound_s, bound_s))
    if not found:
        assert abs(true_s) <= 5 + 1e-4
    elif found[0].told:
        assert abs(true_s) > 5 - 1e-4


def test_a_measurement_too_rough_to_judge_is_could_not_tell() -> None:
    (found,) = judged(clock("gpu001", 4.8))
    assert not found.told
    assert found.words.startswith(
        "gpu001: could not tell whether its clock is right: it is 4.8 s ahead (±0.5 s)"
    )


def test_a_clock_that_tells_no_time_is_could_not_tell() -> None:
    (found,) = judged(ClockReading("gpu001", None, NOW, 0.1))
    assert (found.told, found.kind) == (False, SkewKind.CLOCK)


def test_a_date_header_of_whole_seconds_is_not_half_a_second_behind() -> None:
    answered = reading("MAAS", NOW, NOW + timedelta(seconds=0.3), 0.4)
    assert answered.skew_s == pytest.approx(0.0)
    assert answered.bound_s == pytest.approx(0.7)


def test_a_certificate_valid_by_all_clocks_is_right() -> None:
    assert judged(clock("gpu001", 1), certificates=(certificate(-DAY, DAY),)) == []


def test_a_certificate_that_a_host_would_not_take_yet_is_found_for_that_host_alone() -> None:
    year = -365 * 86400
    found = judged(clock("gpu001", year), clock("gpu002", 0), certificates=(certificate(-DAY, DAY),))
    assert [(one.kind, one.name) for one in found] == [
        (SkewKind.CLOCK, "gpu001"),
        (SkewKind.CERTIFICATE, "gpu001"),
    ]
    assert found[1].words == (
        "by the clock of gpu001 the certificate of MAAS is not valid yet: it begins 2026-11-29 12:00 UTC"
    )


def test_a_certificate_that_ended_is_found_by_the_controllers_clock() -> None:
    (found,) = judged(certificates=(certificate(-2 * DAY, -DAY),))
    assert (found.name, found.told) == (CONTROLLER, True)
    assert found.words.endswith("is not valid any more: it ended 2026-11-29 12:00 UTC")


def test_an_edge_inside_the_bound_is_could_not_tell() -> None:
    soon = timedelta(seconds=0.2)
    found = judged(clock("gpu001", 0), certificates=(certificate(-DAY, soon),))
    assert [(one.name, one.told) for one in found] == [("gpu001", False)]


def test_dates_nobody_told_are_passed_over() -> None:
    assert judged(certificates=(Certificate("MAAS", CertificateDates()),)) == []


def test_when_all_others_agree_the_controller_is_named() -> None:
    found = judged(*(clock(f"gpu{n:03}", 3600) for n in range(1, 6)))
    (own,) = [one for one in found if one.kind is SkewKind.OWN]
    assert own.words == (
        "5 of 5 BMCs agree with each other: the controller's own clock is probably wrong, 60.0 min behind theirs"
    )


@pytest.mark.parametrize(
    ("own", "found"),
    [
        (None, 0),
        (OwnClock(), 0),
        (OwnClock("chrony", 0.01, True), 0),
        (OwnClock("chrony", 0.01, False), 1),
        (OwnClock("chrony", -30.0, True), 1),
    ],
)
def test_a_controller_that_is_not_synchronised_is_a_finding(own: OwnClock | None, found: int) -> None:
    assert len(judged(own=own)) == found


@given(st.integers(-200, 200), st.integers(-200, 200), st.integers(0, 60))
def test_a_certificate_is_judged_with_the_bound_of_the_clock(begin: int, end: int, bound: int) -> None:
    readings = [clock("gpu001", 0, bound)]
    dates = CertificateDates(NOW + timedelta(seconds=begin), NOW + timedelta(seconds=end))
    found = compare_clocks(readings, [Certificate("MAAS", dates)], controller=NOW, max_skew_s=1000)
    of_host = [one for one in found if one.name == "gpu001"]
    sure_wrong = begin > bound or end < -bound
    sure_right = begin <= -bound and end >= bound
    assert any(one.told for one in of_host) == sure_wrong
    assert (of_host == []) == sure_right
