"""Who BMCs say the machine behind them is, for ``maas doctor``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fabricctl.errors import SecretError
from fabricctl.site.use import bmc_addresses
from provision.bmc.inventory import Depth, Inventory, Role
from provision.bmc.outcome import Outcome
from provision.install.doctor_agree import View
from provision.redfish.bmc import Bmc
from provision.redfish.fleet import ask_async
from provision.report.common import reason
from provision.workflows.access import fleet_options
from provision.workflows.desk import read_desk
from provision.workflows.harvest_read import read_inventory

if TYPE_CHECKING:
    from fabricctl.adapters.store.location import Location
    from fabricctl.site.schema import Site


async def who_are(site: Site, location: Location, hosts: Sequence[str]) -> Mapping[str, View | str]:
    """Host -> what its BMC says, or why it did not; hosts without a BMC address are left out.

    Of each about as many requests as ``bmc harvest --quick`` sends; nothing is stored.
    """
    addresses = bmc_addresses(site)
    targets, _ = read_desk(site, location, [host for host in hosts if host in addresses])
    try:
        outcomes = await ask_async(targets, _look, fleet_options(site))
    except SecretError as error:  # site and MAAS can be compared all the same
        return dict.fromkeys((target.host for target in targets), str(error))
    return {outcome.target.host: _said(outcome) for outcome in outcomes}


async def _look(bmc: Bmc) -> View:
    inventory = await read_inventory(bmc, Depth.QUICK)
    layout = await bmc.layout()
    system = (await bmc.get(layout.system)).resource
    return View(
        hostname=str(system.get("HostName") or ""),
        macs=_macs(inventory),
        bmc_address=next((nic.address.value or "" for nic in inventory.bmc_nics if nic.role is Role.BMC), ""),
        service_tag=str(system.get("SKU") or ""),
    )


def _macs(inventory: Inventory) -> frozenset[str]:
    """Burnt in and in use, of the host's cards; not of the network over USB to the BMC."""
    found = {
        mac
        for function in inventory.functions
        if function.role is not Role.USB
        for mac in (function.mac_permanent.value, function.mac_current.value)
        if mac
    }
    return frozenset(found)


def _said(outcome: Outcome[View]) -> View | str:
    if outcome.value is not None:
        return outcome.value
    return reason(outcome.error, outcome.target) if outcome.error is not None else "it said nothing"
