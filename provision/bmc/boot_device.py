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


def device_change(attributes: Mapping[str, Any], source: BootSource, fqdd: str) -> dict[str, Any] | None:
    """BIOS attributes that make a port a boot device; empty when it is one.

    :returns: None when this BIOS has no such attributes.
    """
    prefix = _PREFIX[source]
    if f"{prefix}1Interface" not in attributes:
        return None
    for number in range(1, _DEVICES + 1):
        if attributes.get(f"{prefix}{number}Interface") == fqdd:
            switch = f"{prefix}{number}EnDis"
            return {} if attributes.get(switch) == "Enabled" else {switch: "Enabled"}
    free = (n for n in range(1, _DEVICES + 1) if attributes.get(f"{prefix}{n}EnDis") == "Disabled")
    number = next(free, 1)
    return {f"{prefix}{number}EnDis": "Enabled", f"{prefix}{number}Interface": fqdd}
