"""Write a discovered fabric back as ibnetdiscover text: read by ibsim, by our parser and by others' tools."""

from __future__ import annotations

from collections.abc import Iterator

from fabricctl.fabric import Fabric, Link, Node, NodeKind, Port

_LETTER = {NodeKind.SWITCH: "S", NodeKind.HCA: "H", NodeKind.ROUTER: "R", NodeKind.UNKNOWN: "?"}
_GUID_LINE = {NodeKind.SWITCH: "switchguid", NodeKind.HCA: "caguid", NodeKind.ROUTER: "rtguid"}


def write(fabric: Fabric) -> str:
    """The fabric in the grammar of ``ibnetdiscover``'s default output.

    Nodes must be keyed by canonical GUID. Only nodes that were read themselves get a block; every link is
    written from each end that has one.
    """
    lines = ["#", "# Topology file: written by fabricctl", "#"]
    ports: dict[str, list[tuple[int, Link]]] = {key: [] for key in fabric.nodes}
    for port, link in fabric.links.items():
        ports[port.node].append((port.number, link))
    for key, node in fabric.nodes.items():
        if node.listed:
            lines.append("")
            lines += _header(node)
            lines += [_port_line(fabric, node, number, link) for number, link in sorted(ports[key])]
    return "\n".join(lines) + "\n"


def _header(node: Node) -> Iterator[str]:
    guid = node.key.removeprefix("0x")
    yield "vendid=0x2c9"
    if node.device_id is not None:
        yield f"devid=0x{node.device_id:x}"
    if node.system_guid is not None:
        yield f"sysimgguid=0x{int(node.system_guid, 16):x}"
    short = f"{int(node.key, 16):x}"
    own = f"({short})" if node.kind is NodeKind.SWITCH else ""
    yield f"{_GUID_LINE.get(node.kind, 'caguid')}=0x{short}{own}"
    tail = f" base port 0 lid {node.lid or 0} lmc 0" if node.kind is NodeKind.SWITCH else ""
    yield f'{node.kind}\t{node.ports} "{_LETTER[node.kind]}-{guid}"\t\t# "{node.description}"{tail}'


def _port_line(fabric: Fabric, node: Node, number: int, link: Link) -> str:
    far = link.b if link.a == Port(node.key, number) else link.a
    peer = fabric.nodes[far.node]
    is_switch = node.kind is NodeKind.SWITCH
    own = "" if is_switch else f"({_port_guid(node, number)}) "
    theirs = "" if peer.kind is NodeKind.SWITCH else f"({_port_guid(peer, far.number)}) "
    lid = "" if is_switch else f"lid {node.lid or 0} lmc 0 "
    rate = str(link.rate) if link.rate else "???"
    name = f'"{_LETTER[peer.kind]}-{far.node.removeprefix("0x")}"[{far.number}]{theirs}'
    return f'[{number}]{own}\t{name}\t\t# {lid}"{peer.description}" lid {peer.lid or 0} {rate}'


def _port_guid(node: Node, number: int) -> str:
    return f"{int(dict(node.port_guids).get(number, node.key), 16):x}"
