"""What ``fabricctl maas`` could not tell before it began: it is said, and the exit code says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.provision.install.maas_hall import MaasHall, enrolled, ready

Start = Callable[..., MaasHall]
BEGUN_BY = {"commission": enrolled, "deploy": ready}


def clocks_off(hall: MaasHall) -> MaasHall:
    """Every BMC's clock is an hour ahead."""
    hall.change("  bmc_access:", "  max_clock_skew_s: 30\n  bmc_access:")
    hall.simulator.clock.advance(3600)
    return hall


@pytest.mark.parametrize("command", list(BEGUN_BY))
def test_a_clock_that_is_off_stops_the_first_time_unless_that_is_skipped(
    hall_of: Start, command: str
) -> None:
    hall = clocks_off(BEGUN_BY[command](hall_of(1)))
    before = hall.statuses
    ran = hall.run("maas", command, "all", "--yes")
    assert (ran.code, "--skip-clock-check does it all the same" in " ".join(ran.out.split())) == (1, True), (
        ran.all
    )
    assert hall.statuses == before
    assert hall.do(command, "all", "--yes", "--skip-clock-check").code == 0
    assert hall.statuses != before


def test_a_host_that_was_commissioned_before_is_not_asked_for_its_clock_again(hall_of: Start) -> None:
    hall = clocks_off(ready(hall_of(1)))
    assert hall.do("commission", "all", "--again", "--yes").code == 0


@pytest.mark.parametrize("command", list(BEGUN_BY))
def test_a_bmc_that_does_not_answer_is_could_not_tell_and_it_is_done_all_the_same(
    hall_of: Start, command: str
) -> None:
    hall = BEGUN_BY[command](hall_of(1))
    before = hall.statuses
    hall.environ["FABRICCTL_SIM_PASSWORD"] = ""
    ran = hall.run("maas", command, "all", "--yes")
    assert ran.code == 3, ran.all
    assert "could not tell before: gpu001, see the plan" in ran.out
    assert hall.statuses != before


def test_a_document_has_what_could_not_be_told_before(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    hall.environ["FABRICCTL_SIM_PASSWORD"] = ""
    told = hall.document("maas-changes", "deploy", "all", "--yes", "--skip-clock-check")
    assert [(one["host"], one["reason"][:10]) for one in told["could_not_tell"]] == [("gpu001", "is it on? ")]
    assert told["changes"][0]["end"] == "deployed"
