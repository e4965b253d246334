"""What ``fabricctl maas`` could not tell before it began: it is said, and the exit code says so."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from provision.install.disks import DiskChoice
from provision.install.lifecycle import Act, Step
from provision.install.machine import Machine, Phase, Stage
from provision.report.install_plan import Install, plan_commission, plan_deploy
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


@pytest.mark.parametrize("command", list(BEGUN_BY))
def test_a_host_at_whose_address_another_machine_answers_is_left_alone(hall_of: Start, command: str) -> None:
    hall = BEGUN_BY[command](hall_of(2))
    before = hall.statuses
    first, second = hall.simulator[0], hall.simulator[1]
    hall.change(first.address, "127.9.9.9")
    hall.change(second.address, first.address)
    ran = hall.run("maas", command, "gpu002", "--yes", "--skip-clock-check")
    said = " ".join(ran.out.split())
    assert (ran.code, "its BMC is not the one that it should be" in said) == (1, True), ran.all
    assert hall.statuses == before


def test_replace_leaves_a_node_in_service_alone_without_force(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    for state in ("ready", "in-service"):
        assert hall.run("node", "set", "gpu001", "--to", state, "--yes", "--reason", "test").code == 0
    ran = hall.run("maas", "replace", "all", "--credentials", "--yes")
    assert (ran.code, "gpu001 is in service, and this would" in ran.err) == (2, True), ran.all
    assert hall.do("replace", "all", "--credentials", "--yes", "--force-in-service").code == 0


@pytest.mark.parametrize(("before", "lost"), [("noble", True), ("", False)])
def test_the_plan_of_a_broken_host_says_what_is_lost_where_one_was_installed(before: str, lost: bool) -> None:
    machine = Machine("a", "gpu001", Stage.BROKEN, "Broken")
    install = Install("noble", "ga", DiskChoice(None), before=before)
    step = Step(Act.RESTORE, words="in quarantine")
    planned = plan_deploy("gpu001", machine, step, install, on=False)
    assert ("the system that is on it is lost" in planned.danger) is lost


def test_a_machine_that_is_ready_and_runs_may_be_worked_on() -> None:
    machine = Machine("a", "gpu001", Stage.READY, "Ready")
    planned = plan_commission("gpu001", machine, Step(Act.START, Phase.COMMISSION), on=True)
    assert (
        "it is ON: its power is cut, though MAAS has it as Ready: does somebody work on it?" in planned.danger
    )
