"""Virtual media of one system: read, write only a difference, read back."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable, Sequence

from fabricctl.errors import BmcAnswerError, BmcNotFoundError, BmcUnsupportedError
from fabricctl.nodes.model import EventKind
from provision.bmc.media import EMPTY, VirtualDrive, decide_eject, decide_insert, image_words, read_drive
from provision.bmc.outcome import Change
from provision.bmc.power import PowerState
from provision.redfish.bmc import Bmc
from provision.workflows.change import Sending
from provision.workflows.journal import FORGET, Record
from provision.workflows.lc_gate import wait_ready
from provision.workflows.power import read_power


async def read_drives(bmc: Bmc) -> list[list[VirtualDrive]]:
    """Virtual drives by the place they are found in: of the system (iDRAC9 from 6.00 on, iDRAC10), of the manager."""
    layout = await bmc.layout()
    found = []
    for owner in (layout.system, layout.manager):
        try:
            members = await bmc.members(f"{owner}/VirtualMedia")
        except BmcNotFoundError:
            continue
        drives = [read_drive(body) for body in members]
        if drives:
            found.append(drives)
    return found


async def insert(
    bmc: Bmc,
    image: str,
    *,
    replace: bool = False,
    record: Record = FORGET,
    clock: Callable[[], float] = time.monotonic,
) -> Change:
    """Bring an image into the virtual CD drive. Nothing is sent when it is in it already.

    :param replace: take another image out first.
    :raises BmcUnsupportedError: there is no drive, or it holds another image; nothing was sent.
    """
    places = await read_drives(bmc)
    decision = decide_insert(places[0] if places else [], image, replace=replace)
    if decision.refused:
        raise BmcUnsupportedError(decision.refused, bmc=str(bmc.target))
    before = decision.drive.words if decision.drive is not None else ""
    if decision.insert is None:
        return Change(before, before)
    await wait_ready(bmc, post_too=(await read_power(bmc)).power is not PowerState.OFF, clock=clock)
    held = before
    if decision.eject is not None:
        out = Sending(bmc, record, EventKind.NODE_MEDIA, [(held, EMPTY)])
        await out.attempt(out.post(decision.eject.eject_at, {}))
        held = read_drive((await bmc.get(decision.eject.path)).resource).words
        done = out.seen(held, held == EMPTY, "the BMC took the change and did nothing")
        if out.error is not None and not done.reached:
            return done
    sending = Sending(bmc, record, EventKind.NODE_MEDIA, [(held, image_words(image))])
    await _insert(sending, decision.insert, places[1:], image)
    drives = [drive for place in await read_drives(bmc) for drive in place]
    holder = next((drive for drive in drives if drive.image == image), None)
    now = holder or next((drive for drive in drives if drive.path == decision.insert.path), decision.insert)
    return dataclasses.replace(sending.seen(now.words, holder is not None), before=before)


async def _insert(
    sending: Sending, drive: VirtualDrive, others: list[list[VirtualDrive]], image: str
) -> None:
    """Insert, at the manager's drive where the system's is not there to take it."""
    elsewhere = [other for place in others for other in place if other.optical and other.insert_path]
    for one in (drive, *elsewhere[:1]):
        error = await sending.attempt(sending.post(one.insert_path, {"Image": image}))
        if error is None or sending.lost or (isinstance(error, BmcAnswerError) and error.status != 404):
            return


async def eject(
    bmc: Bmc, image: str = "", *, record: Record = FORGET, clock: Callable[[], float] = time.monotonic
) -> Change:
    """Take images out: one, or whatever is in a drive. Nothing is sent when the drives are empty."""
    places = await read_drives(bmc)
    filled = decide_eject((drive for place in places for drive in place), image)
    before = _names(filled)
    if not filled:
        return Change(before, before)
    await wait_ready(bmc, post_too=False, clock=clock)  # a POST may be what the image is taken away from
    sending = Sending(bmc, record, EventKind.NODE_MEDIA, [(before, EMPTY)])
    for drive in filled:
        # the system's and the manager's drive are one: once it is empty, the other action is refused
        now = decide_eject([read_drive((await bmc.get(drive.path)).resource)], image)
        for still in now:
            await sending.attempt(sending.post(still.eject_at, {}))
    left = decide_eject((drive for place in await read_drives(bmc) for drive in place), image)
    return sending.seen(_names(left), not left)


def _names(drives: Sequence[VirtualDrive]) -> str:
    return ", ".join(dict.fromkeys(drive.words for drive in drives)) or EMPTY
