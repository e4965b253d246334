"""Reading nodes: all at once, or a few one by one."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from fabricctl.errors import ProvisionerGarbledError, ProvisionerNotFoundError
from provision.install.machine import Machine
from provision.install.spec import Changes
from provision.ironic.bodies import CREATING
from provision.ironic.link import IronicLink
from provision.ironic.parse import FIELDS, LIGHT, machine_of, said_of
from provision.ironic.version import INVENTORY

FEW = 2
"""So many nodes are read one by one, with two requests each; of more, everything is read in two."""
PORT_FIELDS = "uuid,address,node_uuid"
Node = Mapping[str, Any]


class Reader:
    """Reads nodes, ports and inventories. An inventory is read once for each time the hardware was looked at."""

    def __init__(self, link: IronicLink) -> None:
        self._link = link
        self._inventories: dict[str, tuple[str, Any]] = {}

    async def node(self, id: str, fields: str = FIELDS) -> dict[str, Any]:
        """One node, by id or name. :raises ProvisionerNotFoundError: there is none."""
        body = await self._link.get(f"/v1/nodes/{id}?fields={fields}")
        if not isinstance(body, dict) or not isinstance(body.get("uuid"), str):
            raise ProvisionerGarbledError(f"Ironic: expected a node at {id}, found something else")
        return self._clean(body)

    async def machine(self, id: str) -> Machine:
        """One machine, by id or name."""
        node = await self.node(id)
        ports = await self._link.list(f"/v1/ports?node={node['uuid']}&fields={PORT_FIELDS}", "ports")
        return machine_of(node, ports, await self._inventory(node))

    async def machines(self, ids: Sequence[str]) -> list[Machine]:
        """Machines by id, in that order; those that are gone are left out."""
        wanted = list(dict.fromkeys(ids))
        if len(wanted) > FEW:
            found = {machine.id: machine for machine in await self._all(set(wanted), (), ())}
            return [found[id] for id in wanted if id in found]
        read = await asyncio.gather(*(self._maybe(id) for id in wanted))
        return [machine for machine in read if machine is not None]

    async def matching(self, macs: Collection[str], names: Collection[str]) -> list[Machine]:
        """Machines with one of the MACs or one of the names."""
        return await self._all((), macs, {name.lower() for name in names})

    async def nodes(self, fields: str) -> list[dict[str, Any]]:
        """All nodes, whole ones only."""
        found = await self._link.list(f"/v1/nodes?fields={fields}", "nodes")
        return [
            self._clean(node) for node in found if isinstance(node.get("uuid"), str) and not half_made(node)
        ]

    async def changes(self, cursor: str) -> Changes:
        """What is not as it was at a cursor, which holds a few digits of a hash for each node.

        Ironic cannot be asked what changed since; its list of five fields is small (0.6 KB a node).
        """
        before = _cursor(cursor)
        listed = await self.nodes(LIGHT)
        after = {node["uuid"]: _digest(node) for node in listed}
        said = {
            node["uuid"]: "; ".join(filter(None, (node.get("provision_state"), said_of(node))))
            for node in listed
        }
        changed = {id for id, digest in after.items() if before.get(id) != digest} | (
            before.keys() - after.keys()
        )
        if not cursor:
            changed = set()
        return Changes(frozenset(changed), json.dumps(after), {id: said[id] for id in changed if id in said})

    async def _all(
        self, ids: Collection[str], macs: Collection[str], names: Collection[str]
    ) -> list[Machine]:
        nodes, listed = await asyncio.gather(
            self.nodes(FIELDS), self._link.list(f"/v1/ports?fields={PORT_FIELDS}", "ports")
        )
        ports: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for port in listed:
            ports[str(port.get("node_uuid"))].append(port)
        found = []
        for node in nodes:
            id = node["uuid"]
            own = {str(port.get("address")).lower() for port in ports[id]}
            if id in ids or own & set(macs) or str(node.get("name")).lower() in names:
                found.append(machine_of(node, ports[id], await self._inventory(node)))
        return found

    async def _maybe(self, id: str) -> Machine | None:
        try:
            return await self.machine(id)
        except ProvisionerNotFoundError:
            return None

    async def _inventory(self, node: Node) -> Any:
        """What inspection found, None where nobody looked."""
        at = node.get("inspection_finished_at")
        if not isinstance(at, str) or await self._link.version() < INVENTORY:
            return None
        known = self._inventories.get(node["uuid"])
        if known is None or known[0] != at:
            try:
                known = at, await self._link.get(f"/v1/nodes/{node['uuid']}/inventory")
            except ProvisionerNotFoundError:
                known = at, None
            self._inventories[node["uuid"]] = known
        return known[1]

    def _clean(self, node: dict[str, Any]) -> dict[str, Any]:
        for name in ("last_error", "maintenance_reason"):
            if isinstance(node.get(name), str):
                node[name] = self._link.clean(node[name])
        return node


def half_made(node: Node) -> bool:
    """Whether its creation was not finished."""
    extra = node.get("extra")
    return isinstance(extra, dict) and extra.get(CREATING) is True


def _digest(node: Node) -> str:
    text = json.dumps({name: node.get(name) for name in LIGHT.split(",")}, sort_keys=True)
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def _cursor(text: str) -> dict[str, str]:
    try:
        found = json.loads(text) if text else {}
    except ValueError:
        found = {}
    return found if isinstance(found, dict) else {}
