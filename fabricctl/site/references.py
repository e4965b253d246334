"""Words of a site file that must name something else in it: models, racks, devices, ports, classes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from fabricctl.model_tables import BUILTIN, find_model
from fabricctl.site.panels import panel_problems
from fabricctl.site.problems import Problem, problem_at, unknown_names
from fabricctl.site.references_install import install_problems
from fabricctl.site.schema import FabricEntry, Placed, Site, Switches
from fabricctl.site.use import (
    all_hosts,
    all_switches,
    models_by_switch,
    name_pattern,
    names_of,
    node_models,
    port_numbers,
    switch_models,
)
from fabricctl.site.yaml_lines import KeyPath


def reference_problems(site: Site) -> list[Problem]:
    """Everything in the site file that names what is not there."""
    hosts, switches = all_hosts(site), all_switches(site)
    return [
        *_models(site),
        *(problem_at(keys, text) for keys, text in panel_problems(site)),
        *_places(site),
        *_name_patterns(site),
        *(
            problem
            for name, entry in site.fabrics.items()
            for problem in _fabric(name, entry, hosts, switches)
        ),
        *_ports(site, hosts, switches),
        *_management(site, hosts, switches),
        *_identities(site, switches),
        *install_problems(site, hosts),
    ]


def _models(site: Site) -> Iterator[Problem]:
    for name, entry in site.switch_models.items():
        keys: KeyPath = ("switch_models", name)
        base = find_model(entry.like) if entry.like is not None else None
        if entry.like is not None and base is None:
            yield from unknown_names((*keys, "like"), "built-in switch model", [entry.like], BUILTIN)
            continue
        limit = entry.ports or (base.ports if base else 1024 if entry.panel else 0)
        for label, port in entry.labels.items():
            if not 1 <= port <= limit:
                yield problem_at((*keys, "labels", label), f"expected a port from 1 to {limit}, found {port}")
        for port in entry.shown:
            if not 1 <= port <= limit:
                yield problem_at((*keys, "shown"), f"expected a port from 1 to {limit}, found {port}")
    for host_set, nodes in site.nodes.items():
        yield from unknown_names(("nodes", host_set, "model"), "node model", [nodes.model], site.node_models)
    models = switch_models(site)
    for host_set, switches in site.switches.items():
        if find_model(switches.model, models) is None:
            yield from unknown_names(
                ("switches", host_set, "model"), "switch model", [switches.model], models
            )


def _places(site: Site) -> Iterator[Problem]:
    racks = [name for host_set in site.racks for name in names_of(host_set)]
    groups: list[tuple[str, str, Placed]] = [("nodes", key, nodes) for key, nodes in site.nodes.items()]
    groups += [("switches", key, switches) for key, switches in site.switches.items()]
    for section, host_set, group in groups:
        keys: KeyPath = (section, host_set)
        names = names_of(host_set)
        yield from unknown_names((*keys, "places"), f"device of {host_set}", group.places, names)
        for name, place in group.places.items():
            yield from unknown_names((*keys, "places", name, "rack"), "rack", [place.rack], racks)
        rule = group.place
        if rule is None:
            continue
        yield from unknown_names((*keys, "place", "racks"), "rack", names_of(rule.racks), racks)
        room = len(names_of(rule.racks)) * rule.per_rack
        if room < len(names):
            text = f"expected room for {len(names)} devices, found {room} ({rule.per_rack} per rack)"
            yield problem_at((*keys, "place"), text)


def _name_patterns(site: Site) -> Iterator[Problem]:
    for host_set, group in site.switches.items():
        if group.named is None:
            continue
        keys: KeyPath = ("switches", host_set, "named")
        yield from _twice_told(group, keys)
        pattern = name_pattern(group.named)
        strange = [name for name in names_of(host_set) if pattern.fullmatch(name) is None]
        if strange:
            yield problem_at(
                keys, f"expected a pattern of every name, found {strange[0]!r} not of {group.named!r}"
            )


def _twice_told(group: Switches, keys: KeyPath) -> Iterator[Problem]:
    for word, value in (("rail", group.rail), ("su", group.su)):
        if value is not None and word in name_pattern(group.named or "").groupindex:
            yield problem_at(keys, f"expected {word} either here or as its own key, found both")


def _fabric(name: str, entry: FabricEntry, hosts: list[str], switches: list[str]) -> Iterator[Problem]:
    keys: KeyPath = ("fabrics", name)
    if entry.default_class is not None:
        yield from unknown_names(
            (*keys, "default_class"), "link class", [entry.default_class], entry.link_classes
        )
    for word, link_class in entry.link_classes.items():
        if link_class.devices is not None:
            where = (*keys, "link_classes", word, "devices")
            yield from unknown_names(where, "device", names_of(link_class.devices), [*hosts, *switches])
    if entry.subnet_managers is not None:
        yield from unknown_names(
            (*keys, "subnet_managers"), "device", names_of(entry.subnet_managers), [*hosts, *switches]
        )


def _ports(site: Site, hosts: list[str], switches: list[str]) -> Iterator[Problem]:
    for index, reserved in enumerate(site.reserved_ports):
        keys: KeyPath = ("reserved_ports", index)
        devices = names_of(reserved.devices)
        yield from unknown_names((*keys, "devices"), "switch", devices, switches)
        yield from unknown_names((*keys, "for"), "host", names_of(reserved.for_hosts), hosts)
        yield from _unknown_ports(site, (*keys, "ports"), devices, reserved.ports)
    for index, absent in enumerate(site.expected_absent):
        keys = ("expected_absent", index)
        devices = names_of(absent.devices)
        valid = switches if absent.ports else [*hosts, *switches]
        yield from unknown_names((*keys, "devices"), "switch" if absent.ports else "device", devices, valid)
        yield from _unknown_ports(site, (*keys, "ports"), devices, absent.ports)


def _unknown_ports(site: Site, keys: KeyPath, devices: Iterable[str], ports: list[str]) -> Iterator[Problem]:
    models = models_by_switch(site)
    asked: set[str] = set()
    for device in devices:
        model = models.get(device)
        if model is None or model.name in asked:
            continue
        asked.add(model.name)
        for text in port_numbers(ports, model)[1]:
            example = model.shown.get(model.ports, str(model.ports))
            expected = f"expected 1 to {model.ports}, a range or a label such as {example}"
            yield problem_at(keys, f"{text!r} is no port of a {model.name}; {expected}")


def _management(site: Site, hosts: list[str], switches: list[str]) -> Iterator[Problem]:
    devices = [*hosts, *switches]
    for host_set, first in site.management.bmc_addresses.items():
        keys: KeyPath = ("management", "bmc_addresses", host_set)
        yield from unknown_names(keys, "device", names_of(host_set), devices)
        if int(first) + len(names_of(host_set)) > 1 << first.max_prefixlen:
            yield problem_at(
                keys, f"expected {len(names_of(host_set))} addresses from {first} on, found fewer"
            )
    for host_set in site.management.bmc_access:
        yield from unknown_names(
            ("management", "bmc_access", host_set), "device", names_of(host_set), devices
        )
    owner: dict[str, str] = {}
    for host, tag in site.management.service_tags.items():
        keys = ("management", "service_tags", host)
        yield from unknown_names(keys, "device", [host], devices)
        if owner.setdefault(tag.upper(), host) != host:
            yield problem_at(
                keys, f"expected one host per service tag, found {tag} already at {owner[tag.upper()]}"
            )


def _identities(site: Site, switches: list[str]) -> Iterator[Problem]:
    """Names told twice and HCAs no model has; that a device exists only a site without fabrics says by itself.

    The plan of a fabric names devices too, and is not read here: see :mod:`fabricctl.site.check_identities`.
    """
    models = node_models(site)
    known = dict.fromkeys([*switches, *models]) if switches and not site.fabrics else None
    first: dict[str, str] = {}
    for key, name in site.identities.items():
        keys: KeyPath = ("identities", key)
        other = first.setdefault(" ".join(name.lower().split()), key)
        if other != key:
            yield problem_at(keys, f"expected one identity per device, found {name!r} already at {other}")
        device, _, hca = name.strip().partition(" ")
        if known is not None:
            yield from unknown_names(keys, "device", [device], known)
        if hca and device in models:
            yield from unknown_names(keys, f"HCA of {device}", [hca.strip()], models[device].hcas)
