"""The site file's ``install``, ``maas`` and ``ironic``: what is installed on hosts, and who installs it."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from fabricctl.mac import parse_mac
from fabricctl.site.fields import HostSet, IpAddress
from fabricctl.site.section import Section, secret_reference
from fabricctl.site.web_address import web_address

_WORD = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*\Z")
_DOMAIN = re.compile(
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.)*[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\Z"
)
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")


class BootDisk(Section):
    """Which disk gets the operating system: every key that is written must fit, and exactly one disk must be left."""

    model: str | None = Field(
        default=None, description='Shell pattern of the model, in any case: "*BOSS*". Never a kernel name.'
    )
    serial: str | None = Field(default=None, description="Shell pattern of the serial number.")
    by_id: str | None = Field(
        default=None, description='Shell pattern of the name under /dev/disk/by-id: "nvme-Dell_BOSS*".'
    )
    size_gb: tuple[float, float] | None = Field(
        default=None, description="Smallest and largest size in GB (10^9 bytes): [400, 1000]."
    )

    @model_validator(mode="after")
    def _something(self) -> Self:
        if not any((self.model, self.serial, self.by_id, self.size_gb)):
            raise ValueError("expected model, serial, by_id or size_gb, found none of them")
        if self.size_gb is not None and not 0 < self.size_gb[0] <= self.size_gb[1]:
            low, high = self.size_gb
            raise ValueError(f"expected size_gb: [smallest, largest], found [{low:g}, {high:g}]")
        return self

    @field_validator("by_id")
    @classmethod
    def _stable(cls, text: str | None) -> str | None:
        if text is not None and text.startswith("/dev/") and not text.startswith("/dev/disk/by-"):
            raise ValueError(
                f"expected a name under /dev/disk/by-id, found {text!r}, which changes between boots"
            )
        return text


class InstallUser(Section):
    """A user made on every host."""

    ssh_keys: list[str] = Field(
        min_length=1, description="Public keys, or file:PATH of a file with one on each line."
    )
    sudo: bool = Field(default=False, description="May do everything without a password.")
    shell: str = Field(default="/bin/bash", description="Login shell.")


class Install(Section):
    """What is installed on hosts, whoever installs it."""

    series: Literal["jammy", "noble"] = Field(
        default="jammy", description="Ubuntu: jammy (22.04) or noble (24.04)."
    )
    kernel: Literal["ga", "hwe"] = Field(
        default="ga", description="ga: the release's own kernel; hwe: the newer hardware enablement kernel."
    )
    users: dict[str, InstallUser] = Field(default_factory=dict, description="Users to make, by login name.")
    apt_proxy: str | None = Field(
        default=None, description="Proxy packages come through: http://192.0.2.10:3142."
    )
    ntp_servers: list[str] = Field(
        default_factory=list, description="Time servers; the clock is set before anything is fetched."
    )
    boot_disks: dict[str, str] = Field(
        default_factory=dict,
        description="Host -> serial number of its boot disk, or its path /dev/disk/by-id/..., where its model's "
        "boot_disk rule does not fit.",
    )

    @field_validator("users")
    @classmethod
    def _login_names(cls, users: dict[str, InstallUser]) -> dict[str, InstallUser]:
        wrong = next((name for name in users if not _USER.match(name)), None)
        if wrong is not None:
            raise ValueError(f"expected a login name such as ops, found {wrong!r}")
        return users

    @field_validator("apt_proxy")
    @classmethod
    def _http(cls, text: str | None) -> str | None:
        return (
            text
            if text is None
            else web_address(text, "http://HOST:PORT without user and password", path=False)
        )


def _domain(text: str) -> str:
    """A DNS domain as MAAS takes it: RFC 1123 labels, without a dot at its end."""
    if not _DOMAIN.match(text) or len(text) > 253:
        raise ValueError(f"expected a DNS domain such as lab.example, found {text[:60]!r}")
    return text


class MaasHost(Section):
    """How some hosts are enrolled."""

    power: Literal["redfish", "ipmi"] = Field(default="redfish", description="How MAAS speaks to the BMCs.")
    boot_nic: str | None = Field(
        default=None,
        description="NIC that boots: its id by bmc harvest (NIC.Embedded.1-1-1) or a MAC. Default: every Ethernet "
        "MAC of the harvest that can boot.",
    )
    pool: str | None = Field(default=None, description="Resource pool.")
    zone: str | None = Field(default=None, description="Availability zone.")
    domain: str | None = Field(default=None, description="DNS domain.")
    tags: list[str] = Field(default_factory=list, description="Tags to put on.")
    architecture: str = Field(default="amd64/generic", description="As MAAS writes it.")

    @field_validator("domain")
    @classmethod
    def _dns(cls, text: str | None) -> str | None:
        return None if text is None else _domain(text)

    @field_validator("boot_nic")
    @classmethod
    def _nic(cls, text: str | None) -> str | None:
        if text is None:
            return None
        return parse_mac(text) or text

    @field_validator("tags")
    @classmethod
    def _tag_words(cls, tags: list[str]) -> list[str]:
        wrong = next((tag for tag in tags if not _WORD.match(tag)), None)
        if wrong is not None:
            raise ValueError(f"expected letters, digits, - and _, found {wrong!r}")
        return tags


class ProvisionerLimits(Section):
    """Bounds of what a provisioner is asked, and how long its phases may take."""

    requests: int = Field(default=8, ge=1, le=64, description="Requests under way at once.")
    wave: int = Field(default=32, ge=1, le=4096, description="Nodes that are started at once.")
    deploying: int = Field(
        default=128,
        ge=1,
        le=4096,
        description="Nodes that are installed at the same time: the network saturates at about 400.",
    )
    poll_s: float = Field(default=10, gt=0, description="Seconds between two looks at what changed.")
    answer_s: float = Field(default=90, gt=0, description="Seconds one answer may take.")
    commission_min: float = Field(default=45, gt=0, description="Minutes commissioning may take.")
    deploy_min: float = Field(default=60, gt=0, description="Minutes an installation may take.")
    release_min: float = Field(default=20, gt=0, description="Minutes a release may take.")


class DoctorRoles(Section):
    """Where the services are that MAAS plays beside its API, for ``maas doctor``; none means MAAS's own host."""

    dhcp: IpAddress | None = Field(default=None, description="DHCP server.")
    dns: IpAddress | None = Field(default=None, description="DNS server.")
    proxy: str | None = Field(default=None, description="HTTP proxy; default port 8000 of MAAS's host.")
    ntp: str | None = Field(default=None, description="Time server.")
    metadata: str | None = Field(default=None, description="Metadata service; default MAAS's own URL.")
    dhcp_port: int = Field(default=67, ge=1, le=65534, description="UDP port of the DHCP server.")
    dns_port: int = Field(default=53, ge=1, le=65535, description="Port of the DNS server.")
    ntp_port: int = Field(default=123, ge=1, le=65535, description="UDP port of the time server.")
    domain: str = Field(default="maas", description="DNS domain of hosts whose maas.hosts entry names none.")
    page: str | None = Field(
        default=None,
        description="Page asked for through the proxy; default the Ubuntu archive's Release file.",
    )

    @field_validator("domain")
    @classmethod
    def _dns(cls, text: str) -> str:
        return _domain(text)

    @field_validator("proxy", "metadata", "page")
    @classmethod
    def _http(cls, text: str | None) -> str | None:
        return text if text is None else web_address(text, "http(s)://HOST[:PORT][/PATH]", query=True)


class Maas(Section):
    """MAAS, and how hosts are enrolled there."""

    url: str = Field(description="http(s)://HOST[:PORT]/MAAS")
    api_key: str = Field(
        default="env:MAAS_API_KEY", description="Reference to the API key: env:NAME or file:PATH."
    )
    ca: str | None = Field(
        default=None, description="PEM file of authorities, relative to the site file; default the system's."
    )
    client: Literal["own", "libmaas"] = Field(
        default="own", description="own, or libmaas: python-libmaas, which can do only a part."
    )
    hosts: dict[HostSet, MaasHost] = Field(
        default_factory=dict,
        description="Host set -> how they are enrolled; an entry of one host comes first.",
    )
    limits: ProvisionerLimits = Field(
        default_factory=ProvisionerLimits, description="How much at once, how long."
    )
    roles: DoctorRoles = Field(default_factory=DoctorRoles, description="Where MAAS's other services are.")

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        return web_address(url, "http(s)://HOST[:PORT]/MAAS").rstrip("/")

    @field_validator("api_key")
    @classmethod
    def _by_reference(cls, text: str) -> str:
        return secret_reference(text, "env:MAAS_API_KEY")


class IronicImage(Section):
    """What Ironic boots or writes."""

    deploy_interface: Literal["direct", "ramdisk"] = Field(
        default="direct",
        description="direct: an image is written to the boot disk; ramdisk: booted into memory.",
    )
    boot_interface: Literal["ipxe", "pxe", "redfish-virtual-media", "redfish-https"] | None = Field(
        default=None, description="How nodes are booted; default: Ironic's own choice."
    )
    image: str = Field(default="", description="URL of the image; of ramdisk: of its ISO, or empty.")
    checksum: str = Field(default="", description="SHA-256 of the image, or URL of the list.")
    kernel: str = Field(
        default="", description="URL of the kernel that deploys; of ramdisk without an ISO: that is booted."
    )
    ramdisk: str = Field(default="", description="URL of the ramdisk that goes with it.")
    series: Literal["jammy", "noble"] = Field(
        default="jammy", description="What the image holds: install.series must say the same."
    )
    hwe: bool = Field(default=False, description="It holds the newer kernel: install.kernel must say hwe.")


class IronicHost(Section):
    """How some hosts are enrolled."""

    power: Literal["redfish", "ipmi"] = Field(default="redfish", description="How Ironic speaks to the BMCs.")
    boot_nic: str | None = Field(
        default=None,
        description="NIC that boots: its id by bmc harvest (NIC.Embedded.1-1-1) or a MAC. Default: every Ethernet "
        "MAC of the harvest that can boot.",
    )
    tags: list[str] = Field(default_factory=list, description="Tags to put on: letters, digits, - and _.")

    @field_validator("boot_nic")
    @classmethod
    def _nic(cls, text: str | None) -> str | None:
        return None if text is None else parse_mac(text) or text

    @field_validator("tags")
    @classmethod
    def _tag_words(cls, tags: list[str]) -> list[str]:
        wrong = next((tag for tag in tags if not re.match(r"[A-Za-z0-9_-]+\Z", tag)), None)
        if wrong is not None:
            raise ValueError(f"expected letters, digits, - and _, found {wrong!r}")
        return tags


class Ironic(Section):
    """OpenStack Ironic on its own, for sites without MAAS."""

    url: str = Field(description="http(s)://HOST[:PORT], for example http://192.0.2.10:6385")
    user: str = Field(default="", description="User of HTTP basic; empty where Ironic asks for none.")
    password: str | None = Field(
        default=None, description="Reference to its password: env:NAME or file:PATH."
    )
    ca: str | None = Field(default=None, description="PEM file of authorities, relative to the site file.")
    image: IronicImage = Field(default_factory=IronicImage, description="What is installed.")
    inspect: Literal["agent", "redfish", "no"] = Field(
        default="agent",
        description="Who looks at the hardware: agent, a ramdisk that is booted; redfish, the BMC, which names the "
        "drives behind a BOSS card and not the disk they make; no: nobody, so no disk and no memory is compared.",
    )
    clean: bool = Field(
        default=False,
        description="Let Ironic clean nodes before they become available: that erases at least the labels of every "
        "disk, ZFS pools' too.",
    )
    hosts: dict[HostSet, IronicHost] = Field(
        default_factory=dict,
        description="Host set -> how they are enrolled; an entry of one host comes first.",
    )
    limits: ProvisionerLimits = Field(
        default_factory=ProvisionerLimits, description="How much at once, how long."
    )

    @field_validator("url")
    @classmethod
    def _address(cls, url: str) -> str:
        return web_address(url, "http(s)://HOST[:PORT]").rstrip("/")

    @field_validator("password")
    @classmethod
    def _by_reference(cls, text: str | None) -> str | None:
        return None if text is None else secret_reference(text, "env:IRONIC_PASSWORD")
