"""Others judge the simulated BMC: DMTF's validators, OpenStack's sushy, Red Hat's badfish."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.sim.idrac import Profile, Simulator
from tests.sim.idrac.hardware import XE9680
from tests.sim.judges.deviations import Deviation, compare, deviations
from tests.sim.judges.environments import BADFISH, PROTOCOL, SERVICE, SUSHY, InstallError, Judge, environment
from tests.sim.judges.trials import (
    Bench,
    Complaint,
    ask_badfish,
    judge_protocol,
    judge_service,
    visit_with_sushy,
)

pytestmark = pytest.mark.slow


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Callable[..., Bench]]:
    """A BMC that serves, for judges that are installed; skips when they cannot be, fails when REQUIRE_TOOLS=1."""
    running: list[Simulator] = []

    def start(judge: Judge, profile: Profile = Profile.IDRAC9_7, **options: Any) -> Bench:
        try:
            environment(judge)
        except InstallError as problem:
            if os.environ.get("REQUIRE_TOOLS") == "1":
                pytest.fail(str(problem), pytrace=False)
            pytest.skip(f"tools not installed: {problem}")
        simulator = Simulator(1, profile, first="127.33.0.1", speed=50.0, **options).start()
        running.append(simulator)
        return Bench(simulator, simulator[0], tmp_path)

    yield start
    for simulator in running:
        simulator.stop()


def assert_known(judge: str, profile: Profile, complaints: tuple[Complaint, ...]) -> None:
    new, stale = compare(complaints, deviations(judge, profile.name))
    assert not new, "not in deviations.txt:\n" + "\n".join(map(str, new))
    assert not stale, "in deviations.txt, but nobody complains any more:\n" + "\n".join(
        f"{entry.rule} | {entry.where.pattern}" for entry in stale
    )


@pytest.mark.parametrize("profile", list(Profile), ids=lambda profile: profile.name)
def test_the_protocol_validator_finds_nothing_but_what_is_listed(
    bench: Callable[..., Bench], profile: Profile
) -> None:
    verdict = judge_protocol(bench(PROTOCOL, profile))
    assert verdict.passed > 400
    assert_known("protocol", profile, verdict.complaints)


def test_the_service_validator_finds_no_dead_link_but_those_of_real_ones(bench: Callable[..., Bench]) -> None:
    verdict = judge_service(bench(SERVICE))
    assert verdict.warned > 900, "it visits every resource, and without schemas warns of each"
    assert_known("service", Profile.IDRAC9_7, verdict.complaints)


def test_sushy_sees_the_server_and_sets_what_it_may(bench: Callable[..., Bench]) -> None:
    it = bench(SUSHY)
    seen = visit_with_sushy(it)
    assert (seen["power"], seen["managers"]) == ("On", ["iDRAC.Embedded.1"])
    assert seen["chassis"] == ["System.Embedded.1", "Enclosure.Internal.0-1"]
    assert {"On", "ForceOff", "GracefulRestart", "PowerCycle"} <= set(seen["resets"])
    macs = {
        name.removeprefix("mac:"): mac for name, mac in it.bmc.identity.items() if name.startswith("mac:")
    }
    assert seen["macs"] == {name: macs[name] for name in seen["macs"]}
    assert len(seen["macs"]) == 5, "it looks into EthernetInterfaces, where InfiniBand is not"
    assert (seen["drives"], seen["processors"]) == (len(XE9680.drives), len(XE9680.gpus) + len(XE9680.cpus))
    assert seen["boot"] == ["Pxe", "Once"]
    assert seen["bios"]["pending"] == {"LogicalProc": "Disabled"}
    assert seen["bios"]["registry"] == seen["bios"]["attributes"] > 100
    assert seen["media"] == [True, "http://192.0.2.1/images/installer.iso", False]
    assert (seen["sessions"], len(it.bmc.sessions)) == (1, 0), "its one session is closed at the end"


def test_badfish_lists_what_the_server_is_made_of(bench: Callable[..., Bench]) -> None:
    it = bench(BADFISH)
    memory = ask_badfish(it, "--ls-memory")
    assert memory.count("CapacityMiB: 65536") == len(XE9680.dimms)
    assert it.bmc.service_tag in ask_badfish(it, "--ls-serial")
    assert ask_badfish(it, "--ls-gpu").count("ProcessorType: GPU") == len(XE9680.gpus)
    assert "1: NIC.PxeDevice.1-1" in ask_badfish(it, "--check-boot")
    assert "InfiniBand.Slot.31-1" in ask_badfish(it, "--get-nic-fqdds")
    assert len(it.bmc.sessions) == 0


def test_badfish_lists_interfaces_where_there_is_no_infiniband_and_stumbles_where_there_is(
    bench: Callable[..., Bench],
) -> None:
    """Its reader wants DellNIC in every function; an InfiniBand function of a real one has none either."""
    ethernet = tuple(
        adapter for adapter in XE9680.adapters if adapter.id in ("NIC.Embedded.1", "NIC.Integrated.1")
    )
    it = bench(BADFISH, hardware=replace(XE9680, adapters=ethernet))
    found = ask_badfish(it, "--ls-interfaces")
    assert it.bmc.identity["mac:NIC.Embedded.1-1-1"] in found
    assert it.bmc.identity["mac:NIC.Integrated.1-2-1"] in found
    it.simulator.stop()
    assert "something wrong getting network interfaces" in ask_badfish(bench(BADFISH), "--ls-interfaces")


def test_badfish_sets_pxe_once_and_a_bios_attribute_and_clears_the_queue(bench: Callable[..., Bench]) -> None:
    it = bench(BADFISH)
    assert 'onetime boot device to: "Pxe"' in ask_badfish(it, "--pxe")
    assert (it.bmc.boot_override.target, it.bmc.boot_override.enabled) == ("Pxe", "Once")
    attribute = ask_badfish(it, "--get-bios-attribute", "--attribute", "LogicalProc")
    assert "ValueName': 'Disabled'" in attribute
    it.bmc.configure({"LogicalProc": "Disabled"}, lambda: None)
    assert "JobID: JID_" in ask_badfish(it, "--ls-jobs")
    assert "successfully cleared" in ask_badfish(it, "--clear-jobs", "--force")
    assert "None" in ask_badfish(it, "--ls-jobs")


def test_badfish_inserts_and_ejects_an_image(bench: Callable[..., Bench]) -> None:
    it = bench(BADFISH)
    assert "successful" in ask_badfish(it, "--mount-virtual-media", "http://192.0.2.1/installer.iso")
    assert "ImageName: installer.iso" in ask_badfish(it, "--check-virtual-media")
    assert "successful" in ask_badfish(it, "--unmount-virtual-media")


def test_badfish_makes_the_same_job_twice_and_is_refused_as_by_a_real_one(
    bench: Callable[..., Bench],
) -> None:
    """quadsproject/quads#726: its PATCH makes the job already, its POST for the same job is a 400."""
    said = ask_badfish(bench(BADFISH), "--boot-to", "Disk.Virtual.0:BOSS.SL.14-1")
    assert "Pending configuration values are already committed" in said


def test_every_line_of_the_list_is_read() -> None:
    listed = {entry.rule for name in ("protocol", "service") for entry in deviations(name, "IDRAC10")}
    assert {"DEAD_LINK", "SEC_SUPPORT_BASIC_AUTH"} <= listed
    assert all(isinstance(entry, Deviation) and entry.reason for entry in deviations("protocol", "IDRAC10"))
