"""Panels as the site file changes them: side of the rack, rows, labels, and which port or HCA is behind which cage.

What the site file says is taken as confirmed, its source is the site file; the rest stays what the built-in table says.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace

from fabricctl.hostset import expand, natural_key
from fabricctl.model_tables import find_model
from fabricctl.panel_tables import builtin_panels, panel_of_model
from fabricctl.panels import Panel, PanelPort
from fabricctl.site.schema import NodeModel, PanelEntry, Site, SwitchModelEntry

_SPAN = re.compile(r"([0-9]{1,3})-([0-9]{1,3})(?:/([0-9]{1,2}))?\Z")
_PORT = re.compile(r"(.+?)/([1-9])\Z")


def cages_of(words: list[str]) -> list[str]:
    """Cages of a row, left to right: names, ranges (``1-16``) and ranges with a step (``1-31/2``)."""
    cages: list[str] = []
    for word in words:
        span = _SPAN.match(word.strip())
        if span is None:
            cages.append(word.strip())
        else:
            first, last, step = int(span[1]), int(span[2]), int(span[3] or 1)
            if step < 1:
                continue
            numbers = range(first, last + 1, step) if first <= last else range(first, last - 1, -step)
            cages.extend(map(str, numbers))
    return cages


def base_panel(entry: SwitchModelEntry | NodeModel) -> Panel | None:
    """The built-in panel an entry starts from; None when it names none."""
    like = entry.panel.like if entry.panel is not None else None
    like = like or (entry.like if isinstance(entry, SwitchModelEntry) else None)
    return panel_of_model(like) if like else None


def place_of_port(text: str, base: Panel | None) -> tuple[str, int]:
    """``14/1``, a cage alone or a label of the base panel -> cage and port."""
    if base is not None:
        known = next((port for port in base.ports if text in port.labels.values()), None)
        if known is not None:
            return known.cage, known.port
    match = _PORT.match(text)
    return (match[1], int(match[2])) if match is not None else (text, 1)


def site_panels(site: Site) -> dict[str, Panel]:
    """Model name -> panel: the built-in ones, changed and extended by ``switch_models`` and ``node_models``."""
    panels = dict(builtin_panels())
    source = site.path or "site file"
    for name, switch in site.switch_models.items():
        panel = _switch_panel(name, switch, source)
        panels.pop(name, None)  # a model of the site hides the built-in one of its name
        if panel is not None:
            panels[name] = panel
    for name, node in site.node_models.items():
        if node.panel is not None:
            panels[name] = _changed(name, base_panel(node), node.panel, source, "host", node.height_u)
    return panels


def _switch_panel(name: str, entry: SwitchModelEntry, source: str) -> Panel | None:
    base = base_panel(entry)
    if entry.panel is None and base is None:
        return None
    panel = _changed(name, base, entry.panel or PanelEntry(), source, "switch", entry.height_u)
    shown = {**{port: label for label, port in entry.labels.items()}, **entry.shown}
    ports = [
        port._replace(labels={**port.labels, "panel": shown[port.number]}) if port.number in shown else port
        for port in panel.ports
        if entry.ports is None or port.number <= entry.ports
    ]
    return replace(panel, ports=tuple(ports))


def _changed(
    name: str, base: Panel | None, entry: PanelEntry, source: str, kind: str, height_u: int
) -> Panel:
    """A panel with what the site file says of it."""
    ports = {(port.cage, port.port): port for port in (base.ports if base is not None else ())}
    said: list[str] = []
    for text, value in entry.ports.items():
        cage, number = place_of_port(text, base)
        known = ports.get((cage, number), PanelPort(cage, number, 1 if kind == "host" else 0))
        if kind == "host":
            same = known.hca == value
            ports[cage, number] = known if same else known._replace(hca=value, pci="", gpu=None)
        else:
            wanted = int(value) if value.isdecimal() else 0  # another word is said to be wrong elsewhere
            split = known.split_ready if known.number == wanted else None
            ports[cage, number] = known._replace(number=wanted, split_ready=split)
        said.append("hca" if kind == "host" else "number")
    for text, label in entry.labels.items():
        cage, number = place_of_port(text, base)
        if (cage, number) in ports:
            known = ports[cage, number]
            ports[cage, number] = known._replace(labels={**known.labels, "panel": label})
        said.append("labels")
    for row, words in entry.rows.items():
        for column, cage in enumerate(cages_of(words), 1):
            for key, port in list(ports.items()):
                if port.cage == cage:
                    ports[key] = port._replace(row=row, column=column)
        said.append("rows")
    said += [aspect for aspect in ("side", "cage_type") if getattr(entry, aspect)]
    confirmed = dict.fromkeys(said, "confirmed")
    start = base or Panel(name, (), status={"number": "confirmed"}, kind=kind)
    return replace(
        start,
        name=name,
        ports=tuple(ports.values()),
        aliases=(),
        side=entry.side or start.side,
        cage_type=entry.cage_type or start.cage_type,
        status={**start.status, **confirmed},
        sources={**start.sources, **dict.fromkeys(said, source)},
        height_u=height_u if height_u > 1 else start.height_u or height_u,
    )


def panels_by_device(site: Site, panels: Mapping[str, Panel]) -> dict[str, Panel]:
    """Switch or host name -> its panel, of those whose model has one."""
    found: dict[str, Panel] = {}
    for host_set, nodes in site.nodes.items():
        panel = panels.get(nodes.model) if nodes.model in site.node_models else None
        if panel is not None and panel.kind == "host":
            found.update(dict.fromkeys(expand(host_set), panel))
    for host_set, switches in site.switches.items():
        panel = _panel_of_group(switches.model, site, panels)
        if panel is not None:
            found.update(dict.fromkeys(expand(host_set), panel))
    return found


def _panel_of_group(model: str, site: Site, panels: Mapping[str, Panel]) -> Panel | None:
    if model in panels or model in site.switch_models:
        return panels.get(model)
    built_in = find_model(model)
    return panels.get(built_in.name) if built_in is not None else panel_of_model(model, panels)


def panel_problems(site: Site) -> Iterator[tuple[tuple[str, ...], str]]:
    """What is wrong with the panels of a site file: key path and one sentence."""
    entries: list[tuple[str, str, SwitchModelEntry | NodeModel]] = [
        *(("switch_models", name, switch) for name, switch in site.switch_models.items()),
        *(("node_models", name, node) for name, node in site.node_models.items()),
    ]
    for section, name, entry in entries:
        if entry.panel is not None:
            yield from _entry_problems((section, name, "panel"), entry, entry.panel)


def _entry_problems(
    keys: tuple[str, ...], entry: SwitchModelEntry | NodeModel, panel: PanelEntry
) -> Iterator[tuple[tuple[str, ...], str]]:
    from fabricctl.site.problems import nearest

    base = base_panel(entry)
    if panel.like is not None and base is None:
        yield (
            (*keys, "like"),
            f"unknown panel {panel.like!r}; {nearest(panel.like.upper(), [*builtin_panels()])}",
        )
        return
    places = {(port.cage, port.port) for port in (base.ports if base is not None else ())}
    for text, value in panel.ports.items():
        places.add(place_of_port(text, base))
        if isinstance(entry, SwitchModelEntry) and not (value.isdecimal() and 1 <= int(value) <= 1024):
            yield (*keys, "ports", text), f"expected an InfiniBand port number, found {value!r}"
            return
    for text in panel.labels:
        if place_of_port(text, base) not in places:
            yield (*keys, "labels", text), f"the panel has no port {text!r}; expected cage/port such as 14/1"
    cages = {cage for cage, _ in places}
    for row, words in panel.rows.items():
        strange = [cage for cage in cages_of(words) if cage not in cages]
        if strange:
            yield (
                (*keys, "rows", row),
                f"the panel has no cage {strange[0]!r}; {nearest(strange[0], sorted(cages))}",
            )
    if isinstance(entry, NodeModel):
        made = _changed("", base, panel, "", "host", 1)
        behind = {port.hca for port in made.ports}
        lost = [hca for hca in entry.hcas if hca not in behind]
        if lost:
            yield (
                keys,
                f"HCA {lost[0]!r} of hcas is behind no port of the panel; {nearest(lost[0], sorted(behind))}",
            )
        elif stray := made.storage.intersection(entry.hcas):
            compute = [port.hca for port in made.ports if port.hca and port.hca not in made.storage]
            unused = sorted(set(compute) - set(entry.hcas), key=natural_key)
            if unused:
                wrong = ", ".join(sorted(stray, key=natural_key))
                yield (
                    keys,
                    f"expected the panel's compute ports to be the model's hcas; {wrong} of hcas: storage ports on the "
                    f"panel {panel.like or 'of this model'}; not in hcas: its compute ports {', '.join(unused)}",
                )
