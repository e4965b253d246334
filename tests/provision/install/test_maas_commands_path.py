"""``fabricctl maas`` from crates to installed hosts and back, as an operator types it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.store import open_store
from fabricctl.nodes.facts import FactTelling, NodeFact
from provision.install.zfs import FIELD, Member, Pool, Pools
from tests.provision.install.maas_hall import WIDTH, MaasHall, Ran, enrolled, harvested, ready

Start = Callable[..., MaasHall]


def test_hosts_come_from_a_harvest_to_an_installed_system_and_are_given_back(hall_of: Start) -> None:
    hall = harvested(hall_of(2))
    said = [hall.do("enrol", "all", "--yes")]
    assert hall.statuses == {"gpu001": "New", "gpu002": "New"}
    said.append(hall.do("commission", "all", "--yes"))
    assert "ready                         2  gpu[001-002]" in said[-1].out
    said.append(hall.do("disks"))
    assert "Dell BOSS-N1 (960 GB): the only disk of model *BOSS*" in said[-1].out
    assert "wiped  8 of Dell Ent NVMe CM6 RI 3.84TB (3.84 TB)" in said[-1].out
    said.append(hall.do("deploy", "all", "--yes", "--reason", "rack 1 is cabled"))
    assert "deployed                      2  gpu[001-002]" in said[-1].out
    assert hall.statuses == {"gpu001": "Deployed", "gpu002": "Deployed"}
    said.append(hall.do("status"))
    assert "Deployed" in said[-1].out
    assert "jammy" in said[-1].out
    said.append(hall.do("release", "all", "--yes"))
    assert hall.statuses == {"gpu001": "Ready", "gpu002": "Ready"}
    keeps_secrets(hall, said)
    assert too_wide(said) == []


def keeps_secrets(hall: MaasHall, said: list[Ran]) -> None:
    """No key, password or private host key stands in what was said or kept."""
    kept = b"".join(path.read_bytes() for path in hall.folder.rglob("*") if path.is_file())
    texts = "".join(one.all for one in said)
    secrets = [hall.simulator.password, hall.maas.api_key, hall.maas.api_key.split(":")[2], "PRIVATE KEY"]
    assert [one for one in secrets if one in texts or one.encode() in kept] == []


def too_wide(said: list[Ran]) -> list[str]:
    """Lines longer than the screen that could have been wrapped: more than one word stands beyond its edge."""
    lines = [line for one in said for line in one.out.splitlines()]
    return [line for line in lines if len(line) > WIDTH]


@pytest.mark.slow
def test_commands_work_as_processes_of_their_own(hall_of: Start) -> None:
    hall = hall_of(1)
    steps = [
        ["bmc", "harvest", "--full"],
        ["maas", "enrol", "all", "--yes"],
        ["maas", "commission", "all", "--yes"],
    ]
    for words in steps:
        ran = hall.process(*words)
        assert ran.code == 0, ran.all
    assert hall.statuses == {"gpu001": "Ready"}


def test_every_step_has_a_plan_first_and_nothing_is_done_without_consent(hall_of: Start) -> None:
    hall = enrolled(hall_of(1))
    ran = hall.run("maas", "commission", "all")
    assert (ran.code, "gpu001  New: commission" in ran.out) == (2, True), ran.all
    assert "nothing was changed: confirm with --yes" in ran.err
    assert hall.statuses == {"gpu001": "New"}


def test_a_second_run_of_each_command_has_nothing_to_do(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    assert "nothing to do: enrolled" in hall.do("enrol", "all").out
    assert "nothing to do: Ready" in hall.do("commission", "all").out
    hall.do("deploy", "all", "--yes")
    assert "nothing to do: Deployed" in hall.do("deploy", "all").out
    assert len(hall.maas.double.records) == 1


def test_the_plan_of_a_redeploy_says_what_is_lost(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    hall.do("deploy", "all", "--yes")
    ran = hall.run("maas", "deploy", "all", "--redeploy", "--again")
    assert ran.code == 2
    plan = " ".join(ran.out.split())
    assert "gpu001 Deployed: release, then install jammy (ga) on Dell BOSS-N1 (960 GB)" in plan
    assert "the system that is on it is lost; wipes 8 of Dell Ent NVMe" in plan
    assert "could not tell of its ZFS pools: " in plan
    assert "it is ON: its power is cut" in plan
    assert hall.do("deploy", "all", "--redeploy", "--again", "--yes").code == 0
    assert hall.statuses == {"gpu001": "Deployed"}


def test_a_redeploy_that_is_run_again_leaves_out_what_was_just_installed(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    hall.do("deploy", "all", "--yes")
    told = " ".join(hall.do("deploy", "all", "--redeploy", "--yes").out.split())
    assert "nothing to do: Deployed, its installation was begun just now; --again installs it again" in told
    noble = hall.run("maas", "deploy", "all", "--redeploy", "--series", "noble")
    assert "release, then install noble (ga)" in " ".join(noble.out.split()), noble.all
    assert hall.run("maas", "deploy", "all", "--again").code == 2


def test_the_plan_names_pools_on_record_of_hosts_that_cannot_be_asked_until_they_are_lost(
    hall_of: Start,
) -> None:
    hall = ready(hall_of(1))
    members = tuple(Member(f"/dev/disk/by-id/nvme-{at}", "data", "ONLINE") for at in range(8))
    value = Pools((Pool("data", "ONLINE", used=112 * 10**12, members=members),)).as_value()
    with open_store(
        parse_location(str(hall.folder / "hall.sqlite"), said_by="test"), site="simulated"
    ) as store:
        when = datetime(2026, 11, 3, 12, tzinfo=UTC)
        telling = FactTelling("gpu001", [NodeFact("", FIELD, value, "ssh zpool")])
        store.facts.tell([telling], who="op", reason="before a repair", now=when)
    lost = "pool data (8 disks, ONLINE, 112 TB used), recorded 2026-11-03, will be lost"
    assert lost in " ".join(hall.run("maas", "deploy", "all").out.split())
    hall.do("deploy", "all", "--yes")
    hall.do("release", "all", "--yes")
    assert "pool data" not in hall.run("maas", "deploy", "all").out


def test_a_machine_nobody_looked_at_stands_in_the_plan_of_commission(hall_of: Start) -> None:
    hall = enrolled(hall_of(1, speed=600.0))
    hall.maas.double.faults.add("missing-gpu", op="commission")
    hall.do("commission", "all", "--yes", "--no-wait")
    hall.maas.advance(3600)
    ran = hall.run("maas", "deploy", "all", "--yes")
    assert (ran.code, "expected 8 GPUs, found 7" in ran.out) == (1, True), ran.all
    assert "ready: compare its hardware" in hall.run("maas", "commission", "all").out
    assert hall.statuses == {"gpu001": "Ready"}


def test_a_node_whose_bmc_does_not_answer_is_said_and_installed_all_the_same(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    hall.environ["FABRICCTL_SIM_PASSWORD"] = ""
    ran = hall.run("maas", "deploy", "all", "--yes")
    assert ran.code == 3, ran.all
    assert "gpu001  is it on? no password to log in with" in " ".join(ran.out.split("\n"))
    assert hall.statuses == {"gpu001": "Deployed"}


def test_what_was_begun_and_not_waited_for_is_waited_for_by_the_next_run(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    hall.pace(0)
    begun = hall.do("deploy", "all", "--yes", "--no-wait")
    assert "begun                         1  gpu001" in begun.out
    assert hall.statuses == {"gpu001": "Deploying"}
    with hall.waited_for():
        assert "it is Deploying already: wait for its end" in hall.do("deploy", "all", "--yes").out
    assert hall.statuses == {"gpu001": "Deployed"}


def test_a_replaced_bmc_address_is_told_to_maas_and_the_machine_stays(hall_of: Start) -> None:
    hall = ready(hall_of(1))
    (before,) = hall.maas.double.records
    assert "nothing to do" in hall.do("replace", "all").out
    told = hall.do("replace", "all", "--credentials", "--yes")
    assert "replaced                      1  gpu001" in told.out
    assert list(hall.maas.double.records) == [before]


@pytest.mark.parametrize("form", ["csv", "markdown"])
def test_tables_have_a_row_for_each_host(hall_of: Start, form: str) -> None:
    hall = ready(hall_of(2))
    for command in ("status", "disks"):
        out = hall.do(command, "--format", form).out
        assert all(host in out for host in ("gpu001", "gpu002")), out


def test_documents_are_as_their_schemas_say(hall_of: Start) -> None:
    hall = enrolled(hall_of(1))
    commissioned = hall.document("maas-changes", "commission", "all", "--yes")
    assert [(one["host"], one["result"], one["end"]) for one in commissioned["changes"]] == [
        ("gpu001", "ok", "ready")
    ]
    planned = hall.document("maas-changes", "deploy", "all")
    assert planned["applied"] is False
    assert [disk["becomes"] for disk in planned["disks"]] == ["root"] + ["wiped"] * 8
    assert planned["disks"][0]["model"] == "Dell BOSS-N1"
    status = hall.document("maas-status", "status")["machines"]
    assert [(one["host"], one["stage"], one["disks"]) for one in status] == [("gpu001", "ready", 9)]
    disks = hall.document("maas-disks", "disks")["hosts"][0]
    assert disks["root"] == f"BOSS{hall.simulator[0].service_tag}"
    assert disks["recorded"] is True
