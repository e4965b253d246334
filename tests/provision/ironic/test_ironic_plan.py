"""What ``fabricctl ironic`` says before it does anything: disks that are erased, pools on them, clocks."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from fabricctl.cli.main import main
from provision.install.disk_rule import DiskRule
from provision.install.disks import choose_boot_disk
from provision.install.lifecycle import Verb, Wish, decide
from provision.install.machine import Disk, Machine, Stage
from provision.report.install_plan import Install, plan_commission, plan_deploy, plan_release
from tests.provision.ironic.ironic_between import Between, Reply, between

DISKS = (
    Disk("BOSS1", "nvme8n1", "BOSS1", "Dell BOSS-N1", 960 * 10**9),
    *(Disk(f"S{n}", f"nvme{n}n1", f"S{n}", "Dell Ent NVMe P5600", 3840 * 10**9) for n in range(8)),
)
ERASED = (
    "ironic.clean: cleaning wipes at least the labels of 1 of Dell BOSS-N1 (960 GB), "
    "8 of Dell Ent NVMe P5600 (3.84 TB), ZFS pools' too"
)


def machine(stage: Stage, disks: tuple[Disk, ...] = DISKS) -> Machine:
    return Machine("1", "gpu001", stage, stage.value, disks=disks)


def danger_of_deploy(stage: Stage, *, clean: bool) -> str:
    one = machine(stage)
    step = decide(Wish(Verb.DEPLOY, again=True), one)
    choice = choose_boot_disk(one.disks, DiskRule(model="*BOSS*"))
    install = Install("jammy", "ga", choice, wipes=False, cleans=clean)
    return plan_deploy("gpu001", one, step, install, on=False).danger


@pytest.mark.parametrize("clean", [False, True])
def test_the_disk_an_image_is_written_to_is_named_as_lost(clean: bool) -> None:
    assert danger_of_deploy(Stage.READY, clean=clean) == "overwrites Dell BOSS-N1 (960 GB)"


def test_a_node_that_is_released_first_and_cleaned_loses_every_disk() -> None:
    lost = danger_of_deploy(Stage.DEPLOYED, clean=True)
    assert lost == f"the system that is on it is lost; overwrites Dell BOSS-N1 (960 GB); {ERASED}"
    assert "cleaning" not in danger_of_deploy(Stage.DEPLOYED, clean=False)


def test_release_and_manage_say_what_cleaning_erases() -> None:
    there = machine(Stage.DEPLOYED)
    step = decide(Wish(Verb.RELEASE), there)
    assert ERASED in plan_release("gpu001", there, step, on=False, cleans=True).danger
    assert "cleaning" not in plan_release("gpu001", there, step, on=False).danger
    new = machine(Stage.NEW, ())
    step = decide(Wish(Verb.COMMISSION), new)
    planned = plan_commission("gpu001", new, step, on=False, cleans=True)
    assert "the labels of every disk" in planned.danger
    assert plan_commission("gpu001", new, step, on=False).danger == ""


ROOT = {"default_version": {"min_version": "1.1", "version": "1.81"}}
NODE = {
    "uuid": "0b0a6c0e-0000-4000-8000-000000000001",
    "name": "gpu001",
    "driver": "redfish",
    "provision_state": "active",
    "power_state": "power on",
    "inspection_finished_at": "2026-11-30T10:00:00+00:00",
    "driver_info": {"redfish_address": "https://127.0.0.1:9"},
    "properties": {},
    "extra": {},
}
INVENTORY = {
    "inventory": {
        "disks": [
            {"name": f"/dev/{disk.name}", "serial": disk.serial, "model": disk.model, "size": disk.size}
            for disk in DISKS
        ]
    }
}
SITE = """\
name: hall
node_models: {{m: {{hcas: [mlx5_0], boot_disk: {{model: '*BOSS*'}}}}}}
nodes: {{gpu001: {{model: m}}}}
state: {{url: hall.sqlite}}
management:
  bmc_addresses: {{gpu001: 127.0.0.1}}
  bmc_access: {{gpu001: {{user: ops, password: 'env:PLAN_PASSWORD', port: 9}}}}
ironic:
  url: {url}
  clean: {clean}
  image: {{deploy_interface: {interface}, image: 'http://192.0.2.1/image', kernel: 'http://192.0.2.1/k', ramdisk: 'http://192.0.2.1/r'}}
"""


def answering(method: str, path: str) -> Reply:
    """As an Ironic that has one node, which is active."""
    body: Any = {"nodes": [NODE]}
    if path == "/":
        body = ROOT
    elif path.startswith("/v1/ports"):
        body = {"ports": []}
    elif path.endswith("/inventory"):
        body = INVENTORY
    return (200, json.dumps(body)) if method == "GET" else (500, "{}")


@contextmanager
def ironic() -> Iterator[Between]:
    """Serving on a thread of its own."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def there(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(30)

    serving = between()
    server = there(serving.__aenter__())
    server.answer = answering
    try:
        yield server
    finally:
        there(serving.__aexit__(None, None, None))
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)
        loop.close()


@pytest.fixture
def planned(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Iterator[Any]:
    """Runs a command up to its plan, with words of the site file. :returns: the document."""
    monkeypatch.setenv("PLAN_PASSWORD", "spring-tide-7")
    with ironic() as server:

        def run(*words: str, clean: bool = True, interface: str = "direct") -> Any:
            site = tmp_path / "site.yaml"
            site.write_text(SITE.format(url=server.url, clean=str(clean).lower(), interface=interface))
            code = main(["ironic", *words, "gpu001", "--site", str(site), "--format", "json"])
            out, err = capsys.readouterr()
            assert code == 2, (code, out, err)  # nobody allowed it
            assert {method for method, _ in server.asked} == {"GET"}
            return json.loads(out)

        yield run


def becomes(document: Any) -> dict[str, str]:
    return {disk["serial"]: disk["becomes"] for disk in document["disks"]}


EVERY = {f"S{n}": "wiped" for n in range(8)}


def test_redeploy_with_cleaning_names_every_disk_and_what_is_known_of_pools(planned: Any) -> None:
    document = planned("deploy", "--redeploy")
    assert becomes(document) == {"BOSS1": "root", **EVERY}
    shown = json.dumps(document)
    assert "cleaning wipes at least the labels of" in shown
    assert "could not tell of its ZFS pools" in shown  # nobody listens there for ssh


def test_redeploy_without_cleaning_writes_to_the_one_disk(planned: Any) -> None:
    document = planned("deploy", "--redeploy", clean=False)
    assert becomes(document) == {"BOSS1": "root"}
    assert "ZFS" not in json.dumps(document)


def test_into_memory_no_disk_is_touched_but_by_cleaning(planned: Any) -> None:
    words = "deploy", "--redeploy"
    assert becomes(planned(*words, clean=False, interface="ramdisk")) == {}
    assert becomes(planned(*words, interface="ramdisk")) == {"BOSS1": "wiped", **EVERY}


def test_release_with_cleaning_names_every_disk(planned: Any) -> None:
    assert becomes(planned("release")) == {"BOSS1": "wiped", **EVERY}
    assert becomes(planned("release", clean=False)) == {}


def test_clocks_are_compared_before_a_first_installation_unless_told_not_to(planned: Any) -> None:
    asked = json.dumps(planned("deploy", "--redeploy"))
    assert "its clock could not be told" in asked
    assert "clock" not in json.dumps(planned("deploy", "--redeploy", "--skip-clock-check"))
