"""What other steps ask of a site, as plain values. Everything here is derived, nothing is decided."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import date
from functools import lru_cache
from typing import NamedTuple, TypeVar

from fabricctl.fabric import NodeKind, Place, Port
from fabricctl.guid import parse_guid
from fabricctl.hostset import expand
from fabricctl.model_tables import BUILTIN, find_model, model_of_panel
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.lengths import RackSpot
from fabricctl.plan.model import Plan
from fabricctl.rates import Rate
from fabricctl.site.fields import Address
from fabricctl.site.management import BmcAccess
from fabricctl.site.panels import site_panels
from fabricctl.site.schema import TIER_NUMBER, FabricEntry, PlaceRule, Site, UnitPlace

T = TypeVar("T")
_WORD = re.compile(r"\{(\w+)(?::[0-9]+)?\}")
_RANGE = re.compile(r"([0-9]{1,5})-([0-9]{1,5})\Z")
_GUID = re.compile(r"0[xX][0-9a-fA-F]{1,16}\Z|[0-9a-fA-F]{16}\Z|[0-9a-fA-F]{2,4}(?:[:.-][0-9a-fA-F]{2,4})+\Z")


class SwitchRole(NamedTuple):
    """What a switch is in its fabric. :param tier: 1 leaf, 2 spine, 3 core; the rest as in ``Node``."""

    tier: int
    rail: int | None
    unit: int | None


class Absences(NamedTuple):
    """What may be missing today: device or port -> reason."""

    devices: dict[str, str]
    ports: dict[Port, str]


@lru_cache(maxsize=4096)
def names_of(host_set: str) -> tuple[str, ...]:
    """Names of a host set in written order."""
    return tuple(expand(host_set))


def all_hosts(site: Site) -> list[str]:
    """Every host, in written order; a host of two groups stands twice."""
    return [name for host_set in site.nodes for name in names_of(host_set)]


def all_switches(site: Site) -> list[str]:
    """Every switch, in written order; a switch of two groups stands twice."""
    return [name for host_set in site.switches for name in names_of(host_set)]


def switch_models(site: Site) -> dict[str, SwitchModel]:
    """Model name -> model: the built-in ones, changed and extended by the site's ``switch_models``."""
    models: dict[str, SwitchModel] = {}
    panels = site_panels(site) if any(entry.panel for entry in site.switch_models.values()) else {}
    for name, entry in site.switch_models.items():
        base = find_model(entry.like) if entry.like else None
        if entry.panel is not None and name in panels:
            base = model_of_panel(panels[name])
        ports = entry.ports or (base.ports if base else 0)
        labels = {**(base.labels if base else {}), **{str(port): port for port in range(1, ports + 1)}}
        labels.update((label.strip().lower(), port) for label, port in entry.labels.items())
        shown = {**(base.shown if base else {}), **{p: s for s, p in entry.labels.items()}, **entry.shown}
        models[name] = SwitchModel(
            name,
            ports,
            tuple(entry.aliases),
            {label: port for label, port in labels.items() if port <= ports},
            {port: label for port, label in shown.items() if port <= ports},
            "confirmed",
            site.path or "site file",
            {port: first for port, first in base.split_ready.items() if port <= ports} if base else {},
            base.cages if base and base.ports == ports else 0,
        )
    models.update((name, model) for name, model in BUILTIN.items() if name not in models)
    return models


def models_by_switch(site: Site) -> dict[str, SwitchModel]:
    """Switch name -> its model."""
    models = switch_models(site)
    found: dict[str, SwitchModel] = {}
    for host_set, group in site.switches.items():
        model = find_model(group.model, models)
        if model is not None:
            found.update(dict.fromkeys(names_of(host_set), model))
    return found


def node_models(site: Site) -> dict[str, NodeModel]:
    """Host name -> its model, HCAs in rail order."""
    models = {
        name: NodeModel(name, tuple(entry.hcas), entry.gpus, entry.ports_per_hca)
        for name, entry in site.node_models.items()
    }
    return {
        host: models[group.model]
        for host_set, group in site.nodes.items()
        if group.model in models
        for host in names_of(host_set)
    }


def hca_rails(site: Site) -> dict[str, dict[str, int]]:
    """Host name -> HCA name -> 1-based rail; hosts of one group share the inner mapping."""
    rails: dict[str, dict[str, int]] = {}
    for host_set, group in site.nodes.items():
        model = site.node_models.get(group.model)
        if model is not None:
            count = model.rails or len(model.hcas)
            of = {hca: index % count + 1 for index, hca in enumerate(model.hcas)}
            rails.update(dict.fromkeys(names_of(host_set), of))
    return rails


def host_units(site: Site) -> dict[str, int]:
    """Host name -> scalable unit, of the groups that tell how many hosts a unit has."""
    return {
        host: index // group.hosts_per_su + 1
        for host_set, group in site.nodes.items()
        if group.hosts_per_su is not None
        for index, host in enumerate(names_of(host_set))
    }


def switch_roles(site: Site) -> dict[str, SwitchRole]:
    """Switch name -> tier, rail and unit, from its group and the numbers in its name."""
    roles: dict[str, SwitchRole] = {}
    for host_set, group in site.switches.items():
        pattern = name_pattern(group.named) if group.named else None
        for name in names_of(host_set):
            match = pattern.fullmatch(name) if pattern is not None else None
            told = {key: int(value) for key, value in match.groupdict().items()} if match else {}
            rail, unit = told.get("rail", group.rail), told.get("su", group.su)
            roles[name] = SwitchRole(TIER_NUMBER[group.tier], rail, unit)
    return roles


def name_pattern(template: str) -> re.Pattern[str]:
    """``leaf-su{su}-r{rail}`` -> a pattern with the groups ``su`` and ``rail``; other words are skipped.

    A width as in a plan's name template (``{su:02}``) is accepted and not enforced.
    """
    text, seen = "", set[str]()
    for index, part in enumerate(_WORD.split(template)):
        if index % 2 == 0:
            text += re.escape(part)
        elif part in ("rail", "su") and part not in seen:
            seen.add(part)
            text += rf"(?P<{part}>[0-9]{{1,9}})"
        else:
            text += r"[0-9]{1,9}"
    return re.compile(text)


def places(site: Site) -> dict[str, Place]:
    """Device name -> rack and lowest rack unit (``"17"``), of the devices whose place is written."""
    return {name: Place(rack, str(unit)) for name, (rack, unit) in unit_places(site).items()}


def unit_places(site: Site) -> dict[str, tuple[str, int]]:
    """Device name -> (rack, lowest rack unit)."""
    found: dict[str, tuple[str, int]] = {}
    for host_set, group in (*site.nodes.items(), *site.switches.items()):
        if group.place is not None:
            found.update(zip(names_of(host_set), _filled(group.place), strict=False))
        found.update((name, _written(place)) for name, place in group.places.items())
    return found


def rack_spots(site: Site) -> dict[str, RackSpot]:
    """Rack name -> row, position in it and height."""
    return {
        name: RackSpot(entry.row, entry.first_position + index, entry.units)
        for host_set, entry in site.racks.items()
        for index, name in enumerate(names_of(host_set))
    }


def _filled(rule: PlaceRule) -> Iterator[tuple[str, int]]:
    for rack in names_of(rule.racks):
        for index in range(rule.per_rack):
            yield rack, rule.first_unit + index * rule.step


def _written(place: UnitPlace) -> tuple[str, int]:
    return place.rack, place.unit


def heights(site: Site) -> dict[str, int]:
    """Device name -> height in rack units; built-in switch models are one unit high (their data sheets)."""
    found: dict[str, int] = {}
    for host_set, nodes in site.nodes.items():
        node_model = site.node_models.get(nodes.model)
        found.update(dict.fromkeys(names_of(host_set), node_model.height_u if node_model else 1))
    for host_set, switches in site.switches.items():
        entry = site.switch_models.get(switches.model)
        found.update(dict.fromkeys(names_of(host_set), entry.height_u if entry else 1))
    return found


def identity_guid(text: str) -> str | None:
    """Canonical GUID when an identity's key is one: 0x..., 16 digits or grouped; None for a serial."""
    return parse_guid(text) if _GUID.match(text.strip()) else None


def identities(site: Site) -> dict[str, str]:
    """Canonical GUID or serial as written -> name."""
    return {identity_guid(key) or key.strip(): name for key, name in site.identities.items()}


def link_class(
    fabric: FabricEntry, tier_a: int | None, tier_b: int | None, devices: tuple[str, str]
) -> tuple[str, Rate] | None:
    """Class name and expected rate of a link: the first class that fits, else the default, else None.

    :param tier_a: tiers of the two ends as in ``Node.tier``, None when unknown.
    :param devices: names of the two devices (of an HCA, its host).
    """
    for name, entry in fabric.link_classes.items():
        if entry.tiers is None and entry.devices is None:
            continue
        if entry.tiers is not None:
            wanted = tuple(TIER_NUMBER[tier] for tier in entry.tiers)
            if (tier_a, tier_b) not in (wanted, wanted[::-1]):
                continue
        if entry.devices is not None and not set(devices).intersection(_name_set(entry.devices)):
            continue
        return name, entry.rate
    default = fabric.link_classes.get(fabric.default_class or "")
    return None if default is None else (str(fabric.default_class), default.rate)


@lru_cache(maxsize=256)
def _name_set(host_set: str) -> frozenset[str]:
    return frozenset(names_of(host_set))


def port_numbers(texts: list[str], model: SwitchModel | None) -> tuple[list[int], list[str]]:
    """Port numbers of a ``ports`` list and the texts that name none.

    :param texts: numbers, ranges (``25-32``) or labels; :param model: None accepts numbers only.
    """
    ports: list[int] = []
    unknown: list[str] = []
    limit = model.ports if model is not None else 65_535
    for text in texts:
        span = _RANGE.match(text.strip())
        if span is not None and 1 <= int(span[1]) <= int(span[2]) <= limit:
            ports.extend(range(int(span[1]), int(span[2]) + 1))
            continue
        number = model.port_of(text) if model is not None else None
        if number is None and re.fullmatch(r"[0-9]{1,5}", text.strip()):
            number = int(text)
        if number is None or not 1 <= number <= limit:
            unknown.append(text)
        else:
            ports.append(number)
    return ports, unknown


def reserved_ports(site: Site) -> dict[Port, str]:
    """Reserved switch port (device by name) -> host set that may be there."""
    models = models_by_switch(site)
    return {
        Port(device, number): entry.for_hosts
        for entry in site.reserved_ports
        for device in names_of(entry.devices)
        for number in port_numbers(entry.ports, models.get(device))[0]
    }


def plan_reserved(site: Site, plan: Plan) -> dict[Port, str]:
    """Reserved ports by the plan's node keys: the plan's own and those of the site that it has a switch for."""
    keys = {node.name: key for key, node in plan.fabric.nodes.items() if node.kind is NodeKind.SWITCH}
    of_site = {
        Port(keys[port.node], port.number): holders
        for port, holders in reserved_ports(site).items()
        if port.node in keys
    }
    return {**of_site, **plan.reserved}


def expected_absent(site: Site, today: date) -> Absences:
    """What may be missing on a day; entries whose ``until`` has passed no longer count."""
    models = models_by_switch(site)
    absences = Absences({}, {})
    for entry in site.expected_absent:
        if entry.until is not None and entry.until < today:
            continue
        for device in names_of(entry.devices):
            if not entry.ports:
                absences.devices[device] = entry.reason
            for number in port_numbers(entry.ports, models.get(device))[0]:
                absences.ports[Port(device, number)] = entry.reason
    return absences


def bmc_addresses(site: Site) -> dict[str, Address]:
    """Device name -> BMC address; an entry that names one device comes before a set that holds it."""
    found: dict[str, Address] = {}
    entries: Mapping[str, Address] = site.management.bmc_addresses
    for host_set, first in sorted(entries.items(), key=lambda item: len(names_of(item[0])) == 1):
        for index, name in enumerate(names_of(host_set)):
            found[name] = first + index
    return found


def bmc_access(site: Site) -> dict[str, BmcAccess]:
    """Device name -> how its BMC is spoken to, of those that have an entry; one for one device comes first."""
    return entry_of_each(site.management.bmc_access)


def entry_of_each(entries: Mapping[str, T]) -> dict[str, T]:
    """Device name -> its entry, of entries for host sets; one for one device comes before a set that holds it."""
    found: dict[str, T] = {}
    for host_set, entry in sorted(entries.items(), key=lambda item: len(names_of(item[0])) == 1):
        found.update(dict.fromkeys(names_of(host_set), entry))
    return found


def model_names(site: Site) -> dict[str, str]:
    """Host -> name of its node model."""
    return {name: group.model for host_set, group in site.nodes.items() for name in names_of(host_set)}
