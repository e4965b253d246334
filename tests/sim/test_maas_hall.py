"""The lab: simulated BMCs and a double of MAAS that are one hall, power and all, also by hand."""

from __future__ import annotations

import base64
import http.client
import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.sim.hall import linked
from tests.sim.idrac import Fault, SimBmc, Simulator
from tests.sim.idrac.power import Phase
from tests.sim.maas.process import ServedDouble
from tests.sim.maas_asker import Asker

ROOT = Path(__file__).resolve().parents[2]
HOUR = 3600.0
MAC = "52:54:00:00:00:01"
SILENT = {"reset": Fault(reset=True), "hang": Fault(hang=True), "busy": Fault(status=503)}
HARDWARE = ("missing-gpu", "no-disks", "missing-disk", "missing-nic", "missing-memory", "duplicate-serials")


@dataclass
class Lab:
    """One host. :param id: of its machine in MAAS."""

    simulator: Simulator
    maas: ServedDouble
    ask: Asker
    id: str

    @property
    def bmc(self) -> SimBmc:
        """Of the host."""
        return self.simulator[0]

    def act(self, op: str, **form: Any) -> int:
        """The status of the answer."""
        return self.ask.act(self.id, op, **form).status

    def done(self, op: str, **form: Any) -> str:
        """And everything it sets off; the status of the machine."""
        assert self.act(op, **form) == 200
        self.maas.advance(HOUR)
        return str(self.shown["status_name"])

    @property
    def shown(self) -> Any:
        """The machine."""
        return self.ask.read(self.id)

    @property
    def events(self) -> str:
        """Their words."""
        found = self.ask("GET", f"events/?op=query&level=INFO&id={self.id}").json["events"]
        return "\n".join(f"{one['type']} - {one['description']}" for one in found)


@pytest.fixture
def lab() -> Iterator[Lab]:
    with (
        Simulator(1, first="127.47.1.1", port=0, tls=False) as simulator,
        linked(simulator, speed=0.0) as maas,
    ):
        ask = Asker(maas.url, maas.api_key)
        made = ask.create(
            simulator.hosts[0],
            MAC,
            power_parameters_power_address=f"{simulator.addresses[0]}:{simulator.port}",
            power_parameters_power_user="root",
            power_parameters_power_pass=simulator.password,
        )
        yield Lab(simulator, maas, ask, made.json["system_id"])


def test_commissioning_cuts_the_power_of_a_server_that_is_on_and_boots_it_once_over_the_network(
    lab: Lab,
) -> None:
    assert lab.bmc.power.state == "On"
    assert lab.act("commission") == 200
    assert lab.bmc.power.actions == ["ForceOff", "On"]
    assert lab.bmc.power.state == "On"
    lab.bmc.settle()
    assert lab.bmc.boot.booted == ["Pxe"]
    assert lab.bmc.boot_override.enabled == "Disabled"


def test_a_server_is_off_after_commissioning_on_when_deployed_and_off_when_released(lab: Lab) -> None:
    seen = [
        (lab.done(op), lab.bmc.power.state, lab.shown["power_state"])
        for op in ("commission", "deploy", "release")
    ]
    assert seen == [("Ready", "Off", "off"), ("Deployed", "On", "on"), ("Ready", "Off", "off")]


def test_a_server_that_is_off_is_switched_on_without_a_cut(lab: Lab) -> None:
    lab.bmc.power.set(Phase.OFF)
    assert lab.act("commission") == 200
    assert lab.bmc.power.actions == ["On"]


def test_an_aborted_commissioning_switches_the_server_off(lab: Lab) -> None:
    lab.act("commission")
    assert lab.done("abort") == "New"
    assert lab.bmc.power.state == "Off"


def test_what_somebody_else_switches_maas_sees_within_five_minutes(lab: Lab) -> None:
    lab.done("commission")
    lab.done("deploy")
    lab.bmc.power.set(Phase.OFF)
    assert lab.shown["power_state"] == "on"
    lab.maas.advance(300)
    assert lab.shown["power_state"] == "off"
    lab.bmc.power.set(Phase.RUNNING)
    assert lab.ask("GET", f"machines/{lab.id}/?op=query_power_state").json == {"state": "on"}


def test_a_server_switched_off_while_it_is_installed_ends_in_maas_timeout(lab: Lab) -> None:
    lab.done("commission")
    lab.act("deploy")
    lab.bmc.power.set(Phase.OFF)
    lab.maas.advance(HOUR)
    assert lab.shown["status_name"] == "Failed deployment"
    assert "timed out after 30 minutes" in lab.shown["error_description"]


@pytest.mark.parametrize("kind", SILENT)
def test_a_bmc_off_the_network_is_a_power_error_of_maas_and_nothing_is_switched(lab: Lab, kind: str) -> None:
    lab.bmc.fault(SILENT[kind])
    assert lab.act("commission") == 503
    assert lab.shown["status_name"] == "New"
    assert lab.bmc.power.actions == []
    assert "Failed to query node's BMC - " in lab.events
    assert "reverting to NEW" in lab.events
    assert lab.ask("GET", f"machines/{lab.id}/?op=query_power_state").json == {"state": "error"}
    lab.bmc.clear_faults()
    assert lab.done("commission") == "Ready"


def test_a_bmc_that_refuses_maas_login_is_a_power_error(lab: Lab) -> None:
    lab.bmc.users["root"] = f"{lab.simulator.password}-changed"
    assert lab.act("commission") == 503
    assert "response status code: 401" in lab.events
    assert lab.simulator.password not in lab.events


def test_a_bmc_that_is_silent_when_a_host_is_released_fails_the_release(lab: Lab) -> None:
    lab.done("commission")
    lab.done("deploy")
    lab.bmc.fault(Fault(hang=True))
    assert lab.act("release") == 200
    lab.maas.advance(HOUR)
    assert lab.shown["status_name"] == "Releasing failed"
    assert "Power off for the node failed" in lab.shown["error_description"]
    assert lab.bmc.power.phase is Phase.RUNNING


def test_maas_switches_the_server_whose_bmc_address_it_was_given() -> None:
    with (
        Simulator(2, first="127.47.2.1", port=0, tls=False) as simulator,
        linked(simulator, speed=0.0) as maas,
    ):
        ask = Asker(maas.url, maas.api_key)
        made = ask.create(
            simulator.hosts[0],
            MAC,
            power_parameters_power_address=f"{simulator.addresses[1]}:{simulator.port}",
            power_parameters_power_user="root",
            power_parameters_power_pass=simulator.password,
        )
        assert ask.act(made.json["system_id"], "commission").status == 200
        assert [bmc.power.actions for bmc in simulator] == [[], ["ForceOff", "On"]]


@pytest.mark.parametrize("kind", HARDWARE)
def test_broken_hardware_is_whole_again_when_its_fault_is_taken_away(lab: Lab, kind: str) -> None:
    whole = lab.maas.double.machine(lab.id).hardware
    lab.maas.double.faults.add(kind)
    lab.done("commission")
    broken = lab.maas.double.machine(lab.id).hardware
    lab.done("commission")
    assert lab.maas.double.machine(lab.id).hardware == broken != whole
    lab.maas.double.faults.clear()
    lab.done("commission")
    assert lab.maas.double.machine(lab.id).hardware == whole
    assert len(lab.shown["physicalblockdevice_set"]) == len(whole.disks)


def test_rules_of_one_machine_are_taken_away_alone(lab: Lab) -> None:
    lab.maas.double.faults.take([{"kind": "missing-gpu", "machine": "gpu001"}, {"kind": "no-disks"}])
    lab.maas.double.faults.clear("gpu001")
    assert [one.kind for one in lab.maas.double.faults.rules] == ["no-disks"]


def test_an_exchanged_boot_card_stays_when_the_rule_goes(lab: Lab) -> None:
    lab.maas.double.faults.add("replace-boot-disk")
    lab.done("commission")
    exchanged = lab.maas.double.machine(lab.id).hardware
    lab.maas.double.faults.clear()
    lab.done("commission")
    assert lab.maas.double.machine(lab.id).hardware == exchanged


def _printed(lab: Lab, kind: str, asked: str = "include_output=1") -> dict[str, dict[str, str]]:
    found = lab.ask("GET", f"nodes/{lab.id}/results/current-{kind}/?{asked}").json["results"]
    names = ("output", "stdout", "stderr")
    return {
        one["name"]: {name: base64.b64decode(one[name]).decode() for name in names if name in one}
        for one in found
    }


def test_a_failed_commissioning_script_left_its_complaint(lab: Lab) -> None:
    lab.maas.double.faults.add("fail", op="commission", text="nvme3n1: I/O error")
    assert lab.done("commission") == "Failed commissioning"
    left = _printed(lab, "commissioning")["50-maas-01-commissioning"]
    assert left["stderr"] == left["output"] == "nvme3n1: I/O error\n"
    assert _printed(lab, "commissioning", "")["50-maas-01-commissioning"] == {}
    asked = "include_output=1&filters=50-maas-01-commissioning"
    assert list(_printed(lab, "commissioning", asked)) == ["50-maas-01-commissioning"]


def test_a_failed_installation_left_the_log_of_curtin(lab: Lab) -> None:
    lab.done("commission")
    lab.maas.double.faults.add("fail", op="deploy")
    assert lab.done("deploy") == "Failed deployment"
    (left,) = _printed(lab, "installation").values()
    assert "curtin: Installation failed with exception" in left["output"]
    assert left["stderr"] == ""


# -- by hand ---------------------------------------------------------------------------------------------------


def _start(folder: Path, *options: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [
            sys.executable,
            "-m",
            "tests.sim.hall",
            "--count",
            "1",
            "--site-out",
            str(folder / "site.yaml"),
            *options,
        ],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


@contextmanager
def _running(folder: Path, *options: str) -> Iterator[str]:
    process = _start(folder, "--port", "0", "--bmc-port", "0", *options)
    said: list[str] = []
    try:
        assert process.stdout is not None
        while not (said and said[-1].startswith("Ctrl-C")):
            line = process.stdout.readline()
            assert line, process.communicate(timeout=10)
            said.append(line)
        yield "".join(said)
        process.send_signal(signal.SIGTERM)
        _, complaints = process.communicate(timeout=20)
        assert (process.returncode, complaints) == (0, "")
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


def _get(url: str) -> Any:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=10)
    try:
        connection.request("GET", parts.path)
        return json.load(connection.getresponse())
    finally:
        connection.close()


def test_the_hall_takes_faults_and_says_where_it_is_controlled_and_what_the_doctor_skips(
    tmp_path: Path,
) -> None:
    rules, bmc_rules = tmp_path / "faults.json", tmp_path / "bmc.json"
    rules.write_text(json.dumps([{"kind": "missing-gpu", "machine": "gpu001"}]))
    bmc_rules.write_text(json.dumps([{"hosts": ["gpu001"], "reset": True}]))
    with _running(tmp_path, "--faults", str(rules), "--bmc-faults", str(bmc_rules)) as said:
        assert "--skip dhcp,ntp,dns,proxy" in said
        maas = said.partition("control of MAAS: ")[2].split(",")[0]
        assert _get(maas)["faults"] == [{"kind": "missing-gpu", "machine": "gpu001", "hits": 0}]
        bmcs = said.partition("control of the BMCs: ")[2].split()[0]
        assert _get(f"{bmcs}bmc/gpu001")["power"] == "On"
        assert "maas:" in (tmp_path / "site.yaml").read_text()


@pytest.mark.parametrize("option", ["--port", "--bmc-port"])
def test_a_second_hall_says_which_option_it_needs_and_leaves_the_site_file_alone(
    tmp_path: Path, option: str
) -> None:
    with _running(tmp_path) as said:
        site = (tmp_path / "site.yaml").read_text()
        taken = {
            "--port": said.partition("MAAS at http://127.0.0.1:")[2].partition("/")[0],
            "--bmc-port": site.partition("port: ")[2].partition("}")[0],
        }
        free = {"--port": "0", "--bmc-port": "0"} | {option: taken[option]}
        second = _start(tmp_path, *(word for pair in free.items() for word in pair))
        _, complaints = second.communicate(timeout=20)
        assert second.returncode == 2
        assert f"{option} 0" in complaints
        assert "--site-out" in complaints
        assert (tmp_path / "site.yaml").read_text() == site


@pytest.mark.parametrize(
    ("option", "rule", "words"),
    [
        ("--faults", [{"kind": "explode"}], "no fault 'explode'"),
        ("--bmc-faults", [{"hosts": ["gpu9"], "reset": True}], "no BMC of gpu9"),
        ("--bmc-faults", {"reset": True}, "expected a list of rules"),
    ],
)
def test_faults_that_make_no_sense_end_the_hall_with_2(
    tmp_path: Path, option: str, rule: Any, words: str
) -> None:
    path = tmp_path / "faults.json"
    path.write_text(json.dumps(rule))
    started = _start(tmp_path, "--port", "0", "--bmc-port", "0", option, str(path))
    _, complaints = started.communicate(timeout=20)
    assert started.returncode == 2
    assert words in complaints
