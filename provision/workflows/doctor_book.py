"""What is known of hosts before ``maas doctor`` asks anybody: the site file and what was harvested."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fabricctl.adapters.store.reading import read_store
from fabricctl.mac import Mac, parse_mac
from fabricctl.nodes.model import IdentityKind, NodeRecord
from fabricctl.site.use import all_hosts, bmc_addresses, entry_of_each
from provision.bmc.node_facts import BMC_PART
from provision.install.doctor_agree import View

if TYPE_CHECKING:
    from fabricctl.adapters.store.location import Location
    from fabricctl.site.provisioning import MaasHost
    from fabricctl.site.schema import Site


@dataclass(frozen=True)
class Book:
    """All hosts of a site.

    :param views: host -> what site file and node record say.
    :param boots: host -> MACs it may boot by, likeliest first.
    :param names: host -> its name with its domain.
    """

    views: Mapping[str, View]
    boots: Mapping[str, Sequence[Mac]]
    names: Mapping[str, str]

    @property
    def owners(self) -> dict[str, str]:
        """MAC -> host it belongs to."""
        return {mac: host for host, view in self.views.items() for mac in view.macs}


def read_book(site: Site, location: Location) -> Book:
    """Lay the node record over the site file.

    :raises StateError: the store cannot be read.
    """
    with read_store(location, site.name) as store:
        records = store.nodes.all() if store is not None else {}
    addresses = bmc_addresses(site)
    entries = entry_of_each(site.maas.hosts) if site.maas is not None else {}
    views: dict[str, View] = {}
    boots: dict[str, Sequence[Mac]] = {}
    names: dict[str, str] = {}
    domain = site.maas.roles.domain if site.maas is not None else ""
    for host in all_hosts(site):
        entry, held = entries.get(host), _held(records.get(host))
        chosen = _chosen(entry, held)
        boots[host] = chosen or list(held.values())
        tag = site.management.service_tags.get(host) or _tag(records.get(host))
        address = addresses.get(host)
        macs = frozenset([*held.values(), *chosen])
        views[host] = View(host, macs, str(address) if address is not None else "", tag)
        own = entry.domain if entry is not None and entry.domain else domain
        names[host] = f"{host}.{own}" if own else host
    return Book(views, boots, names)


def _held(record: NodeRecord | None) -> dict[str, Mac]:
    """Part -> MAC, of the host's own NICs."""
    held = record.current(IdentityKind.MAC) if record is not None else ()
    found = {identity.fact.part: parse_mac(identity.fact.value) for identity in held}
    return {
        part: mac
        for part, mac in found.items()
        if mac is not None and part != BMC_PART and not part.startswith(f"{BMC_PART} ")
    }


def _chosen(entry: MaasHost | None, held: Mapping[str, Mac]) -> list[Mac]:
    """The MAC of the NIC the site file says it boots from."""
    if entry is None or entry.boot_nic is None:
        return []
    mac = parse_mac(entry.boot_nic) or held.get(entry.boot_nic)
    return [mac] if mac is not None else []


def _tag(record: NodeRecord | None) -> str:
    held = record.current(IdentityKind.SERVICE_TAG) if record is not None else ()
    return next((identity.fact.value for identity in held if not identity.fact.part), "")
