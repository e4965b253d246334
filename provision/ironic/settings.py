"""How an Ironic is reached, and what it installs."""

from __future__ import annotations

from dataclasses import dataclass, field

from provision.bmc.secret import Secret


@dataclass(frozen=True, slots=True)
class IronicImages:
    """What is booted or written.

    :param deploy_interface: ``direct``: an agent writes an image to the root disk; ``ramdisk``: booted into memory.
    :param boot_interface: ``ipxe``, ``pxe``, ``redfish-virtual-media``...; empty leaves it to Ironic.
    :param image: URL; of ``direct`` the image, of ``ramdisk`` an ISO. :param checksum: its SHA-256, or URL of a list.
    :param kernel: URL; of ``direct`` the agent's kernel, of ``ramdisk`` without an ISO the kernel that is booted.
    :param ramdisk: URL that goes with the kernel. :param series: what the image holds: ``jammy``, ``noble``.
    :param hwe: the image holds the newer kernel.
    """

    deploy_interface: str = "direct"
    boot_interface: str = ""
    image: str = ""
    checksum: str = ""
    kernel: str = ""
    ramdisk: str = ""
    series: str = "jammy"
    hwe: bool = False


@dataclass(frozen=True, slots=True)
class IronicSettings:
    """An Ironic.

    :param user: of HTTP basic, empty where it asks for none; :param ca_file: PEM file, empty: the system's authorities.
    :param inspect: interface that looks at the hardware (``redfish``, ``agent``); empty: nobody looks, so no disk and
        no serial number is ever known. :param clean: nodes are cleaned before they become available, which erases the
        labels of every disk, or more, as Ironic is set up.
    :param requests: under way at once; :param answer_s: seconds for one answer.
    :param locked_s: seconds a node may stay locked by Ironic's own work before a change of it is given up.
    :param managed_s: seconds Ironic may take to reach a BMC for the first time, and as many to look at the hardware.
    """

    url: str
    user: str = ""
    password: Secret | None = None
    ca_file: str = ""
    images: IronicImages = field(default_factory=IronicImages)
    inspect: str = ""
    clean: bool = False
    requests: int = 8
    answer_s: float = 90.0
    locked_s: float = 60.0
    managed_s: float = 300.0
