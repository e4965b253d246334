"""The BMCs a command is about, from the site file and the certificates that were recorded."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.errors import UsageError
from fabricctl.hostset import fold
from fabricctl.near import did_you_mean
from fabricctl.site.management import BmcAccess
from fabricctl.site.use import all_hosts, bmc_access, bmc_addresses, model_names
from provision.bmc.target import Target, Trust, Verify

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


def site_targets(
    site: Site,
    hosts: Sequence[str] | None = None,
    *,
    pins: Mapping[str, str] | None = None,
    tags: Mapping[str, str] | None = None,
) -> list[Target]:
    """Targets of hosts, in the order given; of all hosts of the site that have a BMC address when none are given.

    :param pins: host -> SHA-256 fingerprint recorded for its BMC.
    :param tags: host -> service tag of the node record; the site file's word comes first.
    :raises UsageError: a host is not in the site, or has no BMC address there.
    """
    addresses, access, models = bmc_addresses(site), bmc_access(site), model_names(site)
    known = all_hosts(site)
    names = [host for host in known if host in addresses] if hosts is None else list(dict.fromkeys(hosts))
    unknown = next((name for name in names if name not in addresses and name not in known), None)
    if unknown is not None:
        raise UsageError(f"the site has no node {unknown!r}", hint=did_you_mean(unknown, known))
    without = [name for name in names if name not in addresses]
    if without:
        raise UsageError(
            f"{site.path} gives no BMC address for {fold(without)}",
            hint="write it under management.bmc_addresses",
        )
    site_tags = site.management.service_tags
    return [
        Target(
            host=name,
            address=str(addresses[name]),
            port=access.get(name, _DEFAULT).port,
            model=models.get(name, ""),
            service_tag=(site_tags.get(name) or (tags or {}).get(name) or "").upper(),
            trust=_trust(access.get(name, _DEFAULT), (pins or {}).get(name, ""), site.path),
            basic=access.get(name, _DEFAULT).basic,
        )
        for name in names
    ]


def refuse_shared(site: Site, targets: Iterable[Target]) -> None:
    """Change nothing through an address that the site gives to two hosts: who is behind it is not known.

    :raises UsageError: of these targets, one has the address and port of another host of the site.
    """
    access = bmc_access(site)
    hosts: dict[tuple[str, int], list[str]] = {}
    for host, address in bmc_addresses(site).items():
        hosts.setdefault((str(address), access.get(host, _DEFAULT).port), []).append(host)
    behind = [hosts.get((target.address, target.port), []) for target in targets]
    names = next((names for names in behind if len(names) > 1), [])
    if names:
        raise UsageError(
            f"{site.path} gives one BMC address to {fold(names)}: nothing was changed",
            hint="correct management.bmc_addresses; fabricctl bmc scan says who answers where",
        )


_DEFAULT = BmcAccess()


def _trust(access: BmcAccess, fingerprint: str, site_path: str) -> Trust:
    ca = str(Path(site_path).parent / access.ca) if access.ca else ""
    return Trust(Verify(access.verify), fingerprint, ca, access.tls_floor)
