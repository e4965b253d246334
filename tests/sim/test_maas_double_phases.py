"""Phases in simulated time: how long they take, how they end, how they are ended."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import pytest

from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.maas_asker import Asker

MAC = "52:54:00:00:00:01"
MINUTE = 60


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as served:
        yield served


@pytest.fixture
def ask(maas: ServedDouble) -> Asker:
    return Asker(maas.url, maas.api_key)


def _ready(maas: ServedDouble, ask: Asker, hostname: str = "gpu001", mac: str = MAC) -> str:
    name: str = ask.create(hostname, mac).json["system_id"]
    ask.act(name, "commission", skip_bmc_config=1)
    maas.advance(20 * MINUTE)
    assert ask.read(name)["status_name"] == "Ready"
    return name


def _deployed(maas: ServedDouble, ask: Asker) -> str:
    name = _ready(maas, ask)
    ask.act(name, "deploy", distro_series="jammy")
    maas.advance(20 * MINUTE)
    assert ask.read(name)["status_name"] == "Deployed"
    return name


def _texts(ask: Asker, name: str, kind: str) -> list[str]:
    found = ask("GET", f"events/?op=query&level=DEBUG&limit=1000&id={name}").json["events"]
    return [one["description"] for one in reversed(found) if one["type"] == kind]


def test_phases_take_their_time_each_machine_a_little_other(maas: ServedDouble, ask: Asker) -> None:
    for number in range(20):
        name = ask.create(f"gpu{number:03}", f"52:54:00:00:00:{number:02x}").json["system_id"]
        ask.act(name, "commission")
    ready = []
    for _ in range(12):
        maas.advance(MINUTE)
        ready.append(len(maas.double.in_status("Ready")))
    assert ready[5] == 0
    assert 0 < ready[7] < 20
    assert ready[-1] == 20


def test_the_status_message_is_the_newest_event_of_consequence(maas: ServedDouble, ask: Asker) -> None:
    name = _ready(maas, ask)
    ask.act(name, "deploy")
    seen = []
    for _ in range(30):
        maas.advance(MINUTE / 2)
        seen.append(ask.read(name)["status_message"])
    assert [seen[0], *(now for before, now in pairwise(seen) if before != now)] == [
        *("Deploying", "Performing PXE boot", "Loading ephemeral", "Configuring storage", "Installing OS"),
        *("Configuring OS", "Rebooting", "Deployed"),
    ]


@pytest.mark.parametrize(
    ("op", "status", "failed", "minutes"),
    [
        ("commission", "Commissioning", "Failed commissioning", 30),
        ("deploy", "Deploying", "Failed deployment", 30),
        ("release", "Releasing", "Releasing failed", 5),
    ],
)
def test_maas_gives_a_stuck_machine_up_after_its_timeout(
    maas: ServedDouble, ask: Asker, op: str, status: str, failed: str, minutes: int
) -> None:
    if op == "commission":
        name = ask.create("gpu001", MAC).json["system_id"]
    else:
        name = _ready(maas, ask) if op == "deploy" else _deployed(maas, ask)
    maas.double.faults.add("stuck", "gpu001", op)
    ask.act(name, op)
    maas.advance(minutes * MINUTE - 1)
    assert ask.read(name)["status_name"] == status
    maas.advance(2)
    shown = ask.read(name)
    text = f"Node operation '{status}' timed out after {minutes} minutes."
    assert shown["status_name"] == failed
    assert shown["error_description"] == text
    assert shown["status_message"] == f"Marking node failed - {text}"


def test_a_machine_is_marked_broken_by_its_owner_only(maas: ServedDouble, ask: Asker) -> None:
    name = _ready(maas, ask)
    said = ask.act(name, "mark_broken", comment="bad psu")
    assert (said.status, said.text) == (403, "")
    ask("POST", "machines/?op=allocate", system_id=name)
    shown = ask.act(name, "mark_broken", comment="bad psu").json
    assert (shown["status_name"], shown["error_description"]) == ("Broken", "bad psu")
    assert ask("POST", "machines/?op=allocate", system_id=name).status == 409
    assert ask.act(name, "mark_fixed").json["status_name"] == "Ready"


def test_a_machine_whose_commissioning_was_aborted_belongs_to_nobody(maas: ServedDouble, ask: Asker) -> None:
    name = ask.create("gpu001", MAC).json["system_id"]
    ask.act(name, "commission")
    assert ask.act(name, "abort").json["status_name"] == "Commissioning"
    shown = ask.read(name)
    assert (shown["status_name"], shown["owner"]) == ("New", None)
    assert shown["status_message"] == "Aborted commissioning"
    maas.advance(3600)
    assert ask.read(name)["status_name"] == "New"


def test_a_machine_whose_installation_was_aborted_is_still_allocated(maas: ServedDouble, ask: Asker) -> None:
    name = _ready(maas, ask)
    ask.act(name, "deploy")
    ask.act(name, "abort", comment="too long")
    shown = ask.read(name)
    assert (shown["status_name"], shown["owner"]) == ("Allocated", "admin")
    assert _texts(ask, name, "User aborting deployment") == ["(admin) - too long"]
    ask.act(name, "release")
    maas.advance(5 * MINUTE)
    assert ask.read(name)["status_name"] == "Ready"


def test_a_locked_machine_is_neither_released_nor_deleted(maas: ServedDouble, ask: Asker) -> None:
    name = _deployed(maas, ask)
    assert ask.act(name, "lock").json["locked"] is True
    for said in (ask.act(name, "release"), ask("DELETE", f"machines/{name}/")):
        assert (said.status, said.text) == (403, "")
    assert ask.act(name, "unlock").json["locked"] is False
    assert ask.act(name, "release").json["status_name"] == "Releasing"


def test_power_on_of_a_machine_that_is_on_is_a_reset(maas: ServedDouble, ask: Asker) -> None:
    name = _deployed(maas, ask)
    assert maas.double.machine("gpu001").resets == 0
    assert ask.act(name, "power_on").status == 200
    assert maas.double.machine("gpu001").resets == 1
    assert ask("GET", f"machines/{name}/?op=query_power_state").json == {"state": "on"}
    ask.act(name, "power_off")
    ask.act(name, "power_on")
    assert maas.double.machine("gpu001").resets == 1


def test_a_machine_that_is_off_is_released_at_once(maas: ServedDouble, ask: Asker) -> None:
    name = _ready(maas, ask)
    ask("POST", "machines/?op=allocate", system_id=name)
    assert ask.act(name, "release").json["status_name"] == "Ready"


def test_a_release_is_repeated_without_harm(maas: ServedDouble, ask: Asker) -> None:
    name = _deployed(maas, ask)
    assert ask.act(name, "release").status == 200
    assert ask.act(name, "release").status == 200
    maas.advance(10 * MINUTE)
    assert ask.act(name, "release").json["status_name"] == "Ready"
    assert len(_texts(ask, name, "User releasing node")) == 1


def test_a_released_machine_has_the_layout_it_had(maas: ServedDouble, ask: Asker) -> None:
    name = _deployed(maas, ask)
    before = ask.read(name)["boot_disk"]["partitions"][0]["used_for"]
    assert ask.act(name, "release").json["boot_disk"]["partitions"][0]["used_for"] == "Unused"
    maas.advance(10 * MINUTE)
    assert ask.read(name)["boot_disk"]["partitions"][0]["used_for"] == before


def test_a_release_that_erases_disks_does_so_first(maas: ServedDouble, ask: Asker) -> None:
    name = _deployed(maas, ask)
    assert ask.act(name, "release", erase="true").json["status_name"] == "Disk erasing"
    maas.advance(8 * MINUTE)
    assert ask.read(name)["status_name"] == "Releasing"
    maas.advance(5 * MINUTE)
    assert ask.read(name)["status_name"] == "Ready"


def test_user_data_is_handed_to_the_machine(maas: ServedDouble, ask: Asker) -> None:
    name = _ready(maas, ask)
    ask.act(name, "deploy", user_data=base64.b64encode(b"#cloud-config\n").decode())
    assert maas.double.machine("gpu001").user_data == b"#cloud-config\n"
    ask.act(name, "abort")
    ask.act(name, "release")
    maas.advance(10 * MINUTE)
    assert maas.double.machine("gpu001").user_data == b""


def test_bmc_users_are_written_unless_that_is_skipped(maas: ServedDouble, ask: Asker) -> None:
    name = _ready(maas, ask)
    assert maas.double.machine("gpu001").bmc_written == 0
    ask.act(name, "commission")
    maas.advance(20 * MINUTE)
    assert maas.double.machine("gpu001").bmc_written == 1


def test_a_machine_without_disks_is_installed_in_its_memory_and_nobody_says_so(
    maas: ServedDouble, ask: Asker
) -> None:
    maas.double.faults.add("no-disks")
    name = _ready(maas, ask)
    assert ask.act(name, "deploy").status == 200
    maas.advance(20 * MINUTE)
    shown = ask.read(name)
    assert (shown["status_name"], shown["ephemeral_deploy"]) == ("Deployed", True)


@pytest.mark.parametrize(
    ("given", "image"),
    [
        *((name, ("ubuntu", "jammy")) for name in ("jammy", "ubuntu/jammy", "22.04", "ubuntu/22.04")),
        *((name, ("custom", "gpu-node-22.04")) for name in ("custom/gpu-node-22.04", "gpu-node-22.04")),
    ],
)
def test_an_image_has_several_names(
    maas: ServedDouble, ask: Asker, given: str, image: tuple[str, str]
) -> None:
    shown = ask.act(_ready(maas, ask), "deploy", distro_series=given).json
    assert (shown["osystem"], shown["distro_series"]) == image


def test_rescue_mode_is_entered_and_left(maas: ServedDouble, ask: Asker) -> None:
    name = _deployed(maas, ask)
    seen = [ask.act(name, "rescue_mode").json["status_name"]]
    maas.advance(10 * MINUTE)
    seen += [ask.read(name)["status_name"], ask.act(name, "exit_rescue_mode").json["status_name"]]
    maas.advance(4 * MINUTE)
    seen.append(ask.read(name)["status_name"])
    assert seen == ["Entering rescue mode", "Rescue mode", "Exiting rescue mode", "Deployed"]


def test_failed_tests_are_overridden(maas: ServedDouble, ask: Asker) -> None:
    name = _ready(maas, ask)
    maas.double.faults.add("fail", op="test", text="smartctl failed")
    assert ask.act(name, "test").json["status_name"] == "Testing"
    maas.advance(20 * MINUTE)
    assert ask.read(name)["status_name"] == "Failed testing"
    assert ask.act(name, "override_failed_testing").json["status_name"] == "Ready"


def test_time_runs_by_itself_at_a_speed() -> None:
    with maas_double(speed=100_000) as maas:
        ask = Asker(maas.url, maas.api_key)
        name = ask.create("gpu001", MAC).json["system_id"]
        ask.act(name, "commission")
        shown: Any = {}
        for _ in range(2000):
            shown = ask.read(name)
            if shown["status_name"] == "Ready":
                break
        assert shown["status_name"] == "Ready"
