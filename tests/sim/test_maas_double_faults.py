"""Faults: each strikes what it names, as often as it says, and does what its name says."""

from __future__ import annotations

import http.client
import time
from collections.abc import Iterator

import pytest

from tests.sim.maas.faults import KINDS, Faults
from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.maas_asker import Asker

MAC = "52:54:00:00:00:01"
HOUR = 3600


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as served:
        yield served


@pytest.fixture
def ask(maas: ServedDouble) -> Asker:
    return Asker(maas.url, maas.api_key)


def _commissioned(maas: ServedDouble, ask: Asker, hostname: str = "gpu001") -> str:
    found = ask("GET", f"machines/?hostname={hostname}").json
    name: str = (found[0] if found else ask.create(hostname, MAC).json)["system_id"]
    ask.act(name, "commission")
    maas.advance(HOUR)
    return name


def test_a_503_after_the_commit_leaves_the_machine_there(maas: ServedDouble, ask: Asker) -> None:
    maas.double.faults.add("503-after-commit", "gpu001", "create")
    assert ask.create("gpu001", MAC).status == 503
    assert [one["hostname"] for one in ask("GET", "machines/").json] == ["gpu001"]
    assert "already in use on gpu001" in ask.create("gpu001", MAC).text


def test_a_503_of_commission_leaves_it_commissioning(maas: ServedDouble, ask: Asker) -> None:
    name = ask.create("gpu001", MAC).json["system_id"]
    maas.double.faults.add("503-after-commit", op="commission")
    assert ask.act(name, "commission").status == 503
    assert ask.read(name)["status_name"] == "Commissioning"


def test_a_504_comes_while_the_work_goes_on(maas: ServedDouble, ask: Asker) -> None:
    maas.double.faults.add("504-continues", op="create", later=90)
    assert ask.create("gpu001", MAC).status == 504
    assert ask("GET", "machines/").json == []
    maas.advance(91)
    assert [one["hostname"] for one in ask("GET", "machines/").json] == ["gpu001"]


def test_a_conflict_does_nothing_and_says_when_to_come_again(maas: ServedDouble, ask: Asker) -> None:
    maas.double.faults.add("conflict", op="create", count=2)
    for _ in range(2):
        said = ask.create("gpu001", MAC)
        assert (said.status, said.headers["retry-after"]) == (409, "5")
    assert ask.create("gpu001", MAC).status == 200


def test_a_refusal_for_the_wrong_status_has_no_retry_after(ask: Asker) -> None:
    name = ask.create("gpu001", MAC).json["system_id"]
    said = ask.act(name, "deploy")
    assert said.status == 409
    assert "retry-after" not in said.headers


@pytest.mark.parametrize(("kind", "there"), [("drop-before", 0), ("drop-after", 1)])
def test_a_dropped_connection_leaves(maas: ServedDouble, ask: Asker, kind: str, there: int) -> None:
    maas.double.faults.add(kind, op="create")
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        ask.create("gpu001", MAC)
    assert len(maas.double.machines) == there
    assert maas.double.requests[-1].status == 0


def test_a_slow_answer_takes_its_time(maas: ServedDouble, ask: Asker) -> None:
    maas.double.faults.add("slow", op="list", seconds=0.3)
    before = time.monotonic()
    ask("GET", "machines/")
    assert time.monotonic() - before > 0.29


def test_a_fault_that_found_nothing_to_commit_waits_for_the_next(maas: ServedDouble, ask: Asker) -> None:
    maas.double.faults.add("503-after-commit", op="create")
    assert ask("POST", "machines/", hostname="x").status == 400
    assert ask.create("gpu001", MAC).status == 503


def test_without_a_rack_a_created_machine_is_there_and_says_why(ask: Asker) -> None:
    with maas_double(racks=0) as maas:
        ask = Asker(maas.url, maas.api_key)
        said = ask.create("gpu006", MAC, commission="true")
        assert (said.status, said.text) == (503, "No rack controllers can access the BMC of node gpu006")
        (shown,) = ask("GET", "machines/").json
        assert (shown["status_name"], shown["owner"]) == ("New", "admin")
        assert shown["status_message"] == (
            "Failed to query node's BMC - (admin) - Aborting COMMISSIONING and reverting to NEW. "
            "Unable to power control the node. Please check power credentials."
        )
        assert ask("GET", "rackcontrollers/").json == []


def test_without_a_rack_for_it_a_machine_is_not_installed(maas: ServedDouble, ask: Asker) -> None:
    name = _commissioned(maas, ask)
    maas.double.faults.add("no-rack", "gpu001", "deploy")
    said = ask.act(name, "deploy")
    assert (said.status, said.text) == (500, f"Error determining BMC task queue for machine {name}")
    assert ask.read(name)["status_name"] == "Ready"
    assert ask.act(name, "deploy").json["status_name"] == "Deploying"


def test_a_machine_stuck_for_ever_is_never_given_up(maas: ServedDouble, ask: Asker) -> None:
    name = _commissioned(maas, ask)
    maas.double.faults.add("stuck-forever", op="deploy")
    ask.act(name, "deploy")
    maas.advance(48 * HOUR)
    assert ask.read(name)["status_name"] == "Deploying"
    ask.act(name, "abort")
    assert ask.read(name)["status_name"] == "Allocated"


def test_a_commissioning_that_fails_has_the_script_that_failed(maas: ServedDouble, ask: Asker) -> None:
    maas.double.faults.add("fail", op="commission", text="lxd: cannot read disks")
    name = _commissioned(maas, ask)
    shown = ask.read(name)
    assert (shown["status_name"], shown["owner"]) == ("Failed commissioning", "admin")
    (results,) = ask("GET", f"nodes/{name}/results/?type=commissioning").json
    bad = [one["name"] for one in results["results"] if one["status_name"] == "Failed"]
    assert (results["status_name"], bad) == ("Failed", ["50-maas-01-commissioning"])
    events = ask("GET", f"events/?op=query&id={name}").json["events"]
    assert "50-maas-01-commissioning failed" in [one["description"] for one in events]


@pytest.mark.parametrize(
    ("op", "status", "words"),
    [
        ("deploy", "Failed deployment", "Installation failed (refer to the installation log"),
        ("release", "Releasing failed", "bmc does not answer"),
    ],
)
def test_work_that_fails_says_why(maas: ServedDouble, ask: Asker, op: str, status: str, words: str) -> None:
    name = _commissioned(maas, ask)
    maas.double.faults.add("fail", op=op, text="bmc does not answer")
    for one in ("deploy", "release"):
        ask.act(name, one)
        maas.advance(HOUR)
        if one == op:
            break
    shown = ask.read(name)
    assert shown["status_name"] == status
    assert words in shown["error_description"]


def _serials(ask: Asker, name: str) -> list[str]:
    return [
        one["serial"] for one in sorted(ask.read(name)["physicalblockdevice_set"], key=lambda d: d["name"])
    ]


def test_disks_are_found_in_another_order(maas: ServedDouble, ask: Asker) -> None:
    name = _commissioned(maas, ask)
    before = _serials(ask, name)
    maas.double.faults.add("reorder-disks")
    _commissioned(maas, ask)
    after = _serials(ask, name)
    assert after != before
    assert sorted(after) == sorted(before)


def test_a_new_boot_card_moves_root_to_a_data_disk_and_nobody_says_so(maas: ServedDouble, ask: Asker) -> None:
    name = _commissioned(maas, ask)
    before = ask.read(name)["boot_disk"]["serial"]
    maas.double.faults.add("replace-boot-disk")
    _commissioned(maas, ask)
    shown = ask.read(name)
    assert shown["status_name"] == "Ready"
    assert before not in _serials(ask, name)
    assert shown["boot_disk"]["model"] != "Dell BOSS-N1"


@pytest.mark.parametrize(
    ("kind", "disks", "gpus", "nics", "memory"),
    [
        ("no-disks", 0, 8, 2, 2097152),
        ("missing-disk", 8, 8, 2, 2097152),
        ("missing-gpu", 9, 7, 2, 2097152),
        ("missing-nic", 9, 8, 1, 2097152),
        ("missing-memory", 9, 8, 2, 1048576),
        ("duplicate-serials", 9, 8, 2, 2097152),
    ],
)
def test_commissioning_finds_less_and_the_machine_is_ready_all_the_same(
    maas: ServedDouble, ask: Asker, kind: str, disks: int, gpus: int, nics: int, memory: int
) -> None:
    name = ask.create("gpu001", MAC, mac_addresses=[MAC, "52:54:00:00:00:02"]).json["system_id"]
    maas.double.faults.add(kind, "gpu001")
    ask.act(name, "commission")
    maas.advance(HOUR)
    shown = ask.read(name)
    assert shown["status_name"] == "Ready"
    assert len(shown["physicalblockdevice_set"]) == disks
    assert len(ask("GET", f"nodes/{name}/devices/?vendor_id=10de").json) == gpus
    assert len(shown["interface_set"]) == nics
    assert shown["memory"] == memory
    serials = _serials(ask, name)
    assert (len(set(serials)) < len(serials)) is (kind == "duplicate-serials")


def test_a_machine_is_locked_once_it_is_deployed(maas: ServedDouble, ask: Asker) -> None:
    name = _commissioned(maas, ask)
    maas.double.faults.add("locked")
    ask.act(name, "deploy")
    maas.advance(HOUR)
    assert ask.read(name)["locked"] is True


def test_a_fault_strikes_the_machines_it_names_as_often_as_it_says(maas: ServedDouble) -> None:
    faults = Faults()
    rule = faults.add("fail", "gpu1*", "deploy", count=2, after=1)
    struck = [
        faults.strike(["fail"], op, (host,)) is not None
        for op, host in [("deploy", "gpu2"), ("commission", "gpu11"), *[("deploy", "gpu11")] * 5]
    ]
    assert struck == [False, False, False, True, True, False, False]
    assert rule.hits == 2


def test_a_fault_strikes_its_share_of_calls_the_same_ones_every_time() -> None:
    def struck() -> list[bool]:
        faults = Faults(seed=7)
        faults.add("fail", count=None, chance=0.1)
        return [faults.strike(["fail"], "deploy", ("x",)) is not None for _ in range(1000)]

    assert struck() == struck()
    assert 70 < sum(struck()) < 130


def test_a_fault_nobody_knows_is_refused() -> None:
    faults = Faults()
    with pytest.raises(ValueError, match="no fault 'explode'"):
        faults.add("explode")
    with pytest.raises(ValueError, match="no colour"):
        faults.take([{"kind": "fail", "colour": "red"}])
    assert len(KINDS) == len(set(KINDS))
