"""What a command about BMCs starts from: their targets, and the states of their nodes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.reading import read_store
from fabricctl.nodes.model import IdentityKind, NodeRecord, NodeState
from provision.bmc.node_facts import BMC_PART
from provision.bmc.target import Target
from provision.workflows.targets import site_targets

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


def read_desk(
    site: Site, location: Location, hosts: Sequence[str] | None = None
) -> tuple[list[Target], Mapping[str, NodeState]]:
    """Targets of hosts (all with a BMC address when None) and the states of those with a node record.

    A store that was never written holds no states and no certificates.

    :raises UsageError: as :func:`site_targets` says; :raises StateError: the store cannot be read.
    """
    records: Mapping[str, NodeRecord] = {}
    pins: Mapping[str, str] = {}
    with read_store(location, site.name) as store:
        if store is not None:
            records = store.nodes.all(hosts)
            pins = store.pins.current()
    tags = {name: tag for name, record in records.items() if (tag := _tag(record))}
    targets = site_targets(site, hosts, pins=pins, tags=tags)
    return targets, {name: record.state for name, record in records.items()}


def _tag(record: NodeRecord) -> str:
    """Service tag of the chassis, empty when the record holds none."""
    held = record.current(IdentityKind.SERVICE_TAG)
    return next((identity.fact.value for identity in held if not identity.fact.part), "")


def read_macs(site: Site, location: Location) -> dict[str, str]:
    """Host -> MAC of its BMC by the node record, of those that have one.

    :raises StateError: the store cannot be read.
    """
    with read_store(location, site.name) as store:
        records = store.nodes.all() if store is not None else {}
    return {
        name: held.fact.value
        for name, record in records.items()
        for held in record.current(IdentityKind.MAC)
        if held.fact.part == BMC_PART
    }
