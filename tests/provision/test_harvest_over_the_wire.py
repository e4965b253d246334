"""Harvests through the real driver: both real dumps from the replay server, and every simulated firmware."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from provision.bmc.inventory import Depth, Inventory
from provision.bmc.outcome import Outcome
from provision.bmc.reading import How
from provision.bmc.secret import Credentials, Secret
from provision.bmc.target import Target, Trust
from provision.redfish.fleet import FleetOptions, ask
from provision.workflows.harvest_read import read_inventory
from tests.provision.dumps import DGX_FILE, R750_FILE, dump
from tests.provision.stateful_bmc import DELL, DGX, StatefulBmc
from tests.sim.idrac import Profile, Simulator
from tests.sim.idrac.replay import Replay


def read(target: Target, password: str, depth: Depth) -> Outcome[Inventory]:
    options = FleetOptions(lambda _: Credentials("root", Secret(password)), reaper=False)
    (outcome,) = ask([target], lambda bmc: read_inventory(bmc, depth), options)
    assert outcome.error is None, outcome.error
    return outcome


@pytest.mark.parametrize("depth", list(Depth))
@pytest.mark.parametrize(
    ("name", "layout", "address"), [(R750_FILE, DELL, "127.35.0.1"), (DGX_FILE, DGX, "127.35.0.2")]
)
def test_a_dump_served_is_harvested_as_the_dump_in_memory(
    captures: Path, name: str, layout: Any, address: str, depth: Depth
) -> None:
    plain = asyncio.run(read_inventory(StatefulBmc(dict(dump(captures, name)), layout), depth))
    with Replay(captures / "redfish" / name, address=address) as server:
        trust = Trust(fingerprint=server.fingerprint)
        outcome = read(Target("gpu001", address, server.port, trust=trust), server.password, depth)
        assert server.sessions == {}
    assert outcome.value == plain
    if (name, depth) == (R750_FILE, Depth.QUICK):
        assert outcome.requests == 1 + 9  # the root without login; 9 for four cards, as measured (facts)


@pytest.mark.parametrize("profile", list(Profile))
@pytest.mark.parametrize("depth", list(Depth))
def test_every_firmware_tells_every_mac_and_guid(
    simulator: Callable[..., Simulator], profile: Profile, depth: Depth
) -> None:
    sim = simulator(1, profile=profile, first="127.35.1.1")
    own = sim[0].identity
    trust = Trust(fingerprint=sim[0].fingerprint)
    outcome = read(Target("gpu001", sim.addresses[0], sim.port, trust=trust), sim.password, depth)
    inventory = outcome.value
    assert inventory is not None
    assert inventory.gaps == ()
    truth = {key.partition(":")[2]: mac.lower() for key, mac in own.items() if key.startswith("mac:")}
    assert {function.id: function.mac for function in inventory.functions} == truth
    assert len(inventory.hcas) == 8
    for hca in inventory.hcas:
        guid = "0x" + own[f"guid:{hca.id}"].replace(":", "").lower()
        assert hca.node_guid.value == guid
        assert hca.node_guid.how in (How.READ, How.DERIVED)
    assert (inventory.system.service_tag.value, inventory.bmc_nics[0].mac) == (own["tag"], own["bmc_mac"])
    if depth is Depth.QUICK:
        assert outcome.requests == 1 + 16
    assert len(sim[0].sessions) == 0
