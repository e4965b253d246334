"""What a harvest of a real machine lets us expect; figures read off its dump by hand."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from fabricctl.nodes.facts import StoredFact
from fabricctl.nodes.model import Identity
from provision.bmc.inventory import Depth
from provision.bmc.node_facts import facts_of, identities_of
from provision.install.expected import ExpectedHardware, expected_hardware
from provision.workflows.harvest_read import read_inventory
from tests.provision.dumps import r750
from tests.provision.stateful_bmc import run

WHEN = datetime(2026, 11, 30, tzinfo=UTC)


def of_the_dump(captures: Path) -> ExpectedHardware:
    inventory = run(read_inventory(r750(captures), Depth.FULL))
    facts = [StoredFact(0, fact, WHEN, WHEN) for fact in facts_of(inventory)]
    return expected_hardware(None, facts, [Identity(fact, WHEN, WHEN) for fact in identities_of(inventory)])


def test_a_real_harvest_tells_tag_memory_gpus_disks_and_macs(captures: Path) -> None:
    made = of_the_dump(captures)
    assert (made.service_tag, made.memory_gib, made.gpus) == ("F54P1G3", 512, 1)
    assert [disk.serial for disk in made.known_disks] == ["61X0A002TCD8", "61M0A08ZTCD8", "61P0A06CTCD8"]
    assert made.nics is not None
    assert {id: sorted(macs) for id, macs in made.nics.items()} == {
        "NIC.Embedded.1-1-1": ["70:b5:e8:f0:52:dc"],
        "NIC.Embedded.2-1-1": ["70:b5:e8:f0:52:dd"],
        "NIC.Integrated.1-1-1": ["e4:3d:1a:13:27:f0"],
        "NIC.Integrated.1-2-1": ["e4:3d:1a:13:27:f1"],
    }


def test_a_card_that_may_or_may_not_work_is_not_expected(captures: Path) -> None:
    made = of_the_dump(captures)
    assert "NIC.Slot.5-1" not in (made.nics or {})
