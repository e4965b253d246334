"""The devices of a cabling table, what they are, and the fabric port behind each end.

A table rarely says which device is a switch. It is decided from the whole table, strongest first: the
header or a type column, the site file, what the port cells look like, then numbers: a device with more than
sixteen different plain ports, or one that faces a host, is a switch. What stays open is ``UNKNOWN``, keyed by
its name, until a discovery tells.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fabricctl.discovery.names import short_host
from fabricctl.errors import PlanError
from fabricctl.fabric import Node, NodeKind, Place, Port
from fabricctl.models import NodeModel, SwitchModel
from fabricctl.plan.cells import shown
from fabricctl.plan.columns import Role
from fabricctl.plan.end_ports import host_end, switch_port
from fabricctl.plan.labels import Label, Shape, SiteNames

MOST_HOST_PORTS = 16
"""A device with more plain port numbers than this is a switch; no host has that many HCA ports."""

_KINDS = {
    None: NodeKind.UNKNOWN,
    Role.HOST: NodeKind.HCA,
    Role.SWITCH: NodeKind.SWITCH,
    Role.ROUTER: NodeKind.ROUTER,
}


class Attributes(NamedTuple):
    """Where a row says an end is and which GUID it has."""

    place: Place | None = None
    guid: str | None = None


@dataclass(slots=True, eq=False)
class Device:
    """A device as the table's rows describe it.

    :param role: what it is, with :param why: the reason, a phrase, and :param line: the line it was said at.
    :param declared: a header, a type column or the site file says so, not only the look of its ports.
    :param numbers: plain port numbers seen; :param panels: labels that only a model can tell.
    :param plain: a plain number is its port and nothing else needs to be known.
    :param split_ready: its numbers and labels are those of the split-ready profile.
    """

    name: str
    short: str
    role: Role | None = None
    why: str = ""
    line: int = 0
    model: SwitchModel | None = None
    host_model: NodeModel | None = None
    place: Place | None = None
    plain: bool = False
    declared: bool = False
    split_ready: bool = False
    numbers: set[int] = field(default_factory=set)
    panels: set[str] = field(default_factory=set)

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

    def is_model(self, model: SwitchModel, *, path: str, line: int) -> None:
        """Record its model.

        :raises PlanError: when it was another one before.
        """
        if self.model is not None and self.model.name != model.name:
            raise PlanError(
                f"{shown(self.name)} is a {model.name} here but a {self.model.name} elsewhere",
                path=path,
                line=line,
            )
        self.model = self.model or model


class _Identity(NamedTuple):
    """What a node key stands for; ``hca`` is set for a host's, ``board`` for a director's ASIC."""

    device: Device
    hca: str = ""
    board: bool = False


class Ends:
    """Devices by name and the nodes their ends stand for.

    :param site: what the site file knows, optional.
    """

    def __init__(self, site: SiteNames | None) -> None:
        self._site = site
        self._by_key: dict[str, Device] = {}
        self._identities: dict[str, _Identity] = {}
        self._places: dict[str, Place] = {}
        self._guids: dict[str, str] = {}
        self._guid_owners: dict[str, str] = {}
        self.assumed_models: dict[str, str] = {}
        self.moved: dict[str, tuple[Place, Place]] = {}

    def device(self, name: str) -> Device:
        """The device of this name; its case does not make another one."""
        key = name.casefold()
        found = self._by_key.get(key)
        if found is None:
            found = self._by_key[key] = Device(name, short_host(name))
            if self._site is not None:
                _ask_site(found, self._site)
        return found

    def settle(self, pairs: Iterable[tuple[Device, Device]]) -> None:
        """Decide what the undecided devices are, once every row was read.

        :param pairs: the devices at the two ends of each cable.
        """
        for device in self._by_key.values():
            if device.role is None and len(device.numbers) > MOST_HOST_PORTS:
                device.role, device.why = Role.SWITCH, f"{len(device.numbers)} different ports"
            elif device.role is None and device.panels:
                device.role, device.why = Role.SWITCH, "front-panel port labels"
        if any(device.role is None for device in self._by_key.values()):
            for one, other in pairs:
                _facing_a_host(one, other)
                _facing_a_host(other, one)
        self._profiles()
        for device in self._by_key.values():
            if device.role is not Role.HOST:
                if device.panels and device.model is None:
                    self._guess_model(device)
                device.plain = device.model is None
                if device.plain and device.numbers:
                    self._identities[device.name] = _Identity(device)

    def _profiles(self) -> None:
        """Which switches of a known model are written in the split-ready profile.

        A label of a half port tells; so do plain numbers above the model's count when several do or another switch of
        the file is so written: a single one is a slip of the pen.
        """
        beyond: list[Device] = []
        for device in self._by_key.values():
            model = device.model
            if model is None or not model.split_ready:
                continue
            above = sum(model.ports < number <= 2 * model.ports for number in device.numbers)
            halves = any(model.port_of(text) is None and model.split_port_of(text) for text in device.panels)
            several = above >= 2 and above * 8 >= len(device.numbers)
            device.split_ready = halves or several
            if above:
                beyond.append(device)
        if self.split_ready:
            for device in beyond:
                device.split_ready = True

    @property
    def split_ready(self) -> list[Device]:
        """The switches written in the split-ready profile."""
        return [device for device in self._by_key.values() if device.split_ready]

    @property
    def devices(self) -> list[Device]:
        """Every device, in the order they were met."""
        return list(self._by_key.values())

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
            ((first, *_),) = answers.values()
            device.model = first
            self.assumed_models[device.name] = first.name

    def boards(self) -> list[str]:
        """Keys of the director ASICs met."""
        return [key for key, identity in self._identities.items() if identity.board]

    def ports(
        self, devices: list[Device], labels: list[Label], lines: Sequence[int], path: str
    ) -> list[Port]:
        """The fabric port of each end of one side of a table.

        :raises PlanError: when a label means nothing on its device.
        """
        number, port, new = Shape.NUMBER, self.port, tuple.__new__
        return [
            # half the time of Port(...), which goes through a Python function; there may be 600,000
            new(Port, (device.name, label.number))
            if device.plain and label.shape is number
            else port(device, label, path=path, line=line)
            for device, label, line in zip(devices, labels, lines, strict=True)
        ]

    def port(self, device: Device, label: Label, *, path: str, line: int) -> Port:
        """The fabric port of one end.

        :raises PlanError: when the label means nothing on this device.
        """
        if device.role is Role.HOST:
            hca, number = host_end(
                device.name, device.host_model, label, declared=device.declared, path=path, line=line
            )
            key = f"{device.name} {hca}"
            if key not in self._identities:
                self._identities[key] = _Identity(device, hca)
            return Port(key, number)
        board = label.shape is Shape.BLADE
        key = f"{device.name}/L{label.blade:02d}/U{label.asic}" if board else device.name
        if key not in self._identities:
            self._identities[key] = _Identity(device, "", board)
        split = device.split_ready
        return Port(key, switch_port(device.name, device.model, label, split=split, path=path, line=line))

    def describe(self, key: str, said: Attributes, *, path: str, line: int) -> None:
        """Give a node its place and GUID; the first place stays.

        :raises PlanError: when a GUID is the node's second or another node's.
        """
        if said.place is not None and self._places.setdefault(key, said.place) != said.place:
            self.moved.setdefault(key, (self._places[key], said.place))
        if said.guid is None:
            return
        owner = self._guid_owners.setdefault(said.guid, key)
        if owner != key:
            raise PlanError(
                f"GUID {said.guid} of {shown(key)} already belongs to {shown(owner)}", path=path, line=line
            )
        if self._guids.setdefault(key, said.guid) != said.guid:
            raise PlanError(
                f"{shown(key)} has GUID {said.guid} here and {self._guids[key]} in an earlier row",
                path=path,
                line=line,
            )

    def nodes(self) -> dict[str, Node]:
        """Every node an end was found on; places the table does not tell come from the site file."""
        return {key: self._node(key, identity) for key, identity in self._identities.items()}

    def _node(self, key: str, identity: _Identity) -> Node:
        device, hca, board = identity
        kind = _KINDS[device.role]
        place = self._places.get(key) or device.place
        guid = self._guids.get(key) if self._guids else None
        if kind is NodeKind.HCA:
            return Node(key, kind, key, guid, "", 0, device.name, hca, 0, place=place)
        model = device.model
        if model is None:
            return Node(key, kind, key, guid, place=place)
        ports = 0 if board else model.ports * (2 if device.split_ready else 1)
        return Node(key, kind, key, guid, "", ports, place=place, model=model.name)


def _ask_site(device: Device, site: SiteNames) -> None:
    device.model = site.switch_model(device.name)
    device.host_model = site.node_model(device.name) or site.node_model(device.short)
    device.place = site.place(device.name) or site.place(device.short)
    if device.model is not None:
        device.role, device.why = Role.SWITCH, "the site file has it as a switch"
    elif device.host_model is not None:
        device.role, device.why = Role.HOST, "the site file has it as a host"
    device.declared = device.role is not None


def _facing_a_host(one: Device, other: Device) -> None:
    if one.role is None and other.role is Role.HOST:
        one.role, one.why = Role.SWITCH, f"it faces the host {other.name}"
