"""One side of a table: from its device, port, HCA and attribute columns to devices and labels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from fabricctl.errors import PlanError
from fabricctl.guid import parse_guid
from fabricctl.models import SwitchModel
from fabricctl.plan.cells import BLANK, EXCEL_ERRORS, parse_place, role_of_type, shown, tidy
from fabricctl.plan.columns import Role, Side
from fabricctl.plan.distinct import distinct, read_distinct
from fabricctl.plan.ends import Attributes, Device, Ends
from fabricctl.plan.labels import (
    Label,
    Shape,
    canonical_hca,
    read_label,
    read_port_cell,
    same_host,
    split_device,
)

LONGEST_NAME = 128
"""Characters of a device name; InfiniBand node descriptions end at 64 bytes."""


class SideColumns(NamedTuple):
    """One side's columns, read.

    :param raws: the attribute cells of each row, None where the table has no such columns.
    :param said: what those cells mean.
    """

    devices: list[Device]
    labels: list[Label]
    raws: list[tuple[str, ...]] | None
    said: dict[tuple[str, ...], Attributes]


def read_side(rows: list[list[str]], lines: Sequence[int], side: Side, ends: Ends, path: str) -> SideColumns:
    """Read one side of the rows; the devices learn what the cells say about them.

    :raises PlanError: at a cell that cannot be understood or contradicts another.
    """
    names = [row[side.device] for row in rows]
    cells = read_distinct(names, lines, lambda text, line: _device_cell(text, ends, path, line))
    devices = [cells[name][0] for name in names]
    labels = _labels(rows, lines, side, path)
    if any(own is not None for _, own in cells.values()):
        labels = [
            label if own is None else _in_hca(own, label, path, line)
            for own, label, line in zip((cells[name][1] for name in names), labels, lines, strict=True)
        ]
    number, hca, host = Shape.NUMBER, Shape.HCA, Role.HOST
    for index, (device, label) in enumerate(zip(devices, labels, strict=True)):
        if label.shape is number:
            device.numbers.add(label.number)
        elif label.shape is not hca or device.role is not host or label.host:
            labels[index] = _learn(device, label, path, lines[index])
    if side.role is not None:
        for device, line in distinct(devices, lines):
            device.is_now(side.role, "its column's header", path=path, line=line)
            device.declared = True
    if side.type >= 0:
        _learn_types([row[side.type] for row in rows], devices, lines, path)
    return SideColumns(devices, labels, *_attributes(rows, lines, side, path))


def _learn_types(types: list[str], devices: list[Device], lines: Sequence[int], path: str) -> None:
    """Take from a type column what each device is and which model."""
    known = read_distinct(types, lines, lambda text, _: _type_cell(text))
    if not any(role for role, _ in known.values()):
        return
    for (device, text), line in distinct(list(zip(devices, types, strict=True)), lines):
        role, model = known[text]
        if role is not None:
            device.is_now(role, f"type {shown(tidy(text))}", path=path, line=line)
            device.declared = True
        if model is not None:
            device.is_model(model, path=path, line=line)


def _type_cell(text: str) -> tuple[Role | None, SwitchModel | None]:
    kind = tidy(text)
    if kind.lower() in BLANK:
        return None, None
    from fabricctl.model_tables import find_model

    model = find_model(kind)
    return (role_of_type(kind) if model is None else Role.SWITCH), model


def _device_cell(text: str, ends: Ends, path: str, line: int) -> tuple[Device, Label | None]:
    """The device of a cell and the HCA it names too."""
    name = tidy(text)
    if name in EXCEL_ERRORS:
        raise PlanError(f"the device cell holds the spreadsheet error {name}", path=path, line=line)
    if len(name) > LONGEST_NAME:
        raise PlanError(
            f"device name {shown(name)} has {len(name)} characters, more than {LONGEST_NAME}",
            path=path,
            line=line,
            hint="is a quote or a line end missing?",
        )
    host, own = split_device(name)
    return ends.device(host), own


def _labels(rows: list[list[str]], lines: Sequence[int], side: Side, path: str) -> list[Label]:
    ports = [row[side.port] for row in rows] if side.port >= 0 else [""] * len(rows)
    if side.hca < 0:
        known = read_distinct(ports, lines, lambda text, _: _port_cell(text))
        return [known[text] for text in ports]
    pairs = [(row[side.hca], port) for row, port in zip(rows, ports, strict=True)]
    slots = read_distinct(pairs, lines, lambda pair, line: _in_slot(*pair, path, line))
    return [slots[pair] for pair in pairs]


def _port_cell(text: str) -> Label:
    whole = tidy(text)
    return read_port_cell("" if whole.lower() in BLANK else whole)


def _in_slot(slot: str, text: str, path: str, line: int) -> Label:
    """Where an HCA or slot column is filled, that is the HCA and the port cell is a port of it."""
    label, slot = _port_cell(text), tidy(slot)
    if slot.lower() in BLANK:
        return label
    if len(slot) > LONGEST_NAME:
        text = f"HCA name {shown(slot)} has {len(slot)} characters, more than {LONGEST_NAME}"
        raise PlanError(text, path=path, line=line)
    named = read_label(slot)
    name = str(named.number) if named.shape is Shape.RUNNING else named.hca or canonical_hca(named.text)
    if label.shape is Shape.NONE:
        return Label(Shape.HCA, slot, named.number if named.hca else 1, name, told=slot)
    if label.shape is Shape.NUMBER:
        return Label(Shape.HCA, f"{slot} {label.text}", label.number, name, told=f"{slot} {label.text}")
    if label.hca == name:
        return label
    raise PlanError(
        f"port {shown(label.text)} is no port of {shown(slot)}; expected a number", path=path, line=line
    )


def _in_hca(own: Label, label: Label, path: str, line: int) -> Label:
    """The device cell already names the HCA (``gpu001 mlx5_3``): the port cell is a port of it."""
    if label.shape is Shape.NONE or label == own:
        return own
    if label.shape is Shape.NUMBER:
        if own.shape is Shape.RUNNING:
            return Label(Shape.HCA, own.text, label.number, str(own.number), told=own.text)
        return own if own.number == label.number else own._replace(number=label.number)
    if label.shape is own.shape and label.hca == own.hca and (own.hca or label.number == own.number):
        return label
    raise PlanError(
        f"port {shown(label.text)} does not fit the device cell, which already names {shown(own.text)}",
        path=path,
        line=line,
    )


def _learn(device: Device, label: Label, path: str, line: int) -> Label:
    """Take from a label what its device is; returns the label, without the device's name before it."""
    shape = label.shape
    if shape is Shape.NONE:
        raise PlanError(f"the row names no port of {shown(device.name)}", path=path, line=line)
    if label.host and not same_host(label.host, device.name):
        raise PlanError(
            f"port {shown(label.text)} names the host {shown(label.host)}, the device is {shown(device.name)}",
            path=path,
            line=line,
        )
    if shape is Shape.WORD:
        head, _, tail = label.text.rpartition(" ")
        if head and same_host(head, device.name):
            return _learn_again(device, read_label(tail), path, line)
    elif shape is Shape.PANEL:
        device.panels.add(label.text)
    else:
        role = Role.SWITCH if shape is Shape.BLADE else Role.HOST
        if device.role is not role:
            device.is_now(role, f"port {shown(label.text)}", path=path, line=line)
    return label


def _learn_again(device: Device, label: Label, path: str, line: int) -> Label:
    if label.shape is Shape.NUMBER:
        device.numbers.add(label.number)
        return label
    return label if label.shape is Shape.WORD else _learn(device, label, path, line)


def _attributes(
    rows: list[list[str]], lines: Sequence[int], side: Side, path: str
) -> tuple[list[tuple[str, ...]] | None, dict[tuple[str, ...], Attributes]]:
    """The attribute cells of each row and their meaning."""
    at = (side.rack, side.unit, side.location, side.guid)
    told = [index for index, column in enumerate(at) if column >= 0]
    if not told:
        return None, {}
    raws = list(zip(*([row[at[index]] for row in rows] for index in told), strict=True))

    def read(raw: tuple[str, ...], line: int) -> Attributes:
        cells = [""] * len(at)
        for index, text in zip(told, map(tidy, raw), strict=True):
            cells[index] = "" if text.lower() in BLANK else text
        rack, unit, location, guid = cells
        return Attributes(parse_place(rack, unit, location), _guid(guid, path, line) if guid else None)

    return raws, read_distinct(raws, lines, read)


def _guid(text: str, path: str, line: int) -> str:
    guid = parse_guid(text)
    if guid is None:
        raise PlanError(
            f"GUID {shown(text)} is not understood; expected up to 16 hexadecimal digits such as "
            "0x9c0591030a000500",
            path=path,
            line=line,
        )
    return guid
