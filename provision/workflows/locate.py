"""The identify light of one node: read, write only a difference, read back."""

from __future__ import annotations

from dataclasses import dataclass

from fabricctl.errors import BmcNotFoundError, BmcOutcomeUnknownError, BmcUnsupportedError
from fabricctl.nodes.model import EventKind
from provision.bmc.locate import Light, read_light
from provision.bmc.refusal import REFUSED, refuses_place
from provision.redfish.bmc import Bmc
from provision.workflows.journal import Record, forget


@dataclass(frozen=True)
class LightResult:
    """What came of it. :param before: and ``after``: whether it was and is on; :param said: what went wrong."""

    before: bool
    after: bool
    written: bool = False
    said: str = ""


async def read_lights(bmc: Bmc) -> list[Light]:
    """Lights of the system and its main chassis, the system's first.

    :raises BmcUnsupportedError: neither shows one.
    """
    layout = await bmc.layout()
    found = []
    for path in (layout.system, *layout.chassis[:1]):
        try:
            light = read_light((await bmc.get(path)).resource, idrac=layout.idrac)
        except BmcNotFoundError:
            continue
        if light is not None:
            found.append(light)
    if not found:
        raise BmcUnsupportedError("neither system nor chassis shows an identify light", bmc=str(bmc.target))
    return found


async def set_light(bmc: Bmc, on: bool, record: Record = forget) -> LightResult:
    """Switch it on or off, unless it is so already. :raises BmcUnsupportedError: there is none."""
    lights = await read_lights(bmc)
    before = lights[0].on
    if before is on:
        return LightResult(before, before)
    said = ""
    for light in lights:
        try:
            await bmc.patch(light.path, light.on_body if on else light.off_body)
        except BmcOutcomeUnknownError:
            said = "the answer to the change was lost"
        except REFUSED as error:
            said = f"the BMC answered {error.message}"
            if refuses_place(error):
                continue
        break
    after = (await read_lights(bmc))[0].on
    words = {True: "on", False: "off"}
    record(EventKind.NODE_LED, bmc.target.host, words[before], words[after])
    return LightResult(
        before, after, True, "" if after is on else said or "the BMC took the change and did nothing"
    )
