"""A client for tests of the MAAS double: no session, no retries, nothing but what was sent and what came back."""

from __future__ import annotations

import http.client
import json
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode, urlsplit


@dataclass(frozen=True)
class Said:
    """An answer. :param headers: names in lower case."""

    status: int
    headers: dict[str, str]
    text: str

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.text)


def signed(api_key: str, at: float | None = None, nonce: str = "n") -> str:
    """An ``Authorization`` header for a key. :param at: the time it claims."""
    consumer, token, secret = api_key.split(":")
    said = {
        "oauth_version": "1.0",
        "oauth_signature_method": "PLAINTEXT",
        "oauth_consumer_key": consumer,
        "oauth_token": token,
        "oauth_signature": f"%26{secret}",
        "oauth_nonce": nonce,
        "oauth_timestamp": str(int(time.time() if at is None else at)),
    }
    return "OAuth " + ", ".join(f'{name}="{value}"' for name, value in said.items())


class Asker:
    """Asks one double. :param url: ``http://127.0.0.1:PORT/MAAS``."""

    def __init__(self, url: str, api_key: str) -> None:
        self._parts = urlsplit(url)
        self.api_key = api_key

    def send(
        self, method: str, path: str, body: bytes | None = None, headers: dict[str, str] | None = None
    ) -> Said:
        """Send bytes as they are. :param path: below ``/MAAS/``, or from the root when it begins with ``/``."""
        connection = http.client.HTTPConnection(self._parts.netloc, timeout=30)
        try:
            target = path if path.startswith("/") else f"{self._parts.path}/{path}"
            connection.request(method, target, body, headers or {})
            answer = connection.getresponse()
            text = answer.read().decode()
            return Said(answer.status, {name.lower(): value for name, value in answer.getheaders()}, text)
        finally:
            connection.close()

    def __call__(self, method: str, path: str, **form: Any) -> Said:
        """Call the API with the key. :param path: below ``/MAAS/api/2.0/``; :param form: the body's fields."""
        body = urlencode(form, doseq=True).encode() if method != "GET" else None
        headers = {"Authorization": signed(self.api_key)}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return self.send(method, f"api/2.0/{path}", body, headers)

    def create(self, hostname: str, mac: str, **form: Any) -> Said:
        """Create a machine with a redfish BMC, not commissioned unless ``form`` says so."""
        given = {
            "hostname": hostname,
            "architecture": "amd64/generic",
            "mac_addresses": [mac],
            "commission": "false",
            "power_type": "redfish",
            "power_parameters_power_address": "10.1.0.1",
            "power_parameters_power_user": "maas",
            "power_parameters_power_pass": "secret",
        }
        return self("POST", "machines/", **{**given, **form})

    def act(self, system_id: str, op: str, **form: Any) -> Said:
        """An operation on a machine."""
        return self("POST", f"machines/{system_id}/?op={op}", **form)

    def read(self, system_id: str) -> Any:
        """A machine."""
        return self("GET", f"machines/{system_id}/").json
