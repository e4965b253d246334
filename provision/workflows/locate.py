"""The identify light of one node: read, write only a difference, read back."""

from __future__ import annotations

from fabricctl.errors import BmcNotFoundError, BmcUnsupportedError
from fabricctl.nodes.model import EventKind
from provision.bmc.locate import Light, read_light
from provision.bmc.outcome import Change
from provision.bmc.refusal import refuses_place
from provision.redfish.bmc import Bmc
from provision.workflows.change import Sending
from provision.workflows.journal import FORGET, Record


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


async def set_light(bmc: Bmc, on: bool, record: Record = FORGET) -> Change:
    """Switch it on or off, unless it is so already. :raises BmcUnsupportedError: there is none."""
    lights = await read_lights(bmc)
    before = _word(lights[0].on)
    if lights[0].on is on:
        return Change(before, before)
    sending = Sending(bmc, record, EventKind.NODE_LED, [(before, _word(on))])
    for light in lights:
        error = await sending.attempt(sending.patch(light.path, light.on_body if on else light.off_body))
        if error is None or not refuses_place(error):
            break
    after = (await read_lights(bmc))[0].on
    return sending.seen(_word(after), after is on, "the BMC took the change and did nothing")


def _word(on: bool) -> str:
    return "on" if on else "off"
