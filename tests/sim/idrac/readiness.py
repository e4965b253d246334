"""Times when a BMC answers, but not with what was asked for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tests.sim.idrac.call import Answer
from tests.sim.idrac.messages import error, errors, message
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.tree import Moment, Tree

if TYPE_CHECKING:
    from tests.sim.idrac.bmc import SimBmc

_OPEN = re.compile(r"/redfish(/v1(/SessionService.*|/odata|/\$metadata)?)?")


@dataclass
class Window:
    """A time in which requests are refused. :param until: simulated seconds; :param key: message (``SYS518``)."""

    until: float
    key: str
    path: re.Pattern[str]
    retry_s: int = 30


class Readiness:
    """What one BMC is not ready for, and until when."""

    def __init__(self, bmc: SimBmc) -> None:
        self._bmc = bmc
        self.windows: list[Window] = []
        self.empty_until = -1.0
        self.absent_until = -1.0
        """The BMC itself restarts until then: connections are refused."""
        self.host_header_check = False
        """``WebServer.1.HostHeaderCheck``: 400 when the Host header is not the address the BMC knows itself by."""

        self.busy_after_post_s = 0.0
        """So long after a POST began its data sources are not ready (SYS518), as seen soon after a boot."""
        self.settling_s = 0.0
        """So long after the BMC itself restarted it is not ready (SWC0700, which comes as a 400)."""

    def not_ready(self, key: str, seconds: float, path: str = ".*", retry_s: int = 30) -> None:
        """Answer with this message for so many simulated seconds: SYS518 is 503, SWC0700 is 400, RAC0508 is 500."""
        self.windows.append(Window(self._bmc.now() + seconds, key, re.compile(path), retry_s))

    def empty_systems(self, seconds: float) -> None:
        """Show no member in Systems for a while, as after the job queue was cleared by force."""
        self.empty_until = self._bmc.now() + seconds

    def restart(self, seconds: float) -> None:
        """The BMC restarts: nobody answers for so long, and every session is gone."""
        from tests.sim.idrac.sessions import Sessions

        self.absent_until = self._bmc.now() + seconds
        if self.settling_s:
            self.not_ready("SWC0700", seconds + self.settling_s)
        self._bmc.part(Sessions).open.clear()

    def knows_host(self, host: str) -> bool:
        """Whether a Host header names this BMC by its address."""
        return host.partition(":")[0] in ("", self._bmc.address)

    def refusal(self, _method: str, path: str) -> Answer | None:
        """What to answer instead, None when ready. The root and logins work all the time."""
        if not self.windows or _OPEN.fullmatch(path):
            return None
        now = self._bmc.now()
        self.windows = [window for window in self.windows if window.until > now]
        for window in self.windows:
            if window.path.fullmatch(path):
                return refusal_of(self._bmc, window.key, window.retry_s)
        return None


def refusal_of(bmc: SimBmc, key: str, retry_s: int) -> Answer:
    """The refusal as a real one looks: SYS518 comes with a second message that says when to come back."""
    if key != "SYS518":
        return error(bmc.profile, key)
    later = message(bmc.profile, "ServiceTemporarilyUnavailable", str(retry_s))
    return errors(bmc.profile, 503, message(bmc.profile, key), later, headers={"Retry-After": str(retry_s)})


def _post_started(bmc: SimBmc) -> None:
    readiness = bmc.part(Readiness)
    if readiness.busy_after_post_s:
        readiness.not_ready("SYS518", readiness.busy_after_post_s, r"/redfish/v1/(Systems|Chassis)/.*")


def install(tree: Tree, _profile: Profile) -> None:
    """Listen for boots."""
    tree.at(Moment.POST_STARTED, _post_started)
