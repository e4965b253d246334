"""Whether an iDRAC's Lifecycle Controller takes a change now."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

STATUS_ACTION = "Oem/Dell/DellLCService/Actions/DellLCService.GetRemoteServicesAPIStatus"
"""Below the manager. An action by its form, a question by its nature: it changes nothing."""


@dataclass(frozen=True, slots=True)
class LcStatus:
    """Its answer, each as written (``Ready``, ``InUse``, ``OutOfPOST``); empty when it says nothing of it.

    :param lc: the Lifecycle Controller; :param rt: its data; :param server: the host; :param status: all in one.
    """

    lc: str = ""
    rt: str = ""
    server: str = ""
    status: str = ""

    @property
    def in_post(self) -> bool:
        """The host is in its power-on self test, or its parts are being listed."""
        return self.server in ("InPOST", "CollectingSystemInventory", "InPost")

    @property
    def in_the_way(self) -> str:
        """What keeps it from taking a change; empty when nothing does."""
        if self.in_post:
            return f"the host is in POST ({self.server})"
        named = (("Lifecycle Controller", self.lc), ("remote services", self.status))
        return next((f"{name} {word}" for name, word in named if word and word != "Ready"), "")


def read_status(body: Mapping[str, Any]) -> LcStatus:
    """The body of the answer."""
    words = [body.get(name) for name in ("LCStatus", "RTStatus", "ServerStatus", "Status")]
    return LcStatus(*(word if isinstance(word, str) else "" for word in words))
