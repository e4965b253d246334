"""Creating a node with its ports, so that being stopped anywhere leaves nothing that the next try does not finish.

Ironic makes nodes and ports one by one. A node is marked while its ports are not all there; a marked node does not
exist for the rest of fabricctl, and creating the same machine again goes on with it.
"""

from __future__ import annotations

from contextlib import suppress
from typing import Any

from fabricctl.errors import OtherMachineError, ProvisionerError, ProvisionerNotFoundError
from fabricctl.mac import Mac
from provision.install.machine import Machine
from provision.install.spec import EnrolSpec
from provision.ironic.bodies import CREATING, node_body
from provision.ironic.link import IronicLink
from provision.ironic.reading import Reader, half_made

_SAME = ("redfish_address", "redfish_system_id", "ipmi_address")


async def create(link: IronicLink, reader: Reader, spec: EnrolSpec) -> Machine:
    """A node with its ports, in state ``enroll``.

    :raises OtherMachineError: its name or a MAC belongs to another; what was made of it is taken away again.
    """
    link.learn(spec.power.password)
    body = node_body(spec, link.settings)
    try:
        made = await link.write("POST", "/v1/nodes", body)
        id = str(made["uuid"])
    except OtherMachineError as taken:
        id = await _left_over(reader, spec, body, taken)
    for mac in spec.macs:
        await _port(link, id, spec.host, mac)
    await link.write("PATCH", f"/v1/nodes/{id}", [{"op": "remove", "path": f"/extra/{CREATING}"}])
    return await reader.machine(id)


async def _left_over(reader: Reader, spec: EnrolSpec, body: dict[str, Any], taken: OtherMachineError) -> str:
    """The node of this name, where it is what an earlier try left of the same machine."""
    try:
        node = await reader.node(spec.host)
    except ProvisionerNotFoundError:
        raise taken from None
    found, wanted = node.get("driver_info"), body["driver_info"]
    same = isinstance(found, dict) and all(found.get(name) == wanted.get(name) for name in _SAME)
    if not (half_made(node) and same):
        raise OtherMachineError(taken.message, host=spec.host, status=taken.status) from None
    return str(node["uuid"])


async def _port(link: IronicLink, id: str, host: str, mac: Mac) -> None:
    try:
        await link.write("POST", "/v1/ports", {"node_uuid": id, "address": mac})
    except OtherMachineError as taken:
        ports = await link.list(f"/v1/ports?address={mac}&fields=uuid,node_uuid", "ports")
        if any(port.get("node_uuid") == id for port in ports):
            return
        with suppress(ProvisionerError):  # it stays marked, and the next try goes on with it
            await link.write("DELETE", f"/v1/nodes/{id}")
        raise OtherMachineError(taken.message, host=host, status=taken.status) from None
