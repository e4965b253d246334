"""Identities of a site file against all who name devices: its own groups and the plans of its fabrics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from fabricctl.discovery.names import name_key, short_key
from fabricctl.plan.model import Plan
from fabricctl.site.problems import nearest
from fabricctl.site.schema import Site
from fabricctl.site.use import all_hosts, all_switches, identity_guid

SPELLED = 3
"""Names whose nearest word is looked for: among 40,000 it takes a second each."""


class Stranger(NamedTuple):
    """An identity whose device nobody else names. :param text: one sentence; :param line: in the site file."""

    key: str
    device: str
    text: str
    line: int


def strange_identities(site: Site, plans: Mapping[str, Plan]) -> Iterator[Stranger]:
    """Identities of devices that neither the site nor a plan has.

    :param plans: fabric name -> plan. Nothing is said unless every fabric's plan is here: another may name the device.
        A plan's GUID that the site gives a name is such a device.
    """
    if not site.identities or set(plans) != set(site.fabrics):
        return
    names = dict.fromkeys([*all_switches(site), *all_hosts(site)])
    guids: set[str] = set()
    for plan in plans.values():
        for node in plan.fabric.nodes.values():
            names[node.host or node.name] = None
            guids.update(guid for guid in (node.guid, node.key) if guid)
            guids.update(guid for _, guid in node.port_guids)
    spelled = 0
    known = {form(name) for name in names for form in (name_key, short_key)}
    for key, name in site.identities.items():
        device = name.split()[0] if name.split() else name
        if name_key(device) in known or short_key(device) in known or identity_guid(key) in guids:
            continue
        spelled += 1
        hint = f"; {nearest(device, list(names))}" if spelled <= SPELLED else ""
        yield Stranger(key, device, f"unknown device {device!r}{hint}", site.line_of("identities", key))
