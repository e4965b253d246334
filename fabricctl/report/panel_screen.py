"""The terminal screen of ``fabricctl panel``: the face drawn as rows and columns, and how sure each part of it is."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby

from fabricctl.panels import Panel, PanelPort
from fabricctl.report.lines import BOLD, DIM, DOUBT, PLAIN, Line, paragraph

ASPECTS = {
    "number": "port numbers",
    "split_ready": "split-ready",
    "hca": "HCAs",
    "labels": "labels",
    "lanes": "lanes",
    "rows": "rows",
    "side": "side",
    "cage_type": "cage type",
}
"""Aspect of a panel -> the word for it, in the order they are shown."""

_LABEL = 14
_wrapped = partial(paragraph, column=_LABEL)
_ROW_ORDER = ("top", "bottom")


def render_list(panels: Mapping[str, Panel], site: Sequence[str] = ()) -> list[Line]:
    """One line per model. :param site: names of those the site file gives or changes."""
    rows = [("model", "kind", "cages", "ports", "split", "side", "port numbers", "rows", "cage type")]
    for name, panel in panels.items():
        rows.append(
            (
                f"{name}{' *' if name in site else ''}",
                panel.kind,
                str(len(panel.cages)),
                str(len(panel.ports)),
                "yes" if any(port.split_ready for port in panel.ports) else "-",
                panel.side_words or "unknown",
                panel.status.get("hca" if panel.kind == "host" else "number", "unknown"),
                panel.status.get("rows", "unknown"),
                panel.cage_type or "unknown",
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines: list[Line] = []
    for at, row in enumerate(rows):
        text = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        lines.append(((text, BOLD if at == 0 else PLAIN),))
    if site:
        lines.append((("* of the site file", DIM),))
    return lines


def render_panel(panel: Panel, *, width: int = 100, every_port: bool = False) -> list[Line]:
    """One panel: its face, how sure each aspect is and by which source, and on request every port.

    :param width: of the terminal; a wide face is broken into several pieces.
    """
    also = f" (also {', '.join(panel.aliases)})" if panel.aliases else ""
    per_cage = f"{len(panel.cages)} cages, {len(panel.ports)} ports"
    parts = [per_cage, panel.cage_type, f"{panel.height_u} U" if panel.height_u else ""]
    lines: list[Line] = [
        ((panel.name, BOLD), (also, DIM)),
        ((", ".join(part for part in parts if part), PLAIN),),
        (),
        *_face(panel, width),
        (),
        *_aspects(panel, width),
    ]
    for note in panel.notes:
        lines += _wrapped("note", note, width)
    if every_port:
        lines += [(), *_table(panel.ports)]
    return lines


def _face(panel: Panel, width: int) -> Iterator[Line]:
    """Rows and columns as they are seen from the side of the ports."""
    placed = [port for port in panel.ports if port.row and port.column]
    status = panel.status.get("rows", "unknown")
    if not placed:
        yield ((f"rows and columns: {status}; cages in the order of the table", DOUBT),)
        placed = [port._replace(row="", column=panel.cages.index(port.cage) + 1) for port in panel.ports]
    else:
        side = (
            f"seen from the ports' side ({panel.side_words})" if panel.side else "seen from the ports' side"
        )
        yield (
            (side, PLAIN),
            ("" if status == "confirmed" else f"; rows and columns: {status}", DOUBT),
        )
    rows = sorted({port.row for port in placed}, key=_row_key)
    cells = {
        (row, column): _cell(list(ports))
        for (row, column), ports in groupby(
            sorted(placed, key=lambda p: (_row_key(p.row), p.column)), lambda p: (p.row, p.column)
        )
    }
    columns = sorted({column for _, column in cells})
    size = max(len(text) for cell in cells.values() for text in cell) + 2
    per_line = max(1, (width - 10) // size)
    for start in range(0, len(columns), per_line):
        part = columns[start : start + per_line]
        yield ()
        for row in rows:
            for index in range(max(len(cell) for cell in cells.values())):
                texts = [cells.get((row, column), ("",) * (index + 1)) for column in part]
                line = "".join((t[index] if index < len(t) else "").ljust(size) for t in texts).rstrip()
                yield ((f"{row if index == 0 else '':<8}", DIM), (line, BOLD if index == 0 else PLAIN))
    yield ()
    yield from _legend(panel, width)


def _row_key(row: str) -> tuple[int, int, str]:
    if row in _ROW_ORDER:
        return (0, _ROW_ORDER.index(row), "")
    return (1, int(row) if row.isdecimal() else 0, row)


def _cell(ports: list[PanelPort]) -> tuple[str, ...]:
    """Cage, its ports in the normal profile, and in the split-ready one; of a host the HCAs."""
    ports = sorted(ports, key=lambda port: port.port)
    cage = f"[{ports[0].cage}]"
    if any(port.hca for port in ports):
        return (cage, *(port.hca for port in ports))
    numbers = " ".join(str(port.number or port.label) for port in ports)
    if all(port.split_ready is None for port in ports):
        return cage, numbers
    return cage, numbers, " ".join(str(port.split_ready or "?") for port in ports)


def _legend(panel: Panel, width: int) -> Iterator[Line]:
    if panel.kind == "host":
        yield (("[cage], below it the HCA behind each of its ports", DIM),)
        return
    if not any(port.number for port in panel.ports):
        yield (
            ("[cage], below it the labels of its ports; their InfiniBand port numbers are not known", DIM),
        )
        return
    split = any(port.split_ready is not None for port in panel.ports)
    more = (
        ", below it that of the first half in the split-ready profile (the second is one more)"
        if split
        else ""
    )
    for line in textwrap.wrap(f"[cage], InfiniBand port numbers in the normal profile{more}", max(40, width)):
        yield ((line, DIM),)
    example = panel.ports[min(26, len(panel.ports) - 1)] if panel.ports else None
    if example is not None and example.labels:
        said = ", ".join(f"{name} {label}" for name, label in example.labels.items())
        yield ((f"labels of cage {example.cage} port {example.port}: {said}", DIM),)


def _aspects(panel: Panel, width: int) -> Iterator[Line]:
    for aspect, word in ASPECTS.items():
        status = panel.status.get(aspect)
        if status is not None:
            value = {"side": panel.side, "cage_type": panel.cage_type}.get(aspect, "")
            source = panel.sources.get(aspect, "")
            text = ": ".join(part for part in (", ".join(filter(None, (value, status))), source) if part)
            yield from _wrapped(word, text, width)


def _table(ports: Sequence[PanelPort]) -> Iterator[Line]:
    """Every port with what is known of it; columns that nobody fills are left out."""
    names = list(dict.fromkeys(name for port in ports for name in port.labels))
    header = ["cage", "port", "number", "split-ready", "HCA", "PCI", "GPU", "lanes", "row", "column", *names]
    rows = [
        [
            port.cage,
            str(port.port),
            str(port.number or "?"),
            str(port.split_ready or ""),
            port.hca,
            port.pci,
            "" if port.gpu is None else str(port.gpu),
            port.lanes,
            port.row,
            str(port.column or ""),
            *(port.labels.get(name, "") for name in names),
        ]
        for port in ports
    ]
    kept = [i for i in range(len(header)) if any(row[i] for row in rows)]
    widths = {i: max(len(header[i]), *(len(row[i]) for row in rows)) for i in kept}
    for at, row in enumerate([header, *rows]):
        text = "  ".join(row[i].ljust(widths[i]) for i in kept).rstrip()
        yield ((text, BOLD if at == 0 else PLAIN),)
