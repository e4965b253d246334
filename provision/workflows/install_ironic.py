"""What installing by Ironic needs of a site, and the one way of installing that only Ironic has: into memory."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.errors import UsageError
from fabricctl.site.provisioning import MaasHost
from fabricctl.site.use import all_hosts, entry_of_each, names_of
from provision.bmc.secret import Secret
from provision.install.lifecycle import Verb, Wish
from provision.install.machine import Phase
from provision.install.spec import DeploySpec
from provision.ironic.settings import IronicImages, IronicSettings
from provision.workflows.install_deploy import STRANGE
from provision.workflows.install_node import Checked, Node
from provision.workflows.install_run import Job, run_fleet
from provision.workflows.install_user_data import OneInstallation, Seeds

if TYPE_CHECKING:
    from fabricctl.site.provisioning import Ironic
    from fabricctl.site.schema import Site
    from provision.install.outcome import NodeResult
    from provision.install.provisioner import Provisioner
    from provision.workflows.install_access import Known
    from provision.workflows.install_commission import Judge
    from provision.workflows.install_model import FlowOptions


def ironic_of(site: Site) -> Ironic:
    """The site's Ironic. :raises UsageError: it has none."""
    if site.ironic is None:
        raise UsageError(f"{site.path} names no Ironic", hint="write ironic: {url: http://HOST:6385}")
    return site.ironic


def ironic_settings(site: Site) -> IronicSettings:
    """How the site's Ironic is reached, and what it installs.

    :raises UsageError: the site has no Ironic; :raises SecretError: its password cannot be read.
    """
    from provision.secrets.reference import read_reference

    ironic = ironic_of(site)
    folder = str(Path(site.path).parent)
    image = ironic.image
    return IronicSettings(
        ironic.url,
        ironic.user,
        read_reference(ironic.password, folder) if ironic.password else None,
        str(Path(folder, ironic.ca)) if ironic.ca else "",
        IronicImages(
            image.deploy_interface,
            image.boot_interface or "",
            image.image,
            image.checksum,
            image.kernel,
            image.ramdisk,
            image.series,
            image.hwe,
        ),
        inspect="" if ironic.inspect == "no" else ironic.inspect,
        clean=ironic.clean,
        requests=ironic.limits.requests,
        answer_s=ironic.limits.answer_s,
        managed_s=ironic.limits.commission_min * 60,
    )


@asynccontextmanager
async def open_site_ironic(site: Site) -> AsyncIterator[Provisioner]:
    """The site's Ironic; connections end with the block."""
    from provision.ironic.driver import open_ironic

    async with open_ironic(ironic_settings(site)) as provisioner:
        yield provisioner


def ironic_hosts(site: Site) -> dict[str, MaasHost]:
    """Host -> how it is enrolled; an entry of one host comes before a set that holds it."""
    return {
        host: MaasHost(power=entry.power, boot_nic=entry.boot_nic, tags=entry.tags)
        for host, entry in entry_of_each(ironic_of(site).hosts).items()
    }


def hosts_of_ironic(site: Site) -> list[str]:
    """Hosts that ``ironic.hosts`` names, in written order; every host where it names none."""
    named = [name for host_set in ironic_of(site).hosts for name in names_of(host_set)]
    return list(dict.fromkeys(named)) or all_hosts(site)


def ironic_judges(known: Known) -> Mapping[str, Judge]:
    """Host -> how its hardware is judged; where nobody looks at hardware, there is nothing to judge."""
    from provision.workflows.install_access import judges

    if ironic_of(known.site).inspect != "no":
        return judges(known)
    return {host: lambda machine: () for host in known.hosts}  # noqa: ARG005


@dataclass
class MemoryWork:
    """One machine to boot into memory: nothing is written to any disk, so none is chosen.

    :param seeds: user data, where the way it boots brings them; :param series: and ``kernel``: what is asked for.
    """

    wish: Wish
    series: str
    kernel: str
    seeds: Seeds | None = None
    comment: str = ""
    _installation: OneInstallation | None = field(init=False)

    def __post_init__(self) -> None:
        self._installation = OneInstallation(self.seeds) if self.seeds is not None else None

    def refused(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """Nothing is in its way."""
        return ""

    async def prepare(self, node: Node, phase: Phase) -> str:  # noqa: ARG002
        """Nothing is in its way."""
        return ""

    async def send(self, node: Node, phase: Phase) -> None:
        """Release it where that comes first, or boot it."""
        if phase is Phase.RELEASE:
            await node.call(lambda: node.provisioner.release(node.machine.id, self.comment))
            return

        async def boot(data: Secret) -> None:
            spec = DeploySpec(self.series, self.kernel, data, comment=self.comment)
            await node.provisioner.deploy(node.machine.id, spec)

        if self._installation is not None:
            await self._installation.send(node, boot)
        else:
            await node.call(lambda: boot(Secret("")))

    async def check(self, node: Node) -> Checked:  # noqa: ARG002
        """It runs; what it runs cannot be told."""
        strange = self._installation is not None and self._installation.strange
        return Checked(findings=(STRANGE,) if strange else ())


async def deploy_into_memory(
    provisioner: Provisioner,
    site: Site,
    hosts: Sequence[str],
    options: FlowOptions,
    *,
    seeds: Seeds,
    redeploy: bool = False,
    again: bool = False,
    from_quarantine: bool = False,
    comment: str = "",
) -> list[NodeResult]:
    """Boot hosts into memory (``deploy_interface: ramdisk``); see :func:`run_fleet`.

    :param seeds: used where virtual media bring user data; over the network Ironic has no way to.
    """
    image, install = ironic_of(site).image, site.install
    brought = seeds if image.boot_interface == "redfish-virtual-media" else None
    wish = Wish(Verb.DEPLOY, redeploy, from_quarantine, again)
    works = {host: MemoryWork(wish, install.series, install.kernel, brought, comment) for host in hosts}
    return await run_fleet(provisioner, [Job(host, work) for host, work in works.items()], options)
