"""A client of a MAAS that only asks: nothing is repeated, mended or understood."""

from __future__ import annotations

import time
from typing import Any

import requests

from tests.sim.maas.process import ServedDouble

TIMEOUT_S = 20


def oauth(key: str, token: str, secret: str) -> str:
    """An ``Authorization`` header: OAuth 1, PLAINTEXT."""
    said = {
        "oauth_version": "1.0",
        "oauth_signature_method": "PLAINTEXT",
        "oauth_consumer_key": key,
        "oauth_token": token,
        "oauth_signature": f"%26{secret}",
        "oauth_nonce": "1",
        "oauth_timestamp": str(int(time.time())),
    }
    return "OAuth " + ", ".join(f'{name}="{value}"' for name, value in said.items())


class Asking:
    """Asks one double as its administrator."""

    def __init__(self, served: ServedDouble) -> None:
        self._served = served
        self._session = requests.Session()

    def call(self, method: str, path: str, **fields: Any) -> requests.Response:
        """Send a request. :param path: below ``/MAAS/api/2.0/``."""
        sent = [
            (name, str(one))
            for name, value in fields.items()
            for one in (value if isinstance(value, list) else [value])
        ]
        url = f"{self._served.url}/api/2.0/{path}"
        header = {"Authorization": oauth(*self._served.api_key.split(":"))}
        if method == "GET":
            return self._session.request(method, url, params=sent, headers=header, timeout=TIMEOUT_S)
        return self._session.request(method, url, data=sent, headers=header, timeout=TIMEOUT_S)

    def json(self, method: str, path: str, **fields: Any) -> Any:
        """The body of an answer that must be good."""
        answer = self.call(method, path, **fields)
        assert answer.status_code == 200, f"{method} {path}: {answer.status_code} {answer.text[:200]}"
        return answer.json()

    def enrol(self, hostname: str, mac: str) -> str:
        """Create a machine without commissioning it. :returns: its system id."""
        made = self.json(
            "POST",
            "machines/",
            hostname=hostname,
            architecture="amd64/generic",
            mac_addresses=mac,
            power_type="manual",
            commission="false",
        )
        return str(made["system_id"])

    def commission(self, id: str) -> dict[str, Any]:
        """Commission a machine and let the time pass that it takes. :returns: the machine."""
        self.json("POST", f"machines/{id}/?op=commission", testing_scripts="none", skip_bmc_config="1")
        self._served.advance(3600)
        return self.read(id)

    def read(self, id: str) -> dict[str, Any]:
        """The machine."""
        found: dict[str, Any] = self.json("GET", f"machines/{id}/")
        return found

    def curtin(self, id: str) -> str:
        """Begin to deploy a machine that is ready, and the configuration curtin would get."""
        self.json("POST", f"machines/{id}/?op=deploy", distro_series="ubuntu/jammy")
        answer = self.call("GET", f"machines/{id}/?op=get_curtin_config")
        assert answer.status_code == 200, answer.text
        return answer.text
