"""The servers the emulator plays, and what its own Redfish says of them."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.request
import uuid
from dataclasses import dataclass
from typing import Any

_SPACE = uuid.UUID("5a3c1f56-7a3b-5c0e-9d52-2f0a5a1b7c11")


@dataclass(frozen=True, slots=True)
class BmcSystem:
    """One server. :param address: of its BMC, on loopback; :param port: the same for all."""

    name: str
    uuid: str
    mac: str
    address: str
    port: int

    @property
    def system_id(self) -> str:
        """Where the emulator keeps it."""
        return f"/redfish/v1/Systems/{self.uuid}"


def systems(count: int, port: int) -> list[BmcSystem]:
    """Servers ``gpu000`` and on, each with an address of its own in 127.36.0.0/16."""
    return [
        BmcSystem(
            f"gpu{at:03}",
            str(uuid.uuid5(_SPACE, str(at))),
            f"52:54:00:bb:{at >> 8:02x}:{at & 255:02x}",
            f"127.36.{at >> 8}.{(at & 255) + 1}",
            port,
        )
        for at in range(count)
    ]


@dataclass(frozen=True, slots=True)
class Redfish:
    """Asks the emulator, not Ironic. :param context: trusts its certificate."""

    context: ssl.SSLContext
    user: str
    password: str

    def read(self, system: BmcSystem) -> dict[str, Any]:
        """The ComputerSystem of a server."""
        basic = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        url = f"https://{system.address}:{system.port}{system.system_id}"
        request = urllib.request.Request(url, headers={"Authorization": f"Basic {basic}"})
        with urllib.request.urlopen(request, timeout=20, context=self.context) as answer:  # noqa: S310
            body: dict[str, Any] = json.load(answer)
        return body

    def power(self, system: BmcSystem) -> str:
        """``On`` or ``Off``."""
        return str(self.read(system)["PowerState"])

    def boot(self, system: BmcSystem) -> tuple[str, str]:
        """What it boots next, and for how long: ``("Pxe", "Continuous")``."""
        told = self.read(system)["Boot"]
        return str(told.get("BootSourceOverrideTarget")), str(told.get("BootSourceOverrideEnabled"))
