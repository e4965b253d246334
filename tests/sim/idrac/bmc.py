"""The live state of one simulated BMC."""

from __future__ import annotations

import random
import re
import threading
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar, cast

from tests.sim.idrac.boot import Boot, Override
from tests.sim.idrac.call import Body
from tests.sim.idrac.clock import Agenda, SimClock, Timer
from tests.sim.idrac.faults import Fault, Latency
from tests.sim.idrac.hardware import Hardware
from tests.sim.idrac.identity import Mint, card
from tests.sim.idrac.jobs import JobQueue
from tests.sim.idrac.power import Power, PowerHook
from tests.sim.idrac.profile import Profile
from tests.sim.idrac.readiness import Readiness
from tests.sim.idrac.sessions import Sessions
from tests.sim.idrac.tls import Certificate
from tests.sim.idrac.tree import Moment, Tree
from tests.sim.idrac.users import ROOT_PASSWORD, Users

P = TypeVar("P")


@dataclass(frozen=True, slots=True)
class Logged:
    """One request as the BMC saw it. :param at: simulated seconds; :param status: 0: no answer was sent."""

    method: str
    path: str
    status: int
    at: float
    user: str = ""
    query: str = ""
    fault: str = ""


class SimBmc:
    """One BMC and its server. Everything here may be read and changed by a test, also while it serves."""

    def __init__(
        self,
        host: str,
        address: str,
        tree: Tree,
        profile: Profile,
        identity: Mapping[str, str],
        clock: SimClock,
        dice: random.Random,
        hardware: Hardware,
        mint: Mint,
    ) -> None:
        self.host = host
        self.address = address
        self.tree = tree
        self.profile = profile
        self.identity = dict(identity)
        self.clock = clock
        self.dice = dice
        self.hardware = hardware
        self.mint = mint
        self._new_parts: dict[str, str] = {}
        self.agenda = Agenda(clock)
        self.lock = threading.RLock()
        self.started = datetime.now(UTC)
        self.clock_skew_s = 0.0
        self.certificate: Certificate
        self.users = Users(root=ROOT_PASSWORD)
        self.faults: list[Fault] = []
        self.latency: Latency | None = None
        self.requests: deque[Logged] = deque(maxlen=4000)
        self.changes: dict[str, Body] = {}
        self.removed: set[str] = set()
        self.extra: dict[str, Body] = {}
        self.joined: dict[str, list[str]] = {}
        self.in_flight = {"reads": 0, "writes": 0}
        self.most_in_flight = {"reads": 0, "writes": 0}
        """The most requests of a kind that were ever under way at once."""
        self.pending: list[Callable[[], None]] = []
        """Settings that take effect in the next POST, where no jobs feature keeps them."""
        self._parts: dict[Callable[[SimBmc], Any], Any] = {}
        self._watchers: dict[Moment, list[Callable[[SimBmc], None]]] = {moment: [] for moment in Moment}

    def part(self, kind: Callable[[SimBmc], P]) -> P:
        """The state a feature keeps for this BMC, made as ``kind(bmc)`` when first asked for."""
        made = self._parts.get(kind)
        if made is None:
            made = self._parts[kind] = kind(self)
        return cast(P, made)

    @property
    def service_tag(self) -> str:
        """As printed on the machine; ``SKU`` of the system."""
        return self.identity["tag"]

    @property
    def sessions(self) -> Sessions:
        """Its sessions; ``len()`` counts the open ones."""
        return self.part(Sessions)

    @property
    def power(self) -> Power:
        """Its server's power."""
        return self.part(Power)

    @property
    def jobs(self) -> JobQueue:
        """Its job queue."""
        return self.part(JobQueue)

    @property
    def boot(self) -> Boot:
        """Its server's boot settings."""
        return self.part(Boot)

    @property
    def boot_override(self) -> Override:
        """What the next boot is to be from."""
        self.settle()
        return self.boot.override

    @property
    def readiness(self) -> Readiness:
        """What it is not ready for, and until when."""
        return self.part(Readiness)

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its certificate, 64 lower-case digits; ``certificate.renew()`` changes it."""
        return self.certificate.fingerprint

    def now(self) -> float:
        """Simulated seconds since the simulator started."""
        return self.agenda.now()

    def time(self) -> datetime:
        """What its own clock says; ``clock_skew_s`` sets it wrong."""
        return self.started + timedelta(seconds=self.now() + self.clock_skew_s)

    def after(self, seconds: float, action: Callable[[], None]) -> Timer:
        """Do something this many simulated seconds from now."""
        return self.agenda.after(seconds, action)

    def settle(self) -> None:
        """Bring the state up to now; requests and the readable state do so by themselves."""
        with self.lock:
            self.agenda.settle()

    def on(self, moment: Moment, watcher: Callable[[SimBmc], None]) -> None:
        """Be told of a moment of this BMC (features of all BMCs: ``tree.at``)."""
        self._watchers[moment].append(watcher)

    def on_boot(self, watcher: Callable[[SimBmc], None]) -> None:
        """Be told when POST is over and the boot device was chosen."""
        self.on(Moment.POST_DONE, watcher)

    def on_power(self, hook: PowerHook) -> None:
        """Let a real machine follow: called with what it must do and from which device this boot is.

        It runs within the request that asks for it, so it must be quick: start a process, do not wait for it.
        """
        self.power.hooks.append(hook)

    def configure(self, attributes: Body, apply: Callable[[], None]) -> str:
        """Let a setting take effect in the next POST, by a job where there are jobs; the id of the job or nothing."""
        if self.tree.config_job is not None:
            return self.tree.config_job(self, attributes, apply)
        self.pending.append(apply)
        return ""

    def replace_card(self, adapter_id: str, *, at_once: bool = False) -> dict[str, str]:
        """Another card of the same kind stands in the slot: its MACs, GUIDs and serial number.

        They show after the next POST has collected the inventory, unless ``at_once``.
        """
        adapter = next(one for one in self.hardware.adapters if one.id == adapter_id)
        new = card(self.mint, adapter)
        if at_once:
            self.identity.update(new)
        else:
            self._new_parts.update(new)
        return new

    def tell(self, moment: Moment) -> None:
        """Tell features and watchers."""
        if moment is Moment.INVENTORY_COLLECTED:
            self.identity.update(self._new_parts)
            self._new_parts.clear()
        if moment is Moment.POST_STARTED:
            pending, self.pending = self.pending, []
            for apply in pending:
                apply()
        for watcher in [*self.tree.watchers[moment], *self._watchers[moment]]:
            watcher(self)

    def fault(self, fault: Fault) -> Fault:
        """Let something go wrong from now on; gives it back, with its count of hits."""
        self.faults.append(fault)
        return fault

    def clear_faults(self) -> None:
        """Nothing goes wrong any more."""
        self.faults.clear()

    def change(self, path: str, **fields: Any) -> None:
        """Show other values at a path: dictionaries are merged, everything else is replaced."""
        with self.lock:
            merged = dict(self.changes.get(path, {}))
            merged.update(fields)
            self.changes[path] = merged

    def remove(self, path: str) -> None:
        """This path answers 404 from now on; collections still name it (a dangling link)."""
        self.removed.add(path)

    def add(self, path: str, body: Body, into: str = "") -> None:
        """Serve one more resource, for this BMC alone, as a member of a collection when one is named."""
        with self.lock:
            self.extra[path] = {"@odata.id": path, **body}
            if into:
                self.joined.setdefault(into, []).append(path)

    def log(self, key: str, *args: str) -> None:
        """Write into the Lifecycle log, where that feature is there."""
        if self.tree.lifecycle_log is not None:
            self.tree.lifecycle_log(self, key, args)

    def asked(self, method: str = ".*", path: str = ".*") -> list[Logged]:
        """Requests so far that match, oldest first."""
        return [
            entry
            for entry in list(self.requests)
            if re.fullmatch(method, entry.method) and re.fullmatch(path, entry.path)
        ]

    def __repr__(self) -> str:
        return f"SimBmc({self.host} {self.address} {self.service_tag})"
