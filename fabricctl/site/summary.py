"""A site file on one screen, as text and rows; who prints it decides how."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from fabricctl.hostset import fold
from fabricctl.plan.model import Plan
from fabricctl.plan.summary import LoadGroup, summarise, tier_name
from fabricctl.site.panels import panels_by_device, site_panels
from fabricctl.site.schema import FabricEntry, Placed, Site
from fabricctl.site.use import all_hosts, all_switches, host_units, names_of, plan_reserved, switch_roles
from fabricctl.words import many


class SummaryTable(NamedTuple):
    """One table. :param rows: as many cells as columns."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[tuple[str, ...]]


def site_line(site: Site) -> str:
    """``example-511: 513 hosts, 320 switches, 84 racks, 1 fabric``."""
    racks = sum(len(names_of(host_set)) for host_set in site.racks)
    counts = (
        (len(set(all_hosts(site))), "host"),
        (len(set(all_switches(site))), "switch"),
        (racks, "rack"),
        (len(site.fabrics), "fabric"),
    )
    return f"{site.name}: " + ", ".join(many(number, word) for number, word in counts)


def plan_line(site: Site, fabric: str, plan: Plan) -> str:
    """Links by tiers and what leaves carry, ports kept free counted as down.

    ``compute: 4,090 HCA-leaf, 4,096 leaf-spine and 4,096 spine-core links; 128 leaves 32 down, 32 up (1:1)``
    """
    links_at = plan.fabric.links
    kept = {port: holder for port, holder in plan_reserved(site, plan).items() if port not in links_at}
    told = summarise(replace(plan, reserved=kept))
    parts = [f"{item.links:,} {tier_name(item.low)}-{tier_name(item.high)}" for item in told.tier_links]
    links = " and ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:]))) or "no"
    loads = [_load_text(group) for group in told.loads]
    return "; ".join([f"{fabric}: {links} links", *loads[:3], *(["..."] if len(loads) > 3 else [])])


def _load_text(group: LoadGroup) -> str:
    ratio = "no uplink" if group.ratio is None else f"{round(group.ratio, 2):g}:1"
    return f"{many(len(group.leaves), 'leaf')} {group.down} down, {group.up} up ({ratio})"


def site_tables(site: Site) -> Iterator[SummaryTable]:
    """Hosts, switches, fabrics, then reservations and maintenance where there are any."""
    yield SummaryTable("Hosts", ("hosts", "count", "model", "HCAs", "SU", "place"), _node_rows(site))
    yield SummaryTable(
        "Switches", ("switches", "count", "model", "tier", "rails", "SU", "place"), _switch_rows(site)
    )
    panels = _panel_rows(site)
    if panels:
        yield SummaryTable("Panels", ("model", "side", "rows", "port numbers", "cages"), panels)
    fabrics = [(name, *_fabric_cells(entry)) for name, entry in site.fabrics.items()]
    yield SummaryTable("Fabrics", ("fabric", "plan", "link classes", "default", "subnet managers"), fabrics)
    if site.reserved_ports:
        rows = [(entry.devices, ",".join(entry.ports), entry.for_hosts) for entry in site.reserved_ports]
        yield SummaryTable("Reserved ports", ("switches", "ports", "for"), list(rows))
    if site.expected_absent:
        absent = [
            (
                entry.devices,
                ",".join(entry.ports) or "all",
                str(entry.until or "further notice"),
                entry.reason,
            )
            for entry in site.expected_absent
        ]
        yield SummaryTable("Expected absent", ("devices", "ports", "until", "reason"), absent)
    management = site.management
    if management.bmc_subnets or management.data_subnets:
        nets = [("BMC", " ".join(map(str, management.bmc_subnets)))]
        nets.append(("data", " ".join(map(str, management.data_subnets))))
        yield SummaryTable("Subnets", ("use", "subnets"), [row for row in nets if row[1]])


def _node_rows(site: Site) -> list[tuple[str, ...]]:
    units = host_units(site)
    rows: list[tuple[str, ...]] = []
    for host_set, group in site.nodes.items():
        names = names_of(host_set)
        model = site.node_models[group.model]
        hcas = f"{len(model.hcas)} ({fold(model.hcas)})"
        told = {str(units[name]) for name in names if name in units}
        rows.append((host_set, str(len(names)), group.model, hcas, _span(told), _place_text(group)))
    return rows


def _switch_rows(site: Site) -> list[tuple[str, ...]]:
    roles = switch_roles(site)
    return [
        (
            host_set,
            str(len(names_of(host_set))),
            group.model,
            group.tier,
            _span({str(roles[name].rail) for name in names_of(host_set) if roles[name].rail}),
            _span({str(roles[name].unit) for name in names_of(host_set) if roles[name].unit}),
            _place_text(group),
        )
        for host_set, group in site.switches.items()
    ]


def _panel_rows(site: Site) -> list[tuple[str, ...]]:
    """The faces of the models in use, each part with its status: what is only usual is called so."""
    by_device = panels_by_device(site, site_panels(site))
    used = {panel.name: panel for panel in by_device.values()}
    return [
        (
            panel.name,
            panel.side_words or "unknown",
            panel.status.get("rows", "unknown"),
            panel.status.get("hca" if panel.kind == "host" else "number", "unknown"),
            f"{len(panel.cages)} {panel.cage_type}".strip(),
        )
        for panel in used.values()
    ]


def _span(numbers: set[str]) -> str:
    return fold(numbers).strip("[]") if numbers else "-"


def _place_text(group: Placed) -> str:
    rule = group.place
    parts = []
    if rule is not None:
        each = f", {rule.per_rack} per rack every {rule.step}U" if rule.per_rack > 1 else ""
        parts.append(f"{rule.racks} from U{rule.first_unit}{each}")
    if group.places:
        parts.append(f"{len(group.places)} written out")
    return "; ".join(parts) or "-"


def _fabric_cells(entry: FabricEntry) -> tuple[str, str, str, str]:
    inline = entry.plan.inline
    plan = str(entry.plan.file) if inline is None else next(iter(inline))
    classes = ", ".join(f"{name} {link_class.rate}" for name, link_class in entry.link_classes.items())
    return plan, classes or "-", entry.default_class or "-", entry.subnet_managers or "-"
