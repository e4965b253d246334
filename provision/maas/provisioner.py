"""MAAS behind the provisioner interface, by a client of our own."""

from __future__ import annotations

import asyncio
import base64
import random
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerError,
    ProvisionerForbiddenError,
    ProvisionerGarbledError,
    ProvisionerNotFoundError,
    ProvisionerOutcomeUnknownError,
    ProvisionerRefusedError,
    ProvisionerUnsupportedError,
)
from fabricctl.mac import Mac
from provision.bmc.secret import Secret
from provision.http.asked import shorten
from provision.http.lost import unreadable
from provision.install.machine import QUARANTINE_TAG, Disk, Machine, Stage
from provision.install.spec import DeploySpec, EnrolSpec, Power
from provision.maas.noted import reason_in, with_reason, without_reason
from provision.maas.parse import mapping, number
from provision.maas.reads import MaasReads
from provision.maas.retry import Sleep
from provision.maas.settings import MaasSettings
from provision.maas.transport import MaasTransport
from provision.maas.why import why_of
from provision.maas.wire import Ask, Fields

AGENT = "fabricctl"
"""What machines we deploy carry as ``agent_name``."""
RELEASES = {"jammy": "22.04", "noble": "24.04"}
"""Ubuntu series -> the number in the names of its kernels."""
LONGEST_COMMENT = 200
"""Characters of a comment that MAAS keeps with an event or a broken machine."""


class MaasProvisioner(MaasReads):
    """One MAAS. Made by :func:`open_maas`; see :class:`provision.install.provisioner.Provisioner`."""

    async def _post(
        self,
        path: str,
        op: str = "",
        form: Fields | None = None,
        *,
        id: str = "",
        hidden: Sequence[Secret] = (),
    ) -> Any:
        ask = Ask("POST", path, op, form=form or {}, host=self._host(id), hidden=tuple(hidden))
        return (await self._transport.send(ask)).body

    async def _operate(self, id: str, op: str, form: Fields | None = None) -> Any:
        return await self._post(f"machines/{id}/", op, form, id=id)

    async def create(self, spec: EnrolSpec) -> Machine:
        """Create a machine without commissioning it, which MAAS would begin at once. Its tags are put on apart.

        :raises OtherMachineError: MAC or host name is taken; :raises ProvisionerOutcomeUnknownError: look it up.
        """
        form: dict[str, Any] = {
            "hostname": spec.host,
            "architecture": spec.architecture,
            "mac_addresses": list(spec.macs),
            "commission": False,
            **power_fields(spec.power),
        }
        form |= {key: value for key in ("domain", "pool", "zone") if (value := getattr(spec, key))}
        ask = Ask("POST", "machines/", form=form, host=spec.host, hidden=(spec.power.password,))
        return self._written(ask, (await self._transport.send(ask)).body)

    def _written(self, ask: Ask, body: object) -> Machine:
        """The machine of a write's answer."""
        try:
            return self._machine(body)
        except ProvisionerGarbledError as exc:
            raise unreadable(ask.asked, str(exc)) from exc

    async def manage(self, id: str) -> None:
        """Begin to commission. MAAS sets up no BMC user of its own, gives nobody ssh, and runs no tests.

        :raises ProvisionerStateError: not New, Ready, Broken or Failed commissioning.
        """
        form = {"skip_bmc_config": "1", "enable_ssh": "0", "testing_scripts": "none"}
        await self._operate(id, "commission", form)

    async def set_root(self, machine: Machine, disk: Disk) -> Machine:
        """Boot from a disk and lay the system out on it, flat; then read the machine again. Only when Ready."""
        await self._post(f"nodes/{machine.id}/blockdevices/{disk.id}/", "set_boot_disk", id=machine.id)
        form: Fields = {"storage_layout": "flat", "root_device": disk.id}
        await self._operate(machine.id, "set_storage_layout", form)
        return await self._read_again(machine.id)

    async def _read_again(self, id: str) -> Machine:
        return self._machine(await self._get(f"machines/{id}/", host=self._host(id)))

    async def deploy(self, id: str, spec: DeploySpec) -> None:
        """Begin to install Ubuntu. A Ready machine is allocated to the key's own user by the same request.

        :raises ProvisionerPowerError: no rack controller reaches the BMC; MAAS took everything back.
        """
        data = base64.b64encode(spec.user_data.reveal().encode()).decode()
        form: dict[str, Any] = {
            "osystem": "ubuntu",
            "distro_series": f"ubuntu/{spec.series}",
            "hwe_kernel": kernel_of(spec),
            "user_data": data,
            "agent_name": AGENT,
        }
        if spec.comment:
            form["comment"] = comment_of(spec.comment)
        await self._post(f"machines/{id}/", "deploy", form, id=id, hidden=(spec.user_data, Secret(data)))

    async def release(self, id: str, comment: str = "") -> None:
        """Begin to release; again while it is being released does no harm."""
        await self._operate(id, "release", {"comment": comment_of(comment)} if comment else {})

    async def abort(self, id: str) -> None:
        """End commissioning, deploying, erasing or testing. An aborted deployment leaves the machine Allocated."""
        await self._operate(id, "abort")

    async def quarantine(self, machine: Machine, reason: str) -> None:
        """The tag first, then marked as broken with the reason, so that it is never in the pool without the tag.

        Where the tag cannot be put on, it is marked all the same, and then that error is raised.
        Only a machine's owner may mark it: a Ready one, which has none, is allocated first. A New one cannot be
        allocated by anybody, so that its tag is enough where MAAS refuses to mark it; the reason goes into its
        description, which may be written in any state.
        :raises ProvisionerForbiddenError: it is somebody else's, or is being released; the tag is on it.
        """
        untagged: ProvisionerError | None = None
        try:
            await self.tag([machine.id], QUARANTINE_TAG)
        except ProvisionerError as exc:
            untagged = exc
        await self._mark_broken(machine, reason)
        if untagged is not None:
            raise untagged

    async def _mark_broken(self, machine: Machine, reason: str) -> None:
        if machine.stage is Stage.BROKEN:
            return
        form = {"comment": comment_of(reason)}
        if machine.stage is Stage.READY:
            await self._post("machines/", "allocate", {"system_id": machine.id, **form}, id=machine.id)
        try:
            await self._operate(machine.id, "mark_broken", form)
        except ProvisionerForbiddenError:
            if machine.stage is not Stage.NEW:
                raise
            await self._describe(machine, with_reason(machine.description, comment_of(reason)))

    async def _describe(self, machine: Machine, text: str) -> None:
        """Write its description, twice where the answer is lost; where it cannot be, the tag holds all the same."""
        ask = Ask("PUT", f"machines/{machine.id}/", form={"description": text}, host=self._host(machine.id))
        for _ in range(2):
            try:
                await self._transport.send(ask)
            except ProvisionerOutcomeUnknownError:
                continue
            except ProvisionerError:
                return
            return

    async def restore(self, machine: Machine) -> None:
        """Marked as fixed where it is broken, our reason out of its description; the tag stays on."""
        if machine.stage is Stage.BROKEN:
            await self._operate(machine.id, "mark_fixed")
        if reason_in(machine.description):
            await self._describe(machine, without_reason(machine.description))

    async def tag(self, ids: Sequence[str], tag: str, *, on: bool = True) -> None:
        """Put a tag on machines or take it off; made where it is not there.

        :raises ProvisionerAnswerError: MAAS passes over ids it does not know without a word, and did.
        """
        wanted = list(dict.fromkeys(ids))
        if not wanted:
            return
        form = {"add" if on else "remove": wanted}
        try:
            raw = await self._post(f"tags/{tag}/", "update_nodes", form)
        except ProvisionerNotFoundError:
            if not on:
                return
            await self._make_tag(tag)
            raw = await self._post(f"tags/{tag}/", "update_nodes", form)
        done = number(mapping(raw).get("added" if on else "removed"))
        if done < len(wanted) and on:
            raise ProvisionerAnswerError(
                f"tag {tag}: expected {len(wanted)} machines to get it, found {done}"
            )

    async def _make_tag(self, tag: str) -> None:
        try:
            await self._post("tags/", form={"name": tag, "comment": "made by fabricctl"})
        except ProvisionerRefusedError as exc:
            if "already exists" not in str(exc):  # somebody else made it meanwhile
                raise

    async def set_power(self, id: str, power: Power) -> Machine:
        """Change how its BMC is reached; id, host name and addresses stay."""
        ask = Ask(
            "PUT", f"machines/{id}/", form=power_fields(power), host=self._host(id), hidden=(power.password,)
        )
        return self._written(ask, (await self._transport.send(ask)).body)

    async def set_mac(self, machine: Machine, nic_id: str, mac: Mac) -> Machine:
        """Change the MAC of a NIC. :raises OtherMachineError: another NIC has it."""
        path = f"nodes/{machine.id}/interfaces/{nic_id}/"
        await self._transport.send(Ask("PUT", path, form={"mac_address": mac}, host=self._host(machine.id)))
        return await self._read_again(machine.id)

    async def why(self, machine: Machine) -> str:
        """Why it failed: warnings and errors since its phase began, and scripts that failed; empty when unknown."""
        events = await self.events(id=machine.id, level="INFO", limit=100)
        return why_of(machine, events, await self.results(machine.id))


def power_fields(power: Power) -> dict[str, str]:
    """Power type and parameters, one field each. :raises ProvisionerUnsupportedError: neither redfish nor ipmi."""
    if power.kind not in ("redfish", "ipmi"):
        raise ProvisionerUnsupportedError(f"expected power redfish or ipmi, found {power.kind!r}")
    at = f"[{power.address}]" if ":" in power.address and power.port != 443 else power.address
    fields = {
        "power_address": f"{at}:{power.port}"
        if power.kind == "redfish" and power.port != 443
        else power.address,
        "power_user": power.user,
        "power_pass": power.password.reveal(),
    }
    if power.kind == "redfish":
        fields["node_id"] = power.system_id
    return {"power_type": power.kind, **{f"power_parameters_{name}": value for name, value in fields.items()}}


def kernel_of(spec: DeploySpec) -> str:
    """MAAS's name of a kernel: ``ga-22.04``, ``hwe-24.04``. :raises ProvisionerUnsupportedError: unknown series."""
    release = RELEASES.get(spec.series)
    if release is None or spec.kernel not in ("ga", "hwe"):
        raise ProvisionerUnsupportedError(
            f"expected jammy or noble with a ga or hwe kernel, found {spec.series} with {spec.kernel}"
        )
    return f"{spec.kernel}-{release}"


def comment_of(text: str) -> str:
    """A comment in one line that MAAS keeps whole."""
    return shorten(text, LONGEST_COMMENT)


@asynccontextmanager
async def open_maas(
    settings: MaasSettings, *, sleep: Sleep = asyncio.sleep, dice: Callable[[], float] = random.random
) -> AsyncIterator[MaasProvisioner]:
    """A MAAS whose connections end with the block. Nothing is sent yet.

    :raises ProvisionerLoginError: the key is none; :raises ProvisionerUnreachableError: no such file of authorities.
    """
    maas = MaasProvisioner(
        MaasTransport(settings, sleep=sleep, dice=dice),
        answer_s=settings.answer_s,
    )
    try:
        yield maas
    finally:
        await maas.close()
