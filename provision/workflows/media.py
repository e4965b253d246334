"""Virtual media of one system: read, write only a difference, read back."""

from __future__ import annotations

from dataclasses import dataclass

from fabricctl.errors import BmcAnswerError, BmcNotFoundError, BmcOutcomeUnknownError, BmcUnsupportedError
from fabricctl.nodes.model import EventKind
from provision.bmc.media import Drive, decide_eject, decide_insert, read_drive
from provision.bmc.refusal import REFUSED
from provision.redfish.bmc import Bmc
from provision.workflows.journal import Record, forget


@dataclass(frozen=True)
class MediaResult:
    """What came of it. :param before: and ``after``: what is in the drive, for people; :param said: what went wrong."""

    before: str
    after: str
    written: bool = False
    reached: bool = True
    said: str = ""


async def read_drives(bmc: Bmc) -> list[list[Drive]]:
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


async def insert(bmc: Bmc, image: str, *, replace: bool = False, record: Record = forget) -> MediaResult:
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
        return MediaResult(before, before)
    if decision.eject is not None:
        await _act(bmc, decision.eject.eject_at, {})
        record(EventKind.NODE_MEDIA, bmc.target.host, before, "eject sent")
    said = await _insert(bmc, decision.insert, places[1:], image)
    drives = [drive for place in await read_drives(bmc) for drive in place]
    holder = next((drive for drive in drives if drive.image == image), None)
    now = holder or next((drive for drive in drives if drive.path == decision.insert.path), decision.insert)
    result = MediaResult(before, now.words, True, holder is not None, "" if holder is not None else said)
    record(EventKind.NODE_MEDIA, bmc.target.host, before, result.after)
    return result


async def _insert(bmc: Bmc, drive: Drive, others: list[list[Drive]], image: str) -> str:
    """Insert, at the manager's drive where the system's does not take it. :returns: what went wrong, for people."""
    elsewhere = [other for place in others for other in place if other.optical and other.insert_path]
    said = ""
    for one in (drive, *elsewhere[:1]):
        try:
            said = await _act(bmc, one.insert_path, {"Image": image})
        except REFUSED as error:
            said = f"the BMC answered {error.message}"
            if isinstance(error, BmcAnswerError) and error.status != 404:
                return said
            continue
        return said
    return said


async def eject(bmc: Bmc, image: str = "", *, record: Record = forget) -> MediaResult:
    """Take images out: one, or whatever is in a drive. Nothing is sent when the drives are empty."""
    places = await read_drives(bmc)
    filled = decide_eject((drive for place in places for drive in place), image)
    before = ", ".join(dict.fromkeys(drive.words for drive in filled)) or "empty"
    said = ""
    for drive in filled:
        # the system's and the manager's drive are one: once it is empty, the other action is refused
        now = decide_eject([read_drive((await bmc.get(drive.path)).resource)], image)
        for still in now:
            said = await _act(bmc, still.eject_at, {})
    if not filled:
        return MediaResult(before, before)
    left = decide_eject((drive for place in await read_drives(bmc) for drive in place), image)
    after = ", ".join(dict.fromkeys(drive.words for drive in left)) or "empty"
    record(EventKind.NODE_MEDIA, bmc.target.host, before, after)
    return MediaResult(before, after, True, not left, said if left else "")


async def _act(bmc: Bmc, path: str, body: dict[str, str]) -> str:
    try:
        await bmc.post(path, body)
    except BmcOutcomeUnknownError:
        return "the answer was lost"
    return ""
