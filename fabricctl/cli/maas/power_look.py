"""Looking at nodes' power through their BMCs, before MAAS is asked to start them: its "power on" is a reset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from fabricctl.errors import (
    BmcError,
    BmcFingerprintError,
    BmcIdentityError,
    FabricctlError,
    SecretError,
    StateError,
    UsageError,
)

if TYPE_CHECKING:
    from fabricctl.cli.maas.common import Desk

_FOREIGN = (BmcIdentityError, BmcFingerprintError)
_TOLERATED = (BmcError, SecretError, StateError, UsageError)


@dataclass(frozen=True)
class Powers:
    """What the BMCs said.

    :param power: host -> ``On``, ``Off``, ``PoweringOn``...; :param unknown: host -> why its BMC did not tell.
    :param foreign: host -> how what answers at its BMC's address is another machine, or shows another certificate.
    """

    power: Mapping[str, str] = field(default_factory=dict)
    unknown: Mapping[str, str] = field(default_factory=dict)
    foreign: Mapping[str, str] = field(default_factory=dict)
    interrupted: bool = False

    def on(self, host: str) -> bool:
        """Whether it runs, so that starting it would be a reset."""
        return self.power.get(host, "") in ("On", "PoweringOn")


def look_at_power(desk: Desk, hosts: Sequence[str]) -> Powers:
    """Ask the BMCs of hosts. One that cannot be asked is told with its reason; nothing is raised for it."""
    from fabricctl.site.use import bmc_addresses

    known = bmc_addresses(desk.site)
    without = {host: "the site file gives no BMC address" for host in hosts if host not in known}
    try:
        found = _ask(desk, [host for host in hosts if host in known])
    except _TOLERATED as error:  # no password at all, say: the same for every one of them
        return Powers({}, {**without, **{host: _plain(error) for host in hosts if host in known}})
    return replace(found, unknown={**without, **found.unknown})


def _ask(desk: Desk, hosts: Sequence[str]) -> Powers:
    from fabricctl.cli.bmc.common import Desk as BmcDesk
    from fabricctl.cli.bmc.reading import ask_all
    from provision.report.common import reason
    from provision.workflows.desk import read_desk
    from provision.workflows.power import read_power

    if not hosts:
        return Powers()
    targets, states = read_desk(desk.site, desk.location, hosts)
    asked = ask_all(
        BmcDesk(desk.site, desk.location, targets, states, changes=True), read_power, "asking BMCs for power"
    )
    power = {host: view.power_words for host, view in asked.values.items()}
    failed = {one.target.host: (one.error, one.target) for one in asked.outcomes if one.error is not None}
    foreign = {host for host, (error, _) in failed.items() if isinstance(error, _FOREIGN)}
    why = {host: reason(error, target) for host, (error, target) in failed.items()}
    return Powers(
        power,
        {host: text for host, text in why.items() if host not in foreign},
        {host: text for host, text in why.items() if host in foreign},
        asked.interrupted,
    )


def _plain(error: FabricctlError) -> str:
    return str(error)
