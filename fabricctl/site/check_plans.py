"""The site against the plans of its fabrics: same devices, ports that exist, reservations kept, roles agreed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from fabricctl.fabric import Node, NodeKind, Port
from fabricctl.hostset import expand, fold
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.checks import PlanSeverity, check_plan
from fabricctl.plan.model import Plan
from fabricctl.site.findings import SiteFinding, SiteRule
from fabricctl.site.problems import nearest
from fabricctl.site.schema import Site
from fabricctl.site.use import (
    SwitchRole,
    host_units,
    identities,
    models_by_switch,
    node_models,
    reserved_ports,
    switch_roles,
)


def plan_findings(site: Site, plans: Mapping[str, Plan]) -> Iterator[SiteFinding]:
    """Findings of every plan, then what no plan uses. :param plans: fabric name -> plan."""
    known = _Known(site)
    used: set[str] = set()
    taken: dict[tuple[str, str, int], str] = {}
    for fabric, plan in plans.items():
        line = site.line_of("fabrics", fabric, "plan")
        names = {key: known.device(node) for key, node in plan.fabric.nodes.items()}
        used.update(names.values())
        yield from _strangers(known, plan, names, line)
        yield from _degrees(known, plan, names, line)
        yield from _reservations(site, plan, names, line)
        yield from _roles(known, plan, names, line)
        yield from _shared(fabric, plan, names, taken, line)
        yield from (
            SiteFinding(SiteRule.PLAN, fabric, found.text.rstrip("."), line)
            for found in check_plan(plan)
            if found.severity is not PlanSeverity.NOTE
        )
    if plans and set(plans) == set(site.fabrics):
        yield from _unplanned(site, known, used)


class _Known:
    """What the site knows of each device name."""

    def __init__(self, site: Site) -> None:
        self.hosts: dict[str, NodeModel] = node_models(site)
        self.switches: dict[str, SwitchModel] = models_by_switch(site)
        self.roles: dict[str, SwitchRole] = switch_roles(site)
        self.units = host_units(site)
        self.rails = {
            (name, hca): index % (entry.rails or len(entry.hcas)) + 1
            for name, entry in site.node_models.items()
            for index, hca in enumerate(entry.hcas)
        }
        self.names = identities(site)

    def device(self, node: Node) -> str:
        """Name of the device a planned node is: the identity of its GUID first, its host, its own name."""
        declared = self.names.get(node.guid or "") or self.names.get(node.key)
        if declared:
            return declared.split()[0]
        return node.host or node.name


def _strangers(known: _Known, plan: Plan, names: Mapping[str, str], line: int) -> Iterator[SiteFinding]:
    """Planned devices the site lacks; of a kind it names none of, the plan alone says which there are."""
    for kind, what, valid in (
        (NodeKind.HCA, "host", known.hosts),
        (NodeKind.SWITCH, "switch", known.switches),
    ):
        planned = {names[key] for key, node in plan.fabric.nodes.items() if node.kind is kind}
        strange = sorted(planned.difference(valid)) if valid else []
        if strange:
            text = f"planned, but no {what} of the site; {nearest(strange[0], list(valid))}"
            yield SiteFinding(SiteRule.PLANNED, fold(strange), text, line)


def _unplanned(site: Site, known: _Known, used: set[str]) -> Iterator[SiteFinding]:
    for section, valid in (("nodes", known.hosts), ("switches", known.switches)):
        idle = [name for name in valid if name not in used]
        if idle:
            text = "stands in the site, but no fabric's plan uses it"
            yield SiteFinding(SiteRule.PLANNED, fold(idle), text, site.line_of(section))


def _degrees(known: _Known, plan: Plan, names: Mapping[str, str], line: int) -> Iterator[SiteFinding]:
    highest: dict[str, int] = {}
    for port in plan.fabric.links:
        highest[port.node] = max(highest.get(port.node, 0), port.number)
    hcas: dict[str, list[str]] = {}
    for key, node in plan.fabric.nodes.items():
        name, top = names[key], highest.get(key, 0)
        if node.kind is NodeKind.SWITCH and name in known.switches:
            model = known.switches[name]
            if top > model.ports:
                text = f"the plan uses port {top}, a {model.name} has {model.ports}"
                yield SiteFinding(SiteRule.DEGREE, name, text, line)
        elif node.kind is NodeKind.HCA and name in known.hosts:
            host_model = known.hosts[name]
            if top > host_model.ports_per_hca:
                text = f"the plan uses port {top} of {node.hca}, a {host_model.name} uses {host_model.ports_per_hca}"
                yield SiteFinding(SiteRule.DEGREE, name, text, line)
            if not _has_hca(host_model, node.hca):
                hcas.setdefault(f"{node.hca} {host_model.name}", []).append(name)
    for words, hosts in hcas.items():
        hca, _, model_name = words.partition(" ")
        valid = next(list(model.hcas) for model in known.hosts.values() if model.name == model_name)
        text = f"the plan uses HCA {hca}, a {model_name} has none of that name; {nearest(hca, valid)}"
        yield SiteFinding(SiteRule.DEGREE, fold(hosts), text, line)


def _has_hca(model: NodeModel, hca: str | None) -> bool:
    """True for a name of the model, for its running number, and where the plan does not say."""
    if hca is None or hca in model.hcas:
        return True
    return hca in map(str, range(1, len(model.hcas) + 1))


def _reservations(site: Site, plan: Plan, names: Mapping[str, str], line: int) -> Iterator[SiteFinding]:
    keys = {name: key for key, name in names.items() if plan.fabric.nodes[key].kind is NodeKind.SWITCH}
    for port, holders in reserved_ports(site).items():
        key = keys.get(port.node)
        peer = plan.fabric.peer(Port(key, port.number)) if key is not None else None
        if peer is not None and names[peer.node] not in expand(holders):
            text = f"port {port.number} is reserved for {holders}, the plan gives it to {names[peer.node]}"
            yield SiteFinding(SiteRule.RESERVED, port.node, text, line)


def _shared(
    fabric: str, plan: Plan, names: Mapping[str, str], taken: dict[tuple[str, str, int], str], line: int
) -> Iterator[SiteFinding]:
    """Ports that an earlier fabric's plan uses too. :param taken: (device, HCA, port) -> fabric, filled here."""
    for node_key, number in plan.fabric.links:
        hca = plan.fabric.nodes[node_key].hca or ""
        other = taken.setdefault((names[node_key], hca, number), fabric)
        if other != fabric:
            text = f"port {number} is planned in fabric {other} and again in {fabric}"
            yield SiteFinding(SiteRule.PLAN, " ".join(filter(None, (names[node_key], hca))), text, line)


def _roles(known: _Known, plan: Plan, names: Mapping[str, str], line: int) -> Iterator[SiteFinding]:
    """Where both site and plan tell tier, rail or scalable unit, they must agree."""
    wrong: dict[str, list[str]] = {}
    for key, node in plan.fabric.nodes.items():
        for word, here, there in _told(known, names[key], node):
            if here is not None and there is not None and here != there:
                subject = f"{node.hca}: {word}" if word == "rail" and node.hca else word
                wrong.setdefault(f"{subject} {here} in the site, {there} in the plan", []).append(names[key])
    for text, devices in wrong.items():
        yield SiteFinding(SiteRule.ROLE, fold(devices), text, line)


def _told(known: _Known, name: str, node: Node) -> Iterator[tuple[str, int | None, int | None]]:
    """What is said twice of a node: word, the site's value, the plan's value."""
    role, model = known.roles.get(name), known.hosts.get(name)
    if node.kind is NodeKind.SWITCH and role is not None:
        yield "tier", role.tier, node.tier
        yield "rail", role.rail, node.rail
        yield "scalable unit", role.unit, node.unit
    elif node.kind is NodeKind.HCA and model is not None:
        yield "rail", known.rails.get((model.name, node.hca or "")), node.rail
        yield "scalable unit", known.units.get(name), node.unit
