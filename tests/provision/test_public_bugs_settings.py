"""Bugs that other tools had in public, about logs, BIOS jobs, firmware, stale values and enclosures: the right way."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from typing import TypeVar

import pytest

from fabricctl.errors import BmcDeadlineError
from provision.bmc.secret import Credentials, Secret
from provision.bmc.status import status_findings, untold
from provision.bmc.target import Target, Trust
from provision.redfish.bmc import Bmc, Group, Members
from provision.redfish.fleet import FleetOptions, Limits, ask
from provision.workflows.bios import BiosResult, BiosWrite, plan_bios, write_bios
from provision.workflows.firmware import INVENTORY, read_firmware
from provision.workflows.logs import LogQuery, read_logs
from provision.workflows.status import read_node_status
from tests.provision.stateful_bmc import StatefulBmc, run
from tests.sim.idrac import Fault, Profile, Simulator
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.logs import Logs

T = TypeVar("T")
Start = Callable[..., Simulator]


def of_first(sim: Simulator, work: Callable[[Bmc], Awaitable[T]], *, writes: bool = False) -> T:
    target = Target("gpu001", sim.addresses[0], sim.port, trust=Trust(fingerprint=sim[0].fingerprint))
    options = FleetOptions(
        lambda _: Credentials("root", Secret(sim.password)),
        Limits(budget_s=1.0),  # a BMC that is not ready is not waited for here
        writes=writes,
        reaper=False,
    )
    (outcome,) = ask([target], work, options)
    if outcome.error is not None:
        raise outcome.error
    assert outcome.value is not None
    return outcome.value


# ---- https://github.com/mrlhansen/idrac_exporter/issues/168 ---------------------------------------------------------


@pytest.mark.parametrize("profile", list(Profile))
def test_logs_go_beyond_the_newest_fifty_and_stop_at_the_time_asked_for(
    simulator: Start, profile: Profile
) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/12
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/270
    # https://github.com/mrlhansen/idrac_exporter/issues/168
    sim = simulator(1, profile=profile, first="127.38.0.1")
    logs, now = sim[0].part(Logs), datetime.now(UTC)
    logs.quiet = True
    for hour in range(400, 0, -1):
        logs.write("PSU0003", "2", when=now - timedelta(hours=hour))
    query = LogQuery(now, span=timedelta(hours=120, minutes=30), kinds=("lifecycle",))
    found = of_first(sim, lambda bmc: read_logs(bmc, query))
    assert sum(entry.key == "PSU0003" for entry in found.entries) == 120
    pages = [one for one in sim[0].requests if one.path.endswith("/Lclog/Entries")]
    assert len(pages) <= 5  # 120 entries and one page more, of 400


# ---- https://github.com/quadsproject/badfish/issues/29 --------------------------------------------------------------


async def _no_restart(bmc: Bmc) -> object:
    raise AssertionError("nobody asked for a restart")


def set_bios(sim: Simulator, **wanted: str) -> BiosResult:
    return of_first(sim, lambda bmc: write_bios(bmc, wanted, BiosWrite(), _no_restart), writes=True)


@pytest.mark.parametrize("profile", list(Profile))
def test_settings_that_are_committed_already_are_no_error_and_make_no_second_job(
    simulator: Start, profile: Profile
) -> None:
    # https://github.com/quadsproject/badfish/issues/29
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/9
    # https://github.com/ansible-collections/community.general/issues/3826
    sim = simulator(1, profile=profile, first="127.38.1.1", speed=20.0)
    sim[0].part(Bios).current["LogicalProc"] = "Disabled"
    first = set_bios(sim, LogicalProc="Enabled")
    again = set_bios(sim, LogicalProc="Enabled")
    assert first.job is not None
    assert again.job is not None
    assert first.job.job is not None
    assert again.job.job is not None
    assert (again.job.job.id, again.job.reused) == (first.job.job.id, True)
    assert len(sim[0].part(JobQueue)) == 1


def test_without_a_difference_no_job_is_made_at_all(simulator: Start) -> None:
    # https://github.com/ansible-collections/community.general/issues/3826
    sim = simulator(1, first="127.38.2.1")
    value = str(sim[0].part(Bios).current["LogicalProc"])
    result = set_bios(sim, LogicalProc=value)
    assert (result.applied, len(sim[0].part(JobQueue))) == (True, 0)
    assert of_first(sim, lambda bmc: plan_bios(bmc, {"LogicalProc": value})).changes == {}


# ---- https://github.com/dsx-ai-factory/infra-controller/issues/6419 -------------------------------------------------


class _SlowTogether(StatefulBmc):
    async def members(self, path: str, group: Group = Group.QUICK, **options: object) -> Members:
        assert group is Group.SLOW, "firmware is asked for with the deadline of slow resources"
        raise BmcDeadlineError("no full answer within 45 s", bmc="gpu001")


def test_firmware_that_is_too_slow_in_one_answer_is_read_entry_by_entry() -> None:
    # https://github.com/dsx-ai-factory/infra-controller/issues/6419
    names = ("CX7_0", "CX7_1", "HostBIOS_0")
    bodies = {f"{INVENTORY}/{name}": {"Id": name, "Name": name, "Version": "1"} for name in names}
    listed = {"Members": [{"@odata.id": path} for path in bodies]}
    found = run(read_firmware(_SlowTogether({INVENTORY: listed, **bodies})))
    assert [part.name for part in found.components] == sorted(names)


# ---- https://github.com/dell/iDRAC-Redfish-Scripting/issues/251 -----------------------------------------------------


def test_empty_health_is_unknown_and_the_bmc_is_not_restarted_for_it(simulator: Start) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/251
    sim = simulator(1, first="127.38.3.1")
    system = "/redfish/v1/Systems/System.Embedded.1"
    sim[0].changes[system] = {"Status": {"Health": "", "HealthRollup": "", "State": "Enabled"}}
    status = of_first(sim, read_node_status)
    assert status.health == "unknown"
    assert "the BMC may need a restart" in " ".join(untold(status))
    assert not [one for one in sim[0].requests if "Manager.Reset" in one.path]


# ---- https://github.com/bb-Ricardo/check_redfish/issues/14 ----------------------------------------------------------


@pytest.mark.parametrize("profile", list(Profile))
def test_enclosures_that_answer_503_do_not_touch_the_state_of_the_node(
    simulator: Start, profile: Profile
) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/18
    # https://github.com/bb-Ricardo/check_redfish/issues/14
    sim = simulator(1, profile=profile, first="127.38.4.1")
    sim[0].fault(Fault(method="GET", path=r".*/Chassis/Enclosure.*", status=503, times=None))
    status = of_first(sim, read_node_status)
    assert (status.health, status_findings(status), untold(status)) == ("OK", [], [])


def test_sensors_that_answer_503_are_named_and_the_rest_of_the_node_is_told(simulator: Start) -> None:
    # https://github.com/bb-Ricardo/check_redfish/issues/14
    sim = simulator(1, profile=Profile.IDRAC9_7, first="127.38.5.1")
    sim[0].fault(Fault(method="GET", path=r".*/Chassis/System.Embedded.1/Power$", status=503, times=None))
    status = of_first(sim, read_node_status)
    assert (status.health, status.temperatures != ()) == ("OK", True)
    assert status.supplies, "the newer resource told what the older did not"
    assert [text.partition(":")[0] for text in status.skipped] == [
        "/redfish/v1/Chassis/System.Embedded.1/Power"
    ]
