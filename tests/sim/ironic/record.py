"""Asks a running Ironic for one answer of each kind and prints them as JSON; how ``tests/data/ironic`` was made::

python -m tests.sim.ironic.record > tests/data/ironic/answers.json
"""

from __future__ import annotations

import base64
import json
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from typing import Any

from tests.sim.ironic import BmcSystem, IronicServices, ironic_services

VERSION = "1.81"
WAIT_S = 60.0


class Recorder:
    """Sends requests and keeps the answers."""

    def __init__(self, services: IronicServices) -> None:
        self.services = services
        self.kept: list[dict[str, Any]] = []

    def ask(self, name: str, method: str, path: str, body: Any = None, **more: str) -> Any:
        """One request. :param name: under which its answer is kept; empty: not kept."""
        user, password = self.services.user, more.get("password", self.services.password)
        basic = base64.b64encode(f"{user}:{password}".encode()).decode()
        headers = {
            "X-OpenStack-Ironic-API-Version": more.get("version", VERSION),
            "Content-Type": "application/json",
        }
        if password:
            headers["Authorization"] = f"Basic {basic}"
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.services.url + path, data, headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:  # noqa: S310
                status, raw = answer.status, answer.read()
        except urllib.error.HTTPError as refused:
            status, raw = refused.code, refused.read()
        told = raw.decode()
        if name:
            self.kept.append({"name": name, "method": method, "path": path, "status": status, "body": told})
        return json.loads(told) if told else None

    def until(self, id: str, states: Sequence[str]) -> None:
        """Wait for a state. :raises TimeoutError: it did not come."""
        deadline = time.monotonic() + WAIT_S
        while self.ask("", "GET", f"/v1/nodes/{id}?fields=provision_state")["provision_state"] not in states:
            if time.monotonic() > deadline:
                raise TimeoutError(f"{id}: none of {states}")
            time.sleep(0.3)


def node(services: IronicServices, system: BmcSystem, password: str) -> dict[str, Any]:
    """Body of a new node."""
    return {
        "name": system.name,
        "driver": "redfish",
        "deploy_interface": "ramdisk",
        "driver_info": {
            "redfish_address": f"https://{system.address}:{system.port}",
            "redfish_system_id": system.system_id,
            "redfish_username": services.bmc_user,
            "redfish_password": password,
        },
        "properties": {"cpu_arch": "x86_64"},
        "extra": {"fabricctl_service_tag": "TAG000", "fabricctl_tag_rack-7": True},
    }


def record(services: IronicServices) -> list[dict[str, Any]]:
    """One answer of each kind."""
    it = Recorder(services)
    first, second = services.systems[:2]
    body = node(services, first, services.bmc_password)
    it.ask("root", "GET", "/")
    it.ask("version not spoken", "GET", "/v1/nodes", version="9.99")
    it.ask("no login", "GET", "/v1/nodes", password="")
    it.ask("wrong login", "GET", "/v1/nodes", password="wrong")  # noqa: S106
    id = it.ask("", "POST", "/v1/nodes", body)["uuid"]
    it.ask("name taken", "POST", "/v1/nodes", body)
    it.ask("uuid taken", "POST", "/v1/nodes", {**body, "name": "other", "uuid": id})
    it.ask("bad name", "POST", "/v1/nodes", {**body, "name": "bad name!"})
    it.ask("no such driver", "POST", "/v1/nodes", {**body, "name": "other", "driver": "ipmi"})
    it.ask("", "POST", "/v1/ports", {"node_uuid": id, "address": first.mac})
    it.ask("MAC taken", "POST", "/v1/ports", {"node_uuid": id, "address": first.mac})
    it.ask("bad MAC", "POST", "/v1/ports", {"node_uuid": id, "address": "xx"})
    it.ask("no such node", "GET", "/v1/nodes/nosuch")
    it.ask("no such field", "GET", "/v1/nodes?fields=uuid,updated_at")
    states = f"/v1/nodes/{id}/states/provision"
    it.ask("wrong state", "PUT", states, {"target": "active"})
    it.ask("no such target", "PUT", states, {"target": "bogus"})
    it.ask("", "PUT", states, {"target": "manage"})
    it.ask("locked", "PUT", states, {"target": "manage"})
    it.until(id, ["manageable"])
    it.ask("no inventory", "GET", f"/v1/nodes/{id}/inventory")
    it.ask("bad patch", "PATCH", f"/v1/nodes/{id}", [{"op": "remove", "path": "/extra/nothere"}])
    it.ask("bad key", "PATCH", f"/v1/nodes/{id}", [{"op": "add", "path": "/extra/a.b", "value": 1}])
    it.ask("", "PUT", states, {"target": "provide"})
    it.until(id, ["available"])
    it.ask("nothing to deploy", "PUT", states, {"target": "active"})
    it.ask("", "PUT", f"/v1/nodes/{id}/maintenance", {"reason": "no GPU 3"})
    it.ask("in maintenance", "PUT", states, {"target": "active"})
    it.ask("node in maintenance", "GET", f"/v1/nodes/{id}")
    wrong = it.ask("", "POST", "/v1/nodes", node(services, second, "wrong password"))["uuid"]
    it.ask("", "PUT", f"/v1/nodes/{wrong}/states/provision", {"target": "manage"})
    it.until(wrong, ["enroll", "manageable"])
    it.ask("node not reached", "GET", f"/v1/nodes/{wrong}")
    it.ask("history", "GET", f"/v1/nodes/{wrong}/history?detail=true")
    it.ask("ports", "GET", "/v1/ports?fields=uuid,address,node_uuid")
    return it.kept


if __name__ == "__main__":
    with ironic_services(2) as running:
        print(json.dumps(record(running), indent=1))
