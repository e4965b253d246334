from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import BmcAnswerError, BmcDeadlineError, BmcError
from provision.bmc.outcome import BmcFinding
from provision.bmc.reply import Reply
from provision.bmc.sensors import Fan, PowerSupply, Redundancy, Temperature, subsystem_fan
from provision.bmc.status import NodeStatus, fan_outliers, status_findings, untold
from provision.report.status_report import fan_words, hottest_words, supply_words
from provision.workflows.status import read_node_status
from tests.provision.dumps import dgx, edit, r750
from tests.provision.stateful_bmc import DELL, StatefulBmc, run

SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
CHASSIS = "/redfish/v1/Chassis/System.Embedded.1"
ENCLOSURE = "/redfish/v1/Chassis/Enclosure.Internal.0-1"
THERMAL = f"{CHASSIS}/Thermal"
POWER = f"{CHASSIS}/Power"


def kinds(findings: list[BmcFinding]) -> list[str]:
    return [finding.kind for finding in findings]


def judged(bmc: StatefulBmc) -> list[BmcFinding]:
    return status_findings(run(read_node_status(bmc)))


# ---- the dumps -----------------------------------------------------------------------------------------------------


@pytest.mark.captures
def test_the_r750_is_read_and_healthy(captures: Path) -> None:
    status = run(read_node_status(r750(captures)))
    assert (status.power, status.health, status.bios, status.bmc_version) == (
        "On",
        "OK",
        "1.8.2",
        "6.00.30.00",
    )
    assert (status.model, status.service_tag) == ("PowerEdge R750", "F54P1G3")
    # by hand: 5 temperatures, 6 fans, 2 supplies, 1 redundancy group of fans, none of supplies
    assert [len(status.temperatures), len(status.fans), len(status.supplies), len(status.redundancy)] == [
        5,
        6,
        2,
        1,
    ]
    assert hottest_words(status.hottest) == "System Board Exhaust Temp 31/75 \u00b0C"
    assert (status_findings(status), untold(status), status.skipped) == ([], [], ())


@pytest.mark.captures
def test_the_tag_of_a_dell_is_never_its_boards_serial_number(captures: Path) -> None:
    bmc = r750(captures)
    del edit(bmc, SYSTEM)["Oem"]  # SKU F54P1G3, SerialNumber CNIVC0014M0388
    assert run(read_node_status(bmc)).service_tag == "F54P1G3"
    edit(bmc, SYSTEM)["SKU"] = None
    assert (
        run(read_node_status(bmc)).service_tag == "F54P1G3"
    )  # as the service root says, which needs no login
    edit(bmc, "/redfish/v1")["Oem"] = {}
    assert run(read_node_status(bmc)).service_tag == ""


@pytest.mark.captures
def test_a_machine_that_is_no_dell_has_no_service_tag(captures: Path) -> None:
    assert run(read_node_status(dgx(captures))).service_tag == ""


@pytest.mark.captures
def test_the_dgx_is_read_and_has_no_finding(captures: Path) -> None:
    status = run(read_node_status(dgx(captures)))
    # by hand: 120 temperatures, of which 13 are of parts that are absent; 36 fans; 6 supplies without any health
    assert len(status.temperatures) == 120
    assert sum(sensor.absent for sensor in status.temperatures) == 13
    assert (len(status.fans), len(status.supplies)) == (36, 6)
    assert (status.bios, status.bmc_version) == ("1.1.3", "23.11.20")
    assert status_findings(status) == []


@pytest.mark.captures
def test_supplies_whose_health_is_null_are_unknown_never_healthy(captures: Path) -> None:
    status = run(read_node_status(dgx(captures)))
    assert supply_words(status) == "6 not told"
    assert untold(replace(status, redundancy=())) == [
        "health is not told of the power supplies PSU0, PSU1, PSU2, PSU3, PSU4, PSU5"
    ]


@pytest.mark.captures
def test_turns_a_minute_in_a_field_named_percent_are_no_percent(captures: Path) -> None:
    # DGX H100: SpeedPercent.Reading 4840 beside SpeedRPM 4840
    body = dgx(captures).resources["/redfish/v1/Chassis/DGX/ThermalSubsystem/Fans/SPD_FAN_PSU0_R"]
    assert (subsystem_fan(body).percent, subsystem_fan(body).rpm) == (None, 4840)
    status = run(read_node_status(dgx(captures)))
    assert max(fan.percent or 0 for fan in status.fans) < 60


def test_a_fan_that_hardly_turns_is_not_at_that_many_percent() -> None:
    assert subsystem_fan({"Id": "F", "SpeedPercent": {"Reading": 60, "SpeedRPM": 60}}).percent is None
    assert subsystem_fan({"Id": "F", "SpeedPercent": {"Reading": 60, "SpeedRPM": 9000}}).percent == 60


@pytest.mark.captures
def test_a_margin_to_a_limit_is_no_temperature(captures: Path) -> None:
    status = run(read_node_status(dgx(captures)))
    margins = sorted(sensor.name for sensor in status.temperatures if sensor.margin)
    assert margins == [f"TLIMIT_GB_SXM{number}" for number in range(1, 9)]


# ---- what a dump with one thing changed says -----------------------------------------------------------------------


@pytest.mark.captures
@pytest.mark.parametrize("reading", [0, 255, 127, 200, -60])
def test_an_impossible_temperature_is_a_finding(captures: Path, reading: float) -> None:
    bmc = r750(captures)
    edit(bmc, THERMAL)["Temperatures"][0]["ReadingCelsius"] = reading
    (finding,) = judged(bmc)
    assert (finding.kind, finding.part) == ("sensor-impossible", "CPU1 Temp")


@pytest.mark.captures
def test_a_part_colder_than_the_air_that_cools_it_has_a_wrong_sensor(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, THERMAL)["Temperatures"][3]["ReadingCelsius"] = 7  # the GPU; the inlet has 25
    (finding,) = judged(bmc)
    assert (finding.kind, finding.part) == ("sensor-impossible", "System Board GPU2 Temp")


@pytest.mark.captures
def test_a_reading_of_127_that_alarms_is_hot_and_not_stuck(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, THERMAL)["Temperatures"][0].update(ReadingCelsius=127, Status={"Health": "Critical"})
    (finding,) = judged(bmc)
    assert finding.kind == "temperature"


@pytest.mark.captures
def test_a_node_without_power_may_read_0_degrees(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, THERMAL)["Temperatures"][0]["ReadingCelsius"] = 0
    edit(bmc, SYSTEM)["PowerState"] = "Off"
    assert judged(bmc) == []


@pytest.mark.captures
def test_full_fans_while_nothing_is_hot_point_at_a_wrong_sensor(captures: Path) -> None:
    bmc = r750(captures)
    for fan in edit(bmc, THERMAL)["Fans"]:
        fan.update(Reading=97, ReadingUnits="Percent")
    (finding,) = judged(bmc)
    assert finding.kind == "fans-full-while-cool"
    assert "6 of 6 fans" in finding.text
    assert "wrong temperature sensor?" in finding.text


@pytest.mark.captures
@pytest.mark.parametrize(("sensor", "reading"), [(0, 90), (2, 36)])
def test_full_fans_with_a_hot_part_or_a_hot_inlet_are_right(
    captures: Path, sensor: int, reading: int
) -> None:
    bmc = r750(captures)
    thermal = edit(bmc, THERMAL)
    thermal["Temperatures"][sensor]["ReadingCelsius"] = reading
    for fan in thermal["Fans"]:
        fan.update(Reading=97, ReadingUnits="Percent")
    assert judged(bmc) == []


@pytest.mark.captures
def test_a_fan_at_its_highest_reading_is_full_too(captures: Path) -> None:
    bmc = dgx(captures)
    for fan in edit(bmc, "/redfish/v1/Chassis/DGX/Thermal")["Fans"]:
        fan["Reading"] = fan["MaxReadingRange"]
    for sensor in edit(bmc, "/redfish/v1/Chassis/DGX/Thermal")["Temperatures"]:
        if "INLET" in sensor["Name"]:
            sensor["ReadingCelsius"] = 25
    for fan in edit(bmc, "/redfish/v1/Chassis/DGX/Thermal")["Fans"]:
        fan["Reading"] = fan["MaxReadingRange"]
    assert kinds(judged(bmc)) == ["fans-full-while-cool"]


@pytest.mark.captures
def test_percent_comes_from_the_newer_resource_where_the_older_tells_turns_only(captures: Path) -> None:
    bmc = r750(captures)
    for letter in range(1, 7):
        edit(bmc, f"{CHASSIS}/ThermalSubsystem/Fans/Fan.Embedded.{letter}A")["SpeedPercent"]["Reading"] = 42
    status = run(read_node_status(bmc))
    assert fan_words(status) == "42 %"
    assert status.fans[0].rpm == 18600


@pytest.mark.captures
def test_a_bmc_without_the_old_resources_is_read_by_the_new_ones(captures: Path) -> None:
    bmc = r750(captures)
    chassis = edit(bmc, CHASSIS)
    del chassis["Thermal"], chassis["Power"]
    status = run(read_node_status(bmc))
    # by hand: six temperature sensors (CPU1, CPU2, inlet, GPU2, exhaust, DIMM_MAX), without voltage regulators
    assert {sensor.name: sensor.reading for sensor in status.temperatures}["CPU1 Temp"] == 37
    assert len(status.fans) == 6
    assert [supply.health for supply in status.supplies] == ["OK", "OK"]
    assert [group.health for group in status.redundancy] == ["OK"]
    assert status_findings(status) == []


@pytest.mark.captures
def test_a_failed_supply_and_lost_redundancy_are_findings(captures: Path) -> None:
    bmc = r750(captures)
    power = edit(bmc, POWER)
    power["PowerSupplies"][1]["Status"] = {"Health": "Critical", "State": "Enabled"}
    power["Redundancy"] = [{"Name": "System Board PS Redundancy", "Status": {"Health": "Critical"}}]
    assert kinds(judged(bmc)) == ["power-supply", "redundancy"]


@pytest.mark.captures
def test_an_empty_bay_is_no_failed_supply(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, POWER)["PowerSupplies"][1]["Status"] = {"Health": None, "State": "Absent"}
    status = run(read_node_status(bmc))
    assert (status_findings(status), supply_words(status)) == ([], "1/1 OK")


@pytest.mark.captures
def test_bad_health_names_the_subsystem(captures: Path) -> None:
    bmc = r750(captures)
    system = edit(bmc, SYSTEM)
    system["Status"] = {"Health": "Critical", "HealthRollup": "Critical", "State": "Enabled"}
    system["Oem"]["Dell"]["DellSystem"]["StorageRollupStatus"] = "Critical"
    (finding,) = judged(bmc)
    assert finding.text == "gpu001: health is Critical: Storage Critical"


@pytest.mark.captures
@pytest.mark.parametrize("health", [None, ""])
def test_null_or_empty_health_is_unknown_and_could_not_tell(captures: Path, health: Any) -> None:
    bmc = r750(captures)
    edit(bmc, SYSTEM)["Status"] = {"Health": health, "HealthRollup": health, "State": "Enabled"}
    status = run(read_node_status(bmc))
    assert (status.health, len(untold(status))) == ("unknown", 1)
    assert status_findings(status) == []


@pytest.mark.captures
def test_a_rollup_that_is_worse_than_the_health_beside_it_counts(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, SYSTEM)["Status"] = {"Health": None, "HealthRollup": "Warning"}
    assert run(read_node_status(bmc)).health == "Warning"
    edit(bmc, SYSTEM)["Status"] = {"Health": "OK", "HealthRollup": "Critical"}
    assert run(read_node_status(bmc)).health == "Critical"


@pytest.mark.captures
def test_how_far_the_boot_is_comes_from_the_lifecycle_controller(captures: Path) -> None:
    bmc = r750(captures)
    path = (
        "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/DellLCService/Actions/"
        "DellLCService.GetRemoteServicesAPIStatus"
    )
    bmc.handlers["POST", path] = lambda body: Reply(path, 200, body={"ServerStatus": "InPOST"})
    assert run(read_node_status(bmc)).post == "InPOST"


@pytest.mark.captures
def test_how_far_the_boot_is_comes_from_boot_progress_where_that_is_told(captures: Path) -> None:
    bmc = r750(captures)
    edit(bmc, SYSTEM)["BootProgress"] = {"LastState": "OSRunning"}
    assert (run(read_node_status(bmc)).post, bmc.sent) == ("OSRunning", [])


# ---- chassis that do not answer ------------------------------------------------------------------------------------


@pytest.mark.captures
@pytest.mark.parametrize(
    "error",
    [
        BmcAnswerError("HTTP 503", status=503, bmc="gpu001"),
        BmcDeadlineError("no full answer within 15 s", bmc="gpu001"),
    ],
)
def test_an_enclosure_that_does_not_answer_is_skipped_and_named(captures: Path, error: BmcError) -> None:
    # https://github.com/dell/iDRAC-Redfish-Scripting/issues/18, https://github.com/bb-Ricardo/check_redfish/issues/14
    layout = replace(DELL, chassis=(CHASSIS, ENCLOSURE))
    bmc = StatefulBmc(r750(captures).resources, layout, fail={ENCLOSURE: error})
    status = run(read_node_status(bmc))
    assert len(status.temperatures) == 5
    assert [text.partition(":")[0] for text in status.skipped] == [ENCLOSURE]
    assert [note.path for note in bmc.notes if "skipped" in note.text] == [ENCLOSURE]


@pytest.mark.captures
def test_a_system_that_cannot_be_read_could_not_tell(captures: Path) -> None:
    refused = BmcAnswerError("HTTP 503", status=503, bmc="gpu001")
    bmc = StatefulBmc(r750(captures).resources, fail={SYSTEM: refused})
    with pytest.raises(BmcAnswerError):
        run(read_node_status(bmc))


# ---- decisions -----------------------------------------------------------------------------------------------------


def node(host: str, rpm: float, inlet: float = 24, cpu: float = 40, **more: Any) -> NodeStatus:
    return NodeStatus(
        host,
        health="OK",
        power="On",
        model="PowerEdge XE9680",
        temperatures=(
            Temperature("Inlet Temp", inlet, 38, 42),
            Temperature("CPU1 Temp", cpu, 99, 99),
        ),
        fans=(Fan("Fan1", rpm), Fan("Fan2", rpm + 200)),
        **more,
    )


def test_a_node_far_louder_than_its_fleet_while_cool_is_a_finding() -> None:
    fleet = [node(f"gpu{n:03d}", 9_000) for n in range(1, 8)] + [node("gpu008", 18_000)]
    (finding,) = fan_outliers(fleet)
    assert (finding.host, finding.kind) == ("gpu008", "fans-fast-while-cool")


@pytest.mark.parametrize("loud", [node("x", 18_000, inlet=33), node("x", 18_000, cpu=85), node("x", 12_000)])
def test_a_louder_node_with_a_reason_is_none(loud: NodeStatus) -> None:
    assert fan_outliers([*(node(f"gpu{n:03d}", 9_000) for n in range(1, 8)), loud]) == []


def test_three_nodes_are_no_fleet() -> None:
    assert fan_outliers([node("a", 9_000), node("b", 9_000), node("c", 19_000)]) == []


@given(st.floats(-300, 300, allow_nan=False))
def test_a_reading_is_impossible_or_not_whatever_its_name(reading: float) -> None:
    plain, margin = Temperature("CPU1 Temp", reading), Temperature("TLIMIT_GB_SXM1", reading)
    assert margin.impossible == ""
    if not -40 <= reading <= 150:
        assert plain.impossible


@pytest.mark.captures
@pytest.mark.parametrize("state", ["Absent", "UnavailableOffline"])
def test_a_sensor_of_a_part_that_is_not_there_says_nothing(captures: Path, state: str) -> None:
    bmc = r750(captures)
    edit(bmc, THERMAL)["Temperatures"][3].update(ReadingCelsius=0, Status={"Health": None, "State": state})
    assert judged(bmc) == []


def test_a_supply_that_is_offline_is_a_finding_even_without_health() -> None:
    status = node("gpu001", 9_000, supplies=(PowerSupply("PS2", "", "UnavailableOffline"),))
    assert kinds(status_findings(status)) == ["power-supply"]


def test_redundancy_that_is_not_told_is_not_lost() -> None:
    assert status_findings(node("gpu001", 9_000, redundancy=(Redundancy("PS redundancy"),))) == []
