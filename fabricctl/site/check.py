"""A site file against itself and against its fabrics' plans.

What can be wrong with a site file that reads well: two things in one place, one address for two machines,
a BMC in a data network, a plan that uses what the site does not have. Each is a finding with its line.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from itertools import combinations

from fabricctl.hostset import fold
from fabricctl.plan.model import Plan
from fabricctl.site.check_identities import strange_identities
from fabricctl.site.check_install import install_findings
from fabricctl.site.check_plans import plan_findings
from fabricctl.site.fields import Address, Network
from fabricctl.site.findings import SiteFinding, SiteRule, fold_findings
from fabricctl.site.schema import Site
from fabricctl.site.use import all_hosts, bmc_addresses, heights, names_of, unit_places


def check_site(site: Site, plans: Mapping[str, Plan], found: Iterable[SiteFinding] = ()) -> list[SiteFinding]:
    """Check a site and its plans.

    :param plans: fabric name -> plan; a fabric without one here is not checked against the site.
    :param found: what was found of files that the site file names.
    :returns: findings, by rule and line; empty when all is well.
    """
    findings = [
        *_names(site),
        *_places(site),
        *_subnets(site),
        *_bmcs(site),
        *install_findings(site),
        *plan_findings(site, plans),
        *(
            SiteFinding(SiteRule.IDENTITY, one.key, one.text, one.line)
            for one in strange_identities(site, plans)
        ),
        *found,
    ]
    order = list(SiteRule)
    return sorted(fold_findings(findings), key=lambda finding: (order.index(finding.rule), finding.line))


def _names(site: Site) -> Iterator[SiteFinding]:
    """Racks among racks; hosts and switches together, because a name must tell one device."""
    yield from _twice(site, [("racks", host_set) for host_set in site.racks])
    groups = [("nodes", host_set) for host_set in site.nodes]
    yield from _twice(site, groups + [("switches", host_set) for host_set in site.switches])


def _twice(site: Site, groups: Iterable[tuple[str, str]]) -> Iterator[SiteFinding]:
    first: dict[str, tuple[str, str]] = {}
    for group in groups:
        clashes: dict[tuple[str, str], list[str]] = {}
        for name in names_of(group[1]):
            if name in first:
                clashes.setdefault(first[name], []).append(name)
            else:
                first[name] = group
        for other, names in clashes.items():
            text = f"stands in {other[0]} {other[1]} and again in {group[0]} {group[1]}"
            yield SiteFinding(SiteRule.NAMES, fold(names), text, site.line_of(*group))


def _places(site: Site) -> Iterator[SiteFinding]:
    units = {name: racks.units for host_set, racks in site.racks.items() for name in names_of(host_set)}
    tall = heights(site)
    taken: dict[tuple[str, int], str] = {}
    lines = _group_lines(site)
    for name, (rack, lowest) in unit_places(site).items():
        top = lowest + tall.get(name, 1) - 1
        line = lines[name]
        if top > units.get(rack, top):
            text = f"takes U{lowest} to U{top} of rack {rack}, which has {units[rack]} units"
            yield SiteFinding(SiteRule.PLACES, name, text, line)
        others = {taken[rack, unit]: unit for unit in range(top, lowest - 1, -1) if (rack, unit) in taken}
        for other, unit in others.items():
            text = f"rack {rack} U{unit} already holds {other}"
            yield SiteFinding(SiteRule.PLACES, name, text, line)
        for unit in range(lowest, top + 1):
            taken.setdefault((rack, unit), name)


def _group_lines(site: Site) -> dict[str, int]:
    """Device name -> line of its own place where written, else of its group."""
    lines: dict[str, int] = {}
    for section, groups in (("nodes", site.nodes), ("switches", site.switches)):
        for host_set, group in groups.items():
            lines.update(dict.fromkeys(names_of(host_set), site.line_of(section, host_set)))
            lines.update((name, site.line_of(section, host_set, "places", name)) for name in group.places)
    return lines


def _subnets(site: Site) -> Iterator[SiteFinding]:
    management = site.management
    named = [("bmc_subnets", index, net) for index, net in enumerate(management.bmc_subnets)]
    named += [("data_subnets", index, net) for index, net in enumerate(management.data_subnets)]
    for (key_a, _, net_a), (key_b, index, net_b) in combinations(named, 2):
        if net_a.version == net_b.version and net_a.overlaps(net_b):
            text = f"({key_b}) overlaps {net_a} ({key_a})"
            line = site.line_of("management", key_b, index)
            yield SiteFinding(SiteRule.SUBNETS, str(net_b), text, line)


def _bmcs(site: Site) -> Iterator[SiteFinding]:
    addresses = bmc_addresses(site)
    if not addresses:
        return
    lines = _bmc_lines(site)
    owner: dict[Address, str] = {}
    yield from _faults(site, addresses, lines)
    for name, address in addresses.items():
        if address in owner:
            text = f"BMC address {address} is also that of {owner[address]}"
            yield SiteFinding(SiteRule.BMC, name, text, lines[name])
        owner.setdefault(address, name)
    without = [host for host in all_hosts(site) if host not in addresses]
    if without:
        line = site.line_of("management", "bmc_addresses")
        yield SiteFinding(SiteRule.BMC, fold(without), "no BMC address is written", line)


def _faults(site: Site, addresses: Mapping[str, Address], lines: Mapping[str, int]) -> Iterator[SiteFinding]:
    """Addresses in wrong places, those of one line of the site file in one finding."""
    management = site.management
    if not management.bmc_subnets:
        text = "BMC addresses cannot be checked against the management subnets: bmc_subnets is not written"
        yield SiteFinding(SiteRule.BMC, fold(addresses), text, site.line_of("management", "bmc_addresses"))
    found: dict[tuple[int, str], dict[str, Address]] = {}
    for name, address in addresses.items():
        for what in _bmc_faults(address, management.bmc_subnets, management.data_subnets):
            found.setdefault((lines[name], what), {})[name] = address
    for (line, what), some in found.items():
        low, high = min(some.values(), key=_order), max(some.values(), key=_order)
        which = f"address {low} is" if len(some) == 1 else f"addresses {low} to {high} are"
        yield SiteFinding(SiteRule.BMC, fold(some), f"BMC {which} {what}", line)


def _order(address: Address) -> tuple[int, int]:
    return address.version, int(address)


def _bmc_lines(site: Site) -> dict[str, int]:
    host_sets = sorted(site.management.bmc_addresses, key=lambda host_set: len(names_of(host_set)) == 1)
    return {
        name: site.line_of("management", "bmc_addresses", host_set)
        for host_set in host_sets
        for name in names_of(host_set)
    }


def _bmc_faults(address: Address, management: list[Network], data: list[Network]) -> Iterator[str]:
    """What is wrong with the place of an address, in words that follow "is"."""
    home = [net for net in management if address in net]
    if management and not home:
        yield f"outside the management subnets ({', '.join(str(net) for net in management)})"
    for net in data:
        if address in net:
            yield f"inside the data subnet {net}"
    for net in home:
        if net.version == 4 and net.prefixlen < 31 and address == net.network_address:
            yield f"the network address of {net}"
        if net.version == 4 and net.prefixlen < 31 and address == net.broadcast_address:
            yield f"the broadcast address of {net}"
