"""A bare HTTPS client for tests of the simulator itself: it checks no certificate and hides no answer."""

from __future__ import annotations

import base64
import json
import ssl
import urllib.error
import urllib.request
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Said:
    """One answer. :param keys: of its messages, without registry and version."""

    status: int
    body: Any = None
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def keys(self) -> list[str]:
        holder = (self.body or {}).get("error", self.body or {})
        return [entry["MessageId"].rpartition(".")[2] for entry in holder.get("@Message.ExtendedInfo", [])]


@dataclass(frozen=True)
class BareClient:
    """Basic login with every request."""

    url: str
    user: str
    password: str

    def __call__(self, method: str, path: str, body: Any = None) -> Said:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        login = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        headers = {"Content-Type": "application/json", "Authorization": f"Basic {login}"}
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(self.url + path, data=data, headers=headers, method=method)  # noqa: S310
        try:
            with urllib.request.urlopen(request, context=context, timeout=10) as answer:  # noqa: S310
                return _said(answer.status, answer.read(), dict(answer.headers))
        except urllib.error.HTTPError as refused:
            return _said(refused.code, refused.read(), dict(refused.headers))

    def get(self, path: str) -> Any:
        said = self("GET", path)
        assert said.status == 200, (path, said.status, said.body)
        return said.body


def _said(status: int, data: bytes, headers: dict[str, str]) -> Said:
    return Said(status, json.loads(data) if data else None, headers)
