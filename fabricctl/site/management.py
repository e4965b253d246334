"""The site file's ``management``: where the BMCs are, and how they are spoken to."""

from __future__ import annotations

import re
from typing import Literal, Self

from pydantic import Field, field_validator, model_validator

from fabricctl.site.fields import HostSet, IpAddress, Subnet
from fabricctl.site.section import Section, secret_reference


class BmcAccess(Section):
    """How the BMCs of some hosts are spoken to."""

    user: str = Field(
        default="",
        description="Login name, where the secret store does not tell one; root when nothing does.",
    )
    password: str | None = Field(
        default=None,
        description="Reference to one password of all these BMCs: env:NAME or file:PATH. Default: the secret store.",
    )
    port: int = Field(default=443, ge=1, le=65535, description="TCP port of the HTTPS service.")
    verify: Literal["pinned", "ca", "off"] = Field(
        default="pinned",
        description="pinned: the certificate recorded by bmc trust; ca: an authority vouches; off: not at all, and "
        "every report says so.",
    )
    ca: str | None = Field(default=None, description="PEM file of authorities, relative to the site file.")
    tls_floor: Literal["1.0", "1.1", "1.2", "1.3"] = Field(
        default="1.2", description="Oldest TLS version spoken: lower it for BMCs that know nothing newer."
    )
    basic: bool = Field(
        default=False, description="Send user and password with every request instead of opening a session."
    )

    @field_validator("password")
    @classmethod
    def _by_reference(cls, text: str | None) -> str | None:
        return None if text is None else secret_reference(text, "env:BMC_PASSWORD")

    @model_validator(mode="after")
    def _ca_named(self) -> Self:
        if (self.verify == "ca") != (self.ca is not None):
            raise ValueError("expected verify: ca and ca: FILE together, found one without the other")
        return self


class BmcLimits(Section):
    """Bounds of what is asked of BMCs."""

    fleet: int = Field(default=128, ge=1, le=4096, description="BMCs that are asked at once.")
    reads_per_bmc: int = Field(default=2, ge=1, le=8, description="Reads under way at one BMC.")
    wave: int = Field(
        default=32,
        ge=1,
        le=4096,
        description="Nodes that are powered or booted at once: inrush current, DHCP, TFTP.",
    )
    budget_s: float = Field(
        default=180, gt=0, description="Seconds one BMC may spend in a run on being not ready."
    )


class Management(Section):
    """The network of the BMCs, apart from every data network."""

    bmc_subnets: list[Subnet] = Field(default_factory=list, description="Subnets of BMCs and nothing else.")
    data_subnets: list[Subnet] = Field(default_factory=list, description="Subnets BMCs must not be in.")
    bmc_addresses: dict[HostSet, IpAddress] = Field(
        default_factory=dict,
        description="Host set -> BMC address of its first host, the others count up in written order; an "
        "entry that names one host comes before a set that holds it.",
    )
    bmc_access: dict[HostSet, BmcAccess] = Field(
        default_factory=dict,
        description="Host set -> how its BMCs are spoken to; an entry that names one host comes first.",
    )
    bmc_limits: BmcLimits = Field(default_factory=BmcLimits, description="How much is asked at once.")
    service_tags: dict[str, str] = Field(
        default_factory=dict, description="Host -> service tag of the machine that should stand there."
    )
    secrets: str = Field(
        default="",
        description="Where bmc credentials are kept: file:PATH (mode 0600), vault:PATH (ansible-vault) or "
        "keyring:SERVICE. Default a file named after the site in $XDG_STATE_HOME/fabricctl.",
    )
    log_ignore: list[str] = Field(
        default_factory=list,
        description="Message ids (RAC0182, USR*) or /regular expressions/ of log entries that are not serious.",
    )
    max_clock_skew_s: float = Field(
        default=30, gt=0, description="Seconds a BMC's clock may differ from the controller's."
    )

    @field_validator("secrets")
    @classmethod
    def _place_of_secrets(cls, text: str) -> str:
        if text and not re.match(r"(?:file|vault|keyring):.+\Z", text):
            raise ValueError("expected file:PATH, vault:PATH or keyring:SERVICE, found something else")
        return text
