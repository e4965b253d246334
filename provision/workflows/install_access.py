"""What installing needs of a site: MAAS and its key, who is to be enrolled with which MACs, what should be in them."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

from fabricctl.adapters.store.location import Location, state_folder
from fabricctl.adapters.store.reading import read_store
from fabricctl.errors import SecretError, UsageError
from fabricctl.nodes.facts import StoredFact
from fabricctl.nodes.model import NodeRecord
from fabricctl.site.check_install import name_fault
from fabricctl.site.provisioning import BootDisk, MaasHost
from fabricctl.site.use import bmc_access, bmc_addresses, entry_of_each, model_names
from provision.bmc.target import Target
from provision.install.boot_nics import boot_macs
from provision.install.deadlines import Deadlines
from provision.install.disk_rule import disk_rule
from provision.install.expected import ExpectedHardware, expected_hardware
from provision.install.hardware import Shortfall, check_hardware
from provision.install.machine import Machine
from provision.install.spec import EnrolSpec, Power
from provision.workflows.desk import read_desk
from provision.workflows.install_commission import Judge
from provision.workflows.install_deploy import DeployJob
from provision.workflows.install_model import FlowOptions

if TYPE_CHECKING:
    from fabricctl.site.provisioning import Maas, ProvisionerLimits
    from fabricctl.site.schema import Site
    from provision.install.provisioner import Provisioner
    from provision.maas.settings import MaasSettings
    from provision.secrets.store import SecretStore

_SYSTEM = re.compile(r"/redfish/v1/Systems/([^/\s]+)")


def maas_of(site: Site) -> Maas:
    """The site's MAAS. :raises UsageError: it has none."""
    if site.maas is None:
        raise UsageError(f"{site.path} names no MAAS", hint="write maas: {url: http://HOST:5240/MAAS}")
    return site.maas


def maas_settings(site: Site) -> MaasSettings:
    """How the site's MAAS is reached; the key is read from where the site file says.

    :raises UsageError: the site has no MAAS; :raises SecretError: there is no key.
    """
    from provision.maas.settings import MaasSettings
    from provision.secrets.reference import read_reference

    maas = maas_of(site)
    folder = str(Path(site.path).parent)
    key = read_reference(maas.api_key, folder)
    ca = str(Path(folder, maas.ca)) if maas.ca else ""
    return MaasSettings(maas.url, key, ca, maas.limits.requests, maas.limits.answer_s)


@asynccontextmanager
async def open_provisioner(site: Site) -> AsyncIterator[Provisioner]:
    """The site's MAAS by the client the site file names; connections end with the block.

    :raises UsageError: :raises SecretError: as :func:`maas_settings` says.
    """
    settings = maas_settings(site)
    if maas_of(site).client == "libmaas":
        from provision.maas.libmaas import open_libmaas

        async with open_libmaas(settings) as provisioner:
            yield provisioner
        return
    from provision.maas.provisioner import open_maas

    async with open_maas(settings) as provisioner:
        yield provisioner


def flow_options(site: Site, limits: ProvisionerLimits) -> FlowOptions:
    """Bounds as the site file names them; where things are kept and who is told is added by the command.

    :raises StateError: there is no home folder for the locks of the site's hosts.
    """
    deadlines = Deadlines(limits.commission_min * 60, limits.deploy_min * 60, limits.release_min * 60)
    return FlowOptions(
        wave=limits.wave,
        deploying=limits.deploying,
        requests=limits.requests,
        poll_s=limits.poll_s,
        deadlines=deadlines,
        locks=state_folder() / "locks" / quote(site.name, safe=" "),
    )


def maas_hosts(site: Site) -> dict[str, MaasHost]:
    """Host -> how it is enrolled; an entry of one host comes before a set that holds it."""
    return entry_of_each(maas_of(site).hosts)


@dataclass(frozen=True)
class Known:
    """What is kept of hosts. :param targets: host -> its BMC, of those with an address."""

    site: Site
    hosts: Sequence[str]
    targets: Mapping[str, Target]
    records: Mapping[str, NodeRecord]
    facts: Mapping[str, Sequence[StoredFact]]

    def expected(self, host: str) -> ExpectedHardware:
        """What should be in a host."""
        model = self.site.node_models.get(model_names(self.site).get(host, ""))
        record = self.records.get(host)
        identities = record.identities if record is not None else ()
        return expected_hardware(model, self.facts.get(host, ()), identities)


def read_known(site: Site, location: Location, hosts: Sequence[str]) -> Known:
    """What site and store hold of hosts. :raises StateError: the store cannot be read."""
    records: Mapping[str, NodeRecord] = {}
    facts: Mapping[str, Sequence[StoredFact]] = {}
    with read_store(location, site.name) as store:
        if store is not None:
            records = store.nodes.all(hosts)
            facts = store.facts.current(hosts)
    addressed = bmc_addresses(site)
    targets, _ = read_desk(site, location, [host for host in hosts if host in addressed])
    return Known(site, list(hosts), {target.host: target for target in targets}, records, facts)


@dataclass(frozen=True)
class Specs:
    """Who can be enrolled. :param refused: host -> why it cannot be, and what to do about it."""

    specs: Sequence[EnrolSpec]
    refused: Mapping[str, str]


def enrol_specs(known: Known, secrets: SecretStore, entries: Mapping[str, MaasHost] | None = None) -> Specs:
    """What each host is enrolled with. :param secrets: passwords of BMCs; they stay inside the specs.

    :param entries: host -> how it is enrolled, for another provisioner than MAAS.
    """
    for_maas = entries is None
    entries = maas_hosts(known.site) if entries is None else entries
    specs: list[EnrolSpec] = []
    refused: dict[str, str] = {}
    for host in known.hosts:
        entry = entries.get(host, MaasHost())
        made = (name_fault([host]) if for_maas else "") or _spec(known, host, entry, secrets)
        if isinstance(made, str):
            refused[host] = made
        else:
            specs.append(made)
    return Specs(specs, refused)


def _spec(known: Known, host: str, entry: MaasHost, secrets: SecretStore) -> EnrolSpec | str:
    """A host's spec, or why there is none."""
    target = known.targets.get(host)
    if target is None:
        return "no BMC address: write it under management.bmc_addresses"
    record = known.records.get(host)
    macs = boot_macs(
        entry.boot_nic or "", known.facts.get(host, ()), record.identities if record is not None else ()
    )
    if isinstance(macs, str):
        return macs
    power = _power(known, target, entry, secrets)
    if isinstance(power, str):
        return power
    return EnrolSpec(
        host,
        macs,
        power,
        service_tag=target.service_tag,
        architecture=entry.architecture,
        pool=entry.pool or "",
        zone=entry.zone or "",
        domain=entry.domain or "",
        tags=tuple(entry.tags),
    )


def _power(known: Known, target: Target, entry: MaasHost, secrets: SecretStore) -> Power | str:
    from provision.secrets.store import credentials_for

    try:
        credentials = credentials_for(known.site, secrets, target)
    except SecretError as exc:
        return str(exc)
    access = bmc_access(known.site).get(target.host)
    return Power(
        entry.power,
        target.address,
        credentials.user,
        credentials.password,
        port=target.port,
        system_id=_system_id(known.facts.get(target.host, ())),
        verify_ca=access is not None and access.verify == "ca",
    )


def _system_id(facts: Collection[StoredFact]) -> str:
    """Id of the system behind the BMC by where its harvest was read; a Dell's when there is none."""
    sources = (stored.fact.source for stored in facts if stored.fact.field.startswith("system."))
    found = next((match for source in sources if (match := _SYSTEM.search(source))), None)
    return found[1] if found is not None else "System.Embedded.1"


def judges(known: Known) -> dict[str, Judge]:
    """Host -> how its hardware is judged."""

    def judge(host: str) -> Judge:
        expected = known.expected(host)

        def of(machine: Machine) -> Sequence[Shortfall]:
            return check_hardware(machine, expected)

        return of

    return {host: judge(host) for host in known.hosts}


def deploy_jobs(known: Known, *, series: str = "", kernel: str = "") -> list[DeployJob]:
    """What is to be installed on each host. :param series: and ``kernel``: other than the site file's."""
    site, install = known.site, known.site.install
    models, judged = model_names(site), judges(known)
    return [
        DeployJob(
            host,
            disk_rule(_boot_disk(site, models.get(host, "")), host, install.boot_disks),
            series or install.series,
            kernel or install.kernel,
            judged[host],
        )
        for host in known.hosts
    ]


def _boot_disk(site: Site, model: str) -> BootDisk | None:
    entry = site.node_models.get(model)
    return entry.boot_disk if entry is not None else None
