"""Rows of cells to cables: the part of table reading that does not care where the rows came from."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import astuple
from typing import NamedTuple

from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, Link, LinkDetail, Port, PortClash
from fabricctl.guid import parse_guid
from fabricctl.plan.cells import (
    BLANK,
    EXCEL_ERRORS,
    keeps_link_type,
    link_type_hint,
    parse_length_m,
    parse_place,
    parse_speed,
    role_of_type,
    shown,
)
from fabricctl.plan.columns import Columns, Role, Side, guess_header
from fabricctl.plan.ends import NOTHING, Attributes, Device, Ends
from fabricctl.plan.labels import (
    Label,
    Shape,
    SiteNames,
    canonical_hca,
    read_label,
    split_device,
    without_host,
)
from fabricctl.plan.model import Plan, PlanFormat
from fabricctl.rates import Rate

OUTSIDE = frozenset(("site",))
"""Device names that stand for "out of the system" (HPE SHCD writes ``SITE`` port 0 for customer uplinks)."""

LONGEST_NAME = 128
"""Characters of a device name; InfiniBand node descriptions end at 64 bytes."""

_HOST_SHAPES = (Shape.HCA, Shape.RUNNING)


class _Words(NamedTuple):
    """What a row says of the cable itself."""

    link_class: str = ""
    cable: str = ""
    length_m: float | None = None


_Cell = tuple[Device | None, Label | None]
_End = tuple[Device, Label, Attributes]
_Record = tuple[int, Device, Label, Attributes, Device, Label, Attributes, Rate | None, _Words | None]
_ODD: _Cell = (None, None)
"""Of a device cell that is empty or leads out of the system."""


class TableReader:
    """Collects the rows of one or more tables, then makes the plan.

    :param site: what the site file knows of devices, optional.
    """

    def __init__(self, site: SiteNames | None = None) -> None:
        self._ends = Ends(site)
        self._records: list[_Record] = []
        self._sources: list[tuple[int, str]] = []
        self._cells: dict[str, _Cell] = {}
        self._labels: dict[str, Label] = {}
        self._rates: dict[str, Rate | None] = {"": None}
        self._kept: dict[str, bool] = {"": True}
        self._skipped: Counter[str] = Counter()
        self._no_devices: list[str] = []
        self._twice = 0
        self._details: dict[tuple[_Words | None, str, str], LinkDetail | None] = {}

    def read(self, rows: Iterable[tuple[int, list[str]]], columns: Columns, path: str) -> int:
        """Read the rows below a header.

        :param rows: line number and cells; short rows are filled up with empty cells.
        :returns: how many cables were read.
        :raises PlanError: at the first row that cannot be understood.
        """
        before = len(self._records)
        self._sources.append((before, path))
        add, cells = self._records.append, self._cells
        width, read_a, read_z, read_words = self._layout(columns, path)
        for line, row in rows:
            if len(row) < width:
                if not row:
                    continue
                row += [""] * (width - len(row))
            if row[0][:1] == "#" and row[0] not in EXCEL_ERRORS:
                continue
            device_a, device_z = row[columns.a.device], row[columns.z.device]
            if device_a == columns.header[columns.a.device]:
                again = guess_header(row).columns
                if again is not None:  # a header repeated further down, perhaps with other columns
                    columns = again
                    width, read_a, read_z, read_words = self._layout(columns, path)
                    continue
            if columns.protocol >= 0 and not self._keeps(row[columns.protocol], path, line):
                continue
            a = cells.get(device_a) or self._cell(device_a, path, line)
            z = cells.get(device_z) or self._cell(device_z, path, line)
            if a is _ODD or z is _ODD:
                if self._is_no_cable(row, columns, path, line):
                    continue
                a, z = (
                    self._named(text) if cell is _ODD else cell
                    for text, cell in ((device_a, a), (device_z, z))
                )
            rate = None
            if columns.speed >= 0:
                text = row[columns.speed]
                rate = self._rates[text] if text in self._rates else self._rate(text, path, line)
            words = read_words(row, line) if read_words is not None else None
            add((line, *read_a(row, line, a), *read_z(row, line, z), rate, words))
        return len(self._records) - before

    def _layout(
        self, columns: Columns, path: str
    ) -> tuple[
        int,
        Callable[[Sequence[str], int, _Cell], _End],
        Callable[[Sequence[str], int, _Cell], _End],
        Callable[[Sequence[str], int], _Words | None] | None,
    ]:
        ends = [index for side in (columns.a, columns.z) for index in astuple(side) if isinstance(index, int)]
        links = (columns.speed, columns.link_class, columns.protocol, columns.length, columns.cable)
        width = 1 + max(*ends, *links)
        return (
            width,
            self._end_reader(columns.a, path),
            self._end_reader(columns.z, path),
            self._words_reader(columns, path),
        )

    def _end_reader(self, side: Side, path: str) -> Callable[[Sequence[str], int, _Cell], _End]:
        """A function from a row to one of its ends, made once per table for speed."""
        labels, port_at, hca_at = self._labels, side.port, side.hca
        more = [i for i in (side.rack, side.unit, side.location, side.type, side.guid) if i >= 0]
        known: dict[tuple[str, ...], Attributes] = {}

        def read(row: Sequence[str], line: int, cell: _Cell) -> _End:
            device, own = cell
            assert device is not None
            text = row[port_at] if port_at >= 0 else ""
            hca = row[hca_at].strip() if hca_at >= 0 else ""
            if hca.lower() not in BLANK:
                label = self._in_slot(hca, text, device, path, line)
            elif own is not None:
                label = self._in_hca(own, text, device, path, line)
            else:
                label = labels.get(text) or self._label(text, device, path, line)
            if label.shape is Shape.NUMBER:
                device.numbers.add(label.number)
            elif label.shape is Shape.PANEL:
                device.panels.add(label.text)
            elif label.shape in _HOST_SHAPES:
                if device.role is not Role.HOST:
                    device.is_now(Role.HOST, f"port {shown(label.text)}", path=path, line=line)
            elif label.shape is Shape.BLADE and device.role is not Role.SWITCH:
                device.is_now(Role.SWITCH, f"port {shown(label.text)}", path=path, line=line)
            if side.role is not None and device.role is not side.role:
                device.is_now(side.role, "its column's header", path=path, line=line)
            if not more:
                return device, label, NOTHING
            raw = tuple([row[i] for i in more])
            said = known.get(raw)
            if said is None:
                said = known[raw] = _attributes(row, side, path, line)
            if said is not NOTHING and raw not in device.said:
                device.said.add(raw)
                self._ends.describe(device, said, path=path, line=line)
            return device, label, said

        return read

    def _words_reader(
        self, columns: Columns, path: str
    ) -> Callable[[Sequence[str], int], _Words | None] | None:
        at = (columns.link_class, columns.cable, columns.length)
        if max(at) < 0:
            return None
        known: dict[tuple[str, ...], _Words | None] = {}

        def read(row: Sequence[str], line: int) -> _Words | None:
            raw = tuple([row[i] if i >= 0 else "" for i in at])
            if raw not in known:
                link_class, cable, length = ("" if t.strip().lower() in BLANK else _tidy(t) for t in raw)
                length_m = parse_length_m(length) if length else None
                if length and length_m is None:
                    raise PlanError(
                        f"length {shown(length)} is not understood; expected metres such as 10, 10m or 1.5 m",
                        path=path,
                        line=line,
                    )
                words = _Words(link_class, cable, length_m)
                known[raw] = None if words == _Words() else words
            return known[raw]

        return read

    def _named(self, text: str) -> _Cell:
        return self._ends.device(_tidy(text)), None

    def _cell(self, text: str, path: str, line: int) -> _Cell:
        """A device cell seen for the first time."""
        name = _tidy(text)
        if name.lower() in BLANK or name.lower() in OUTSIDE:
            cell = _ODD
        elif name in EXCEL_ERRORS:
            raise PlanError(f"the device cell holds the spreadsheet error {name}", path=path, line=line)
        elif len(name) > LONGEST_NAME:
            raise PlanError(
                f"device name {shown(name)} has {len(name)} characters, more than {LONGEST_NAME}; is a quote or "
                "a line end missing?",
                path=path,
                line=line,
            )
        else:
            host, own = split_device(name)
            cell = (self._ends.device(host), own)
        self._cells[text] = cell
        return cell

    def _is_no_cable(self, row: Sequence[str], columns: Columns, path: str, line: int) -> bool:
        """Whether a row that lacks a device is none of the fabric's cables.

        :raises PlanError: when it names one end only.
        """
        sides = (columns.a, columns.z)
        devices = [_tidy(row[side.device]) for side in sides]
        ports = [_tidy(row[side.port]) if side.port >= 0 else "" for side in sides]
        blank = [device.lower() in BLANK for device in devices]
        if all(blank):
            if any(port.lower() not in BLANK for port in ports):
                self._no_devices.append(f"{path}:{line}")
            return True
        if any(blank):
            here = devices[blank.index(False)]
            raise PlanError(
                f"the row names {shown(here)} but not the device at the other end of the cable",
                path=path,
                line=line,
                hint="merged cells count only for their first row: unmerge them and fill down",
            )
        for device, port in zip(devices, ports, strict=True):
            if device.lower() in OUTSIDE and (port.lower() in BLANK or port == "0"):
                self._skipped[f"that lead out of the system, to {device} without a port"] += 1
                return True
        return False

    def _keeps(self, text: str, path: str, line: int) -> bool:
        """Whether a row of this link type is to be read; skipped ones are counted."""
        kept = self._kept.get(text)
        if kept is None:
            word = _tidy(text)
            told = keeps_link_type(word)
            if told is None:
                raise PlanError(
                    f"link type {shown(word)} is not known", path=path, line=line, hint=link_type_hint(word)
                )
            kept = self._kept[text] = told
        if not kept:
            self._skipped[f"of link type {_tidy(text)}"] += 1
        return kept

    def _rate(self, text: str, path: str, line: int) -> Rate | None:
        word = _tidy(text)
        rate = None if word.lower() in BLANK else parse_speed(word)
        if rate is None and word.lower() not in BLANK:
            raise PlanError(
                f"speed {shown(word)} is not understood; expected HDR, 4xNDR, 200G, 400 or 200000 (Mb/s)",
                path=path,
                line=line,
            )
        self._rates[text] = rate
        return rate

    def _label(self, text: str, device: Device, path: str, line: int) -> Label:
        """A port cell seen for the first time."""
        whole = _tidy(text)
        if whole.lower() in BLANK:
            raise PlanError(f"the row names no port of {shown(device.name)}", path=path, line=line)
        bare = without_host(whole, device.name)
        if bare is None:
            raise PlanError(
                f"port {shown(whole)} names another host than the device {shown(device.name)}",
                path=path,
                line=line,
            )
        label = read_label(bare)
        if bare == whole:
            self._labels[text] = label
        return label

    def _in_hca(self, own: Label, text: str, device: Device, path: str, line: int) -> Label:
        """The device cell already holds the HCA (``gpu001 mlx5_3``): the port cell is a port of it."""
        bare = _tidy(text)
        if bare.lower() in BLANK or bare == own.text:
            return own
        label = self._label(text, device, path, line)
        if label.shape is Shape.NUMBER:
            if own.shape is Shape.RUNNING:
                return Label(Shape.HCA, own.text, label.number, str(own.number))
            return own._replace(number=label.number)
        if (label.shape, label.hca) == (own.shape, own.hca) and (own.hca or label.number == own.number):
            return label
        raise PlanError(
            f"port {shown(bare)} does not fit the device cell, which already names {shown(own.text)}",
            path=path,
            line=line,
        )

    def _in_slot(self, hca: str, text: str, device: Device, path: str, line: int) -> Label:
        """An HCA or slot column is filled: that is the HCA, and the port cell is a port of it."""
        named = read_label(_tidy(hca))
        name = named.hca or canonical_hca(_tidy(hca))
        if named.shape is Shape.RUNNING:
            name = str(named.number)
        bare = _tidy(text)
        if bare.lower() in BLANK:
            return Label(Shape.HCA, name, named.number if named.hca else 1, name)
        label = self._label(text, device, path, line)
        if label.shape is Shape.NUMBER or label.hca == name:
            return Label(Shape.HCA, name, label.number, name)
        raise PlanError(
            f"port {shown(bare)} of {shown(device.name)} is no port of {shown(name)}; expected 1 or 2",
            path=path,
            line=line,
        )

    def plan(self, plan_format: PlanFormat, path: str) -> Plan:
        """Make the plan of everything read.

        :raises PlanError: when there is no cable, a port is used twice or a label means nothing.
        """
        if not self._records:
            raise PlanError("the table has a header but no cable" + self._skips_told(), path=path)
        ends = self._ends
        ends.settle([(record[1], record[4]) for record in self._records])
        fabric = Fabric(origin=path)
        stops = [start for start, _ in self._sources[1:]] + [len(self._records)]
        for (start, source), stop in zip(self._sources, stops, strict=True):
            self._connect(fabric, self._records[start:stop], source)
        fabric.nodes = ends.nodes()
        return Plan(fabric, plan_format, path, notes=self._notes())

    def _connect(self, fabric: Fabric, records: list[_Record], source: str) -> None:
        port_of, details, connect = self._ends.port, self._details, fabric.connect
        for line, a, a_label, a_said, z, z_label, z_said, rate, words in records:
            key = (words, a_label.text, z_label.text)
            detail = details[key] if key in details else self._detail(words, a_label, z_label)
            end_a = port_of(a, a_label, a_said, path=source, line=line)
            end_z = port_of(z, z_label, z_said, path=source, line=line)
            link = Link(end_a, end_z, rate, line, 1, 2, detail)
            clash = connect(link) if end_a != end_z else PortClash(end_a, link, link)
            if clash is not None:
                self._twice += self._is_same(clash, source)

    def _detail(self, words: _Words | None, a: Label, z: Label) -> LinkDetail | None:
        labels = tuple("" if label.text == str(label.number) else label.text for label in (a, z))
        told = words or _Words()
        detail = LinkDetail(None, told.link_class, told.cable, told.length_m, (labels[0], labels[1]))
        self._details[words, a.text, z.text] = made = None if detail == LinkDetail() else detail
        return made

    def _is_same(self, clash: PortClash, source: str) -> bool:
        """True when the second row is the same cable again.

        :raises PlanError: when it is another cable in a used port.
        """
        port, first, second = clash
        if first is second:
            raise PlanError(
                f"both ends are {_port_text(port)}; a cable needs two ports", path=source, line=second.line
            )
        where = self._line_of(first)
        if {first.a, first.b} != {second.a, second.b}:
            raise PlanError(
                f"{_port_text(port)} already carries the cable to {_port_text(first.other(port))} of {where}; "
                f"here it carries one to {_port_text(second.other(port))}",
                path=source,
                line=second.line,
            )
        if first.rate != second.rate and first.rate is not None and second.rate is not None:
            raise PlanError(
                f"the cable between {_port_text(first.a)} and {_port_text(first.b)} is {second.rate} here and "
                f"{first.rate} at {where}",
                path=source,
                line=second.line,
            )
        return True

    def _line_of(self, link: Link) -> str:
        """``line 12``, with the table's name where several were read."""
        if len(self._sources) == 1:
            return f"line {link.line}"
        port = self._ends.port
        for index, (line, a, a_label, a_said, z, z_label, z_said, _, _) in enumerate(self._records):
            if line == link.line:
                source = [path for start, path in self._sources if start <= index][-1]
                ends = (
                    port(a, a_label, a_said, path=source, line=line),
                    port(z, z_label, z_said, path=source, line=line),
                )
                if ends == (link.a, link.b):
                    return f"{source}:{line}"
        return f"line {link.line}"

    def _skips_told(self) -> str:
        return "".join(f"; {count:,} rows {what} were skipped" for what, count in self._skipped.items())

    def _notes(self) -> list[str]:
        """What the reader of the plan should know."""
        ends = self._ends
        notes = [f"{count:,} rows {what} were skipped." for what, count in sorted(self._skipped.items())]
        if self._no_devices:
            notes.append(
                f"{len(self._no_devices):,} rows name ports but no device and were skipped, the first at "
                f"{self._no_devices[0]}."
            )
        if self._twice:
            notes.append(f"{self._twice:,} cables are written twice, as from both ends; each counts once.")
        if ends.blades:
            notes.append(
                f"Director labels such as 'Blade 16_Port 2/20' are taken as leaf board 16, ASIC 2, port 20 "
                f"(node {ends.blades[0]} and {len(ends.blades) - 1} more): usual, not confirmed by a document."
            )
        for device, model in list(ends.assumed_models.items())[:1]:
            notes.append(
                f"Front-panel labels of {len(ends.assumed_models)} switches ({device}, ...) are read as those of a "
                f"{model}, the only built-in numbering that knows them all."
            )
        unknown = ends.open_devices()
        if unknown:
            notes.append(
                f"Of {len(unknown):,} devices ({', '.join(unknown[:3])}{', ...' if len(unknown) > 3 else ''}) the "
                "table does not say whether they are switches or hosts."
            )
        for key, (first, second) in list(ends.moved.items())[:1]:
            notes.append(
                f"{len(ends.moved):,} devices stand in two places, e.g. {key} in {first} and in {second}; the "
                "first is kept."
            )
        return notes


def _tidy(text: str) -> str:
    return " ".join(text.split())


def _port_text(port: Port) -> str:
    return f"port {port.number} of {port.node}"


def _attributes(row: Sequence[str], side: Side, path: str, line: int) -> Attributes:
    """Place, type and GUID of one end; NOTHING when the row says none of them."""
    rack, unit, location, kind, guid_text = (
        _tidy(row[i]) if i >= 0 else "" for i in (side.rack, side.unit, side.location, side.type, side.guid)
    )
    guid = None
    if guid_text.lower() not in BLANK:
        guid = parse_guid(guid_text)
        if guid is None:
            raise PlanError(
                f"GUID {shown(guid_text)} is not understood; expected 16 hexadecimal digits such as "
                "0x9c0591030a000500",
                path=path,
                line=line,
            )
    role, model = None, None
    if kind.lower() not in BLANK:
        from fabricctl.model_tables import find_model

        model = find_model(kind)
        role = Role.SWITCH if model is not None else role_of_type(kind)
    said = Attributes(parse_place(rack, unit, location), role, model, guid, kind if role else "")
    return NOTHING if said == NOTHING else said
