"""Power, boot, media, jobs and lights as an operator meets them, on simulated BMCs."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import jsonschema
import pytest

from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.pins import Pin
from fabricctl.adapters.store.store import open_store
from fabricctl.cli.main import main
from provision.report.schemas import schema_of
from tests.sim.idrac import Fault, Simulator
from tests.sim.idrac.bios import Bios
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.media import VirtualMedia
from tests.sim.idrac.power import Phase

Start = Callable[..., Simulator]
ISO = "http://192.0.2.10/node.iso"


class Desk:
    """A site of simulated BMCs whose certificates are recorded."""

    def __init__(
        self, sim: Simulator, folder: Path, capsys: pytest.CaptureFixture[str], extra: str = ""
    ) -> None:
        self.sim, self._capsys, self.folder = sim, capsys, folder
        last = sim.hosts[-1][-3:]
        self.site = str(folder / "site.yaml")
        nodes = f"node_models:\n  m: {{hcas: [mlx5_0]}}\nnodes:\n  gpu[001-{last}]: {{model: m}}\n"
        text = f"name: hall\n{nodes}state: {{url: hall.sqlite}}\n{extra}{sim.site_text()}"
        Path(self.site).write_text(text)
        self.location = find_location(str(folder / "hall.sqlite"))
        with open_store(self.location, site="hall") as store:
            now = datetime.now(UTC)
            store.pins.record([Pin(b.host, b.address, b.fingerprint, now, "test") for b in sim], "test")

    def run(self, *arguments: str) -> tuple[int, str, str]:
        code = main([*arguments, "--site", self.site])
        out, err = self._capsys.readouterr()
        return code, out, err

    def bmc(self, *arguments: str) -> tuple[int, str, str]:
        return self.run("bmc", *arguments)

    def events(self) -> list[tuple[str, str, str, str]]:
        found = json.loads(self.run("events", "--format", "json")[1])["events"]
        return [
            (e["kind"], e["subject"], e["before"], e["after"]) for e in found if e["kind"].startswith("node.")
        ]


@pytest.fixture
def desk(simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    sim = simulator(3, first="127.43.0.1", speed=1000.0)
    for bmc in sim:  # commands wait in real seconds: what they wait for comes at once
        bmc.power.shutdown_s = bmc.power.off_s = bmc.power.cycle_s = 0.0
    return Desk(sim, tmp_path, capsys)


def test_nothing_is_changed_without_consent(desk: Desk) -> None:
    code, out, err = desk.bmc("power", "off", "gpu[001-003]")
    assert code == 2
    assert "gpu[001-003]  power is On: GracefulShutdown" in out
    assert "nothing was changed" in err
    assert all(bmc.power.actions == [] for bmc in desk.sim)
    assert desk.events() == []


def test_nodes_are_brought_to_the_state_and_those_that_are_there_are_left_alone(desk: Desk) -> None:
    desk.sim[0].power.set(Phase.OFF)
    code, out, _ = desk.bmc("power", "on", "gpu[001-003]", "--yes", "--reason", "fans are in")
    assert code == 0
    assert "gpu[002-003]  nothing to do: power is On" in out
    assert [bmc.power.actions for bmc in desk.sim] == [["On"], [], []]
    assert desk.events()[0] == ("node.power", "gpu001", "Off", "On: it is On")
    events = json.loads(desk.run("events", "--format", "json")[1])["events"]
    assert events[-1]["reason"] == "fans are in"
    assert all(len(bmc.sessions) == 0 for bmc in desk.sim)


PLACES = {
    "dell": "/redfish/v1/Managers/iDRAC.Embedded.1/Oem/Dell/Jobs",
    "job": "/redfish/v1/JobService/Jobs",
    "task": "/redfish/v1/TaskService/Tasks",
}


@pytest.mark.parametrize("only", list(PLACES))
@pytest.mark.parametrize("how", ["gone", "empty"])
def test_a_job_that_stands_in_one_of_the_three_places_only_is_listed(desk: Desk, only: str, how: str) -> None:
    bmc = desk.sim[0]
    job = bmc.jobs.plant()
    for place, path in PLACES.items():
        if place != only and how == "gone":
            bmc.fault(Fault("GET", f"{path}.*", status=404, message_id="SYS403"))
        elif place != only:
            bmc.change(path, Members=[], **{"Members@odata.count": 0})
    code, out, err = desk.bmc("jobs", "list", "gpu001", "--format", "json")
    assert (code, err) == (0, "")
    assert [one["id"] for one in json.loads(out)["jobs"]] == [job.id]


def test_a_second_run_has_nothing_to_do(desk: Desk) -> None:
    assert desk.bmc("power", "off", "all", "--yes")[0] == 0
    code, out, _ = desk.bmc("power", "off", "all")
    assert (code, "nothing to do: power is Off" in out) == (0, True)


def test_the_plan_says_what_force_would_do(desk: Desk) -> None:
    out = desk.bmc("power", "cycle", "gpu001", "--force")[1]
    assert "GracefulRestart, then PowerCycle if that is not followed" in out
    assert "power is On: PowerCycle" in desk.bmc("power", "cycle", "gpu001", "--force", "--grace", "0")[1]


def test_a_node_that_does_not_shut_down_is_a_finding(desk: Desk) -> None:
    desk.sim[1].power.heeds_shutdown = False
    code, out, _ = desk.bmc("power", "off", "gpu[001-002]", "--yes", "--grace", "0")
    assert code == 1
    assert "not as wanted       1  gpu002" in out
    assert "--force" in out
    assert desk.sim[1].power.actions == ["GracefulShutdown"]


def test_a_bmc_that_cannot_be_asked_does_not_keep_the_others_from_it(desk: Desk) -> None:
    desk.sim[2].fault(Fault(path="/redfish/v1/Systems.*", status=500))
    code, out, _ = desk.bmc("power", "off", "all", "--yes")
    assert code == 3
    assert "could not tell: 1 BMC" in out
    assert "gpu003" in out
    assert [bmc.power.state for bmc in desk.sim] == ["Off", "Off", "On"]


def test_a_lost_command_that_left_no_trace_is_could_not_tell(desk: Desk) -> None:
    desk.sim[0].fault(Fault(method="POST", path=".*Reset", reset=True))
    code, out, _ = desk.bmc("power", "cycle", "gpu001", "--yes", "--grace", "0")
    assert code == 3
    assert "not repeated" in out
    assert len(desk.sim[0].asked("POST", ".*Reset")) == 1


def test_a_node_in_service_is_not_disturbed(desk: Desk) -> None:
    for state in ("provisioning", "ready", "in service"):
        desk.run("node", "set", "gpu002", "--to", state, "--reason", "test", "--yes")
    code, _, err = desk.bmc("power", "cycle", "gpu[001-003]", "--yes")
    assert code == 2
    assert "gpu002 is in service, and this would restart it" in err
    assert desk.bmc("boot", "pxe", "gpu002", "--yes")[0] == 2
    assert all(bmc.power.actions == [] for bmc in desk.sim)
    assert desk.bmc("power", "cycle", "gpu002", "--yes", "--force-in-service")[0] == 0
    events = json.loads(desk.run("events", "--format", "json")[1])["events"]
    assert [e["forced"] for e in events if e["kind"] == "node.power"] == [True]


def test_no_more_nodes_than_the_cap_are_changed(
    simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sim = simulator(3, first="127.43.1.1", speed=1000.0)
    desk = Desk(sim, tmp_path, capsys, "gates: {max_nodes_per_change: 2}\n")
    code, _, err = desk.bmc("power", "off", "all", "--yes")
    assert (code, "max_nodes_per_change" in err) == (2, True)
    assert all(bmc.power.actions == [] for bmc in sim)


def test_power_status_is_a_table_in_four_forms(desk: Desk) -> None:
    desk.sim[1].power.set(Phase.OFF)
    code, text, _ = desk.bmc("power", "status")
    assert code == 0
    assert [line.split()[:4] for line in text.splitlines()[1:3]] == [
        ["2", "gpu[001,003]", "On", "none"],
        ["1", "gpu002", "Off", "none"],
    ]
    found = json.loads(desk.bmc("power", "status", "all", "--format", "json")[1])
    assert [node["power"] for node in found["nodes"]] == ["On", "Off", "On"]
    assert found["could_not_tell"] == []
    jsonschema.validate(found, schema_of("bmc-power"))
    rows = list(csv.DictReader(io.StringIO(desk.bmc("power", "status", "--format", "csv")[1])))
    assert rows[0]["boot_progress"] == "OSRunning"
    assert desk.bmc("power", "status", "--format", "markdown")[1].startswith("| host |")


def test_a_change_as_json_is_one_document(desk: Desk) -> None:
    code, out, _ = desk.bmc("power", "off", "gpu001", "--yes", "--format", "json")
    jsonschema.validate(json.loads(out), schema_of("bmc-changes"))
    (row,) = json.loads(out)["changes"]
    assert (code, row["result"], row["before"], row["after"]) == (0, "done", "On", "Off")


def test_pxe_is_set_once_proven_and_seen_to_be_consumed(desk: Desk) -> None:
    code, out, _ = desk.bmc("boot", "pxe", "gpu[001-002]", "--yes")
    assert code == 0
    assert "gpu[001-002]  none -> Pxe, once" in out
    code, out, _ = desk.bmc("boot", "pxe", "gpu[001-002]")
    assert (code, "nothing to do: boot is Pxe, once" in out) == (0, True)
    assert "not consumed yet" in desk.bmc("boot", "status", "gpu001")[1]
    desk.sim[0].power.finish_post()
    desk.sim[0].boot.consume()
    desk.sim[0].power.post_started = desk.sim[0].now()
    assert "Pxe, once: consumed" in desk.bmc("boot", "status", "gpu001")[1]
    assert ("node.boot", "gpu001", "none", "Pxe, once") in desk.events()
    code, _, _ = desk.bmc("boot", "none", "gpu002", "--yes")
    assert (code, desk.sim[1].boot.override.target) == (0, "None")


def test_the_plan_refuses_a_port_while_bios_values_of_others_wait(desk: Desk) -> None:
    bios = desk.sim[0].part(Bios)
    bios.pending["LogicalProc"] = "Disabled" if bios.current["LogicalProc"] == "Enabled" else "Enabled"
    code, out, _ = desk.bmc("boot", "pxe", "gpu001", "--nic", "NIC.Slot.36-1", "--yes")
    assert (code, "not possible: other values wait for the next boot: LogicalProc=" in out) == (1, True)


def test_pxe_with_reset_and_proof_is_one_command(desk: Desk) -> None:
    desk.sim[0].power.set(Phase.OFF)
    desk.sim[0].power.post_s = 1.0
    code, out, _ = desk.bmc("boot", "pxe", "gpu001", "--reset", "--prove", "--yes")
    assert code == 0
    assert "the boot has taken the override" in out
    assert desk.sim[0].boot.booted == ["Pxe"]


def test_a_persistent_boot_is_a_job_for_the_next_reset(desk: Desk) -> None:
    code, out, _ = desk.bmc("boot", "disk", "gpu001", "--persistent", "--yes")
    assert code == 0
    assert "a job brings it at the next reset" in out
    assert "EFI Fixed Disk Boot Device 1" in out
    listed = json.loads(desk.bmc("jobs", "list", "gpu001", "--format", "json")[1])["jobs"]
    assert [(job["phase"], job["kind"]) for job in listed] == [("waiting", "BIOSConfiguration")]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("boot", "pxe", "gpu001", "--prove"), "--reset"),
        (("boot", "pxe", "gpu001", "--mode", "fast"), "UEFI or Legacy"),
        (("boot", "pxe", "gpu001", "--nic", "eth0"), "FQDD"),
        (("media", "insert", "gpu001", "http://u:p@192.0.2.10/a.iso"), "user or password"),
        (("media", "insert", "gpu001", "/srv/a.iso"), "the BMC can fetch"),
        (("jobs", "clear", "gpu001", "--id", "JID_CLEARALL_FORCE"), "everybody"),
        (("power", "on", "gpu009"), "gpu009"),
    ],
)
def test_wrong_usage_is_said_before_a_bmc_is_asked(
    desk: Desk, arguments: tuple[str, ...], words: str
) -> None:
    code, _, err = desk.bmc(*arguments)
    assert code == 2
    assert words in err
    assert "u:p" not in err
    assert all(not bmc.requests for bmc in desk.sim)


def test_an_image_is_inserted_booted_once_and_the_node_restarted_in_that_order(desk: Desk) -> None:
    desk.sim[0].power.set(Phase.OFF)
    code, out, _ = desk.bmc("media", "insert", "gpu001", ISO, "--yes")
    assert code == 0
    assert f"insert {ISO}, then boot none -> Cd, once, then On" in out
    writes = [e.path.rpartition("/")[2] for e in desk.sim[0].asked("POST|PATCH") if "Session" not in e.path]
    order = [name for name in writes if "Status" not in name]
    assert order == ["VirtualMedia.InsertMedia", "System.Embedded.1", "ComputerSystem.Reset"]
    assert [kind for kind, *_ in desk.events()] == ["node.media", "node.boot", "node.power"]


def test_an_image_that_is_not_to_be_had_leaves_boot_and_power_alone(desk: Desk) -> None:
    desk.sim[0].part(VirtualMedia).reachable = lambda _: False
    code, out, _ = desk.bmc("media", "insert", "gpu001", ISO, "--yes")
    assert code == 1
    assert "RAC0904" in out
    assert desk.sim[0].power.actions == []
    assert desk.sim[0].boot.override.target == "None"


def test_media_without_boot_and_eject(desk: Desk) -> None:
    assert desk.bmc("media", "insert", "gpu001", ISO, "--no-boot", "--yes")[0] == 0
    assert ISO in desk.bmc("media", "status", "gpu001")[1]
    code, out, _ = desk.bmc("media", "insert", "gpu001", f"{ISO[:-8]}other.iso", "--no-boot", "--yes")
    assert (code, "--replace" in out) == (1, True)
    code, out, _ = desk.bmc("media", "insert", "gpu001", f"{ISO[:-8]}other.iso", "--yes")
    assert (code, "--replace" in out) == (1, True)
    assert desk.bmc("media", "eject", "gpu001", "--yes")[0] == 0
    assert desk.bmc("media", "eject", "gpu001")[0] == 0
    assert desk.sim[0].power.actions == []


def test_one_job_is_cleared_by_its_id_and_the_others_stay(desk: Desk) -> None:
    queue = desk.sim[0].part(JobQueue)
    gone, stays = queue.plant(), queue.plant()
    assert desk.bmc("jobs", "clear", "gpu001", "--id", gone.id)[0] == 2
    code, out, _ = desk.bmc("jobs", "clear", "gpu001", "--id", gone.id, "--yes")
    assert (code, gone.id in out) == (0, True)
    assert [job.id for job in queue] == [stays.id]
    assert [kind for kind, *_ in desk.events()] == ["node.job"]


def test_a_stuck_job_ends_the_wait_as_a_finding(desk: Desk) -> None:
    job = desk.sim[0].part(JobQueue).plant(stuck=True)
    code, out, _ = desk.bmc("jobs", "wait", "gpu001", "--id", job.id)
    assert (code, "stuck" in out) == (1, True)


def test_lights_mark_nodes_and_go_out_again(desk: Desk) -> None:
    code, out, _ = desk.bmc("locate", "gpu[001-002]", "on", "--yes")
    assert (code, "gpu[001-002]  off -> on" in out) == (0, True)
    assert desk.bmc("locate", "gpu[001-002]", "on")[0] == 0
    assert desk.bmc("locate", "gpu[001-002]", "off", "--yes")[0] == 0
    assert [kind for kind, *_ in desk.events()] == ["node.led"] * 4


def test_how_far_a_bmc_is_trusted_is_said_in_every_report(
    simulator: Start, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    sim = simulator(1, first="127.43.2.1", speed=1000.0)
    desk = Desk(sim, tmp_path, capsys)
    text = Path(desk.site).read_text().replace("user: root", "user: root, verify: 'off'")
    Path(desk.site).write_text(text)
    assert "the certificate is not checked" in desk.bmc("power", "status")[1]
    assert "the certificate is not checked" in desk.bmc("power", "off", "gpu001")[1]


def test_no_password_is_shown_or_kept(desk: Desk) -> None:
    texts = [*desk.bmc("power", "status"), *desk.bmc("boot", "pxe", "gpu001", "--yes", "--reset", "--force")]
    kept = b"".join(path.read_bytes() for path in desk.folder.iterdir())
    assert desk.sim.password not in "".join(map(str, texts))
    assert desk.sim.password.encode() not in kept


def test_a_host_written_with_fewer_digits_is_asked_about_with_its_own(desk: Desk) -> None:
    code, _, err = desk.bmc("power", "status", "gpu[1-2]")
    assert (code, "the site has no node 'gpu1' (did you mean gpu001?)" in err) == (2, True), err
