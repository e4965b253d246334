"""Which disk the system is put on, on the double: never another than the rule chooses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from provision.install.outcome import End, Told
from tests.provision.install.flow_kit import Kit, flow_kit
from tests.provision.install.flow_one import HOST, asked, commissioned, deployed, fault, ready


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        yield kit


def root_of(kit: Kit) -> str:
    """Serial number of the disk the double's machine has its root on."""
    found = kit.run(lambda client: client.maas.find(hostnames=[HOST]))[0]
    disk = found.disk(found.root_disk)
    return disk.serial if disk is not None else ""


@pytest.mark.parametrize("seed", range(4))
def test_the_system_goes_on_the_boot_card_however_disks_are_ordered(tmp_path: Path, seed: int) -> None:
    with flow_kit(tmp_path, seed=seed) as kit:
        fault(kit, "reorder-disks", "commission")
        ready(kit)
        assert deployed(kit).end is End.DEPLOYED
        assert root_of(kit).startswith("BOSS")


def test_another_boot_card_stops_the_installation_until_it_is_accepted(kit: Kit) -> None:
    ready(kit)
    old = root_of(kit)
    fault(kit, "replace-boot-disk", "commission")
    again = commissioned(kit, again=True)
    assert (again.outcome, again.end) == (Told.FINDING, End.READY)
    refused = deployed(kit)
    assert refused.end is End.REFUSED
    assert "was replaced" in refused.reason
    assert "--accept-disk-change" in refused.reason
    assert asked(kit, "deploy") == 0
    assert deployed(kit, accept_disk_change=True).end is End.DEPLOYED
    assert root_of(kit).startswith("BOSS")
    assert root_of(kit) != old


def test_a_host_without_a_rule_for_its_disk_is_refused(kit: Kit) -> None:
    ready(kit)
    result = deployed(kit, rule=None)
    assert result.end is End.REFUSED
    assert asked(kit, "set_storage_layout") == asked(kit, "deploy") == 0


def about(kit: Kit, since: int) -> list[str]:
    """What was asked of the host alone, in order, but for its GPUs, which are counted once in a run."""
    asked = [one.op for one in kit.maas.double.requests[since:] if one.machine == HOST]
    assert asked.count("devices.read") <= 1
    return [op for op in asked if op != "devices.read"]


def found_in_another_order(kit: Kit) -> None:
    """From now on the kernel finds a data disk first and the boot card last."""
    record = kit.maas.double.machine(HOST)
    record.hardware = record.hardware.reordered((3, 5, 1, 2, 4, 6, 7, 8, 0))


SET = ["blockdevices.set_boot_disk", "set_storage_layout", "read"]


def test_disks_in_another_order_cost_three_requests_more_and_a_redeploy_after_it_none(kit: Kit) -> None:
    kit.run(lambda client: client.enrol([HOST]))
    found_in_another_order(kit)
    commissioned(kit)
    assert not root_of(kit).startswith("BOSS")
    since = len(kit.maas.double.requests)
    assert deployed(kit).end is End.DEPLOYED
    assert about(kit, since) == [*SET, "deploy"]
    since = len(kit.maas.double.requests)
    assert deployed(kit, redeploy=True, again=True).end is End.DEPLOYED
    assert about(kit, since) == ["release", "deploy"]
    assert root_of(kit).startswith("BOSS")


def test_a_redeploy_of_a_system_on_another_disk_costs_five_requests(kit: Kit) -> None:
    ready(kit)
    deployed(kit)
    record = kit.maas.double.machine(HOST)
    record.storage.flat(record.storage.disks[4].id)
    record.changed()
    assert not root_of(kit).startswith("BOSS")
    since = len(kit.maas.double.requests)
    assert deployed(kit, redeploy=True, again=True).end is End.DEPLOYED
    assert about(kit, since) == ["release", *SET, "deploy"]
    assert root_of(kit).startswith("BOSS")
