"""Ironic behind the interface of provisioners."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerError,
    ProvisionerRefusedError,
    ProvisionerStateError,
)
from fabricctl.mac import Mac
from provision.install.machine import QUARANTINE_TAG, Disk, Machine, Stage
from provision.install.spec import Changes, DeploySpec, EnrolSpec, Power
from provision.ironic import bodies
from provision.ironic.create import create
from provision.ironic.leading import Leader
from provision.ironic.link import IronicLink
from provision.ironic.parse import bmc_address
from provision.ironic.reading import Reader
from provision.ironic.settings import IronicSettings
from provision.ironic.version import written

_ERRORS_SHOWN = 3


class IronicProvisioner:
    """One Ironic; see :class:`provision.install.provisioner.Provisioner`. Made on the event loop it is used on."""

    name = "Ironic"

    def __init__(self, settings: IronicSettings, link: IronicLink | None = None) -> None:
        self._settings = settings
        self._link = link or IronicLink(settings)
        self._reader = Reader(self._link)
        self._leader = Leader(self._link, self._reader)

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._link.requests

    async def version(self) -> str:
        """The microversion of the API that is spoken."""
        return written(await self._link.version())

    async def find(self, macs: Sequence[Mac] = (), hostnames: Sequence[str] = ()) -> list[Machine]:
        """Machines with one of the MACs or names; two requests. Half-made nodes are not there yet."""
        return await self._reader.matching(macs, hostnames) if macs or hostnames else []

    async def read(self, ids: Sequence[str]) -> list[Machine]:
        """Machines by id: two requests each for one or two of them, two in all for more."""
        return await self._reader.machines(ids) if ids else []

    async def bmc_addresses(self) -> Mapping[str, str]:
        """Node -> BMC address. Ironic never tells passwords."""
        return {
            node["uuid"]: address
            for node in await self._reader.nodes("uuid,driver_info,extra")
            if (address := bmc_address(node))
        }

    async def changes(self, cursor: str) -> Changes:
        """What changed, by one list of a few fields."""
        return await self._reader.changes(cursor)

    async def create(self, spec: EnrolSpec) -> Machine:
        """A node and its ports, left in ``enroll``."""
        return await create(self._link, self._reader, spec)

    async def manage(self, id: str) -> None:
        """``manage``, ``inspect`` where the site wants it, then ``provide``: returns when the last has begun."""
        await self._leader.manage(id)

    async def set_root(self, machine: Machine, disk: Disk) -> Machine:
        """Write the root device hint, read it back and compare.

        :raises ProvisionerAnswerError: it is not what was written.
        """
        if machine.stage is not Stage.READY:
            raise ProvisionerStateError(
                f"it is {machine.status}: its root device is set only while it is available"
            )
        hint = bodies.root_hint(disk, machine.disks)
        patch = [{"op": "add", "path": "/properties/root_device", "value": hint}]
        await self._patch(machine.id, patch)
        found = (await self._reader.node(machine.id, "uuid,properties")).get("properties")
        held = found.get("root_device") if isinstance(found, dict) else None
        if held != hint:
            raise ProvisionerAnswerError(f"expected root device {hint}, found {held}")
        return await self._reader.machine(machine.id)

    async def deploy(self, id: str, spec: DeploySpec) -> None:
        """What is to be installed, then ``active``. Ironic keeps no comment; the journal of fabricctl does."""
        images = self._settings.images
        node = await self._reader.node(id, "uuid,name,provision_state,properties")
        if node.get("provision_state") != "available":
            raise ProvisionerStateError(
                f"it is {node.get('provision_state')}: only an available node is installed"
            )
        bodies.refuse_undeployable(spec, images, node.get("properties"))
        if spec.user_data:
            self._link.learn(spec.user_data)
        await self._patch(id, bodies.instance_patch(images))
        body = bodies.active_body(str(node.get("name") or id), spec.user_data)
        await self._link.write("PUT", f"/v1/nodes/{id}/states/provision", body)

    async def release(self, id: str, comment: str = "") -> None:  # noqa: ARG002
        """``deleted``. Ironic keeps no comment."""
        await self._leader.tell(id, "deleted")

    async def abort(self, id: str) -> None:
        """End what is waited for; what Ironic itself is doing cannot be ended.

        :raises ProvisionerStateError: nothing is under way, or nobody can end it.
        """
        await self._leader.abort(id)

    async def quarantine(self, machine: Machine, reason: str) -> None:
        """The tag in ``extra``, and maintenance with the reason: allocations and deployments leave it alone.

        Where the tag cannot be put on, maintenance is begun all the same, and then that error is raised.
        """
        untagged: ProvisionerError | None = None
        try:
            await self._patch(machine.id, bodies.tag_patch(QUARANTINE_TAG, on=True))
        except ProvisionerError as exc:
            untagged = exc
        await self._link.write("PUT", f"/v1/nodes/{machine.id}/maintenance", {"reason": reason})
        if untagged is not None:
            raise untagged

    async def restore(self, machine: Machine) -> None:
        """Out of maintenance; the tag stays on, and its state what it was."""
        await self._link.write("DELETE", f"/v1/nodes/{machine.id}/maintenance")

    async def tag(self, ids: Sequence[str], tag: str, *, on: bool = True) -> None:
        """A key in ``extra`` of each node. :raises ProvisionerNotFoundError: one is not there."""
        key = bodies.tag_key(tag)
        for id in ids:
            if not on and key not in _extra(await self._reader.node(id, "uuid,extra")):
                continue
            await self._patch(id, bodies.tag_patch(tag, on=on))

    async def set_power(self, id: str, power: Power) -> Machine:
        """Other address or credentials of its BMC; uuid, name and ports stay."""
        self._link.learn(power.password)
        old = (await self._reader.node(id, "uuid,driver_info")).get("driver_info")
        await self._patch(id, bodies.power_patch(power, list(old) if isinstance(old, dict) else []))
        return await self._reader.machine(id)

    async def set_mac(self, machine: Machine, nic_id: str, mac: Mac) -> Machine:
        """Another MAC for a port. :raises ProvisionerRefusedError: the NIC has none: it does not boot."""
        if not nic_id:
            raise ProvisionerRefusedError("this NIC has no port in Ironic, so there is no MAC to change")
        patch = [{"op": "replace", "path": "/address", "value": mac}]
        await self._link.write("PATCH", f"/v1/ports/{nic_id}", patch)
        return await self._reader.machine(machine.id)

    async def why(self, machine: Machine) -> str:
        """``last_error``, and the newest errors of the node's history: some failures are told only there."""
        path = f"/v1/nodes/{machine.id}/history?detail=true&sort_key=created_at&sort_dir=desc&limit=20"
        body = await self._link.get(path)
        events = body.get("history") if isinstance(body, dict) else None
        errors = [
            " ".join(self._link.clean(str(event.get("event") or "")).split())
            for event in (events if isinstance(events, list) else [])
            if isinstance(event, dict) and event.get("severity") == "ERROR"
        ]
        said = [machine.said, *(text for text in errors[:_ERRORS_SHOWN] if text not in machine.said)]
        return "; ".join(dict.fromkeys(text for text in said if text))

    async def close(self) -> None:
        """Close connections."""
        await self._link.close()

    async def _patch(self, id: str, patch: list[dict[str, Any]]) -> None:
        await self._link.write("PATCH", f"/v1/nodes/{id}", patch)


def _extra(node: Mapping[str, Any]) -> Mapping[str, Any]:
    extra = node.get("extra")
    return extra if isinstance(extra, dict) else {}


@asynccontextmanager
async def open_ironic(settings: IronicSettings) -> AsyncIterator[IronicProvisioner]:
    """An Ironic to work with. Nothing is asked before the first use.

    :raises ProvisionerUnreachableError: the file of its authorities cannot be read.
    """
    provisioner = IronicProvisioner(settings)
    try:
        yield provisioner
    finally:
        await provisioner.close()
