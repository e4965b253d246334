"""The double itself: its machines, its time, its faults, and who may ask it what."""

from __future__ import annotations

import random
import re
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tests.sim.maas import actions, create, describe, lists, metadata, network, places, storage_ops, tags
from tests.sim.maas.auth import ApiKey, Login, check, wrong_key
from tests.sim.maas.call import (
    API,
    Answer,
    Incoming,
    Refusal,
    absent,
    invalid,
    not_allowed,
    ok,
    refused,
    unreachable,
    unrecognised,
)
from tests.sim.maas.disks import Storage
from tests.sim.maas.events import EventLog, query
from tests.sim.maas.faults import Fault, Faults
from tests.sim.maas.forms import Form, FormError, parse_body, parse_query
from tests.sim.maas.hardware import Hardware, xe9680
from tests.sim.maas.machines import Around, MachineRecord
from tests.sim.maas.states import TRANSITIONS, Status
from tests.sim.maas.time import Durations, SimTime

KEY = "doubleconsumer:doubletoken:doublesecretdoublesecret"
_ID = "346780abcdefghkmnpqrstwxy"
_MAC = re.compile(r"[0-9a-f]{2}([:-][0-9a-f]{2}){5}\Z")


@dataclass
class Reply:
    """An answer and what happens to it on its way. :param drop: the connection ends instead."""

    answer: Answer
    delay_s: float = 0.0
    drop: bool = False


@dataclass(frozen=True)
class Logged:
    """One request as it was answered. :param op: as faults name it; :param status: 0 where no answer was sent."""

    method: str
    path: str
    op: str
    status: int
    machine: str = ""

    def __iter__(self) -> Any:
        return iter((self.method, self.path, self.op, self.status))


@dataclass
class Settings:
    """What a double is like.

    :param speed: simulated seconds per real second, 0: only by ``advance``.
    :param racks: rack controllers; 0: no BMC is reached. :param node_timeout: minutes.
    :param clock_offset_s: how far its clock is off; :param seed: of ids, durations and dice.
    """

    speed: float = 0.0
    racks: int = 1
    seed: int = 1
    hardware: Hardware = xe9680
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

    def reachable(self, record: MachineRecord, op: str) -> bool:
        """Whether a rack controller reaches the machine's BMC just now."""
        return (
            self.racks > 0
            and self.faults.strike(["no-rack"], op, (record.hostname, record.system_id)) is None
        )

    # -- requests ----------------------------------------------------------------------------------------------

    def serve(self, method: str, target: str, headers: dict[str, str], body: bytes) -> Reply:
        """Answer one request. :param headers: names in lower case."""
        with self.lock:
            self.time.settle()
            path, _, asked = target.partition("?")
            if path.startswith(metadata.METADATA):
                return self._logged(
                    method, path, "metadata", Reply(self._to_machine(method, path, headers, body))
                )
            if not path.startswith(API):
                return self._logged(method, path, "", Reply(absent("page")))
            login = check(headers.get("authorization", ""), self.key, self.time.real().timestamp())
            try:
                form = parse_body(headers.get("content-type", ""), body)
            except FormError:
                return self._logged(method, path, "", Reply(Answer(400, b"", {"Content-Type": "text/plain"})))
            known = login is Login.KNOWN
            incoming = Incoming(method, path.removeprefix(API), parse_query(asked), form, known, target)
            op, names = self._about(incoming)
            if login is Login.WRONG:
                return self._logged(method, path, op, Reply(wrong_key()))
            return self._logged(method, path, op, self._with_faults(incoming, op, names), names)

    def _to_machine(self, method: str, path: str, headers: dict[str, str], body: bytes) -> Answer:
        """What a machine that boots asks, with its own key."""
        form = parse_body(headers.get("content-type", ""), body)
        return metadata.serve(self, method, path, headers.get("authorization", ""), form)

    def _about(self, incoming: Incoming) -> tuple[str, tuple[str, ...]]:
        """(operation as faults name it, names of the machine it is about)."""
        parts = incoming.parts
        record = self.records.get(parts[1]) if len(parts) > 1 and parts[0] in ("machines", "nodes") else None
        many = parts[0] == "machines" and len(parts) == 1
        plain = {"GET": "list" if many else "read", "POST": "create", "PUT": "update", "DELETE": "delete"}
        name = incoming.op or plain.get(incoming.method, incoming.method)
        if parts[0] == "nodes" and len(parts) > 2:
            name = f"{parts[2]}.{name}"
        elif parts[0] != "machines":
            name = f"{parts[0]}.{name}"
        names: tuple[str, ...] = (record.hostname, record.system_id) if record else ()
        if many and name == "create":
            names = (incoming.form.get("hostname"),)
        if many and name == "allocate":
            asked = self.find(incoming.form.get("system_id") or incoming.form.get("name"))
            names = (asked.hostname, asked.system_id) if asked else ()
        return name, names

    def _with_faults(self, incoming: Incoming, op: str, names: tuple[str, ...]) -> Reply:
        strike = self.faults.strike
        slow = strike(["slow"], op, names)
        delay = slow.seconds if slow else 0.0
        before = strike(["conflict", "drop-before", "error"], op, names)
        if before is not None:
            return Reply(_instead(before), delay, drop=before.kind == "drop-before")
        after = strike(["503-after-commit", "504-continues", "drop-after"], op, names)
        if after is not None and after.kind == "504-continues" and after.later > 0:
            self.time.after(after.later, lambda: self._quietly(incoming))
            return Reply(_instead(after), delay + after.seconds)
        answer = self._answer(incoming)
        if after is None or answer.status >= 400:
            return Reply(answer, delay)
        return Reply(_instead(after), delay + after.seconds, drop=after.kind == "drop-after")

    def _quietly(self, incoming: Incoming) -> None:
        self._answer(incoming)

    def _answer(self, incoming: Incoming) -> Answer:
        try:
            return self._route(incoming)
        except Refusal as refusal:
            return refusal.answer

    def _logged(self, method: str, path: str, op: str, reply: Reply, names: tuple[str, ...] = ()) -> Reply:
        status = 0 if reply.drop else reply.answer.status
        self.requests.append(Logged(method, path, op, status, names[0] if names else ""))
        return reply

    def _route(self, incoming: Incoming) -> Answer:
        head, *rest = incoming.parts
        if head in ("version", "describe") and not rest:
            return describe.serve(self, incoming, head)
        if not incoming.known and not (head == "machines" and incoming.op == "is_registered"):
            return unrecognised(incoming.method, incoming.op)
        if head in ("machines", "nodes"):
            return self._machines(incoming, head, rest)
        serve = _COLLECTIONS.get(head)
        return absent("page") if serve is None else serve(self, incoming)

    def _machines(self, incoming: Incoming, head: str, rest: list[str]) -> Answer:
        if not rest:
            return lists.serve(self, incoming)
        record = self.records.get(rest[0])
        if record is None:
            return absent("Machine" if head == "machines" else "Node")
        if head == "machines" or len(rest) == 1:
            return actions.serve(self, record, incoming)
        if rest[1] == "interfaces":
            return network.serve(self, record, incoming)
        if rest[1] == "results":
            return lists.results(record, incoming)
        if rest[1] == "devices":
            return lists.devices(record, incoming)
        return storage_ops.serve(self, record, incoming)


def _events(double: MaasDouble, incoming: Incoming) -> Answer:
    if incoming.method != "GET":
        return not_allowed("GET")
    if incoming.op != "query":
        return unrecognised(incoming.method, incoming.op)
    names = {one.system_id: one.hostname for one in double.records.values()}
    filtered = any(incoming.query.has(name) for name in lists.FILTERS)
    wanted = {one.system_id for one in lists.chosen(double, incoming.query)} if filtered else None
    return query(double.events, incoming, names, wanted)


def _users(double: MaasDouble, incoming: Incoming) -> Answer:
    if incoming.method != "GET":
        return not_allowed("GET", "POST")
    me = {
        "is_superuser": True,
        "username": double.user,
        "email": "a@example.com",
        "is_local": True,
        "resource_uri": f"{API}users/{double.user}/",
    }
    if incoming.op == "whoami":
        return ok(me)
    return ok([me]) if incoming.op is None else unrecognised(incoming.method, incoming.op)


_COLLECTIONS: dict[str, Callable[[MaasDouble, Incoming], Answer]] = {
    "events": _events,
    "users": _users,
    "tags": tags.serve,
    **dict.fromkeys(places.NAMES, places.serve),
}


def _instead(fault: Fault) -> Answer:
    """What a fault answers with."""
    if fault.kind == "conflict":
        answer = refused(
            409, fault.text or "Conflict error. Try your request again, as it will most likely succeed."
        )
        answer.headers["Retry-After"] = "5"
        return answer
    if fault.kind == "503-after-commit":
        return unreachable(fault.text or "Unable to power control the node. Please check power credentials.")
    if fault.kind == "504-continues":
        body = fault.text or "<html><head><title>504 Gateway Time-out</title></head></html>"
        return Answer(504, body.encode(), {"Content-Type": "text/html"})
    return refused(500, fault.text or "Internal Server Error")


__all__ = ["KEY", "Logged", "MaasDouble", "Reply", "Settings", "invalid"]
