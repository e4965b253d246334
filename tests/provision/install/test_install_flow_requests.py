"""How much is asked of MAAS for 511 hosts when nothing goes wrong, and which disks they end up on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from provision.install.outcome import End, Told
from provision.install.waves import READ_AT_ONCE
from tests.provision.install.install_fleet import NUMBER, TIGHT, VERBS, Fleet, fleet_of

pytestmark = pytest.mark.slow
READS = {"commission": 7, "deploy": 10}
"""How often a machine is read in full at most, on average."""


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Fleet]:
    with fleet_of(tmp_path_factory.mktemp("fleet"), broken=False) as fleet:
        yield fleet


@pytest.mark.parametrize("verb", VERBS)
def test_requests_stay_within_the_bound_which_is_tight(fleet: Fleet, verb: str) -> None:
    needed, bound = fleet.verbs[verb].requests, fleet.bound(verb)
    assert needed <= bound <= needed * TIGHT


@pytest.mark.parametrize("verb", ["commission", "deploy"])
def test_at_each_tick_there_is_one_question_and_one_bulk_read_of_a_few(fleet: Fleet, verb: str) -> None:
    looks = fleet.verbs[verb].looks
    assert set(Counter((at, what) for at, what, _ in looks).values()) == {1}
    assert 0 < max(number for _, what, number in looks if what == "read") <= READ_AT_ONCE == 64


@pytest.mark.parametrize("verb", READS)
def test_a_machine_is_read_when_something_happens_to_it_not_at_every_tick(fleet: Fleet, verb: str) -> None:
    read = fleet.verbs[verb].read
    assert read <= READS[verb] * NUMBER <= read * TIGHT


def test_hundreds_of_hosts_get_their_boot_disk_set_and_all_are_installed_on_it(fleet: Fleet) -> None:
    wrong = fleet.misplaced()
    assert 100 < len(wrong) < 250
    assert fleet.verbs["deploy"].asked["blockdevices.set_boot_disk"] == len(wrong)
    assert {(one.outcome, one.end) for one in fleet.verbs["deploy"].results.values()} == {
        (Told.OK, End.DEPLOYED)
    }
    roots = {one.hostname: one.storage.boot for one in fleet.kit.maas.double.machines.values()}
    assert [host for host, disk in roots.items() if disk is None or "BOSS" not in str(disk.model)] == []


def test_each_machine_is_switched_on_once_a_phase_and_never_by_us(fleet: Fleet) -> None:
    asked = [verb.asked for verb in fleet.verbs.values()]
    assert sum(one["power_on"] + one["power_off"] for one in asked) == 0
    assert {one.resets for one in fleet.kit.maas.double.machines.values()} == {0}
