"""Asks a simulated BMC without a network between: what it answers, at once."""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from tests.sim.idrac.bmc import SimBmc
from tests.sim.idrac.service import Incoming, answer

SYSTEM = "/redfish/v1/Systems/System.Embedded.1"
CHASSIS = "/redfish/v1/Chassis/System.Embedded.1"
MANAGER = "/redfish/v1/Managers/iDRAC.Embedded.1"
SESSIONS = "/redfish/v1/SessionService/Sessions"
RESET = f"{SYSTEM}/Actions/ComputerSystem.Reset"


@dataclass(frozen=True)
class Said:
    """An answer, body parsed."""

    status: int
    body: Any
    headers: dict[str, str]

    @property
    def keys(self) -> list[str]:
        """Message keys of an error or of a success, without registry and version."""
        holder = self.body.get("error", self.body) if isinstance(self.body, dict) else {}
        return [entry["MessageId"].rpartition(".")[2] for entry in holder.get("@Message.ExtendedInfo", [])]


class Asker:
    """One client of one BMC, logged in unless ``user`` is empty."""

    def __init__(self, bmc: SimBmc, user: str = "root", client: str = "198.51.100.7") -> None:
        self.bmc = bmc
        self.client = client
        self.headers: dict[str, str] = {}
        if user:
            self.headers["x-auth-token"] = bmc.sessions.make(user, client).token

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Said:
        """One request; header names with underscores."""
        path, _, query = path.partition("?")
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        incoming = Incoming(method, path, quote(query, safe="=&$*().,'"), sent, data, self.client)
        said, _ = answer(self.bmc, incoming)
        is_json = "json" in said.headers.get("Content-Type", "json")
        parsed = json.loads(said.body) if isinstance(said.body, bytes) and is_json else said.body
        return Said(said.status, parsed, said.headers)

    def get(self, path: str, **headers: str) -> Said:
        """GET."""
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Said:
        """POST."""
        return self.ask("POST", path, {} if body is None else body, **headers)

    def patch(self, path: str, body: Any, **headers: str) -> Said:
        """PATCH."""
        return self.ask("PATCH", path, body, **headers)

    def delete(self, path: str) -> Said:
        """DELETE."""
        return self.ask("DELETE", path)

    def login(self, password: str, user: str = "root") -> Said:
        """Try to open a session."""
        return self.ask("POST", SESSIONS, {"UserName": user, "Password": password})

    def reset(self, kind: str) -> Said:
        """ComputerSystem.Reset."""
        return self.post(RESET, {"ResetType": kind})


def basic(user: str, password: str) -> str:
    """An Authorization header."""
    return "Basic " + base64.b64encode(f"{user}:{password}".encode()).decode()
