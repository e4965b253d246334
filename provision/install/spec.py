"""What a provisioner is asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fabricctl.mac import Mac
from provision.bmc.secret import Secret


@dataclass(frozen=True, slots=True)
class Power:
    """How a provisioner reaches a machine's BMC. :param kind: ``redfish`` or ``ipmi``.

    :param verify_ca: whether the BMC's certificate is checked against the system's authorities (Ironic only).
    """

    kind: str
    address: str
    user: str
    password: Secret
    port: int = 443
    system_id: str = "System.Embedded.1"
    verify_ca: bool = True


@dataclass(frozen=True, slots=True)
class EnrolSpec:
    """One machine to enrol. :param host: its name; :param macs: of the NICs that boot, at least one.

    :param service_tag: by site or harvest, empty when nobody knows.
    """

    host: str
    macs: tuple[Mac, ...]
    power: Power
    service_tag: str = ""
    architecture: str = "amd64/generic"
    pool: str = ""
    zone: str = ""
    domain: str = ""
    tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DeploySpec:
    """One installation. :param series: ``jammy``, ``noble``; :param kernel: ``ga`` or ``hwe``.

    :param user_data: cloud-init's, as text; it holds a private host key, so it is never shown or kept.
    :param root_serial: serial number of the disk that gets the system.
    """

    series: str
    kernel: str
    user_data: Secret
    root_serial: str = ""
    comment: str = ""


@dataclass(frozen=True, slots=True)
class Changes:
    """What changed since a cursor. :param ids: machines that changed; :param cursor: for the next call.

    :param said: machine id -> the provisioner's newest words about it, for progress.
    :param complete: False when there was more than one answer holds: read those you wait for.
    """

    ids: frozenset[str] = frozenset()
    cursor: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    complete: bool = True
