"""The devices of a cabling table, what they are, and the fabric port behind each end.

A table rarely says which device is a switch. It is decided from the whole table, strongest first: the
header or a type column, the site file, what the port cells look like, then numbers: a device with more than
sixteen different plain ports, or one that faces a host, is a switch. What stays open is ``UNKNOWN``, keyed by
its name, until a discovery tells.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from fabricctl.discovery.names import short_host
from fabricctl.errors import PlanError
from fabricctl.fabric import Node, NodeKind, Place, Port
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.cells import shown
from fabricctl.plan.columns import Role
from fabricctl.plan.labels import ACCEPTED, Label, Shape, SiteNames, label_advice

MOST_HOST_PORTS = 16
"""A device with more plain port numbers than this is a switch; no host has that many HCA ports."""

_KINDS = {None: NodeKind.UNKNOWN, Role.SWITCH: NodeKind.SWITCH, Role.ROUTER: NodeKind.ROUTER}


class Attributes(NamedTuple):
    """What a row says of one end beside device and port."""

    place: Place | None = None
    role: Role | None = None
    model: SwitchModel | None = None
    guid: str | None = None
    type: str = ""


NOTHING = Attributes()


@dataclass(slots=True)
class Device:
    """A device as the table's rows describe it.

    :param role: what it is, with :param why: the reason, a phrase, and :param line: the line it was said at.
    :param numbers: plain port numbers seen; :param panels: labels that only a model can tell.
    """

    name: str
    role: Role | None = None
    why: str = ""
    line: int = 0
    model: SwitchModel | None = None
    host_model: NodeModel | None = None
    place: Place | None = None
    numbers: set[int] = field(default_factory=set)
    panels: set[str] = field(default_factory=set)
    said: set[tuple[str, ...]] = field(default_factory=set)

    def is_now(self, role: Role, why: str, *, path: str, line: int) -> None:
        """Record what it is.

        :raises PlanError: when the table said otherwise before.
        """
        if self.role is None:
            self.role, self.why, self.line = role, why, line
        elif self.role is not role:
            before = f"line {self.line} makes it" if self.line else "it is"
            raise PlanError(
                f"{shown(self.name)} is a {role} here ({why}) but {before} a {self.role} ({self.why})",
                path=path,
                line=line,
            )


class Ends:
    """Devices by name and the nodes their ends stand for."""

    def __init__(self, site: SiteNames | None) -> None:
        self._site = site
        self._by_key: dict[str, Device] = {}
        self._nodes: dict[str, Node] = {}
        self._guids: dict[str, str] = {}
        self.assumed_models: dict[str, str] = {}
        self.blades: list[str] = []
        self.moved: dict[str, tuple[Place, Place]] = {}

    def device(self, name: str) -> Device:
        """The device of this name; case and repeated spaces do not make another one."""
        key = name.casefold()
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = Device(name)
            if self._site is not None:
                self._ask_site(found, self._site)
        return found

    @staticmethod
    def _ask_site(device: Device, site: SiteNames) -> None:
        device.model = site.switch_model(device.name)
        device.host_model = site.node_model(device.name) or site.node_model(short_host(device.name))
        device.place = site.place(device.name) or site.place(short_host(device.name))
        if device.model is not None:
            device.role, device.why = Role.SWITCH, "the site file has it as a switch"
        elif device.host_model is not None:
            device.role, device.why = Role.HOST, "the site file has it as a host"

    def describe(self, device: Device, said: Attributes, *, path: str, line: int) -> None:
        """Take in what a row says of a device.

        :raises PlanError: when it contradicts an earlier row.
        """
        if said.model is not None and device.model is None:
            device.model = said.model
        elif said.model is not None and device.model is not None and said.model.name != device.model.name:
            raise PlanError(
                f"{shown(device.name)} is a {said.model.name} here but a {device.model.name} elsewhere",
                path=path,
                line=line,
            )
        if said.role is not None:
            device.is_now(said.role, f"type {shown(said.type)}", path=path, line=line)

    def settle(self, pairs: Iterable[tuple[Device, Device]]) -> None:
        """Decide what the undecided devices are, once every row was read."""
        for device in self._by_key.values():
            if device.role is None and len(device.numbers) > MOST_HOST_PORTS:
                device.role, device.why = Role.SWITCH, f"{len(device.numbers)} different ports"
            elif device.role is None and device.panels:
                device.role, device.why = Role.SWITCH, "front-panel port labels"
        for a, z in pairs:
            if a.role is Role.HOST and z.role is None:
                z.role, z.why = Role.SWITCH, f"it faces the host {a.name}"
            elif z.role is Role.HOST and a.role is None:
                a.role, a.why = Role.SWITCH, f"it faces the host {z.name}"
        for device in self._by_key.values():
            if device.panels and device.role is not Role.HOST and device.model is None:
                self._guess_model(device)

    def _guess_model(self, device: Device) -> None:
        """Take the built-in models that know every label of the device, if they all agree on the ports."""
        from fabricctl.model_tables import BUILTIN

        answers: dict[tuple[int | None, ...], list[SwitchModel]] = {}
        labels = sorted(device.panels)
        for model in BUILTIN.values():
            ports = tuple(model.port_of(label) for label in labels)
            if None not in ports and max(device.numbers, default=0) <= model.ports:
                answers.setdefault(ports, []).append(model)
        if len(answers) == 1:
            (models,) = answers.values()
            device.model = models[0]
            self.assumed_models[device.name] = models[0].name

    def open_devices(self) -> list[str]:
        """Names of the devices of which the table does not say whether they are switches or hosts."""
        return [device.name for device in self._by_key.values() if device.role is None]

    def port(self, device: Device, label: Label, said: Attributes, *, path: str, line: int) -> Port:
        """The fabric port of one end; its node is made on the way.

        :raises PlanError: when the label means nothing on this device.
        """
        if device.role is Role.HOST:
            hca, number = _host_end(device, label, path=path, line=line)
            host = short_host(device.name)
            key = f"{host} {hca}"
            if key not in self._nodes:
                ports = device.host_model.ports_per_hca if device.host_model else 0
                self._nodes[key] = Node(key, NodeKind.HCA, key, ports=ports, host=host, hca=hca, tier=0)
        else:
            key, number = device.name, _switch_port(device, label, path=path, line=line)
            if label.shape is Shape.BLADE:
                key = f"{device.name}/L{label.blade:02d}/U{label.asic}"
                if key not in self._nodes:
                    self.blades.append(key)
            if key not in self._nodes:
                model, kind = device.model, _KINDS[device.role]
                whole = model is not None and label.shape is not Shape.BLADE
                self._nodes[key] = Node(
                    key,
                    kind,
                    key,
                    ports=model.ports if model is not None and whole else 0,
                    model=model.name if model is not None else "",
                )
        if said is not NOTHING:
            self._add(key, said, path=path, line=line)
        return Port(key, number)

    def _add(self, key: str, said: Attributes, *, path: str, line: int) -> None:
        """Give a node its place and GUID; the first place stays, a second GUID is an error."""
        node = self._nodes[key]
        if said.place is not None and node.place is None:
            node = replace(node, place=said.place)
        elif said.place is not None and said.place != node.place and node.place is not None:
            self.moved.setdefault(key, (node.place, said.place))
        if said.guid is not None and node.guid is None:
            owner = self._guids.setdefault(said.guid, key)
            if owner != key:
                raise PlanError(
                    f"GUID {said.guid} of {shown(key)} already belongs to {shown(owner)}",
                    path=path,
                    line=line,
                )
            node = replace(node, guid=said.guid)
        elif said.guid is not None and said.guid != node.guid:
            raise PlanError(
                f"{shown(key)} has GUID {said.guid} here and {node.guid} earlier", path=path, line=line
            )
        self._nodes[key] = node

    def nodes(self) -> dict[str, Node]:
        """Every node an end was found on; places the table does not tell come from the site file."""
        if self._site is not None:
            for key, node in self._nodes.items():
                known = self._by_key.get((node.host or key).casefold())
                if node.place is None and known is not None and known.place is not None:
                    self._nodes[key] = replace(node, place=known.place)
        return self._nodes


def _host_end(device: Device, label: Label, *, path: str, line: int) -> tuple[str, int]:
    """HCA name and port number of a host's end."""
    model = device.host_model
    if label.shape is Shape.HCA:
        if model is not None and label.hca.isdecimal():
            return _nth_hca(device, model, int(label.hca), path=path, line=line)[0], label.number
        return label.hca, label.number
    if label.shape in (Shape.NUMBER, Shape.RUNNING):
        if model is None:
            return str(label.number), 1
        return _nth_hca(device, model, label.number, path=path, line=line)
    by_name = {hca.lower(): hca for hca in model.hcas} if model is not None else {}
    if label.text.lower() in by_name:
        return by_name[label.text.lower()], 1
    raise PlanError(
        f"port {shown(label.text)} of host {shown(device.name)} is no HCA; expected mlx5_0, HCA-1, ibp11s0f0, "
        f"'IB Port 3' or a number" + (f", or one of {', '.join(model.hcas)}" if model is not None else ""),
        path=path,
        line=line,
        hint=label_advice(label.text),
    )


def _nth_hca(device: Device, model: NodeModel, number: int, *, path: str, line: int) -> tuple[str, int]:
    """A running number over a host's HCA ports, rail order: rail 1 is number 1."""
    index, port = divmod(number - 1, model.ports_per_hca)
    if not 0 <= index < len(model.hcas):
        raise PlanError(
            f"port {number} of host {shown(device.name)}: a {model.name} has only "
            f"{len(model.hcas) * model.ports_per_hca} ports on {', '.join(model.hcas)}",
            path=path,
            line=line,
        )
    return model.hcas[index], port + 1


def _switch_port(device: Device, label: Label, *, path: str, line: int) -> int:
    """InfiniBand port number of a switch's end."""
    if label.shape is Shape.BLADE:
        return label.number
    model = device.model
    if model is not None:
        number = model.port_of(label.text)
        if number is None and label.shape is Shape.NUMBER and label.number <= model.ports:
            number = label.number
        if number is not None:
            return number
        raise PlanError(
            f"port {shown(label.text)} of {shown(device.name)}: a {model.name} has no such port; expected 1 to "
            f"{model.ports} or a label such as {', '.join(list(model.shown.values())[:2]) or '1'}",
            path=path,
            line=line,
            hint=label_advice(label.text),
        )
    if label.shape is Shape.NUMBER:
        return label.number
    if label.shape is Shape.PANEL:
        raise PlanError(
            f"port {shown(label.text)} of {shown(device.name)} is a front-panel label and its switch model is "
            "not known, or models disagree on it",
            path=path,
            line=line,
            hint="add a column a_type/z_type such as QM9700, name the model in the site file, or use port numbers",
        )
    raise PlanError(
        f"port {shown(label.text)} of {shown(device.name)} is not understood; expected {ACCEPTED}",
        path=path,
        line=line,
        hint=label_advice(label.text),
    )
