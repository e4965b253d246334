"""The one interface to whoever installs machines: MAAS (``provision.maas``) or Ironic (``provision.ironic``).

A provisioner is asked and told; it decides nothing. Every write is sent at most once: where its answer is lost,
:class:`fabricctl.errors.ProvisionerOutcomeUnknownError` is raised, and the caller reads before it does anything more.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from fabricctl.mac import Mac
from provision.install.machine import Disk, Machine
from provision.install.spec import Changes, DeploySpec, EnrolSpec, Power


class Provisioner(Protocol):
    """MAAS or Ironic. All methods raise :class:`fabricctl.errors.ProvisionerError`.

    :cvar name: for people: ``MAAS``, ``Ironic``.
    """

    name: str

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        ...

    async def find(self, macs: Sequence[Mac] = (), hostnames: Sequence[str] = ()) -> list[Machine]:
        """Machines with one of the MACs or one of the host names; one or two requests however many are given."""
        ...

    async def read(self, ids: Sequence[str]) -> list[Machine]:
        """Machines by id in one bulk read; those that are not there any more are left out."""
        ...

    async def bmc_addresses(self) -> Mapping[str, str]:
        """Machine id -> BMC address, of all machines, in one light request. Passwords are dropped at once."""
        ...

    async def changes(self, cursor: str) -> Changes:
        """What changed since; with an empty cursor nothing but where to begin. One or few light requests."""
        ...

    async def create(self, spec: EnrolSpec) -> Machine:
        """Create a machine, and nothing more: it is not commissioned.

        :raises OtherMachineError: MAC or host name is taken; :raises ProvisionerOutcomeUnknownError: look it up.
        """
        ...

    async def manage(self, id: str) -> None:
        """Begin to look at it (MAAS: commission; Ironic: manage and provide). BMC users are left alone."""
        ...

    async def set_root(self, machine: Machine, disk: Disk) -> Machine:
        """Make one disk the one the system goes on, and read the machine again. Only when ready."""
        ...

    async def deploy(self, id: str, spec: DeploySpec) -> None:
        """Begin to install."""
        ...

    async def release(self, id: str, comment: str = "") -> None:
        """Begin to give it back."""
        ...

    async def abort(self, id: str) -> None:
        """End the phase that is under way."""
        ...

    async def quarantine(self, machine: Machine, reason: str) -> None:
        """Take it out of the pool: the tag, and marked as broken with a reason, so that nobody is given it."""
        ...

    async def restore(self, machine: Machine) -> None:
        """Have it marked as fixed. The tag stays on: whoever looked at the machine takes it off."""
        ...

    async def tag(self, ids: Sequence[str], tag: str, *, on: bool = True) -> None:
        """Put a tag on machines or take it off; made where it is not there.

        :raises ProvisionerAnswerError: it was not put on as many as there are.
        """
        ...

    async def set_power(self, id: str, power: Power) -> Machine:
        """Change how its BMC is reached; id, host name and addresses stay."""
        ...

    async def set_mac(self, machine: Machine, nic_id: str, mac: Mac) -> Machine:
        """Change the MAC of a NIC; id, host name and addresses stay."""
        ...

    async def why(self, machine: Machine) -> str:
        """Why it failed, in its own words: newest error events, failed scripts. Empty when it says nothing."""
        ...

    async def close(self) -> None:
        """Close connections."""
        ...
