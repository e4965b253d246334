"""Who a BMC says it is, read off the service root, which every BMC shows without a login."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fabricctl.mac import parse_mac
from provision.bmc.json_bodies import EMPTY, Body, inner

_TAG = re.compile(r"[0-9A-Z][0-9A-Z-]{2,31}\Z")


@dataclass(frozen=True, slots=True)
class Claim:
    """What a service root claims; empty where it says nothing.

    :param service_tag: upper case; :param mac: of the BMC, canonical. :param redfish: version of the standard.
    """

    service_tag: str = ""
    mac: str = ""
    vendor: str = ""
    product: str = ""
    redfish: str = ""
    uuid: str = ""

    @property
    def model(self) -> str:
        """Vendor and product for people."""
        return (
            self.product
            if self.vendor.lower() in self.product.lower()
            else f"{self.vendor} {self.product}".strip()
        )


def claim_of(root: Any) -> Claim | None:
    """What a body claims; None when it is no service root.

    Dell's carries service tag and BMC MAC under ``Oem.Dell`` (R750, iDRAC9 6.00.30); AMI's (DGX H100) neither.
    """
    if not isinstance(root, Mapping):
        return None
    kind = str(root.get("@odata.type") or "")
    version = root.get("RedfishVersion")
    if not kind.startswith("#ServiceRoot.") and not (isinstance(version, str) and "Systems" in root):
        return None
    dell = inner(root, "Oem", "Dell")
    return Claim(
        _tag(dell.get("ServiceTag")),
        parse_mac(_words(dell.get("ManagerMACAddress"))) or "",
        _words(root.get("Vendor")),
        _words(root.get("Product")),
        _words(version),
        _words(root.get("UUID")),
    )


def is_dell(root: Body, system: Body = EMPTY) -> bool:
    """Whether a machine is a Dell, by its service root or its system."""
    told = (str(root.get("Vendor") or ""), str(system.get("Manufacturer") or ""))
    return any(text.lower().startswith("dell") for text in told) or bool(inner(root, "Oem", "Dell"))


def service_tag_of(root: Body, system: Body) -> str:
    """Service tag of a Dell, upper case, empty elsewhere: on a DGX H100 the SKU is a model, the same for every machine.

    The SerialNumber of a Dell's system is its board's and never the tag, whatever else is not told.
    """
    if not is_dell(root, system):
        return ""
    told = (_words(system.get("SKU")), _words(inner(root, "Oem", "Dell").get("ServiceTag")))
    return next((tag.upper() for tag in told if tag), "")


def _tag(value: Any) -> str:
    """A service tag, empty for what is none: whoever answers is a stranger, and its word goes into files."""
    text = _words(value).upper()
    return text if _TAG.match(text) else ""


def _words(value: Any) -> str:
    return " ".join(value.split()) if isinstance(value, str) else ""
