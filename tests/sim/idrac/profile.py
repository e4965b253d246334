"""Firmware profiles: in what BMC generations differ."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class Traits:
    """What one firmware does in its own way.

    :param firmware: version as ``Managers`` says it; :param generation: of the iDRAC; :param model: ``Managers`` Model.
    :param registry: prefix of its message ids; :param base: of the standard ones; :param redfish: RedfishVersion.
    :param basic: HTTP Basic works; ``False`` answers 401 to every Basic request ("Unadvertised", iDRAC10 1.30.10.50).
    :param boot_in_settings: Boot override is read and written at ``Systems/…/Settings`` only.
    :param ports: ``NetworkPorts`` (iDRAC9) or ``Ports`` is where ports of an adapter live.
    :param weak_etags: ETags are written ``W/"…"``.
    """

    firmware: str
    generation: int
    model: str
    registry: str
    base: str
    redfish: str
    root_type: str
    server: str
    basic: bool = True
    boot_in_settings: bool = False
    new_ports: bool = False
    old_ports: bool = True
    weak_etags: bool = False


class Profile(Enum):
    """The firmware a simulated BMC runs."""

    IDRAC9_6 = Traits(
        firmware="6.00.30.00",
        generation=9,
        model="16G Monolithic",
        registry="IDRAC.2.7",
        base="Base.1.12",
        redfish="1.13.1",
        root_type="#ServiceRoot.v1_10_0.ServiceRoot",
        server="Apache",
    )
    IDRAC9_7 = Traits(
        firmware="7.10.30.00",
        generation=9,
        model="16G Monolithic",
        registry="IDRAC.2.9",
        base="Base.1.12",
        redfish="1.17.0",
        root_type="#ServiceRoot.v1_15_0.ServiceRoot",
        server="Apache",
        new_ports=True,
        weak_etags=True,
    )
    IDRAC10 = Traits(
        firmware="1.30.10.50",
        generation=10,
        model="17G Monolithic",
        registry="IDRAC.3.0",
        base="Base.1.18",
        redfish="1.20.1",
        root_type="#ServiceRoot.v1_17_0.ServiceRoot",
        server="iDRAC",
        basic=False,
        boot_in_settings=True,
        new_ports=True,
        old_ports=False,
        weak_etags=True,
    )
