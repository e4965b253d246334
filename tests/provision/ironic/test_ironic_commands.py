"""The commands of ``fabricctl ironic`` against a real Ironic, as an operator uses them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cli.main import main
from fabricctl.errors import EXIT_COULD_NOT_TELL
from tests.sim.idrac import PASSWORD_VARIABLE
from tests.sim.ironic import IronicServices
from tests.sim.ironic.site import write_site

pytestmark = pytest.mark.slow

HOSTS = "gpu[000-007]"
KILL_S = 60.0


class Hall:
    """A site of emulated servers."""

    def __init__(self, services: IronicServices, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        self.systems, self._capsys = services.systems[:8], capsys
        self.site = write_site(services, folder, self.systems)

    def run(self, *words: str) -> tuple[int, Any]:
        """Exit code and document of a command."""
        code = main([*words, "--site", str(self.site), "--format", "json"])
        out, err = self._capsys.readouterr()
        assert all(" of 8 hosts" in line for line in err.splitlines()), (
            err
        )  # how far it is, when it takes long
        return code, json.loads(out)

    def ends(self, *words: str) -> tuple[int, set[tuple[str, str]]]:
        """Exit code and how the hosts ended. The emulated BMCs tell us neither their clocks nor who is on."""
        code, document = self.run("ironic", *words, HOSTS, "--yes")
        untold = {one["reason"].partition(": ")[0].partition("?")[0] for one in document["could_not_tell"]}
        assert untold <= {"its clock could not be told", "is it on"}
        assert (code == EXIT_COULD_NOT_TELL) is bool(untold)
        return code, {(change["end"], change["reason"]) for change in document["changes"]}


@pytest.fixture
def hall(
    services: IronicServices,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> Hall:
    monkeypatch.setenv(PASSWORD_VARIABLE, services.bmc_password)
    return Hall(services, tmp_path, capsys)


def test_eight_hosts_go_all_the_way_and_back(services: IronicServices, hall: Hall) -> None:
    assert hall.ends("enrol") == (0, {("enrolled", "")})
    assert hall.ends("enrol") == (0, {("nothing to do", "")})
    assert hall.ends("manage") == (EXIT_COULD_NOT_TELL, {("ready", "")})
    assert hall.ends("deploy") == (EXIT_COULD_NOT_TELL, {("deployed", "")})
    assert {services.redfish.power(system) for system in hall.systems} == {"On"}
    assert {services.redfish.boot(system)[0] for system in hall.systems} == {"Pxe"}
    code, document = hall.run("ironic", "status", HOSTS)
    assert (code, document["provisioner"]) == (0, "Ironic")
    assert {(one["status"], one["power"]) for one in document["machines"]} == {("active", "on")}
    assert hall.ends("deploy") == (0, {("nothing to do", "")})
    assert hall.ends("release") == (EXIT_COULD_NOT_TELL, {("released", "")})
    assert {services.redfish.power(system) for system in hall.systems} == {"Off"}
    events = hall.run("events")[1]["events"]
    kinds = [event["kind"] for event in events]
    assert [kinds.count(f"node.{kind}") for kind in ("enrol", "commission", "deploy", "release")] == [8] * 4
    assert os.environ[PASSWORD_VARIABLE] not in json.dumps(events)


def test_an_enrolment_that_is_killed_and_run_again_makes_each_node_once(
    services: IronicServices,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    systems = services.systems[24:32]
    names = {system.name for system in systems}
    site = write_site(services, tmp_path, systems)
    monkeypatch.setenv(PASSWORD_VARIABLE, services.bmc_password)
    words = ["ironic", "enrol", "all", "--yes", "--format", "json", "--site", str(site)]

    def made() -> list[str]:
        return [node["name"] for node in services.ask("/v1/nodes")["nodes"] if node["name"] in names]

    for so_many in (1, 4):
        with subprocess.Popen(
            [sys.executable, "-m", "fabricctl", *words], stdout=subprocess.DEVNULL
        ) as process:
            deadline = time.monotonic() + KILL_S
            while len(made()) < so_many and process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.01)
            process.kill()
    assert len(made()) >= 4
    code = main(words)
    document = json.loads(capsys.readouterr().out)
    assert code == 0, document
    assert sorted(made()) == sorted(names)
    ports = services.ask("/v1/ports")["ports"]
    macs = [port["address"] for port in ports]
    assert [macs.count(system.mac) for system in systems] == [1] * 8
    nodes = services.ask("/v1/nodes?fields=name,extra")["nodes"]
    assert not [
        node["name"] for node in nodes if "fabricctl_creating" in node["extra"] and node["name"] in names
    ]
