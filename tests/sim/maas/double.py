"""The double itself: its machines, its time, its faults, and who may ask it what."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.sim.maas import create, places, power, service
from tests.sim.maas.auth import ApiKey
from tests.sim.maas.call import Logged, Refusal, Reply, refused
from tests.sim.maas.disks import Storage
from tests.sim.maas.events import EventLog
from tests.sim.maas.faults import Faults
from tests.sim.maas.forms import Form
from tests.sim.maas.hardware import Hardware, xe9680
from tests.sim.maas.machines import Around, MachineRecord
from tests.sim.maas.states import TRANSITIONS, Status
from tests.sim.maas.time import Durations, SimTime

KEY = "doubleconsumer:doubletoken:doublesecretdoublesecret"
_ID = "346780abcdefghkmnpqrstwxy"
_MAC = re.compile(r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}\Z")


@dataclass
class Settings:
    """What a double is like.

    :param speed: simulated seconds per real second, 0: only by ``advance``.
    :param racks: rack controllers; 0: no BMC is reached. :param node_timeout: minutes.
    :param clock_offset_s: how far its clock is off; :param seed: of ids, durations and dice.
    :param wires: to BMCs that follow its power commands, None: there are none.
    """

    speed: float = 0.0
    racks: int = 1
    seed: int = 1
    hardware: Hardware = xe9680
    wires: power.Wires | None = None
    durations: Durations = field(default_factory=Durations)
    node_timeout: int = 30
    clock_offset_s: float = 0.0
    api_key: str = KEY
    user: str = "admin"
    images: Sequence[str] = ("ubuntu/jammy", "ubuntu/noble", "custom/gpu-node-22.04")


class MaasDouble:
    """A region controller. All of it is guarded by :attr:`lock`; :attr:`machines` is what a test looks at."""

    def __init__(self, settings: Settings | None = None) -> None:
        self.settings = settings or Settings()
        self.lock = threading.RLock()
        self.key = ApiKey.parse(self.settings.api_key)
        self.user = self.settings.user
        self.racks = self.settings.racks
        self.time = SimTime(
            self.settings.speed, self.settings.seed, self.settings.durations, self.settings.clock_offset_s
        )
        self.faults = Faults(self.settings.seed)
        self.events = EventLog(self.time.wall)
        self.records: dict[str, MachineRecord] = {}
        self.tags: dict[str, dict[str, str]] = {}
        self.places = places.Places()
        self.scripts: dict[str, bytes] = {}
        """Scripts somebody uploaded, by name."""
        self.origin = "http://127.0.0.1"
        self.description = b""
        """A describe document to serve instead of our own."""
        self.requests: list[Logged] = []
        self.bugs: list[Exception] = []
        """Its own mistakes; a test that ends with one fails."""
        self._counts: dict[str, int] = {}
        self._dice = random.Random(f"{self.settings.seed}/ids")
        if self.settings.wires is not None:
            power.watch(self)

    # -- for tests ---------------------------------------------------------------------------------------------

    @property
    def machines(self) -> dict[str, MachineRecord]:
        """By system id, as they are now."""
        with self.lock:
            self.time.settle()
            return dict(self.records)

    def machine(self, name: str) -> MachineRecord:
        """By host name or system id, as it is now. :raises KeyError: there is none."""
        found = self.find(name, self.machines)
        if found is None:
            raise KeyError(name)
        return found

    def advance(self, seconds: float) -> None:
        """Let simulated time pass."""
        with self.lock:
            self.time.advance(seconds)

    def in_status(self, status: str) -> list[MachineRecord]:
        """Machines in a status, by host name."""
        return sorted(
            (one for one in self.machines.values() if one.status == status), key=lambda one: one.hostname
        )

    def add_machine(self, hostname: str, macs: Sequence[str], **fields: str) -> MachineRecord:
        """Create one as a client would, without being commissioned."""
        form = Form()
        given = {"hostname": hostname, "architecture": "amd64/generic", "power_type": "manual", **fields}
        for name, value in given.items():
            form.add(name, value)
        for mac in macs:
            form.add("mac_addresses", mac)
        form.add("commission", "false")
        with self.lock:
            return create.make(self, form)

    # -- for the parts of it -----------------------------------------------------------------------------------

    def new_id(self, kind: str) -> int:
        """The next number of a kind of thing."""
        self._counts[kind] = self._counts.get(kind, 0) + 1
        return self._counts[kind]

    def new_system_id(self) -> str:
        """As MAAS makes them: six letters and digits that are not mistaken for each other."""
        while True:
            made = "".join(self._dice.choice(_ID) for _ in range(6))
            if made not in self.records:
                return made

    def new_secret(self, length: int) -> str:
        """Letters and digits."""
        return "".join(
            self._dice.choice("abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789")
            for _ in range(length)
        )

    def mac(self, text: str) -> str | None:
        """Canonical form, None when it is none."""
        text = text.strip().lower().replace("-", ":")
        return text if _MAC.match(text) else None

    def find(self, name: str, among: dict[str, MachineRecord] | None = None) -> MachineRecord | None:
        """By system id or host name."""
        known = self.records if among is None else among
        return known.get(name) or next((one for one in known.values() if one.hostname == name), None)

    def address_of(self, record: MachineRecord) -> str:
        """The address a machine is seen with."""
        number = 100 + record.number
        return f"10.0.{number // 250}.{number % 250}"

    @property
    def around(self) -> Around:
        """Zones, pools, domains."""
        return Around(self.places.zones, self.places.pools, self.places.domains)

    def new_storage(self) -> Storage:
        """Of a new machine."""
        return Storage(self.new_id)

    def event(
        self, record: MachineRecord, level: str, kind: str, text: str = "", *, by: bool = False
    ) -> None:
        """Log an event; from INFO on it is the machine's status message. :param by: by the user."""
        self.events.add(record.system_id, level, kind, text, self.user if by else "unknown")
        if level not in ("DEBUG", "AUDIT"):
            record.said = f"{kind} - {text}" if text else kind
            record.acted = ""
            record.changed()

    def asked(self, record: MachineRecord, kind: str, comment: str = "") -> None:
        """Log what the user asked for."""
        self.event(record, "DEBUG", kind, f"({self.user})" + (f" - {comment}" if comment else ""), by=True)

    def set_status(self, record: MachineRecord, status: Status) -> None:
        """Change the status and log it. :raises Refusal: 409, it cannot follow."""
        if status == record.status:
            return
        if status not in TRANSITIONS[record.status]:
            raise Refusal(refused(409, f"Invalid transition: {record.status.value} -> {status.value}."))
        text = f"From '{record.status.value}' to '{status.value}'"
        if status is Status.ALLOCATED and record.owner and record.status is Status.READY:
            text += f" (to {record.owner})"
        self.events.add(record.system_id, "DEBUG", "Node changed status", text)
        record.previous, record.status = record.status, status
        record.changed()

    def racked(self, record: MachineRecord, op: str) -> bool:
        """Whether there is a rack controller for the machine just now."""
        return (
            self.racks > 0
            and self.faults.strike(["no-rack"], op, (record.hostname, record.system_id)) is None
        )

    def reachable(self, record: MachineRecord, op: str) -> bool:
        """Whether a rack controller reaches the machine's BMC just now; a BMC that is silent is an event, too."""
        return self.racked(record, op) and not power.silent(self, record)

    # -- requests ----------------------------------------------------------------------------------------------

    def serve(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
        """Answer one request. :param headers: names in lower case."""
        with self.lock:
            self.time.settle()
            return service.serve(self, method, target, headers, body)


__all__ = ["KEY", "Logged", "MaasDouble", "Reply", "Settings"]
