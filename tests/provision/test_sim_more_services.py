"""More of what the services of a simulated iDRAC do: boots, profiles, old and new firmware, clocks, odd resources."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from tests.provision.sim_client import BareClient
from tests.sim.idrac import Profile, SimBmc, Simulator
from tests.sim.idrac.boot_sources import SETTINGS as BOOT_SETTINGS
from tests.sim.idrac.boot_sources import SOURCES
from tests.sim.idrac.jobs import JobQueue, JobState
from tests.sim.idrac.manager_services import MANAGE_TIME, PROTOCOL
from tests.sim.idrac.media import NEW, OLD
from tests.sim.idrac.minor import SWITCHES, SwitchPorts
from tests.sim.idrac.registries import EEMI, REGISTRIES
from tests.sim.idrac.scp import IMPORT
from tests.sim.idrac.where import BIOS, BIOS_SETTINGS, CHASSIS, DELL_JOBS, MANAGER, OEM, ROOT, SYSTEM

ON_RESET = {"@Redfish.SettingsApplyTime": {"ApplyTime": "OnReset"}}
Started = Callable[..., tuple[SimBmc, BareClient]]


@pytest.fixture
def start(simulator: Callable[..., Simulator]) -> Started:
    def started(profile: Profile = Profile.IDRAC9_7) -> tuple[SimBmc, BareClient]:
        made = simulator(1, profile=profile, first="127.32.0.9", tls=False, speed=0.0)
        made[0].sessions.basic = True
        return made[0], BareClient(f"http://{made.addresses[0]}:{made.port}", "root", made.password)

    return started


def reboot(bmc: SimBmc) -> None:
    """A reset, and all the POSTs that follow from it."""
    with bmc.lock:
        bmc.power.restart()
    bmc.clock.advance(2000)
    bmc.settle()


def test_a_job_makes_the_server_boot_twice(start: Started) -> None:
    bmc, ask = start()
    ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    before = bmc.power.boots
    reboot(bmc)
    assert bmc.power.boots == before + 2
    assert ask.get(BIOS)["Attributes"]["LogicalProc"] == "Disabled"
    reboot(bmc)
    assert bmc.power.boots == before + 3


def test_the_boot_order_of_dells_boot_sources_is_applied_at_the_boot(start: Started) -> None:
    bmc, ask = start()
    now = ask.get(SOURCES)["Attributes"]["UefiBootSeq"]
    wanted = [{**entry, "Index": len(now) - at} for at, entry in enumerate(now)]
    assert ask("PATCH", BOOT_SETTINGS, {"Attributes": {"UefiBootSeq": wanted}}).status == 200
    assert ask("POST", DELL_JOBS, {"TargetSettingsURI": BOOT_SETTINGS}).status == 200
    reboot(bmc)
    after = [entry["Name"] for entry in ask.get(SOURCES)["Attributes"]["UefiBootSeq"]]
    assert after == [entry["Name"] for entry in reversed(now)]


def test_a_one_time_boot_by_bios_attribute_is_for_the_boot_after_the_jobs(start: Started) -> None:
    bmc, ask = start()
    wanted = {"OneTimeBootMode": "OneTimeUefiBootSeq", "OneTimeUefiBootSeqDev": "Disk.Virtual.0:BOSS.SL.14-1"}
    ask("PATCH", BIOS_SETTINGS, {"Attributes": wanted, **ON_RESET})
    reboot(bmc)
    assert bmc.boot.booted[-1] == "Hdd"
    assert bmc.boot_override.enabled == "Disabled"
    assert ask.get(BIOS)["Attributes"]["OneTimeBootMode"] == "Disabled"


def test_a_profile_is_imported_only_when_nothing_waits_or_runs(start: Started) -> None:
    bmc, ask = start()
    attribute = '<Attribute Name="ServerBoot.1#FirstBootDevice">VCD-DVD</Attribute>'
    body = {"ShareParameters": {"Target": "ALL"}, "ImportBuffer": f"<SystemConfiguration>{attribute}"}
    ask("PATCH", BIOS_SETTINGS, {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET})
    said = ask("POST", IMPORT, body)
    assert (said.status, said.keys) == (400, ["LC068"])
    bmc.part(JobQueue).clear()
    running = bmc.part(JobQueue).plant(state=JobState.RUNNING)
    said = ask("POST", IMPORT, body)
    assert (said.status, said.keys) == (503, ["RAC0679"])
    bmc.clock.advance(running.duration_s)
    assert ask("POST", IMPORT, body).status == 202
    bmc.clock.advance(60)
    assert (bmc.boot_override.target, bmc.boot_override.enabled) == ("Cd", "Once")


def test_old_places_of_resources_still_answer_on_idrac9(start: Started) -> None:
    _, ask = start(Profile.IDRAC9_6)
    for path in (
        f"{MANAGER}/Jobs",
        f"{SYSTEM}/BootSources",
        f"{SYSTEM}/NetworkAdapters",
        f"{ROOT}/Dell/Managers/iDRAC.Embedded.1/DellLCService",
    ):
        assert ask("GET", path).status == 200, path


def test_idrac10_has_the_new_places_only(start: Started) -> None:
    bmc, ask = start(Profile.IDRAC10)
    gone = (f"{MANAGER}/Jobs", OLD, f"{CHASSIS}/Thermal", f"{CHASSIS}/Power", f"{SYSTEM}/NetworkAdapters")
    assert [ask("GET", path).status for path in gone] == [404] * len(gone)
    kept = (DELL_JOBS, NEW, f"{CHASSIS}/ThermalSubsystem", f"{CHASSIS}/PowerSubsystem")
    assert [ask("GET", path).status for path in kept] == [200] * len(kept)
    attributes = ask.get(BIOS)["Attributes"]
    assert attributes["BootMode"] == "Uefi"
    assert "RedirAfterBoot" not in attributes
    said = ask("PATCH", BIOS_SETTINGS, {"Attributes": {"BootMode": "Uefi"}, **ON_RESET})
    assert said.keys == ["SYS410"]
    assert len(bmc.part(JobQueue)) == 0


def test_idrac10_makes_no_second_job_for_what_is_pending_already(start: Started) -> None:
    """dsx-ai-factory/libredfish#97: 200 without a job."""
    bmc, ask = start(Profile.IDRAC10)
    patch = {"Attributes": {"LogicalProc": "Disabled"}, **ON_RESET}
    assert ask("PATCH", BIOS_SETTINGS, patch).status == 202
    assert ask("PATCH", BIOS_SETTINGS, patch).status == 200
    assert len(bmc.part(JobQueue)) == 1


def test_an_enclosure_is_busy_where_a_chassis_answers(start: Started) -> None:
    _, ask = start()
    for name in ("Thermal", "Power"):
        said = ask("GET", f"{ROOT}/Chassis/Enclosure.Internal.0-1/{name}")
        assert (said.status, said.keys) == (503, ["SYS518"])
        assert ask("GET", f"{CHASSIS}/{name}").status == 200


def test_a_missing_licence_is_an_error_of_its_own_resource_only(start: Started) -> None:
    _, ask = start()
    drive = f"{SYSTEM}/Storage/CPU.1/Drives/Disk.Bay.0:Enclosure.Internal.0-1"
    said = ask("GET", f"{drive}/Oem/Dell/DellNVMeSMARTAttributes")
    assert (said.status, said.keys) == (403, ["LIC501"])
    assert ask("GET", f"{drive}?$expand=*($levels=1)").status == 200
    assert ask("GET", f"{ROOT}/AccountService?$expand=*($levels=1)").status == 200


def test_switch_ports_are_told_per_ethernet_port(start: Started) -> None:
    bmc, ask = start()
    listed = {one["FQDD"]: one["SwitchPortConnectionID"] for one in ask.get(SWITCHES)["Members"]}
    assert listed["NIC.Embedded.2-1-1"] == "No Link"
    assert not any(fqdd.startswith("InfiniBand") for fqdd in listed)
    bmc.part(SwitchPorts).ports["iDRAC.Embedded.1"] = ("b0:4f:13:31:dc:40", "swp20")
    assert ask.get(f"{SWITCHES}/iDRAC.Embedded.1")["SwitchPortConnectionID"] == "swp20"


def test_the_clock_is_read_and_set(start: Started) -> None:
    bmc, ask = start()
    bmc.clock_skew_s = -86_400.0
    told = datetime.fromisoformat(ask("POST", MANAGE_TIME, {"GetRequest": True}).body["TimeData"])
    assert abs((datetime.now(UTC) - timedelta(days=1) - told).total_seconds()) < 60
    right = datetime.now(UTC).replace(microsecond=0).isoformat()
    assert ask("PATCH", MANAGER, {"DateTime": right}).status == 200
    assert ask.get(MANAGER)["DateTime"] == right
    assert ask("PATCH", MANAGER, {"DateTime": "tomorrow"}).keys == ["PropertyValueFormatError"]


def test_time_servers_are_patched_as_arrays_are(start: Started) -> None:
    _, ask = start()
    ask("PATCH", PROTOCOL, {"NTP": {"NTPServers": ["192.0.2.1", "192.0.2.2", "192.0.2.3"]}})
    ask("PATCH", PROTOCOL, {"NTP": {"NTPServers": [{}, None, "192.0.2.9"], "ProtocolEnabled": True}})
    ntp = ask.get(PROTOCOL)["NTP"]
    assert (ntp["NTPServers"], ntp["ProtocolEnabled"]) == (["192.0.2.1", "192.0.2.9"], True)


def test_the_registry_has_the_texts_of_what_the_bmc_says(start: Started) -> None:
    _, ask = start()
    assert len(ask.get(REGISTRIES)["Members"]) == 3
    messages = ask.get(EEMI)["Messages"]
    assert messages["SYS011"]["Message"].startswith("Pending configuration values are already committed")
    assert (messages["PSU0003"]["NumberOfArgs"], messages["PSU0003"]["Severity"]) == (1, "Critical")


def test_an_attribute_of_the_bmc_is_set_and_an_unknown_one_refused(start: Started) -> None:
    _, ask = start()
    path = f"{OEM}/DellAttributes/iDRAC.Embedded.1"
    assert ask("PATCH", path, {"Attributes": {"NTPConfigGroup.1.NTP1": "192.0.2.1"}}).status == 200
    assert ask.get(path)["Attributes"]["NTPConfigGroup.1.NTP1"] == "192.0.2.1"
    assert ask("PATCH", path, {"Attributes": {"No.1.Such": "x"}}).keys == ["SYS409"]


def test_a_logged_event_is_seen_by_filter_and_newest_first(start: Started) -> None:
    bmc, ask = start()
    bmc.log("RAC0182", "watchdog")
    entries = f"{MANAGER}/LogServices/Lclog/Entries"
    assert ask.get(entries)["Members"][0]["MessageId"].endswith("RAC0182")
    serious = ask.get(f"{entries}?$filter=Severity%20eq%20'Critical'")["Members"]
    assert serious
    assert {entry["Severity"] for entry in serious} == {"Critical"}
