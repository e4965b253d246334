"""Bodies of the simulated iDRAC9 6.00.30 have the fields of a real one of that firmware, no more and no fewer."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.sim.idrac import Profile, SimBmc, Simulator
from tests.sim.idrac.jobs import JobQueue, JobState
from tests.sim.idrac.query import single
from tests.sim.idrac.where import BIOS, BIOS_SETTINGS, CHASSIS, DELL_JOBS, JOBS, MANAGER, OEM, ROOT, SYSTEM

DUMP = "redfish/dell_r750_h100_ib_idrac9_6.00.30.json"
FIRMWARE = f"{ROOT}/UpdateService/FirmwareInventory"
SAME = (
    *(ROOT, f"{ROOT}/AccountService", f"{ROOT}/AccountService/Accounts/2"),
    *(f"{ROOT}/AccountService/Roles/Administrator", f"{ROOT}/SessionService", f"{ROOT}/Registries"),
    *(BIOS, BIOS_SETTINGS, SYSTEM, CHASSIS, MANAGER, f"{SYSTEM}/EthernetInterfaces/NIC.Embedded.1-1-1"),
    *(f"{MANAGER}/LogServices", f"{MANAGER}/LogServices/Sel", f"{MANAGER}/LogServices/Lclog"),
    *(f"{MANAGER}/VirtualMedia", f"{MANAGER}/VirtualMedia/CD", f"{SYSTEM}/VirtualMedia/1"),
    *(f"{OEM}/DellLCService", f"{OEM}/DellJobService", DELL_JOBS, f"{ROOT}/JobService", JOBS),
    *(f"{ROOT}/TaskService", f"{ROOT}/UpdateService", FIRMWARE),
    *(f"{CHASSIS}/Thermal", f"{CHASSIS}/ThermalSubsystem", f"{CHASSIS}/ThermalSubsystem/ThermalMetrics"),
    *(f"{CHASSIS}/ThermalSubsystem/Fans/Fan.Embedded.1A", f"{CHASSIS}/Sensors/CPU1Temp"),
    *(f"{CHASSIS}/Sensors/Fan.Embedded.1A", f"{CHASSIS}/Power", f"{CHASSIS}/PowerSubsystem"),
    *(f"{CHASSIS}/PowerSubsystem/PowerSupplies/PSU.Slot.1", f"{MANAGER}/EthernetInterfaces/NIC.1"),
    *(f"{CHASSIS}/PowerSubsystem/PowerSupplies/PSU.Slot.1/Metrics", f"{SYSTEM}/Oem/Dell/DellBootSources"),
    f"{SYSTEM}/NetworkPorts/Oem/Dell/DellSwitchConnections/NIC.Embedded.1-1-1",
)
OPEN = {"Attributes", "Actions", "Links", "RegistryEntries"}
"""Fields whose content is another machine's: only that they are there is compared."""
ABSENT = {
    f"{ROOT}/AccountService": {"@odata.etag", "ActiveDirectory", "LDAP"},
    MANAGER: {"SerialInterfaces", "VirtualMedia@Redfish.Deprecated", "Oem/Dell/RemoteSystemLogs"},
    CHASSIS: {"Power@Redfish.Deprecated", "Thermal@Redfish.Deprecated"},
}
"""What the real one has beyond, and nobody asks for."""


def fields(body: dict[str, Any], above: str = "") -> Iterator[str]:
    """Paths of all fields; of a list, those of its first entry."""
    for name, value in body.items():
        yield above + name
        inner = value[0] if isinstance(value, list) and value else value
        if isinstance(inner, dict) and name not in OPEN:
            yield from fields(inner, f"{above}{name}/")


@pytest.fixture(scope="module")
def bmc() -> SimBmc:
    """A BMC that does not serve: its bodies are asked for directly."""
    made = Simulator(1, Profile.IDRAC9_6, first="127.34.0.1", tls=False, speed=0.0)[0]
    made.part(JobQueue).plant("BIOSConfiguration", "Configure: BIOS.Setup.1-1", state=JobState.COMPLETED)
    return made


def body_of(bmc: SimBmc, path: str) -> dict[str, Any]:
    data = single(bmc, path)
    assert data is not None, path
    found: dict[str, Any] = json.loads(data)
    return found


def compared(ours: dict[str, Any], theirs: dict[str, Any], absent: set[str]) -> tuple[set[str], set[str]]:
    mine, real = set(fields(ours)), set(fields(theirs))
    missing = {
        name
        for name in real - mine
        if not any(name == gone or name.startswith(f"{gone}/") for gone in absent)
    }
    return missing, mine - real


@pytest.fixture(scope="module")
def dump() -> dict[str, Any]:
    from tests.conftest import captures_root

    path = captures_root() / DUMP
    return json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}


@pytest.mark.captures
@pytest.mark.parametrize("path", SAME)
def test_a_resource_has_the_fields_of_a_real_one(
    captures: Path, dump: dict[str, Any], bmc: SimBmc, path: str
) -> None:
    missing, extra = compared(body_of(bmc, path), dump[path], ABSENT.get(path, set()))
    assert (missing, extra) == (set(), set())


@pytest.mark.captures
@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (f"{MANAGER}/LogServices/Sel/Entries/5", f"{MANAGER}/LogServices/Sel/Entries/1024"),
        (f"{MANAGER}/LogServices/Lclog/Entries/1190", f"{MANAGER}/LogServices/Lclog/Entries/83433"),
        (f"{DELL_JOBS}/JID", f"{DELL_JOBS}/JID_102241909559"),
        (f"{JOBS}/JID", f"{JOBS}/JID_102241909559"),
        (
            f"{FIRMWARE}/Installed-159-2.1.5__BIOS.Setup.1-1",
            f"{FIRMWARE}/Installed-159-1.8.2__BIOS.Setup.1-1",
        ),
    ],
)
def test_a_member_has_the_fields_of_a_real_one(
    captures: Path, dump: dict[str, Any], bmc: SimBmc, ours: str, theirs: str
) -> None:
    job = next(iter(bmc.part(JobQueue))).id
    path = ours.removesuffix("JID") + job if ours.endswith("/JID") else ours
    assert compared(body_of(bmc, path), dump[theirs], set()) == (set(), set())
