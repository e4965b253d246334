"""Virtual media: which drive takes an image, and whether there is anything to do."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import UsageError
from provision.bmc.json_bodies import inner, text

SCHEMES = ("http", "https", "nfs", "cifs")
_URL = re.compile(r"(?P<scheme>[A-Za-z][A-Za-z0-9+.\-]*)://(?P<place>[^/?#]+)/(?P<path>[^?#]+)")
_NFS = re.compile(r"[\w.\-\[\]:]+?:/\S+\Z")
_CIFS = re.compile(r"//[\w.\-]+/\S+\Z")
EMPTY = "empty"
"""What is said of a drive that holds nothing."""
INSERT, EJECT = "#VirtualMedia.InsertMedia", "#VirtualMedia.EjectMedia"


def check_image(url: str) -> str:
    """An image's address as a BMC fetches it: http, https, nfs or cifs, or ``host:/path`` and ``//host/share/file``.

    :raises UsageError: it is none of these, or carries credentials, which would be kept in the BMC's log and ours.
    """
    given = url.strip()
    if re.match(r"(?:[A-Za-z][A-Za-z0-9+.\-]*:)?//[^/?#]*@", given):
        raise UsageError(
            "the image's address carries a user or password: serve it without, or from another place"
        )
    if not given.isprintable() or " " in given:
        raise UsageError("the image's address: expected one word without control characters")
    url_parts = _URL.match(given)
    if url_parts and url_parts["scheme"].lower() in SCHEMES and url_parts["path"].strip("/"):
        return given
    if _CIFS.match(given) or (_NFS.match(given) and "://" not in given):
        return given
    raise UsageError(
        f"image {given!r}: expected an address the BMC can fetch ({', '.join(SCHEMES)}), such as "
        "http://192.0.2.10/boot.iso"
    )


@dataclass(frozen=True, slots=True)
class VirtualDrive:
    """One virtual drive.

    :param image: that is in it, empty when none; :param insert_path: and ``eject_path`` of its actions, empty when it
        has none.
    """

    path: str
    name: str
    types: frozenset[str]
    inserted: bool = False
    image: str = ""
    insert_path: str = ""
    eject_path: str = ""

    @property
    def optical(self) -> bool:
        """Whether it takes an ISO image."""
        return bool(self.types & {"CD", "DVD"})

    @property
    def eject_at(self) -> str:
        """Where it is emptied, also where a BMC does not name the action."""
        return self.eject_path or f"{self.path}/Actions/VirtualMedia.EjectMedia"

    @property
    def words(self) -> str:
        """For people and for the record."""
        return image_words(self.image) or ("an image it does not name" if self.inserted else EMPTY)


def image_words(image: str) -> str:
    """An image's address without its query, which may be a permission to fetch it."""
    return image.partition("?")[0]


def read_drive(body: Mapping[str, Any]) -> VirtualDrive:
    """One member of a VirtualMedia collection."""
    path, actions = text(body.get("@odata.id")), body.get("Actions")
    types = body.get("MediaTypes")
    inserted = body.get("Inserted") is True or bool(text(body.get("Image")))
    return VirtualDrive(
        path=path,
        name=text(body.get("Name")) or path.rpartition("/")[2],
        types=frozenset(map(str, types)) if isinstance(types, list) else frozenset(),
        inserted=inserted,
        image=(text(body.get("Image")) or text(body.get("ImageName"))) if inserted else "",
        insert_path=_target(actions, INSERT),
        eject_path=_target(actions, EJECT),
    )


@dataclass(frozen=True, slots=True)
class MediaDecision:
    """What to do. :param eject: drive to empty first; :param insert: drive to fill; both None: nothing to do.

    :param drive: that is meant, None when there is none; :param refused: why it cannot be done.
    """

    drive: VirtualDrive | None = None
    eject: VirtualDrive | None = None
    insert: VirtualDrive | None = None
    refused: str = ""


def decide_insert(drives: Sequence[VirtualDrive], image: str, *, replace: bool = False) -> MediaDecision:
    """What brings an image into the drive a node boots from: the first optical one that can be filled."""
    usable = [drive for drive in drives if drive.optical and drive.insert_path]
    there = next((drive for drive in usable if drive.inserted and drive.image == image), None)
    if there is not None:
        return MediaDecision(there)
    if not usable:
        return MediaDecision(refused="its BMC has no virtual CD drive that takes an image")
    taken = next((drive for drive in usable if drive.inserted), None)
    if taken is None:
        return MediaDecision(usable[0], insert=usable[0])
    if not replace:
        return MediaDecision(taken, refused=f"{taken.name} holds {taken.words}; --replace takes it out")
    return MediaDecision(taken, eject=taken, insert=taken)


def decide_eject(drives: Iterable[VirtualDrive], image: str = "") -> tuple[VirtualDrive, ...]:
    """Drives to empty: all that hold something, or only those that hold one image."""
    return tuple(drive for drive in drives if drive.inserted and image in ("", drive.image))


def _target(actions: Any, name: str) -> str:
    return text(inner(actions, name).get("target"))
