"""Virtual media: an image that is shown to the host as a drive.

iDRAC9 has the devices twice: ``Managers/…/VirtualMedia/CD`` and ``RemovableDisk``, which share one connection (the
second insert is refused, dell/iDRAC-Redfish-Scripting#290), and ``Systems/…/VirtualMedia/1`` and ``2``; iDRAC10 has
only the latter.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.messages import Text, known, refused
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Tree
from tests.sim.idrac.where import MANAGER, ROOT, SYSTEM

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

OLD, NEW = f"{MANAGER}/VirtualMedia", f"{SYSTEM}/VirtualMedia"
_PROTOCOLS = {"http": "HTTP", "https": "HTTPS", "nfs": "NFS", "cifs": "CIFS"}
_IMAGE = re.compile(r".+\.(iso|img)\Z", re.IGNORECASE)

known(
    "VRM0012",
    Text(
        "The Virtual Media image server is already connected.",
        "No response action is required.",
        "Informational",
    ),
)
known(
    "VRM0009",
    Text("No Virtual Media devices are currently connected.", "Insert media first.", "Informational"),
)
known(
    "RAC0904",
    Text(
        "The remote file location is not accessible or reachable.",
        "Confirm that the path and credentials to remote file are correct, and check that the iDRAC can connect to the "
        "network address.",
        "Warning",
    ),
)
known("RAC0720", Text("Unable to mount remote share {0}.", "Retry the operation.", "Informational"))


@dataclass(frozen=True, slots=True)
class Inserted:
    """An image in a drive. :param member: id of the device it was inserted at (``CD``, ``1``)."""

    image: str
    member: str
    user: str | None = None


class VirtualMedia:
    """Drives of one BMC.

    :ivar slots: connection -> what is in it; :ivar reachable: whether an image can be got.
    :ivar history: (``insert`` or ``eject``, member, image).
    """

    def __init__(self, _bmc: SimBmc) -> None:
        self.slots: dict[str, Inserted] = {}
        self.reachable: Callable[[str], bool] = lambda _url: True
        self.history: list[tuple[str, str, str]] = []

    @property
    def bootable(self) -> Inserted | None:
        """What a boot from CD finds."""
        return next(iter(self.slots.values()), None)


_SLOT_OF = {"CD": "1", "RemovableDisk": "1", "1": "1", "2": "2"}
_TYPES = {"CD": ["CD", "DVD"], "RemovableDisk": ["USBStick"]}
_NAMES = {"CD": "Virtual CD", "RemovableDisk": "Virtual Removable Disk"}


def _shown(media: VirtualMedia, member: str) -> Inserted | None:
    """What a member shows: on the old devices only what was inserted there, on the new ones all of the connection."""
    inside = media.slots.get(_SLOT_OF[member])
    if inside is None or (member in _TYPES and inside.member != member):
        return None
    return inside


def _body(bmc: SimBmc, place: str, member: str) -> Body:
    path = f"{place}/{member}"
    inside = _shown(bmc.part(VirtualMedia), member)
    types = _TYPES.get(member, ["CD", "DVD", "USBStick"])
    old = place == OLD
    return {
        "@odata.context": f"{ROOT}/$metadata#VirtualMedia.VirtualMedia",
        "@odata.id": path,
        "@odata.type": "#VirtualMedia.v1_4_0.VirtualMedia",
        "Actions": {
            f"#VirtualMedia.{name}Media": {"target": f"{path}/Actions/VirtualMedia.{name}Media"}
            for name in ("Eject", "Insert")
        },
        "ConnectedVia": "URI" if inside else "NotConnected",
        "Description": "iDRAC Virtual Media Services Settings" if old else "iDRAC Virtual Media Instance",
        "Id": member,
        "Image": inside.image if inside else None,
        "ImageName": inside.image.rpartition("/")[2] if inside else None,
        "Inserted": inside is not None,
        "MediaTypes": types,
        "MediaTypes@odata.count": len(types),
        "Name": _NAMES.get(member, f"VirtualMedia Instance {member}"),
        "Password": None,
        "TransferMethod": "Stream" if inside else None,
        "TransferProtocolType": _PROTOCOLS[urlsplit(inside.image).scheme] if inside else None,
        "UserName": inside.user if inside else None,
        "WriteProtected": True if inside or not old else None,
    }


def _insert(call: Call) -> Answer:
    bmc, member, media = call.bmc, call.part("member"), call.bmc.part(VirtualMedia)
    image = call.body.get("Image")
    if not isinstance(image, str) or not image:
        raise refused(bmc.profile, "ActionParameterMissing", "VirtualMedia.InsertMedia", "Image")
    if media.slots.get(_SLOT_OF[member]) is not None:
        raise refused(bmc.profile, "VRM0012")
    parts = urlsplit(image)
    if parts.scheme not in _PROTOCOLS or not parts.netloc:
        raise refused(bmc.profile, "SYS426", image, "Image")
    if not _IMAGE.match(parts.path):
        raise refused(bmc.profile, "RAC0720", image)
    if not media.reachable(image):
        raise refused(bmc.profile, "RAC0904")
    user = call.body.get("UserName")
    media.slots[_SLOT_OF[member]] = Inserted(image, member, str(user) if user else None)
    media.history.append(("insert", member, image))
    return Answer(204)


def _eject(call: Call) -> Answer:
    media, member = call.bmc.part(VirtualMedia), call.part("member")
    inside = _shown(media, member)
    if inside is None:
        raise refused(call.bmc.profile, "VRM0009")
    del media.slots[_SLOT_OF[member]]
    media.history.append(("eject", member, inside.image))
    return Answer(204)


def _device(tree: Tree, place: str, members: tuple[str, ...]) -> None:
    for member in members:
        tree.live(f"{place}/{member}", lambda bmc, member=member: _body(bmc, place, member))  # type: ignore[misc]
    which = "|".join(members)
    tree.on_pattern("POST", rf"{place}/(?P<member>{which})/Actions/VirtualMedia\.InsertMedia", _insert)
    tree.on_pattern("POST", rf"{place}/(?P<member>{which})/Actions/VirtualMedia\.EjectMedia", _eject)
    tree.collection(
        place,
        "VirtualMediaCollection",
        [f"{place}/{member}" for member in reversed(members)],
        name="Virtual Media Services" if place == OLD else "VirtualMedia Collection",
        about="iDRAC Virtual Media Services Settings" if place == OLD else "Collection of Virtual Media",
    )


def install(tree: Tree, profile: Profile) -> None:
    """Virtual media where this firmware has it."""
    if profile.value.generation < 10:
        _device(tree, OLD, ("CD", "RemovableDisk"))
    _device(tree, NEW, ("1", "2"))
