"""How a site's BMCs are asked: its limits, its secrets, and where open sessions are written down."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import state_folder
from provision.redfish.limits import FleetOptions, Limits

if TYPE_CHECKING:
    from pathlib import Path

    from fabricctl.site.management import BmcLimits
    from fabricctl.site.schema import Site
    from provision.bmc.secret import Credentials
    from provision.bmc.target import Target
    from provision.secrets.store import SecretStore


def fleet_options(site: Site, *, writes: bool = False, identity: bool = False) -> FleetOptions:
    """Options for the BMCs of a site; its secret store is opened with the first login.

    :param writes: for commands that change single nodes: the DMTF client instead of aiohttp.
    :param identity: for what leads to a change: only the machine with the service tag of the target is asked.
    """
    opened: list[SecretStore] = []

    def credentials(target: Target) -> Credentials:
        from provision.secrets.store import credentials_for, open_secrets

        if not opened:
            opened.append(open_secrets(site))
        return credentials_for(site, opened[0], target)

    return FleetOptions(
        credentials=credentials,
        limits=limits_of(site.management.bmc_limits),
        writes=writes,
        identity=identity,
        ledger=session_folder(),
        locks=state_folder() / "locks",
    )


def limits_of(limits: BmcLimits) -> Limits:
    """Limits as the site file names them."""
    return Limits(limits.fleet, limits.reads_per_bmc, limits.wave, limits.budget_s)


def session_folder() -> Path:
    """Where the open sessions of all sites are written down: a BMC may belong to two site files."""
    return state_folder() / "sessions"
