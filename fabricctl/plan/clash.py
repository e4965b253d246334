"""A port that two cables of one plan claim."""

from __future__ import annotations

from fabricctl.errors import PlanError
from fabricctl.fabric import Fabric, Link, Port, PortClash


def connect(fabric: Fabric, link: Link) -> None:
    """Add a planned cable.

    :raises PlanError: when one of its ports is taken, naming both cables and the later one's line.
    """
    clash = fabric.connect(link)
    if clash is not None:
        raise clash_error(fabric, clash)


def clash_error(fabric: Fabric, clash: PortClash) -> PlanError:
    """The error to raise for a clash."""
    first, second = (_use(fabric, clash.port, link) for link in (clash.first, clash.second))
    return PlanError(
        f"port {port_text(fabric, clash.port)} is used twice: {first} and {second}", line=clash.second.line
    )


def port_text(fabric: Fabric, port: Port) -> str:
    """``ibl-p01-r1/33``: the node's name, or its key while it has none."""
    node = fabric.nodes.get(port.node)
    return f"{node.name if node and node.name else port.node}/{port.number}"


def _use(fabric: Fabric, port: Port, link: Link) -> str:
    line = f" (line {link.line})" if link.line else ""
    return f"to {port_text(fabric, link.other(port))}{line}"
