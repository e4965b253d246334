from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcError
from provision.bmc.clock import (
    CertificateDates,
    ClockReading,
    OwnClock,
    clock_findings,
    culprit,
    read_chrony,
    read_timedatectl,
    reading,
    span,
)
from provision.bmc.reply import Reply
from provision.bmc.target import Target
from provision.redfish.bmc import Group
from provision.workflows.clock import Clocks, own_clock, read_clock
from tests.provision.dumps import dgx, edit, r750
from tests.provision.stateful_bmc import StatefulBmc, run

R750_TIME = datetime(2024, 8, 8, 23, 48, 10, tzinfo=UTC)
"""The R750's clock in its dump: 2024-08-08T18:48:10-05:00."""
MANAGER = "/redfish/v1/Managers/iDRAC.Embedded.1"


def clocks(start: datetime, *seconds: float) -> Clocks:
    """A controller's clock whose measured looks take so many seconds, one after the other."""
    ticks: Iterator[float] = iter([tick for took in seconds for tick in (0.0, took)])
    return Clocks(lambda: start, lambda: next(ticks))


def of(skew_s: float, host: str = "gpu001", bound_s: float = 0.1) -> ClockReading:
    return ClockReading(host, R750_TIME + timedelta(seconds=skew_s), R750_TIME, bound_s)


# ---- reading -------------------------------------------------------------------------------------------------------


@pytest.mark.captures
def test_the_clock_of_the_r750_is_read_with_its_offset(captures: Path) -> None:
    found = run(read_clock(r750(captures), clocks(R750_TIME, 0.2, 0.4)))
    # the quicker look counts; its middle is 0.1 s after the start, and the second that is cut off adds half of it
    assert found.skew_s == pytest.approx(0.4)
    assert found.bound_s == pytest.approx(0.6)
    assert found.written == "2024-08-08T18:48:10-05:00"


@pytest.mark.captures
def test_the_dates_of_both_certificates_are_read(captures: Path) -> None:
    one = run(read_clock(r750(captures), clocks(R750_TIME, 0.2, 0.2))).certificate
    assert one == CertificateDates(
        datetime(2022, 11, 22, 1, 28, tzinfo=UTC), datetime(2032, 11, 23, 1, 28, tzinfo=UTC)
    )
    two = run(read_clock(dgx(captures), clocks(R750_TIME, 0.2, 0.2))).certificate
    # "2024-2-15T05:59:20+00:00": no leading zero
    assert two.not_before == datetime(2024, 2, 15, 5, 59, 20, tzinfo=UTC)


@pytest.mark.captures
def test_without_dates_of_a_certificate_the_clock_is_still_read(captures: Path) -> None:
    bmc = r750(captures)
    del bmc.resources[f"{MANAGER}/NetworkProtocol/HTTPS/Certificates"]
    found = run(read_clock(bmc, clocks(R750_TIME, 0.2, 0.2)))
    assert (found.certificate, found.bmc_time is not None, len(bmc.notes)) == (CertificateDates(), True, 1)


@pytest.mark.captures
def test_the_served_certificate_comes_before_the_bmcs_own_word(captures: Path) -> None:
    dates = CertificateDates(R750_TIME - timedelta(days=1), R750_TIME + timedelta(days=1))

    async def served(target: Target) -> CertificateDates:
        return dates

    async def refused(target: Target) -> CertificateDates:
        raise BmcError("no TLS", bmc="gpu001")

    bmc = r750(captures)
    assert run(read_clock(bmc, clocks(R750_TIME, 0.2, 0.2), served)).certificate == dates
    fallen = run(read_clock(bmc, clocks(R750_TIME, 0.2, 0.2), refused)).certificate
    assert (fallen.not_after, len(bmc.notes)) == (datetime(2032, 11, 23, 1, 28, tzinfo=UTC), 1)


class _DateHeader(StatefulBmc):
    async def get(self, path: str, group: Group = Group.QUICK, *, absent_s: float = 0.0) -> Reply:
        return Reply(path, 200, {"date": "Thu, 08 Aug 2024 23:48:12 GMT"}, self.body(path))


@pytest.mark.captures
@pytest.mark.parametrize("written", [None, "", "not set"])
def test_without_a_time_of_the_manager_the_date_header_counts(captures: Path, written: str | None) -> None:
    bmc = _DateHeader(r750(captures).resources)
    edit(bmc, MANAGER)["DateTime"] = written
    found = run(read_clock(bmc, clocks(R750_TIME, 0.0, 0.0)))
    assert found.skew_s == pytest.approx(2.5)


@pytest.mark.captures
def test_a_bmc_that_tells_no_time_at_all_could_not_tell(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, MANAGER)["DateTime"] = None
    found = run(read_clock(bmc, clocks(R750_TIME, 0.2, 0.2)))
    assert found.skew_s is None
    assert clock_findings(found, 30) == []


def test_a_bmc_that_does_not_answer_is_an_error() -> None:
    with pytest.raises(BmcError):
        run(read_clock(StatefulBmc({}), clocks(R750_TIME, 0.2, 0.2)))


@given(st.floats(0, 60), st.floats(0, 1), st.floats(-1e6, 1e6))
def test_the_true_skew_lies_within_the_bound_of_the_reading(took_s: float, at: float, skew_s: float) -> None:
    """Whenever during the request the BMC looked at its clock, and however it cut the second."""
    looked = R750_TIME + timedelta(seconds=took_s * at)
    told = (looked + timedelta(seconds=skew_s)).replace(microsecond=0)
    found = reading("h", told, R750_TIME, took_s)
    assert found.skew_s is not None
    assert abs(found.skew_s - skew_s) <= found.bound_s + 1e-5


# ---- findings ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("skew_s", "count"), [(0, 0), (29, 0), (30.05, 0), (31, 1), (-29, 0), (-31, 1)])
def test_a_skew_beyond_the_bound_is_a_finding_either_way(skew_s: float, count: int) -> None:
    assert len(clock_findings(of(skew_s), 30)) == count


def test_the_finding_names_the_bound_and_what_to_do() -> None:
    (finding,) = clock_findings(of(7200), 30)
    assert finding.text == (
        "gpu001: BMC clock is 2.0 h ahead of the controller's (\u00b10.1 s); at most 30 s is allowed: "
        "set it before any install"
    )
    assert (finding.expected, finding.found) == ("30 s", "+7200.0 s")


@pytest.mark.parametrize(
    ("bmc_year", "controller_year", "says"),
    [
        (2024, 2024, []),
        (2020, 2024, ["by the BMC's clock the certificate is not valid yet"]),
        (2033, 2024, ["by the BMC's clock the certificate is not valid any more"]),
        (2024, 2033, ["by the controller's clock the certificate is not valid any more"]),
        (
            2020,
            2020,
            [
                "by the BMC's clock the certificate is not valid yet",
                "by the controller's clock the certificate is not valid yet",
            ],
        ),
    ],
)
def test_the_certificates_dates_are_held_against_both_clocks(
    bmc_year: int, controller_year: int, says: list[str]
) -> None:
    dates = CertificateDates(datetime(2022, 11, 22, tzinfo=UTC), datetime(2032, 11, 23, tzinfo=UTC))
    one = ClockReading(
        "gpu001",
        datetime(bmc_year, 8, 8, tzinfo=UTC),
        datetime(controller_year, 8, 8, tzinfo=UTC),
        0.1,
        certificate=dates,
    )
    found = [f for f in clock_findings(one, 1e9) if f.kind == "certificate-dates"]
    assert [finding.found.partition(":")[0] for finding in found] == says


# ---- the controller's own clock ------------------------------------------------------------------------------------


def test_bmcs_that_agree_with_each_other_and_not_with_us_make_us_the_suspect() -> None:
    readings = [of(3600 + number, f"gpu{number:03d}") for number in range(9)] + [of(-5, "gpu010")]
    assert culprit(readings, 30) == (
        "9 of 10 BMCs agree with each other: the controller's own clock is probably wrong, 60.1 min behind theirs"
    )


@pytest.mark.parametrize(
    "skews",
    [
        [3600.0, 3601.0],  # two are no majority
        [0.0, 1.0, 2.0, 3600.0],  # one is off
        [3600.0, -3600.0, 7200.0, 100.0],  # all are off, each its own way
        [],
    ],
)
def test_otherwise_the_controller_is_no_suspect(skews: list[float]) -> None:
    assert culprit([of(skew, f"h{at}") for at, skew in enumerate(skews)], 30) == ""


def test_chrony_tells_how_far_the_clock_is_off() -> None:
    # fields as chronyc(1) documents tracking: field 5 is how far the system clock is slow of NTP time
    rest = "0.000009,0.00002,12.3,0.001,0.02,0.0004,0.0003,64.2,Normal"
    text = f"C0000201,192.0.2.1,4,1732950000.123,-0.000012,{rest}"
    found = read_chrony(text)
    assert found == OwnClock("chrony", 0.000012, True)


def test_chrony_without_a_source_is_said_to_be_not_synchronised() -> None:
    text = "00000000,,0,0.0,0.0,0.0,0.0,0.0,0.0,0.0,1.0,1.0,0.0,Not synchronised"
    found = read_chrony(text)
    assert found is not None
    assert "NOT synchronised" in found.words


def test_timedatectl_tells_whether_not_how_far() -> None:
    assert read_timedatectl("NTPSynchronized=yes\n") == OwnClock("the system's time service", None, True)
    assert read_timedatectl("Timezone=UTC\n") is None


@given(st.text("NTPSynchronized=yesno,.+-0123456789 \n\N{NO-BREAK SPACE}\ud800", max_size=80))
def test_no_output_of_time_tools_breaks_the_reading(text: str) -> None:
    read_chrony(text)
    read_timedatectl(text)


def test_not_known_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, answer in (("chronyc", "506 Cannot talk to daemon"), ("timedatectl", "")):
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\necho '{answer}'\nexit 1\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert "is not known" in own_clock().words


def test_the_first_tool_that_tells_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, answer in (("chronyc", ""), ("timedatectl", "NTPSynchronized=no")):
        tool = tmp_path / name
        tool.write_text(f"#!/bin/sh\necho '{answer}'\n")
        tool.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert own_clock().words == "controller's clock: NOT synchronised by the system's time service"


@pytest.mark.parametrize(
    ("seconds", "words"),
    [(4.2, "4.2 s"), (180, "3.0 min"), (7200, "2.0 h"), (72_861_571, "843 days")],
)
def test_spans_read_as_people_say_them(seconds: float, words: str) -> None:
    assert span(seconds) == words
