"""What holds for every change through BMCs: its document, who is guarded, which boots are repeated."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import jsonschema
import pytest

from fabricctl.cli.phases import Phases
from fabricctl.nodes.model import Event, EventKind
from provision.bmc.boot import BootSource, BootView, Override
from provision.bmc.power import PowerState, SystemView
from provision.report.schemas import schema_of
from provision.workflows.boot import BootState
from provision.workflows.boot_again import RECENT, taken_words
from tests.provision.test_power_commands import ISO, Desk
from tests.sim.idrac import Fault, Simulator
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.media import Inserted, VirtualMedia

Start = Callable[..., Simulator]
NOON = datetime(2026, 3, 2, 12, 0, tzinfo=UTC)


@pytest.fixture
def desk(simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    sim = simulator(3, first="127.43.9.1", speed=1000.0)
    for bmc in sim:
        bmc.power.shutdown_s = bmc.power.off_s = bmc.power.cycle_s = 0.0
        bmc.power.post_s = 1.0
    return Desk(sim, tmp_path, capsys)


def in_service(desk: Desk, host: str) -> None:
    for state in ("provisioning", "ready", "in service"):
        desk.run("node", "set", host, "--to", state, "--reason", "test", "--yes")


# --- documents


def test_without_consent_the_document_has_the_plan_and_says_that_it_was_not_applied(desk: Desk) -> None:
    desk.sim[2].fault(Fault(path="/redfish/v1/Systems.*", status=500))
    code, out, err = desk.bmc("power", "off", "all", "--format", "json")
    document = json.loads(out)
    jsonschema.validate(document, schema_of("bmc-changes"))
    assert (code, "nothing was changed" in err, document["applied"]) == (2, True, False)
    assert document["plan"][0] == {
        "host": "gpu001",
        "steps": "power is On: GracefulShutdown",
        "already": "",
        "refused": "",
    }
    assert [(row["host"], row["result"]) for row in document["changes"]] == [
        ("gpu001", "not done"),
        ("gpu002", "not done"),
        ("gpu003", "could not tell"),
    ]
    assert all(bmc.power.actions == [] for bmc in desk.sim)


def test_what_is_not_allowed_is_a_document_too(desk: Desk) -> None:
    in_service(desk, "gpu002")
    code, out, _ = desk.bmc("power", "off", "all", "--yes", "--format", "json")
    assert (code, json.loads(out)["applied"], len(json.loads(out)["plan"])) == (2, False, 3)


def test_a_change_that_was_carried_out_tells_its_plan_too(desk: Desk) -> None:
    code, out, _ = desk.bmc("locate", "gpu001", "on", "--yes", "--format", "json")
    document = json.loads(out)
    jsonschema.validate(document, schema_of("bmc-changes"))
    assert (code, document["applied"], document["plan"][0]["steps"]) == (0, True, "light on (now off)")


def test_csv_has_a_row_for_each_host_also_for_one_that_could_not_be_read(desk: Desk) -> None:
    desk.sim[1].fault(Fault(path="/redfish/v1/Systems.*", status=500))
    code, out, _ = desk.bmc("power", "off", "all", "--yes", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert code == 3
    assert [(row["host"], row["result"]) for row in rows] == [
        ("gpu001", "done"),
        ("gpu002", "could not tell"),
        ("gpu003", "done"),
    ]
    assert "HTTP 500" in rows[1]["said"]


# --- what a BMC refuses


def test_a_port_the_bios_does_not_know_is_wrong_usage_before_anything_is_sent(desk: Desk) -> None:
    code, _, err = desk.bmc("boot", "pxe", "gpu[001-002]", "--nic", "NIC.Slot.99-1", "--yes")
    assert code == 2
    assert "gpu[001-002] can boot from " in err
    assert "NIC.Slot.36-1" in err
    assert "did you mean NIC.Slot." in err
    assert not desk.sim[0].asked("PATCH", ".*")


def test_a_certain_no_to_a_change_is_a_finding_and_not_a_doubt(desk: Desk) -> None:
    desk.sim[0].fault(
        Fault(
            method="PATCH", path=".*/Bios/Settings", status=400, message_id="SYS426", message="Not in list."
        )
    )
    code, out, _ = desk.bmc("boot", "pxe", "gpu001", "--nic", "NIC.Slot.36-1", "--yes")
    assert (code, "not as wanted" in out, "Not in list" in out) == (1, True, True)


def test_a_servers_own_failure_is_a_doubt(desk: Desk) -> None:
    desk.sim[0].fault(Fault(method="PATCH", path=".*/Bios/Settings", status=500))
    assert desk.bmc("boot", "pxe", "gpu001", "--nic", "NIC.Slot.36-1", "--yes")[0] == 3


# --- boots of an earlier run


def test_a_rerun_restarts_only_those_that_have_not_booted_it(desk: Desk) -> None:
    command = ("boot", "pxe", "all", "--reset", "--prove", "--yes")
    desk.sim[1].fault(Fault(path="/redfish/v1/Systems.*", status=500, times=1))
    assert desk.bmc(*command)[0] == 3
    code, out, _ = desk.bmc(*command)
    assert code == 0
    assert "gpu[001,003]  nothing to do: Pxe, once was taken at " in out
    assert "by the boot of this command; --again boots it once more" in out
    assert [len(bmc.power.actions) for bmc in desk.sim] == [1, 1, 1]
    assert desk.bmc(*command, "--again")[0] == 0
    assert [len(bmc.power.actions) for bmc in desk.sim] == [2, 2, 2]


def test_an_image_that_was_booted_is_not_booted_again_but_another_one_is(desk: Desk) -> None:
    command = ("media", "insert", "gpu001", ISO, "--prove", "--yes")
    assert desk.bmc(*command)[0] == 0
    code, out, _ = desk.bmc(*command)
    assert (code, "nothing to do: Cd, once was taken at " in out) == (0, True)
    assert len(desk.sim[0].power.actions) == 1
    other = ISO.replace("node", "other")
    assert desk.bmc("media", "insert", "gpu001", other, "--replace", "--no-boot", "--yes")[0] == 0
    assert "restart" in desk.bmc("media", "insert", "gpu001", other)[1].lower()


STATE = BootState(
    SystemView(PowerState.ON, "/reset", last_reset="2026-03-02T11:31:00Z"), BootView(Override(), ())
)


def event(kind: EventKind, minutes: float, after: str) -> dict[EventKind, Event]:
    return {kind: Event(kind, "gpu001", NOON - timedelta(minutes=minutes), "me", "", "none", after)}


@pytest.mark.parametrize(
    ("last", "state", "words"),
    [
        ({}, STATE, ""),
        (event(EventKind.NODE_BOOT, 30, "Pxe, once"), STATE, "2026-03-02T11:31:00Z"),
        (event(EventKind.NODE_BOOT, 30, "Cd, once"), STATE, ""),
        (event(EventKind.NODE_BOOT, 30, "Pxe, once: accepted, not read back"), STATE, ""),
        (event(EventKind.NODE_BOOT, 60 * 24, "Pxe, once"), STATE, ""),
        (event(EventKind.NODE_BOOT, 20, "Pxe, once"), STATE, ""),
        (
            event(EventKind.NODE_BOOT, 20, "Pxe, once") | event(EventKind.NODE_POWER, 10, "On: it is On"),
            STATE,
            "2026-03-02T11:50:00Z",
        ),
        (
            event(EventKind.NODE_BOOT, 30, "Pxe, once"),
            BootState(STATE.system, BootView(Override("Pxe", "Once"), ())),
            "",
        ),
        (
            event(EventKind.NODE_BOOT, 30, "Pxe, once") | event(EventKind.NODE_MEDIA, 5, ISO),
            STATE,
            "",
        ),
    ],
)
def test_when_a_boot_counts_as_taken(last: dict[EventKind, Event], state: BootState, words: str) -> None:
    said = taken_words(last, state, BootSource.PXE, NOON)
    assert words in said
    assert bool(said) == bool(words)


def test_a_boot_long_ago_does_not_keep_from_another_one() -> None:
    last = event(EventKind.NODE_BOOT, 30, "Pxe, once")
    assert not taken_words(last, STATE, BootSource.PXE, NOON + RECENT)


# --- guards


@pytest.mark.parametrize(
    "command",
    [
        ("power", "on", "gpu001"),
        ("boot", "none", "gpu001"),
        ("media", "insert", "gpu001", ISO, "--no-boot"),
        ("media", "eject", "gpu001"),
        ("jobs", "clear", "gpu001", "--id"),
    ],
    ids=" ".join,
)
def test_no_command_writes_to_a_node_in_service_unless_it_is_told_to(
    desk: Desk, command: tuple[str, ...]
) -> None:
    bmc = desk.sim[0]
    if command[0] == "jobs":
        command = (*command, bmc.part(JobQueue).plant().id)
    if command[1] == "eject":
        bmc.part(VirtualMedia).slots["1"] = Inserted(ISO, "CD")
    if command[1] == "none":
        assert desk.bmc("boot", "pxe", "gpu001", "--yes")[0] == 0
    if command[1] == "on":
        assert desk.bmc("power", "off", "gpu001", "--yes")[0] == 0
    in_service(desk, "gpu001")
    code, _, err = desk.bmc(*command, "--yes")
    assert (code, "gpu001 is in service, and this would " in err) == (2, True), err
    code, out, err = desk.bmc(*command, "--yes", "--force-in-service")
    assert code == 0, out + err


def test_a_light_needs_no_force_on_a_node_in_service(desk: Desk) -> None:
    in_service(desk, "gpu001")
    assert desk.bmc("locate", "gpu001", "on", "--yes")[0] == 0
    assert "Nodes in service are no exception" in " ".join(desk.run("bmc", "locate", "--help")[1].split())


# --- the gate


@pytest.mark.parametrize("command", ["insert", "eject", "clear"])
def test_the_lifecycle_controller_is_asked_before_anything_is_written(desk: Desk, command: str) -> None:
    bmc = desk.sim[0]
    words = {
        "insert": ("media", "insert", "gpu001", ISO),
        "eject": ("media", "eject", "gpu001"),
        "clear": ("jobs", "clear", "gpu001", "--id", bmc.part(JobQueue).plant().id),
    }[command]
    if command == "eject":
        bmc.part(VirtualMedia).slots["1"] = Inserted(ISO, "CD")
    assert desk.bmc(*words, "--yes")[0] == 0
    writes = [one.path.rpartition(".")[2] for one in bmc.asked("POST|PATCH") if "Session" not in one.path]
    assert writes[0] == "GetRemoteServicesAPIStatus"
    assert writes[1] in ("InsertMedia", "EjectMedia", "DeleteJobQueue")


# --- progress


def test_the_progress_line_counts_what_is_waited_for_and_names_the_last() -> None:
    now = 0.0
    phases = Phases("boot pxe", 5, clock=lambda: now)
    assert phases.line == "boot pxe: 0 of 5 BMCs"
    for host in ("gpu001", "gpu002", "gpu003", "gpu004", "gpu005"):
        phases.tell(host, "waiting for the boot")
        now += 10.0
    phases.tell("gpu001", "waiting for the boot")
    assert phases.line == "boot pxe: 0 of 5 BMCs; 5 waiting for the boot, longest 50 s"
    for number, host in enumerate(("gpu001", "gpu003", "gpu005"), 1):
        phases.end(host, number)
    now = 150.0
    phases.tell("gpu004", "restarting")
    assert phases.line == "boot pxe: 3 of 5 BMCs; gpu002 waiting for the boot, 2 min; gpu004 restarting, 0 s"
