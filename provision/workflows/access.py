"""How a site's BMCs are asked: its limits, its secrets, and where open sessions are written down."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.errors import SecretError
from fabricctl.site.use import bmc_access
from provision.bmc.secret import Credentials, Secret
from provision.redfish.limits import CredentialSource, FleetOptions, Limits

if TYPE_CHECKING:
    from fabricctl.site.management import BmcLimits
    from fabricctl.site.schema import Site
    from provision.bmc.target import Target


def fleet_options(site: Site, *, writes: bool = False) -> FleetOptions:
    """Options for the BMCs of a site.

    :param writes: for commands that change single nodes: the DMTF client instead of aiohttp.
    """
    return FleetOptions(
        credentials=_source(site), limits=limits_of(site.management.bmc_limits), writes=writes
    )


def limits_of(limits: BmcLimits) -> Limits:
    """Limits as the site file names them."""
    return Limits(limits.fleet, limits.reads_per_bmc, limits.wave, limits.budget_s)


def _source(site: Site) -> CredentialSource:
    access = bmc_access(site)

    def credentials(target: Target) -> Credentials:
        entry = access.get(target.host)
        reference = entry.password if entry is not None else None
        if entry is None or reference is None:
            raise SecretError(
                f"no password is known for {target}",
                hint="give management.bmc_access password: env:NAME or file:PATH",
            )
        return Credentials(entry.user or "root", Secret(_read(reference)))

    return credentials


def _read(reference: str) -> str:
    kind, _, name = reference.partition(":")
    if kind == "env":
        value = os.environ.get(name, "")
        if not value:
            raise SecretError("the environment variable is not set", reference=reference)
        return value
    if kind != "file":
        raise SecretError("expected env:NAME or file:PATH", reference=reference)
    path = Path(name).expanduser()
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8").rstrip("\n")
    except (OSError, UnicodeDecodeError) as exc:
        raise SecretError(f"cannot be read: {exc}", reference=reference) from exc
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise SecretError("others can read it", reference=reference, hint=f"chmod 600 {path}")
    return text
