"""What the services of a simulated iDRAC do, as facts of real ones say: jobs, BIOS, logs, firmware, media, accounts."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.provision.sim_client import BareClient
from tests.sim.idrac import Moment, Profile, SimBmc, Simulator
from tests.sim.idrac.accounts import ACCOUNTS, Accounts
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.firmware import INVENTORY, Firmware
from tests.sim.idrac.job_resources import DELETE_QUEUE
from tests.sim.idrac.jobs import JobQueue, JobState
from tests.sim.idrac.lifecycle import STATUS
from tests.sim.idrac.logs import CLEAR, LCLOG, SEL, Logs
from tests.sim.idrac.media import NEW, OLD
from tests.sim.idrac.readings import Readings
from tests.sim.idrac.where import BIOS, BIOS_SETTINGS, CHASSIS, DELL_JOBS, JOBS, TASKS

ON_RESET = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}}


@pytest.fixture(params=[Profile.IDRAC9_6], ids=lambda profile: profile.name)
def simulator(request: pytest.FixtureRequest) -> Iterator[Simulator]:
    with Simulator(1, request.param, first="127.32.0.1", tls=False, speed=0.0) as simulator:
        yield simulator


@pytest.fixture
def bmc(simulator: Simulator) -> SimBmc:
    return simulator[0]


@pytest.fixture
def ask(simulator: Simulator) -> BareClient:
    return BareClient(f"http://{simulator.addresses[0]}:{simulator.port}", "root", simulator.password)


def boot(bmc: SimBmc, seconds: float = 200.0) -> None:
    with bmc.lock:
        bmc.tell(Moment.POST_STARTED)
    bmc.clock.advance(seconds)
    bmc.settle()
    with bmc.lock:
        bmc.tell(Moment.POST_DONE)


def test_a_bios_patch_makes_a_job_that_is_seen_in_three_places(ask: BareClient) -> None:
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    assert said.status == 202
    assert said.headers["Location"].startswith(TASKS + "/JID_")
    job = said.headers["Location"].rpartition("/")[2]
    for place in (DELL_JOBS, JOBS, TASKS):
        assert ask.get(place)["Members"] == [{"@odata.id": f"{place}/{job}"}]
        assert ask.get(f"{place}/{job}")["Id"] == job
    dell = ask.get(f"{DELL_JOBS}/{job}")
    told = (dell["JobState"], dell["JobType"], dell["StartTime"], dell["EndTime"], dell["MessageId"])
    assert told == ("Scheduled", "BIOSConfiguration", "TIME_NOW", "TIME_NA", "JCP001")
    assert ask.get(BIOS_SETTINGS)["Attributes"] == {"LogicalProc": "Disabled"}
    assert ask.get(BIOS)["Attributes"]["LogicalProc"] == "Enabled"


def test_attributes_change_at_the_boot_and_the_job_ends_with_pr19(ask: BareClient, bmc: SimBmc) -> None:
    ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    with bmc.lock:
        bmc.tell(Moment.POST_STARTED)
    job = next(iter(bmc.part(JobQueue)))
    assert (job.state, ask.get(BIOS)["Attributes"]["LogicalProc"]) == (JobState.RUNNING, "Disabled")
    bmc.clock.advance(200)
    done = ask.get(f"{DELL_JOBS}/{job.id}")
    assert (done["JobState"], done["MessageId"], done["PercentComplete"]) == ("Completed", "PR19", 100)
    assert done["Message"] == "Job completed successfully."
    assert ask.get(BIOS_SETTINGS)["Attributes"] == {}


def test_a_second_bios_patch_is_refused_while_a_job_is_open(ask: BareClient) -> None:
    ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"ProcX2Apic": "Disabled"}, **ON_RESET})
    assert (said.status, said.keys) == (400, ["SYS011"])
    assert "already committed" in said.body["error"]["@Message.ExtendedInfo"][0]["Message"]


def test_nothing_is_configured_while_another_job_runs(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(JobQueue).plant(state=JobState.RUNNING, duration_s=60)
    patch = {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET}
    said = ask("PATCH", BIOS_SETTINGS, patch)
    assert (said.status, said.keys) == (503, ["RAC0679"])
    bmc.clock.advance(61)
    assert ask("PATCH", BIOS_SETTINGS, patch).status == 202


@pytest.mark.parametrize(
    ("attributes", "key"),
    [
        ({"NoSuchThing": "Enabled"}, "SYS409"),
        ({"ProcCStates": "Disabled"}, "SYS410"),
        ({"SystemServiceTag": "ABCDEFG"}, "SYS410"),
        ({"LogicalProc": "Perhaps"}, "SYS426"),
        ({"PxeDev2VlanId": 5}, "SYS410"),
    ],
)
def test_attributes_that_cannot_be_set_are_named(
    ask: BareClient, bmc: SimBmc, attributes: dict[str, str], key: str
) -> None:
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": attributes, **ON_RESET})
    assert (said.status, said.keys) == (400, [key])
    related = said.body["error"]["@Message.ExtendedInfo"][0]["RelatedProperties"]
    assert related == [f"#/Attributes/{next(iter(attributes))}"]
    assert (len(bmc.part(JobQueue)), bmc.part(Bios).pending) == (0, {})


def test_a_dependent_attribute_goes_with_the_one_it_depends_on(ask: BareClient, bmc: SimBmc) -> None:
    wanted = {"SysProfile": "Custom", "ProcCStates": "Disabled"}
    assert ask("PATCH", BIOS_SETTINGS, {"Attributes": wanted, **ON_RESET}).status == 202
    boot(bmc)
    assert ask.get(BIOS)["Attributes"]["ProcCStates"] == "Disabled"


def test_the_performance_profile_sets_what_belongs_to_it(ask: BareClient, bmc: SimBmc) -> None:
    before = ask.get(BIOS)["Attributes"]
    assert (before["SysProfile"], before["ProcCStates"]) == ("PerfPerWattOptimizedDapc", "Enabled")
    ask("PATCH", BIOS_SETTINGS, {"Attributes": {"SysProfile": "PerfOptimized"}, **ON_RESET})
    boot(bmc)
    after = ask.get(BIOS)["Attributes"]
    assert (after["ProcCStates"], after["ProcPwrPerf"], after["UncoreFrequency"]) == (
        "Disabled",
        "MaxPerf",
        "MaxUFS",
    )


def test_the_boot_order_is_set_by_fqdds_that_then_vanish(ask: BareClient, bmc: SimBmc) -> None:
    wanted = {"SetBootOrderFqdd1": "NIC.Embedded.2-1-1", "SetBootOrderFqdd2": "NIC.PxeDevice.1-1"}
    ask("PATCH", BIOS_SETTINGS, {"Attributes": wanted, **ON_RESET})
    boot(bmc)
    after = ask.get(BIOS)["Attributes"]
    assert after["SetBootOrderFqdd1"] == ""
    assert after["SetBootOrderEn"].split(",")[:2] == ["NIC.Embedded.2-1-1", "NIC.PxeDevice.1-1"]


def test_pending_values_without_apply_time_wait_for_a_job(ask: BareClient, bmc: SimBmc) -> None:
    create = {"TargetSettingsURI": BIOS_SETTINGS}
    assert ask("POST", DELL_JOBS, create).keys == ["BIOS008"]
    assert ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}}).status == 200
    assert len(bmc.part(JobQueue)) == 0
    assert ask("POST", DELL_JOBS, create).headers["Location"].startswith(DELL_JOBS)
    assert ask("POST", DELL_JOBS, create).keys == ["SYS011"]


def test_deleting_the_job_discards_what_was_pending(ask: BareClient, bmc: SimBmc) -> None:
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    job = said.headers["Location"].rpartition("/")[2]
    assert ask("POST", DELETE_QUEUE, {"JobID": job}).keys == ["Success", "SUP020"]
    assert bmc.part(Bios).pending == {}
    assert ask("GET", f"{DELL_JOBS}/{job}").status == 404


def test_clearing_by_force_restarts_the_lifecycle_controller(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(JobQueue).plant(state=JobState.RUNNING)
    assert ask("POST", DELETE_QUEUE, {"JobID": "JID_CLEARALL"}).keys == ["RAC0679"]
    assert ask("POST", DELETE_QUEUE, {"JobID": "JID_CLEARALL_FORCE"}).status == 200
    assert len(bmc.part(JobQueue)) == 0
    status = ask("POST", STATUS, {}).body
    assert (status["LCStatus"], status["RTStatus"], status["Status"]) == (
        "NotInitialized",
        "NotReady",
        "NotReady",
    )
    patch = {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET}
    assert ask("PATCH", BIOS_SETTINGS, patch).keys == ["RAC0508"]
    bmc.clock.advance(121)
    assert ask("POST", STATUS, {}).body["Status"] == "Ready"
    assert ask("PATCH", BIOS_SETTINGS, patch).status == 202


def test_the_lifecycle_status_follows_the_host(ask: BareClient, bmc: SimBmc) -> None:
    def server() -> str:
        return str(ask("POST", STATUS, {}).body["ServerStatus"])

    assert server() == "OutOfPOST"
    bmc.tell(Moment.POST_STARTED)
    assert server() == "InPOST"
    bmc.tell(Moment.POST_DONE)
    assert server() == "CollectingSystemInventory"
    bmc.clock.advance(60)
    assert server() == "OutOfPOST"
    bmc.tell(Moment.POWERED_OFF)
    assert server() == "PoweredOff"


def test_a_stuck_job_stays_scheduled_at_one_percent(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(JobQueue).next_stuck = True
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    boot(bmc)
    job = ask.get(f"{DELL_JOBS}/{said.headers['Location'].rpartition('/')[2]}")
    assert (job["JobState"], job["MessageId"], job["PercentComplete"]) == ("Scheduled", "PR30", 1)
    assert ask.get(BIOS)["Attributes"]["LogicalProc"] == "Enabled"


def test_a_failed_job_says_pr21(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(JobQueue).next_outcome = JobState.FAILED
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    boot(bmc)
    job = said.headers["Location"].rpartition("/")[2]
    assert ask.get(f"{DELL_JOBS}/{job}")["MessageId"] == "PR21"
    assert ask.get(f"{JOBS}/{job}")["JobState"] == "Exception"


def test_an_old_task_is_forgotten_but_its_job_is_not(ask: BareClient, bmc: SimBmc) -> None:
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    job = said.headers["Location"].rpartition("/")[2]
    boot(bmc)
    assert ask("GET", f"{TASKS}/{job}").status == 404
    assert ask.get(f"{JOBS}/{job}")["JobState"] == "Completed"


def test_logs_come_newest_first_in_pages_of_fifty(ask: BareClient) -> None:
    path, found = f"{LCLOG}/Entries", []
    while path:
        page = ask.get(path)
        assert len(page["Members"]) <= 50
        found += page["Members"]
        path = page.get("Members@odata.nextLink", "")
    assert len(found) > 100
    assert [entry["Created"] for entry in found] == sorted(
        (entry["Created"] for entry in found), reverse=True
    )
    assert {"IDRAC.2.7.USR0030", "IDRAC.2.7.PSU0003"} <= {entry["MessageId"] for entry in found}


def test_a_cleared_sel_keeps_the_entry_that_says_so(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(Logs).trouble("PSU0003", "1")
    newest = ask.get(f"{SEL}/Entries")["Members"][0]
    assert (newest["Message"], newest["Severity"]) == (
        "The power input for power supply 1 is lost.",
        "Critical",
    )
    assert ask("POST", CLEAR, {}).status == 200
    assert [entry["Message"] for entry in ask.get(f"{SEL}/Entries")["Members"]] == ["Log cleared."]
    assert ask.get(f"{LCLOG}/Entries")["Members"][0]["MessageId"].endswith("LOG203")


def test_firmware_ids_tell_state_component_version_and_device(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(Firmware).set("BIOS.Setup.1-1", "2.9.9")
    ids = [member["@odata.id"].rpartition("/")[2] for member in ask.get(INVENTORY)["Members"]]
    assert {"Installed-159-2.9.9__BIOS.Setup.1-1", "Current-159-2.9.9__BIOS.Setup.1-1"} <= set(ids)
    assert any(one.startswith("Previous-159-") for one in ids)
    assert any(one.startswith("Installed-0-") and "__InfiniBand.Slot." in one for one in ids)
    assert ask.get(f"{INVENTORY}/Installed-159-2.9.9__BIOS.Setup.1-1")["Version"] == "2.9.9"


def test_media_is_inserted_once_and_ejected_once(ask: BareClient) -> None:
    image = {"Image": "http://192.0.2.1/installer.iso"}
    insert, eject = (f"{OLD}/CD/Actions/VirtualMedia.{name}Media" for name in ("Insert", "Eject"))
    assert ask("POST", eject, {}).keys == ["VRM0009"]
    assert ask("POST", insert, image).status == 204
    assert ask("POST", insert, image).keys == ["VRM0012"]
    shown = ask.get(f"{OLD}/CD")
    assert (shown["Inserted"], shown["ImageName"], shown["ConnectedVia"]) == (True, "installer.iso", "URI")
    assert ask.get(f"{NEW}/1")["Inserted"] is True
    assert ask("POST", f"{OLD}/RemovableDisk/Actions/VirtualMedia.InsertMedia", image).keys == ["VRM0012"]
    assert ask("POST", eject, {}).status == 204
    assert ask.get(f"{OLD}/CD")["Inserted"] is False


@pytest.mark.parametrize(
    ("image", "key"),
    [
        ("ftp://192.0.2.1/a.iso", "SYS426"),
        ("http://192.0.2.1/a.txt", "RAC0720"),
        ("", "ActionParameterMissing"),
    ],
)
def test_images_that_cannot_be_are_refused(ask: BareClient, image: str, key: str) -> None:
    assert ask("POST", f"{NEW}/1/Actions/VirtualMedia.InsertMedia", {"Image": image}).keys == [key]


def test_a_password_is_changed_and_never_told(ask: BareClient, bmc: SimBmc) -> None:
    assert len(ask.get(ACCOUNTS)["Members"]) == 16
    root = ask.get(f"{ACCOUNTS}/2")
    assert (root["UserName"], root["Password"], root["RoleId"]) == ("root", None, "Administrator")
    assert ask("PATCH", f"{ACCOUNTS}/2", {"Password": "another-Secret-1"}).status == 200
    assert ask("GET", ACCOUNTS).status == 401
    assert bmc.users["root"] == "another-Secret-1"


def test_a_weak_password_is_refused_without_repeating_it(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(Accounts).least, bmc.part(Accounts).classes = 12, 3
    said = ask("PATCH", f"{ACCOUNTS}/2", {"Password": "short"})
    assert (said.status, said.keys) == (400, ["PropertyValueFormatError"])
    assert "short" not in str(said.body)


@pytest.mark.parametrize("simulator", [Profile.IDRAC9_7], indirect=True)
def test_an_impossible_temperature_and_racing_fans_are_told(ask: BareClient, bmc: SimBmc) -> None:
    readings = bmc.part(Readings)
    readings.celsius["SystemBoardGPU3Temp"] = 7.0
    readings.all_fans = 97
    thermal = ask.get(f"{CHASSIS}/Thermal")
    probe = next(one for one in thermal["Temperatures"] if one["Name"] == "System Board GPU3 Temp")
    assert probe["ReadingCelsius"] == 7.0
    fans = ask.get(f"{CHASSIS}/ThermalSubsystem/Fans?$expand=*($levels=1)")["Members"]
    assert {fan["SpeedPercent"]["Reading"] for fan in fans} == {97}


def test_a_lost_power_input_shows_in_the_rollup(ask: BareClient, bmc: SimBmc) -> None:
    bmc.part(Readings).lost_inputs.add(2)
    assert ask.get(f"{CHASSIS}/PowerSubsystem")["Status"]["Health"] == "Critical"
    assert ask.get(f"{CHASSIS}/PowerSubsystem/PowerSupplies/PSU.Slot.2")["Status"]["Health"] == "Critical"
    assert ask.get(f"{CHASSIS}/PowerSubsystem/PowerSupplies/PSU.Slot.1")["Status"]["Health"] == "OK"


@pytest.mark.parametrize("simulator", [Profile.IDRAC9_7], indirect=True)
def test_newer_firmware_remembers_finished_tasks(ask: BareClient, bmc: SimBmc) -> None:
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    boot(bmc)
    assert ask.get(said.headers["Location"])["TaskState"] == "Completed"
