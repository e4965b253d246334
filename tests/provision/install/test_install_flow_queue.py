"""What changes while a host waits for its place."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from provision.install.outcome import End, NodeResult
from provision.workflows.install_model import Progress
from tests.provision.install.flow_kit import Kit, by_host, flow_kit, hosts_of
from tests.provision.maas.maas_asking import Asking

FIRST, WAITING = hosts_of(2)


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        kit.run(lambda client: client.enrol([FIRST, WAITING]))
        kit.run(lambda client: client.commission([FIRST, WAITING]))
        yield kit


def deployed(kit: Kit, meanwhile: Callable[[], None], *, deploying: int = 1) -> dict[str, NodeResult]:
    """Install both, one after the other. :param meanwhile: once, while the second waits for its place."""
    done: list[str] = []

    def heard(progress: Progress) -> None:
        if not done and kit.maas.double.machine(FIRST).status.value == "Deploying":
            done.append(progress.words)
            meanwhile()

    kit.more = {"deploying": deploying, "progress": heard}
    results = by_host(kit.run(lambda client: client.deploy([FIRST, WAITING])))
    assert done, "nothing happened meanwhile"
    return results


def commission(kit: Kit) -> None:
    """A colleague commissions the host that waits."""
    id = kit.maas.double.machine(WAITING).system_id
    answer = Asking(kit.maas).call(
        "POST", f"machines/{id}/?op=commission", testing_scripts="none", skip_bmc_config="1"
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("replace-boot-disk", "disks are not those recorded"),
        ("missing-disk", "is missing"),
        ("missing-gpu", "expected 8 GPUs, found 7"),
    ],
)
def test_disks_are_looked_at_again_once_a_host_has_its_place(kit: Kit, kind: str, words: str) -> None:
    def meanwhile() -> None:
        kit.maas.double.faults.add(kind, WAITING, "commission")
        commission(kit)

    before = len([one for one in kit.maas.double.requests if one.op == "deploy"])
    results = deployed(kit, meanwhile)
    assert results[FIRST].end is End.DEPLOYED
    assert results[WAITING].end is End.REFUSED
    assert words in results[WAITING].reason
    assert kit.ends()[WAITING] == ("Ready", False)
    assert len([one for one in kit.maas.double.requests if one.op == "deploy"]) == before + 1


def test_disks_in_another_order_are_found_again_once_a_host_has_its_place(kit: Kit) -> None:
    def meanwhile() -> None:
        kit.maas.double.faults.add("reorder-disks", WAITING, "commission")
        commission(kit)

    assert deployed(kit, meanwhile)[WAITING].end is End.DEPLOYED
    found = kit.run(lambda client: client.maas.find(hostnames=[WAITING]))[0]
    root = found.disk(found.root_disk)
    assert root is not None
    assert root.serial.startswith("BOSS")


def test_a_host_that_was_given_to_another_user_while_it_waited_is_refused(kit: Kit) -> None:
    def meanwhile() -> None:
        record = kit.maas.double.machine(WAITING)
        assert Asking(kit.maas).call("POST", "machines/?op=allocate", system_id=record.system_id).ok
        record.owner = "eve"

    result = deployed(kit, meanwhile)[WAITING]
    assert (result.end, result.reason) == (End.REFUSED, "it is Allocated to eve: release it first")


def test_a_host_that_is_refused_does_not_wait_for_a_place(kit: Kit) -> None:
    kit.more = {"deploying": 1}
    first, waiting = kit.run(lambda client: client.deploy([FIRST, WAITING], rule=None))
    assert {first.end, waiting.end} == {End.REFUSED}
    assert max(first.seconds, waiting.seconds) == 0
