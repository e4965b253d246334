"""``fabricctl maas replace`` after a repair: a NIC with another MAC, a BMC with another address, the same machine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.provision.install.forwarding import forwarded
from tests.provision.install.maas_hall import MaasHall, ready
from tests.provision.maas.maas_asking import Asking

Start = Callable[..., MaasHall]
HOST = "gpu001"
PART = "NIC.Embedded.1-1-1"
"""The NIC that boots."""
MAC = "b8:3f:d2:00:00:01"


def machine(hall: MaasHall) -> dict[str, Any]:
    """As MAAS tells of the one there is."""
    (found,) = Asking(hall.maas).json("GET", "machines/")
    return dict(found)


def stays(found: dict[str, Any]) -> dict[str, Any]:
    """What no repair changes."""
    nics = found["interface_set"]
    links = {nic["name"]: [link.get("ip_address") for link in nic["links"]] for nic in nics}
    return {
        **{name: found[name] for name in ("system_id", "hostname", "fqdn", "status_name")},
        "links": links,
        "nics": [(nic["id"], nic["name"]) for nic in nics],
    }


def macs(found: dict[str, Any]) -> list[str]:
    return [nic["mac_address"] for nic in found["interface_set"]]


@pytest.fixture
def hall(hall_of: Start) -> MaasHall:
    """One host, installed."""
    hall = ready(hall_of(1))
    hall.do("deploy", "all", "--yes")
    return hall


def exchange(hall: MaasHall) -> str:
    """Put another NIC in the place of the one it boots from, and harvest. :returns: the MAC that is gone."""
    identity = hall.simulator[0].identity
    old = identity[f"mac:{PART}"].lower()
    assert old in macs(machine(hall))
    identity.update({f"mac:{PART}": MAC, f"virtual_mac:{PART}": MAC})
    hall.run("bmc", "harvest", "--full")
    return old


def test_a_nic_with_another_mac_and_a_bmc_with_another_address_leave_the_machine_what_it_is(
    hall: MaasHall,
) -> None:
    before = machine(hall)
    assert any(address for addresses in stays(before)["links"].values() for address in addresses)
    old, bmc = exchange(hall), hall.simulator[0]
    address = f"{bmc.address.rpartition('.')[0]}.99"
    hall.change(bmc.address, address)
    silent = hall.run("maas", "replace", "all", "--yes")
    assert (silent.code, "could not tell whose BMC answers there" in silent.out) == (3, True), silent.all
    with forwarded((address, hall.simulator.port), (bmc.address, hall.simulator.port)):
        ran = hall.do("replace", "all", "--yes")
    assert f"{old} -> {MAC}" in " ".join(ran.out.split())
    after = machine(hall)
    assert stays(after) == stays(before)
    assert sorted(macs(after)) == sorted({*macs(before), MAC} - {old})
    power = Asking(hall.maas).json("GET", f"machines/{after['system_id']}/?op=power_parameters")
    assert power["power_address"].partition(":")[0] == address
    assert "nothing to do" in hall.do("replace", "all").out


def test_nothing_is_changed_without_consent(hall: MaasHall) -> None:
    before = machine(hall)
    exchange(hall)
    ran = hall.run("maas", "replace", "all")
    assert (ran.code, MAC in ran.out) == (2, True), ran.all
    assert machine(hall) == before
