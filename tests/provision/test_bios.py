from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcAnswerError, BmcBusyError, BmcError, BmcOutcomeUnknownError
from fabricctl.nodes.model import EventKind
from provision.bmc.bios import BiosState, bios_findings, compare, patch_body, plan_write, read_bios, shown
from provision.bmc.bios_registry import Registry, Rule, ValueRefused, read_registry, typed
from provision.bmc.reply import Reply
from provision.redfish.bmc import Bmc
from provision.workflows.bios import BiosResult, BiosWrite, plan_bios, read_bios_state, write_bios
from tests.provision.dumps import DGX_FILE, R750_FILE, dgx, dump, edit, r750
from tests.provision.events import Events
from tests.provision.stateful_bmc import StatefulBmc, refusal, run

BIOS = "/redfish/v1/Systems/System.Embedded.1/Bios"
SETTINGS = f"{BIOS}/Settings"
JOBS = "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs"
LC_STATUS = (
    "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellLCService/Actions/"
    "DellLCService.GetRemoteServicesAPIStatus"
)
CAPPED = {"SysProfile": "PerfPerWattOptimizedDapc", "ProcPwrPerf": "SysDbpm"}
"""The profile that lets the BIOS throttle cores (requirement 21), with the value it brings along."""


@pytest.fixture
def registry(captures: Path) -> Registry:
    found = read_registry(dump(captures, R750_FILE)[f"{BIOS}/BiosRegistry"])
    assert found is not None
    return found


@pytest.fixture
def state(captures: Path) -> BiosState:
    bodies = dump(captures, R750_FILE)
    return read_bios(bodies[BIOS], bodies[SETTINGS])


def changed(state: BiosState, **values: Any) -> BiosState:
    return BiosState({**state.values, **values}, state.pending, state.settings, on_reset=state.on_reset)


# ---- reading -------------------------------------------------------------------------------------------------------


@pytest.mark.captures
def test_the_r750_has_its_attributes_nothing_pending_and_applies_on_reset(state: BiosState) -> None:
    assert (len(state.values), state.pending, state.on_reset) == (455, {}, True)
    assert state.settings == SETTINGS
    assert state.values["SysProfile"] == "PerfOptimized"


@pytest.mark.captures
def test_a_dgx_that_lists_all_values_as_pending_has_nothing_pending(captures: Path) -> None:
    bodies = dump(captures, DGX_FILE)
    found = read_bios(bodies["/redfish/v1/Systems/DGX/Bios"], bodies["/redfish/v1/Systems/DGX/Bios/SD"])
    assert (len(found.values), found.pending, found.on_reset) == (223, {}, False)
    assert found.settings == "/redfish/v1/Systems/DGX/Bios/SD"


@pytest.mark.captures
def test_the_registry_of_the_r750_is_read_whole(registry: Registry) -> None:
    assert len(registry.rules) == 682
    assert sum(rule.type == "Password" for rule in registry.rules.values()) == 4
    assert registry.rules["SysProfile"].values == (
        "PerfPerWattOptimizedDapc",
        "PerfPerWattOptimizedOs",
        "PerfOptimized",
        "Custom",
    )


def test_passwords_are_not_shown_but_whether_one_is_set_is() -> None:
    assert shown("IscsiDev1Con1ChapSecret", "hunter2") == "(secret)"
    assert shown("AddBmcUserPassword", "") == '""'
    assert shown("AdminPassword", None) == "(none)"
    assert shown("PasswordStatus", "Unlocked") == "Unlocked"


# ---- values against the registry -----------------------------------------------------------------------------------


@pytest.mark.captures
@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("SysProfile", "Performance", "takes one of PerfPerWattOptimizedDapc"),
        ("AcPwrRcvryUserDelay", "60", "takes a number from 120 to 600"),
        ("AcPwrRcvryUserDelay", "soon", "takes a whole number"),
        ("AssetTag", "x" * 64, "takes at most 63 characters"),
        ("AssetTag", "caf\u00e9", "takes text of the form"),
        ("SysMemSize", "1 TB", "is read-only"),
        ("SysProfil", "Custom", "did you mean SysProfile?"),
        ("PerfectSwitch", "1", "is not an attribute of this BIOS"),
        ("IscsiDev1Con1ChapSecret", "x", "is a password"),
    ],
)
def test_what_the_bios_does_not_take_is_refused_before_anything_is_sent(
    state: BiosState, registry: Registry, name: str, text: str, says: str
) -> None:
    plan = plan_write("gpu001", state, {name: text}, registry)
    assert not plan.writes
    assert len(plan.refused) == 1
    assert says in plan.refused[0]


@pytest.mark.captures
def test_values_are_sent_in_the_type_of_their_attribute(state: BiosState, registry: Registry) -> None:
    plan = plan_write("gpu001", state, {"AcPwrRcvryUserDelay": "240", "AssetTag": "rack 7"}, registry)
    assert patch_body(state, plan) == {
        "Attributes": {"AcPwrRcvryUserDelay": 240, "AssetTag": "rack 7"},
        "@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"},
    }


@pytest.mark.captures
def test_without_a_registry_types_follow_the_values_that_are_there(captures: Path) -> None:
    bodies = dump(captures, DGX_FILE)
    found = read_bios(bodies["/redfish/v1/Systems/DGX/Bios"], None)
    plan = plan_write("dgx1", found, {"ConsoleRedirectionEnable0": "false", "IPMI565": "90"}, None)
    assert patch_body(found, plan) == {"Attributes": {"ConsoleRedirectionEnable0": False, "IPMI565": 90}}


@pytest.mark.parametrize("text", ["yes", "1", ""])
def test_a_boolean_takes_true_or_false(text: str) -> None:
    with pytest.raises(ValueRefused, match="true or false"):
        typed(text, Rule("X", "Boolean"), current=True)


# ---- what depends on what ------------------------------------------------------------------------------------------


@pytest.mark.captures
def test_a_value_that_the_profile_sets_by_itself_is_not_written(state: BiosState, registry: Registry) -> None:
    # ProcPwrPerf is read-only unless SysProfile is Custom, and MaxPerf with PerfOptimized (the registry's dependencies)
    now = changed(state, **CAPPED)
    plan = plan_write("gpu001", now, {"SysProfile": "PerfOptimized", "ProcPwrPerf": "MaxPerf"}, registry)
    assert (plan.changes, plan.follows) == ({"SysProfile": "PerfOptimized"}, {"ProcPwrPerf": "SysProfile"})


@pytest.mark.captures
def test_a_value_that_contradicts_the_profile_is_refused_with_the_reason(
    state: BiosState, registry: Registry
) -> None:
    plan = plan_write("gpu001", state, {"ProcPwrPerf": "OsDbpm"}, registry)
    assert plan.refused == ("ProcPwrPerf is read-only with SysProfile=PerfOptimized",)


@pytest.mark.captures
def test_with_the_custom_profile_in_the_same_request_it_can_be_written(
    state: BiosState, registry: Registry
) -> None:
    plan = plan_write("gpu001", state, {"SysProfile": "Custom", "ProcPwrPerf": "OsDbpm"}, registry)
    assert plan.changes == {"SysProfile": "Custom", "ProcPwrPerf": "OsDbpm"}


# ---- differences ---------------------------------------------------------------------------------------------------


@pytest.mark.captures
def test_the_throttling_profile_is_a_finding_against_the_sites_profile(state: BiosState) -> None:
    now = changed(state, SysProfile="PerfPerWattOptimizedDapc")
    found = bios_findings(compare("gpu001", now, {"SysProfile": "PerfOptimized", "LogicalProc": "Enabled"}))
    assert [one.text for one in found] == [
        "gpu001: SysProfile is PerfPerWattOptimizedDapc, should be PerfOptimized"
    ]


@pytest.mark.captures
def test_an_attribute_the_bios_has_not_is_no_finding_but_named_with_a_near_one(state: BiosState) -> None:
    (one,) = compare("gpu001", state, {"sysprofile": "PerfOptimized"})
    assert (one.known, one.near) == (False, "SysProfile")
    assert bios_findings([one]) == []


ATTRIBUTES = st.dictionaries(
    st.sampled_from(["A", "B", "C", "D"]), st.sampled_from(["on", "off", "auto"]), min_size=1
)


@given(ATTRIBUTES, ATTRIBUTES)
def test_a_plan_carried_out_leaves_nothing_to_plan(now: dict[str, str], wanted: dict[str, str]) -> None:
    state = BiosState({**dict.fromkeys("ABCD", "auto"), **now})
    plan = plan_write("h", state, wanted, None)
    after = BiosState({**state.values, **plan.changes})
    assert plan_write("h", after, wanted, None).changes == {}
    assert all(one.same for one in compare("h", after, wanted))


@given(ATTRIBUTES, ATTRIBUTES)
def test_the_same_values_pending_are_awaited_and_others_never_overwritten(
    wanted: dict[str, str], waiting: dict[str, str]
) -> None:
    values = dict.fromkeys("ABCD", "")
    plan = plan_write("h", BiosState(values, dict(waiting)), wanted, None)
    assert plan.waiting == (waiting == wanted)
    assert not plan.writes


# ---- writing: an iDRAC that keeps pending values and one job --------------------------------------------------------


class Idrac:
    """What matters of an iDRAC for BIOS jobs, over the resources of the R750."""

    def __init__(self, captures: Path, **values: Any) -> None:
        self.bmc = r750(captures)
        edit(self.bmc, BIOS)["Attributes"].update(values)
        edit(self.bmc, SETTINGS)
        self.bmc.resources[JOBS] = {"Members": []}
        for place in ("/redfish/v1/JobService/Jobs", "/redfish/v1/TaskService/Tasks"):
            self.bmc.resources.pop(place, None)
        self.bmc.handlers["PATCH", SETTINGS] = self.patch
        self.bmc.handlers["POST", JOBS] = self.commit
        ready = {"LCStatus": "Ready", "RTStatus": "Ready", "ServerStatus": "OutOfPOST", "Status": "Ready"}
        self.bmc.handlers["POST", LC_STATUS] = lambda body: Reply(LC_STATUS, 200, body=ready)
        self.restarts = 0
        self.lost = 0
        self.ignores: tuple[str, ...] = ()
        self.fails = False
        self.events = Events()

    @property
    def pending(self) -> dict[str, Any]:
        held: dict[str, Any] = self.bmc.resources[SETTINGS]["Attributes"]
        return held

    def patch(self, body: Mapping[str, Any]) -> Reply | BmcError:
        if self.jobs:
            return refusal(400, "SYS011")
        self.pending.update(body["Attributes"])
        reply = self.commit({}) if "@Redfish.SettingsApplyTime" in body else Reply(SETTINGS, 200)
        if self.lost:
            self.lost -= 1
            return BmcOutcomeUnknownError("the answer was lost", bmc="gpu001")
        return reply

    def commit(self, body: Mapping[str, Any]) -> Reply:
        job = {
            "@odata.id": f"{JOBS}/JID_{len(self.jobs) + 1}",
            "Id": f"JID_{len(self.jobs) + 1}",
            "Name": "Configure: BIOS.Setup.1-1",
            "JobType": "BIOSConfiguration",
            "JobState": "Scheduled",
            "MessageId": "JCP001",
        }
        self.bmc.resources[str(job["@odata.id"])] = job
        self.bmc.resources[JOBS]["Members"].append({"@odata.id": job["@odata.id"]})
        return Reply(SETTINGS, 202, {"location": str(job["@odata.id"])})

    @property
    def jobs(self) -> list[dict[str, Any]]:
        found = [self.bmc.resources[link["@odata.id"]] for link in self.bmc.resources[JOBS]["Members"]]
        return [job for job in found if job["JobState"] == "Scheduled"]

    async def restart(self, bmc: Bmc) -> object:
        self.restarts += 1
        if self.fails:
            self.pending.clear()
            for job in self.jobs:
                job.update(JobState="Failed", MessageId="PR21")
            return None
        applied = {name: value for name, value in self.pending.items() if name not in self.ignores}
        self.bmc.resources[BIOS]["Attributes"].update(applied)
        self.pending.clear()
        for job in self.jobs:
            job.update(JobState="Completed", MessageId="PR19")
        return None

    @property
    def record(self) -> list[tuple[str, str]]:
        assert all(event.kind is EventKind.NODE_BIOS for event in self.events.kept)
        return self.events.moves

    def write(self, wanted: Mapping[str, str], **options: Any) -> BiosResult:
        done = BiosWrite(**options)
        return run(write_bios(self.bmc, wanted, done, self.restart, self.events))

    @property
    def writes(self) -> list[str]:
        return [method for method, path, _ in self.bmc.sent if "DellLCService" not in path]


PROFILE = {"SysProfile": "PerfOptimized", "LogicalProc": "Enabled"}


@pytest.mark.captures
def test_all_attributes_go_out_in_one_request_that_makes_one_job(captures: Path) -> None:
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc", LogicalProc="Disabled")
    result = idrac.write(PROFILE)
    assert idrac.writes == ["PATCH"]
    assert idrac.bmc.sent[-1][2] == {
        "Attributes": PROFILE,
        "@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"},
    }
    assert (len(idrac.jobs), result.scheduled, result.applied, idrac.restarts) == (1, True, False, 0)


@pytest.mark.captures
def test_without_a_difference_nothing_is_written(captures: Path) -> None:
    idrac = Idrac(captures)
    result = idrac.write(PROFILE)
    assert (idrac.writes, result.applied, idrac.record) == ([], True, [])


@pytest.mark.captures
def test_a_second_run_awaits_the_job_of_the_first_and_writes_nothing(captures: Path) -> None:
    # https://github.com/quadsproject/badfish/issues/29: pending values already committed
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc")
    idrac.write(PROFILE)
    sent = list(idrac.writes)
    result = idrac.write(PROFILE)
    assert idrac.writes == sent
    assert result.job is not None
    assert (result.job.reused, result.scheduled, len(idrac.jobs)) == (True, True, 1)


@pytest.mark.captures
def test_after_the_reset_the_values_are_read_back_in_force(captures: Path) -> None:
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc")
    result = idrac.write(PROFILE, reset=True)
    assert (result.applied, idrac.restarts, result.words) == (
        True,
        1,
        "written, and read back in force",
    )
    assert idrac.write(PROFILE, reset=True).words == "as wanted already: nothing was written"
    assert idrac.restarts == 1


@pytest.mark.captures
def test_a_job_that_says_done_without_its_values_in_force_is_not_believed(captures: Path) -> None:
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc", LogicalProc="Disabled")
    idrac.ignores = ("LogicalProc",)
    result = idrac.write(PROFILE, reset=True)
    assert (result.applied, result.wrong) == (False, {"LogicalProc": "Disabled"})


@pytest.mark.captures
def test_after_a_job_that_failed_nobody_waits_for_its_values(captures: Path) -> None:
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc")
    idrac.fails = True
    result = idrac.write(PROFILE, reset=True)
    assert (result.applied, result.wrong) == (False, {"SysProfile": "PerfPerWattOptimizedDapc"})
    assert "PR21" in result.words
    assert idrac.bmc.now < 60


@pytest.mark.captures
def test_somebody_elses_pending_values_are_said_and_not_written_over(captures: Path) -> None:
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc")
    idrac.pending["BootMode"] = "Bios"
    with pytest.raises(BmcBusyError, match="BootMode=Bios; nothing was written"):
        idrac.write(PROFILE)
    assert idrac.writes == []


@pytest.mark.captures
def test_pending_values_without_a_job_get_one(captures: Path) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/9: values written without a job wait for ever
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc")
    idrac.pending["SysProfile"] = "PerfOptimized"
    result = idrac.write({"SysProfile": "PerfOptimized"})
    assert idrac.bmc.sent[-1][:2] == ("POST", JOBS)
    assert idrac.bmc.sent[-1][2] == {"TargetSettingsURI": SETTINGS}
    assert (result.scheduled, len(idrac.jobs)) == (True, 1)


@pytest.mark.captures
def test_a_write_whose_answer_is_lost_is_sent_once_and_found_by_its_job(captures: Path) -> None:
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc")
    idrac.lost = 1
    result = idrac.write(PROFILE)
    assert (idrac.writes, result.scheduled) == (["PATCH"], True)
    assert idrac.record == [
        ("SysProfile=PerfPerWattOptimizedDapc", "SysProfile=PerfOptimized, at the next reset")
    ]


@pytest.mark.captures
def test_every_attribute_that_was_written_is_kept_with_before_and_after(captures: Path) -> None:
    idrac = Idrac(captures, SysProfile="PerfPerWattOptimizedDapc", LogicalProc="Disabled")
    idrac.write(PROFILE)
    assert idrac.record == [
        ("SysProfile=PerfPerWattOptimizedDapc", "SysProfile=PerfOptimized, at the next reset"),
        ("LogicalProc=Disabled", "LogicalProc=Enabled, at the next reset"),
    ]


@pytest.mark.captures
def test_a_value_the_bios_does_not_take_is_an_error_before_anything_is_sent(captures: Path) -> None:
    idrac = Idrac(captures)
    with pytest.raises(BmcAnswerError, match=r"takes one of .*nothing was written"):
        idrac.write({"SysProfile": "Fast"})
    assert idrac.writes == []


@pytest.mark.captures
def test_a_dgx_without_jobs_is_written_and_read_back(captures: Path) -> None:
    bmc = dgx(captures)
    path = "/redfish/v1/Systems/DGX/Bios/SD"
    waiting = edit(bmc, path)["Attributes"]

    def patch(body: Mapping[str, Any]) -> Reply:
        waiting.update(body["Attributes"])
        return Reply(path, 204)

    bmc.handlers["PATCH", path] = patch
    result = run(write_bios(bmc, {"ARIEnable": "Disable"}, BiosWrite(), _no_restart))
    assert bmc.sent == [("PATCH", path, {"Attributes": {"ARIEnable": "Disable"}})]
    assert (result.scheduled, result.job) == (True, None)


async def _no_restart(bmc: Bmc) -> object:
    raise AssertionError("nobody asked for a restart")


@pytest.mark.captures
def test_the_registry_is_found_where_the_bios_says(captures: Path) -> None:
    bmc = dgx(captures)
    bmc.resources["/redfish/v1/Registries/BiosAttributeRegistry113.1.1.3"] = {
        "Location": [{"Language": "en-US", "Uri": "/redfish/v1/registry.json"}]
    }
    bmc.resources["/redfish/v1/registry.json"] = {
        "RegistryEntries": {
            "Attributes": [
                {"AttributeName": "ARIEnable", "Type": "Enumeration", "Value": [{"ValueName": "Enable"}]}
            ]
        }
    }
    plan = run(plan_bios(bmc, {"ARIEnable": "Disabled"}))
    assert plan.refused == ("ARIEnable takes one of Enable; found 'Disabled'",)


@pytest.mark.captures
def test_pending_values_are_shown_beside_those_in_force(captures: Path) -> None:
    idrac = Idrac(captures)
    idrac.pending["BootMode"] = "Bios"
    found = run(read_bios_state(idrac.bmc))
    assert (found.values["BootMode"], found.pending) == ("Uefi", {"BootMode": "Bios"})


def test_a_bmc_without_bios_settings_is_an_error() -> None:
    with pytest.raises(BmcError):
        run(read_bios_state(StatefulBmc({})))
