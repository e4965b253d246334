"""A plan as a point-to-point CSV that people, spreadsheets and ``fabricctl.plan.table`` read.

Format: UTF-8, lines end in LF, one header line, one row per cable in the plan's order::

    a_device,a_port,z_device,z_port,a_rack,a_u,z_rack,z_u,speed,class,length_m,cable,a_type,z_type
    [,assembly,part_number,serial,a_connector,z_connector,a_module,z_module][,a_guid,z_guid]

``a_device``, ``a_port``
    of a switch its name and InfiniBand port number; of an HCA its host and its HCA name (``gpu001``,
    ``mlx5_0``), with ``/port`` behind the name only for ports above 1 (``mlx5_0/2``). An HCA that names no
    host or no HCA is written like a switch, by its name and port number.
``a_rack``, ``a_u``
    where the device stands, empty when unknown.
``speed``
    width and speed of the cable (``4xNDR``), empty when the plan does not state it.
``class``, ``length_m``, ``cable``
    link class, metres, label or part number; empty when unknown.
``a_type``
    ``switch``, ``host`` or ``router``; empty when the plan itself does not know. A reader then need not guess.
``assembly``, ``part_number``, ``serial``, ``a_connector``, ``a_module``
    kind of cable (``twin_dac``), its part and serial number, connector and transceiver part number at the end; the
    seven columns exist only when some cable has one.
``a_guid``
    node GUID; the two columns exist only when some node of the plan has one.

Cells are quoted by RFC 4180 where needed. Tiers, rails, units and reserved ports have no column.
"""

from __future__ import annotations

import csv
import io

from fabricctl.fabric import LinkDetail, Node, NodeKind, Place, Port
from fabricctl.plan.model import Plan

COLUMNS = (
    *("a_device", "a_port", "z_device", "z_port", "a_rack", "a_u", "z_rack", "z_u"),
    *("speed", "class", "length_m", "cable", "a_type", "z_type"),
)
PART_COLUMNS = ("assembly", "part_number", "serial", "a_connector", "z_connector", "a_module", "z_module")
GUID_COLUMNS = ("a_guid", "z_guid")
_TYPES = {NodeKind.SWITCH: "switch", NodeKind.HCA: "host", NodeKind.ROUTER: "router", NodeKind.UNKNOWN: ""}


def to_csv(plan: Plan) -> str:
    """The whole table as text."""
    nodes = plan.fabric.nodes
    with_guids = plan.keyed_by_guid or any(node.guid for node in nodes.values())
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    nothing, nowhere = LinkDetail(), Place("")
    no_parts = _parts(nothing)
    with_parts = any(_parts(link.detail) != no_parts for link in plan.fabric.each_link() if link.detail)
    writer.writerow([*COLUMNS, *(PART_COLUMNS if with_parts else ()), *(GUID_COLUMNS if with_guids else ())])
    for link in plan.fabric.each_link():
        a, z = nodes[link.a.node], nodes[link.b.node]
        detail = link.detail or nothing
        row = [
            *_end(a, link.a),
            *_end(z, link.b),
            *(a.place or nowhere),
            *(z.place or nowhere),
            str(link.rate) if link.rate else "",
            detail.link_class,
            "" if detail.length_m is None else f"{detail.length_m:g}",
            detail.cable,
            _TYPES[a.kind],
            _TYPES[z.kind],
        ]
        if with_parts:
            row += _parts(detail)
        if with_guids:
            row += [a.guid or "", z.guid or ""]
        writer.writerow(row)
    return out.getvalue()


def _parts(detail: LinkDetail) -> tuple[str, ...]:
    return (detail.assembly, detail.part_number, detail.serial, *detail.connectors, *detail.modules)


def _end(node: Node, port: Port) -> tuple[str, str]:
    if node.kind is NodeKind.HCA and node.host and node.hca:
        return node.host, node.hca if port.number == 1 else f"{node.hca}/{port.number}"
    return node.name or node.key, str(port.number)
