"""Whose clock is off: controller, MAAS or a BMC."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from provision.bmc.clock import CertificateDates, ClockReading, OwnClock
from provision.install.skew import ClockGate, compare_clocks

NOW = datetime(2026, 11, 30, 12, 0, tzinfo=UTC)
SET = OwnClock("chrony", 0.001, True)


def at(host: str, skew_s: float | None, dates: CertificateDates | None = None) -> ClockReading:
    moment = None if skew_s is None else NOW + timedelta(seconds=skew_s)
    return ClockReading(host, moment, NOW, 0.6, certificate=dates or CertificateDates())


def gate(maas_s: float | None, *bmcs_s: float | None) -> ClockGate:
    maas = None if maas_s is None else at("MAAS", maas_s)
    return compare_clocks(SET, maas, [at(f"gpu{n:03d}", s) for n, s in enumerate(bmcs_s, 1)], 30)


def blamed(one: ClockGate) -> list[str]:
    return [finding.host for finding in one.findings]


@pytest.mark.parametrize(
    ("maas_s", "bmcs_s", "expected"),
    [
        (0, (0, 5, -29), []),
        (0, (0, 7200), ["gpu002"]),
        (0, (0, -7200), ["gpu002"]),
        (300, (0, 1, 2), ["MAAS"]),
        (-300, (), ["MAAS"]),
        (3600, (3600, 3601, 3590), ["controller"]),
        (3600, (3600, 3601, 3602, 3603, 0), ["controller", "gpu005"]),
        (3600, (0, 0), ["MAAS"]),
        (3600, (-3600,), ["MAAS", "gpu001"]),
        # BMCs that the factory set alike do not outvote MAAS and controller
        (0, (3600, 3600, 3600, 3600), ["gpu001", "gpu002", "gpu003", "gpu004"]),
        (None, (3600, 3600, 3600, 3600), ["controller"]),
        (None, (3600, 3600), ["gpu001", "gpu002"]),
        (30.5, (0,), []),  # within what the reading leaves open
    ],
)
def test_the_clock_that_is_off_is_named(
    maas_s: float | None, bmcs_s: Sequence[float], expected: list[str]
) -> None:
    assert blamed(gate(maas_s, *bmcs_s)) == expected


def test_a_wrong_controller_is_said_once_with_what_to_do() -> None:
    (finding,) = gate(3600, 3600, 3601, 3590).findings
    assert finding.text == (
        "controller: its clock is 60.0 min behind that of MAAS and 3 of 3 BMCs, which agree with each other; at most "
        "30 s is allowed: set this machine's clock before any install"
    )
    assert finding.found == "-3600.0 s"


def test_a_wrong_bmc_keeps_only_its_own_host_from_being_installed() -> None:
    assert set(gate(0, 0, 7200).refused(["gpu001", "gpu002"])) == {"gpu002"}


@pytest.mark.parametrize("maas_s", [300, 3600])
def test_a_wrong_maas_or_controller_keeps_every_host_from_being_installed(maas_s: float) -> None:
    one = gate(maas_s, *([3600] * 3 if maas_s == 3600 else [0] * 3))
    assert set(one.refused(["gpu001", "gpu009"])) == {"gpu001", "gpu009"}


def test_clocks_that_are_right_refuse_nobody() -> None:
    assert gate(0, 0, 1).refused(["gpu001"]) == {}


def test_who_tells_no_time_is_a_doubt_not_a_finding() -> None:
    one = compare_clocks(SET, at("MAAS", None), [at("gpu001", None)], 30)
    assert (blamed(one), [host for host, _ in one.doubts]) == ([], ["MAAS", "gpu001"])


LATER = CertificateDates(NOW + timedelta(days=1), NOW + timedelta(days=400))
PAST = CertificateDates(NOW - timedelta(days=400), NOW - timedelta(days=1))


@pytest.mark.parametrize(
    ("dates", "words"),
    [(LATER, "the certificate is not valid yet"), (PAST, "the certificate is not valid any more")],
)
def test_maass_certificate_is_held_against_both_clocks(dates: CertificateDates, words: str) -> None:
    found = compare_clocks(SET, at("MAAS", 0, dates), [], 30).findings
    assert [one.text.split(":")[1].strip() for one in found] == [
        f"by MAAS's clock {words}",
        f"by the controller's clock {words}",
    ]


def test_maass_certificate_is_judged_also_when_its_clock_is_not_told() -> None:
    found = compare_clocks(SET, at("MAAS", None, PAST), [], 30, doubts=[("MAAS", "TLS failed")])
    assert blamed(found) == ["MAAS"]
    assert found.doubts == (("MAAS", "TLS failed"),)


@given(st.lists(st.floats(-1e5, 1e5), max_size=8), st.none() | st.floats(-1e5, 1e5))
def test_nobody_is_blamed_where_all_are_within_the_bound(skews: list[float], maas_s: float | None) -> None:
    near = [skew / 1e5 * 29 for skew in skews]
    assert blamed(gate(None if maas_s is None else maas_s / 1e5 * 29, *near)) == []


@given(st.lists(st.floats(-1e5, 1e5), min_size=1, max_size=8), st.floats(-1e5, 1e5))
def test_a_clock_beyond_the_bound_never_goes_unblamed(skews: list[float], maas_s: float) -> None:
    one = gate(maas_s, *skews)
    off = any(abs(skew) > 31 for skew in [*skews, maas_s])
    assert one.findings or not off
