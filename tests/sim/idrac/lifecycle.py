"""The Lifecycle Controller: whether it is ready, as ``GetRemoteServicesAPIStatus`` tells, and its restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer, Body, Call
from tests.sim.idrac.messages import Text, known, message
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.readiness import Readiness
from tests.sim.idrac.tree import Moment, Tree
from tests.sim.idrac.where import OEM, ROOT

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

SERVICE = f"{OEM}/DellLCService"
STATUS = f"{SERVICE}/Actions/DellLCService.GetRemoteServicesAPIStatus"
INVENTORY_S = 45.0
"""How long the system inventory is collected after POST (CSIOR)."""

known(
    "LC060",
    Text("Lifecycle Controller Remote Services is not ready.", "Retry after a while.", "Warning", 200),
)
known(
    "LC061",
    Text("Lifecycle Controller Remote Services is ready.", "No response action is required.", "OK", 200),
)


class Lifecycle:
    """The Lifecycle Controller of one BMC.

    :ivar server: what it says of the host instead of what is so (``HaltedF1/F2Prompt``); empty: what is so.
    """

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self._restarting_until = -1.0
        self._collecting_until = -1.0
        self.in_post = False
        self.powered = True
        self.server = ""

    @property
    def restarting(self) -> bool:
        """Whether its data manager restarts."""
        return self._bmc.now() < self._restarting_until

    @property
    def collecting(self) -> bool:
        """Whether it collects the inventory after POST."""
        return self._bmc.now() < self._collecting_until

    def restart(self, seconds: float) -> None:
        """It is away so long: Systems has no members, configuration answers RAC0508."""
        self._restarting_until = self._bmc.now() + seconds
        self._bmc.part(Readiness).empty_systems(seconds)

    def post_started(self) -> None:
        """POST began."""
        self.in_post, self.powered = True, True

    def post_done(self) -> None:
        """POST ended."""
        self.in_post = False
        self._collecting_until = self._bmc.now() + INVENTORY_S

    def powered_off(self) -> None:
        """The host has no power."""
        self.in_post = self.powered = False
        self._collecting_until = -1.0

    def status(self) -> dict[str, str]:
        """``LCStatus``, ``RTStatus``, ``ServerStatus``, ``Status``."""
        from tests.sim.idrac.jobs import JobQueue

        working = self._bmc.part(JobQueue).running is not None
        if self.restarting:
            lifecycle, remote = "NotInitialized", "NotReady"
        elif working or self.in_post:
            lifecycle, remote = "InUse", "NotReady"
        else:
            lifecycle, remote = "Ready", "Ready"
        ready = "Ready" if (lifecycle, remote) == ("Ready", "Ready") else "NotReady"
        return {
            "LCStatus": lifecycle,
            "RTStatus": remote,
            "ServerStatus": self.server or self._server(working),
            "Status": ready,
        }

    def _server(self, working: bool) -> str:
        if not self.powered:
            return "PoweredOff"
        if self.in_post:
            return "AutomatedTaskExecution" if working else "InPOST"
        return "CollectingSystemInventory" if self.collecting else "OutOfPOST"


def _status(call: Call) -> Answer:
    bmc = call.bmc
    told = bmc.part(Lifecycle).status()
    key = "LC061" if told["Status"] == "Ready" else "LC060"
    body: Body = {
        "@Message.ExtendedInfo": [message(bmc.profile, "Success"), message(bmc.profile, key)],
        **told,
    }
    if bmc.profile is Profile.IDRAC10:
        body["RedfishStatus"] = "Ready"
    return Answer(200, body)


def install(tree: Tree, _profile: Profile) -> None:
    """The service and its status."""
    tree.fixed(
        SERVICE,
        {
            "@odata.context": f"{ROOT}/$metadata#DellLCService.DellLCService",
            "@odata.id": SERVICE,
            "@odata.type": "#DellLCService.v1_3_0.DellLCService",
            "Actions": {"#DellLCService.GetRemoteServicesAPIStatus": {"target": STATUS}},
            "Description": "The DellLCService resource provides some actions to support Lifecycle Controller "
            "functionality.",
            "Id": "DellLCService",
            "Name": "DellLCService",
        },
    )
    tree.on("POST", STATUS, _status)
    tree.at(Moment.POST_STARTED, lambda bmc: bmc.part(Lifecycle).post_started())
    tree.at(Moment.POST_DONE, lambda bmc: bmc.part(Lifecycle).post_done())
    tree.at(Moment.POWERED_OFF, lambda bmc: bmc.part(Lifecycle).powered_off())
