"""A machine as a provisioner (MAAS, Ironic) tells of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fabricctl.mac import Mac


class Stage(StrEnum):
    """How far a machine is, whoever provisions it. The provisioner's own word is ``Machine.status``."""

    NEW = "new"
    """Known, not looked at yet."""
    MANAGING = "commissioning"
    """Being looked at."""
    READY = "ready"
    """Looked at, free to be installed."""
    ALLOCATED = "allocated"
    """Somebody's, not being installed: MAAS's Allocated and Reserved."""
    DEPLOYING = "deploying"
    DEPLOYED = "deployed"
    RELEASING = "releasing"
    """Being given back, disks perhaps being erased."""
    FAILED = "failed"
    """A phase failed; ``Machine.failed`` tells which."""
    BROKEN = "broken"
    """Marked as broken: out of the pool until somebody marks it fixed."""
    OTHER = "other"
    """Anything else (rescue mode, testing, retired): nothing is done to it."""


class Phase(StrEnum):
    """Work of a provisioner that takes long."""

    COMMISSION = "commission"
    DEPLOY = "deploy"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Disk:
    """A disk. :param id: the provisioner's; :param name: the kernel's (``nvme0n1``), which changes between boots.

    :param id_path: ``/dev/disk/by-id/...``, empty when not told; :param size: bytes; :param used_for: words.
    :param kind: ``physical`` or what it is made of.
    """

    id: str
    name: str
    serial: str
    model: str
    size: int
    id_path: str = ""
    used_for: str = ""
    kind: str = "physical"


@dataclass(frozen=True, slots=True)
class Nic:
    """A network interface. :param id: the provisioner's; :param addresses: IP addresses it has or will have."""

    id: str
    name: str
    mac: Mac
    addresses: tuple[str, ...] = ()
    kind: str = "physical"


@dataclass(frozen=True)
class Machine:
    """A machine, as read once.

    :param id: ``system_id`` of MAAS, uuid of Ironic; :param hostname: without its domain.
    :param status: the provisioner's own word (``Failed deployment``); :param said: what it says about it.
    :param failed: the phase that failed, of :attr:`Stage.FAILED`.
    :param service_tag: serial number of the system as the machine told it, empty before commissioning.
    :param bmc_address: where known; :param boot_disk: id of the disk it boots from, empty when none is set.
    :param root_disk: id of the disk that holds the root file system as it is laid out, empty when none is.
    :param gpus: accelerators, None when nobody counted them. :param description: people's own text about it.
    :param untold: what should always be told of a machine, and was not, in words: nothing is done to it then.
    :param owner: who allocated it; :param locked: nobody may change it; :param power: ``on``, ``off``, ``unknown``.
    """

    id: str
    hostname: str
    stage: Stage
    status: str
    said: str = ""
    failed: Phase | None = None
    service_tag: str = ""
    bmc_address: str = ""
    power: str = "unknown"
    power_type: str = ""
    disks: tuple[Disk, ...] = ()
    nics: tuple[Nic, ...] = ()
    boot_disk: str = ""
    root_disk: str = ""
    memory_mib: int = 0
    cpus: int = 0
    gpus: int | None = None
    tags: tuple[str, ...] = ()
    pool: str = ""
    zone: str = ""
    owner: str = ""
    locked: bool = False
    series: str = ""
    kernel: str = ""
    untold: tuple[str, ...] = ()
    description: str = ""

    @property
    def macs(self) -> tuple[Mac, ...]:
        """Of its physical interfaces."""
        return tuple(nic.mac for nic in self.nics if nic.kind == "physical")

    def disk(self, id: str) -> Disk | None:
        """The disk with an id."""
        return next((disk for disk in self.disks if disk.id == id), None)


QUARANTINE_TAG = "fabricctl-quarantine"
"""On machines that are out of the pool because a phase failed; they come back by an explicit command only."""
