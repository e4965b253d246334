"""What the id of a firmware inventory's entry tells: ``Installed-25227-7.10.30.00__iDRAC.Embedded.1-1`` of an iDRAC."""

from __future__ import annotations

import re
from dataclasses import dataclass

_DELL = re.compile(
    r"(?P<state>Installed|Current|Previous|Available)-(?P<component>[0-9]*)-(?P<version>.*?)__(?P<fqdd>.+)\Z"
)


@dataclass(frozen=True, slots=True)
class EntryId:
    """An id taken apart; all empty but the state where it has no such form.

    :param fqdd: the part it runs on; :param component: Dell's number of the kind of part, 0 for NVMe drives and HCAs.
    :param state: ``installed`` (what runs), ``current`` (the copy kept for a reinstall), ``previous`` (what a rollback
        would bring back), ``available``.
    """

    state: str = "installed"
    component: str = ""
    version: str = ""
    fqdd: str = ""


def entry_id(text: str) -> EntryId:
    """An id as the BMC writes it."""
    match = _DELL.match(text)
    if match is None:
        return EntryId()
    return EntryId(match["state"].lower(), match["component"], match["version"], match["fqdd"])
