"""Which network port an iDRAC boots from: BIOS settings that take an FQDD, and ask for no MAC.

A port whose function is disabled (a DPU in NIC mode) has no MAC anywhere and no boot option, until the BIOS is told to
boot from it and has probed it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fabricctl.errors import UsageError
from provision.bmc.boot import BootSource

_FQDD = re.compile(r"(?:NIC|InfiniBand)\.[A-Za-z]+\.\d+(?:-\d+){0,3}\Z")
_PREFIX = {BootSource.PXE: "PxeDev", BootSource.HTTP: "HttpDev"}
_DEVICES = 4
"""Devices with an EnDis switch on every PowerEdge from the 14th generation on."""


def check_fqdd(text: str) -> str:
    """A port's FQDD such as ``NIC.Slot.5-1``. :raises UsageError: it is none."""
    if not _FQDD.match(text):
        raise UsageError(
            f"--nic {text}: expected the FQDD of a network port, such as NIC.Slot.5-1 or InfiniBand.Slot.7-1"
        )
    return text


def interface_of(source: BootSource) -> str:
    """BIOS attribute that names the first boot device of a kind."""
    return f"{_PREFIX[source]}1Interface"


def device_change(attributes: Mapping[str, Any], source: BootSource, fqdd: str) -> dict[str, str] | None:
    """BIOS attributes that make a port the first boot device of its kind; empty when it is.

    The first one, because a boot override names the kind only, and others of the kind may be enabled, too.

    :returns: None when this BIOS has no such attributes.
    """
    prefix = _PREFIX[source]
    switch, first = f"{prefix}1EnDis", interface_of(source)
    if first not in attributes:
        return None
    change: dict[str, str] = {} if attributes.get(switch) == "Enabled" else {switch: "Enabled"}
    if attributes[first] == fqdd:
        return change
    change[first] = fqdd
    numbers = range(2, _DEVICES + 1)
    double = next((n for n in numbers if attributes.get(f"{prefix}{n}Interface") == fqdd), None)
    if double is not None and attributes.get(f"{prefix}{double}EnDis") == "Enabled":
        change[f"{prefix}{double}Interface"] = str(attributes[first])  # the two change places
    return change
