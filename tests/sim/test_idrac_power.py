"""Power and boot of the simulated iDRAC, on a clock that only moves when told."""

from __future__ import annotations

import pytest

from tests.sim.idrac import Profile, Simulator
from tests.sim.idrac.bmc import SimBmc
from tests.sim.idrac.power import Phase, PowerEvent
from tests.sim.idrac_asker import CHASSIS, SYSTEM, Asker

PXE = {"BootSourceOverrideTarget": "Pxe", "BootSourceOverrideEnabled": "Once"}


class Lab:
    """One BMC, its clock and a client."""

    def __init__(self, profile: Profile = Profile.IDRAC9_7) -> None:
        self.simulator = Simulator(profile=profile, speed=0)
        self.bmc = self.simulator[0]
        self.who = Asker(self.bmc)
        self.bmc.boot.order = ["Boot0001", "Boot0000", "Boot0002"]
        self.settings = f"{SYSTEM}/Settings" if profile is Profile.IDRAC10 else SYSTEM

    def later(self, seconds: float) -> None:
        self.simulator.clock.advance(seconds)
        self.bmc.settle()

    def boot(self) -> dict[str, object]:
        body = self.who.get(self.settings).body["Boot"]
        return {name: body[name] for name in PXE}

    def set_boot(self, **boot: str) -> int:
        return self.who.patch(self.settings, {"Boot": boot}).status


@pytest.fixture
def lab() -> Lab:
    return Lab()


def test_force_off_takes_a_moment_and_on_goes_through_post(lab: Lab) -> None:
    assert lab.who.reset("ForceOff").status == 204
    assert lab.bmc.power.state == "On"
    lab.later(6)
    assert lab.who.get(SYSTEM).body["PowerState"] == "Off"
    assert lab.who.reset("On").status == 204
    assert lab.bmc.power.in_post
    assert lab.who.get(SYSTEM).body["BootProgress"]["LastState"] == "PrimaryProcessorInitializationStarted"
    lab.later(181)
    assert lab.bmc.power.phase is Phase.RUNNING
    assert lab.who.get(SYSTEM).body["BootProgress"]["LastState"] == "OSRunning"


@pytest.mark.parametrize(
    ("phase", "kind"),
    [
        (Phase.RUNNING, "On"),
        (Phase.OFF, "ForceOff"),
        (Phase.OFF, "GracefulShutdown"),
        (Phase.OFF, "ForceRestart"),
    ],
)
def test_a_state_it_is_in_already_is_a_409_psu501(lab: Lab, phase: Phase, kind: str) -> None:
    lab.bmc.power.set(phase)
    said = lab.who.reset(kind)
    assert (said.status, said.keys) == (409, ["PSU501"])
    assert lab.bmc.power.actions == []


def test_a_reset_type_that_is_not_offered_is_a_400(lab: Lab) -> None:
    lab.bmc.power.reset_types = ("On", "ForceOff", "ForceRestart")
    allowed = lab.who.get(SYSTEM).body["Actions"]["#ComputerSystem.Reset"][
        "ResetType@Redfish.AllowableValues"
    ]
    assert allowed == ["On", "ForceOff", "ForceRestart"]
    assert lab.who.reset("GracefulRestart").status == 400
    assert lab.who.post(f"{CHASSIS}/Actions/Chassis.Reset", {"ResetType": "ForceRestart"}).status == 400


def test_a_graceful_shutdown_is_up_to_the_operating_system(lab: Lab) -> None:
    lab.bmc.power.heeds_shutdown = False
    assert lab.who.reset("GracefulShutdown").status == 204
    lab.later(600)
    assert lab.bmc.power.state == "On"
    lab.bmc.power.heeds_shutdown = True
    lab.who.reset("GracefulShutdown")
    lab.later(31)
    assert lab.bmc.power.state == "Off"


def test_a_power_cycle_goes_off_and_on_again(lab: Lab) -> None:
    lab.who.reset("PowerCycle")
    lab.later(6)
    assert lab.bmc.power.state == "Off"
    lab.later(11)
    assert lab.bmc.power.in_post
    lab.later(200)
    assert (lab.bmc.power.phase, lab.bmc.power.boots) == (Phase.RUNNING, 1)


@pytest.mark.parametrize("profile", list(Profile))
def test_a_one_time_boot_is_consumed_at_the_next_boot(profile: Profile) -> None:
    lab = Lab(profile)
    assert lab.set_boot(**PXE) == 200
    assert lab.boot() == PXE
    lab.who.reset("ForceRestart")
    assert lab.boot() == PXE, "still in POST"
    lab.later(181)
    assert lab.boot() == {"BootSourceOverrideTarget": "None", "BootSourceOverrideEnabled": "Disabled"}
    assert lab.bmc.boot.booted == ["Pxe"]


def test_a_continuous_override_stays(lab: Lab) -> None:
    lab.set_boot(BootSourceOverrideTarget="Pxe", BootSourceOverrideEnabled="Continuous")
    for _ in range(2):
        lab.who.reset("ForceRestart")
        lab.later(181)
    assert lab.bmc.boot.booted == ["Pxe", "Pxe"]
    assert lab.bmc.boot_override.enabled == "Continuous"


def test_a_target_alone_is_a_one_time_boot(lab: Lab) -> None:
    lab.set_boot(BootSourceOverrideTarget="BiosSetup")
    assert lab.boot()["BootSourceOverrideEnabled"] == "Once"


def test_a_target_that_is_none_is_refused(lab: Lab) -> None:
    said = lab.who.patch(SYSTEM, {"Boot": {"BootSourceOverrideTarget": "Nonsense"}})
    assert (said.status, said.keys) == (400, ["SYS426", "PropertyValueNotInList"])


def test_naming_the_mode_queues_a_job_and_boots_twice_the_second_time_from_disk(lab: Lab) -> None:
    said = lab.who.patch(SYSTEM, {"Boot": {**PXE, "BootSourceOverrideMode": "UEFI"}})
    assert said.status == 202
    assert len(lab.bmc.jobs) == 1
    lab.who.reset("ForceRestart")
    lab.later(1000)
    assert lab.bmc.power.boots == 2
    assert lab.bmc.boot.booted == ["Pxe", "Hdd"]


def test_without_the_mode_nothing_is_queued(lab: Lab) -> None:
    lab.set_boot(**PXE)
    assert len(lab.bmc.jobs) == 0


def test_in_legacy_mode_a_uefi_boot_is_half_set_and_refused(lab: Lab) -> None:
    lab.bmc.boot.override = type(lab.bmc.boot.override)(mode="Legacy")
    said = lab.who.patch(SYSTEM, {"Boot": {**PXE, "BootSourceOverrideMode": "UEFI"}})
    assert (said.status, said.keys) == (400, ["SYS444", "SYS410"])
    assert lab.boot() == PXE


def test_idrac10_has_the_override_in_settings_only() -> None:
    lab = Lab(Profile.IDRAC10)
    boot = lab.who.get(SYSTEM).body["Boot"]
    assert "BootSourceOverrideTarget" not in boot
    assert (
        lab.who.get(SYSTEM).body["@Redfish.Settings"]["SettingsObject"]["@odata.id"] == f"{SYSTEM}/Settings"
    )
    assert (
        "Pxe"
        in lab.who.get(f"{SYSTEM}/Settings").body["Boot"]["BootSourceOverrideTarget@Redfish.AllowableValues"]
    )
    assert lab.who.patch(SYSTEM, {"Boot": PXE}).status == 400


def test_idrac9_refuses_the_override_at_settings(lab: Lab) -> None:
    assert lab.who.patch(f"{SYSTEM}/Settings", {"Boot": PXE}).status == 400


def test_the_boot_order_changes_by_a_job_at_the_next_boot(lab: Lab) -> None:
    said = lab.who.patch(f"{SYSTEM}/Settings", {"Boot": {"BootOrder": ["Boot0000", "Boot0001"]}})
    assert said.status == 202
    assert "Location" in said.headers
    assert lab.bmc.boot.order[0] == "Boot0001"
    lab.who.reset("ForceRestart")
    lab.later(1000)
    assert lab.bmc.boot.order == ["Boot0000", "Boot0001", "Boot0002"]


def test_inventory_shows_after_the_first_boot_has_collected_it(lab: Lab) -> None:
    adapters = f"{CHASSIS}/NetworkAdapters"
    lab.bmc.power.collected = False
    lab.bmc.power.set(Phase.OFF)
    assert lab.who.get(adapters).body["Members"] == []
    lab.who.reset("On")
    lab.later(185)
    assert lab.who.get(adapters).body["Members"] == [], "POST is over, the inventory is not"
    lab.later(30)
    assert lab.who.get(adapters).body["Members@odata.count"] == 11


def test_a_replaced_card_shows_after_the_next_boot(lab: Lab) -> None:
    path = f"{SYSTEM}/EthernetInterfaces/NIC.Integrated.1-1-1"
    old = lab.who.get(path).body["PermanentMACAddress"]
    new = lab.bmc.replace_card("NIC.Integrated.1")["mac:NIC.Integrated.1-1-1"]
    assert lab.who.get(path).body["PermanentMACAddress"] == old
    lab.who.reset("ForceRestart")
    lab.later(300)
    assert lab.who.get(path).body["PermanentMACAddress"] == new != old


def test_a_real_machine_is_told_what_to_do_and_ends_post_itself(lab: Lab) -> None:
    told: list[tuple[PowerEvent, str]] = []

    def hook(_bmc: SimBmc, event: PowerEvent, device: str) -> None:
        told.append((event, device))

    lab.bmc.on_power(hook)
    lab.bmc.power.post_by_hook = True
    lab.bmc.power.set(Phase.OFF)
    lab.set_boot(**PXE)
    lab.who.reset("On")
    lab.later(10_000)
    assert lab.bmc.power.in_post
    lab.bmc.power.finish_post()
    assert lab.bmc.boot_override.enabled == "Disabled"
    Asker(lab.bmc).reset("ForceOff")
    lab.later(6)
    assert told == [(PowerEvent.ON, "Pxe"), (PowerEvent.OFF, "Hdd")]


def test_the_identify_led_blinks_when_told(lab: Lab) -> None:
    assert lab.who.patch(SYSTEM, {"LocationIndicatorActive": True}).status == 200
    assert lab.who.get(SYSTEM).body["LocationIndicatorActive"] is True
    assert lab.who.patch(SYSTEM, {"LocationIndicatorActive": "yes"}).status == 400
    old = Lab(Profile.IDRAC9_6)
    assert old.who.patch(SYSTEM, {"IndicatorLED": "Blinking"}).status == 200
    assert old.who.get(SYSTEM).body["IndicatorLED"] == "Blinking"
    assert old.who.patch(SYSTEM, {"LocationIndicatorActive": True}).status == 400
