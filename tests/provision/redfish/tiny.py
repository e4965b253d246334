"""A Redfish service as small as a test needs: TLS, sessions, a tree of bodies, and answers by rule."""

from __future__ import annotations

import asyncio
import datetime
import hashlib
import ipaddress
import json
import ssl
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from aiohttp import web

from tests.sim.idrac.users import ROOT_PASSWORD

ROOT_BODY: dict[str, Any] = {
    "@odata.id": "/redfish/v1",
    "Vendor": "Dell",
    "Product": "Integrated Dell Remote Access Controller",
    "Oem": {"Dell": {"ServiceTag": "TAG0001", "ManagerMACAddress": "02:00:00:00:00:01"}},
    "Links": {"Sessions": {"@odata.id": "/redfish/v1/SessionService/Sessions"}},
    "ProtocolFeaturesSupported": {
        "ExpandQuery": {"ExpandAll": True, "Levels": True, "Links": True, "MaxLevels": 1, "NoLinks": True}
    },
    "Systems": {"@odata.id": "/redfish/v1/Systems"},
}
SESSIONS = "/redfish/v1/SessionService/Sessions"
Handler = Callable[[web.Request], "web.StreamResponse | Any"]


@dataclass
class Seen:
    method: str
    path: str
    headers: dict[str, str]
    body: Any


@dataclass
class Tiny:
    """State of the service; change it from the test's thread."""

    tree: dict[str, Any] = field(default_factory=lambda: {"/redfish/v1": dict(ROOT_BODY)})
    users: dict[str, str] = field(default_factory=lambda: {"root": ROOT_PASSWORD})
    sessions: dict[str, tuple[str, str]] = field(default_factory=dict)
    rules: dict[tuple[str, str], Handler] = field(default_factory=dict)
    seen: list[Seen] = field(default_factory=list)
    limit: int = 8
    next_id: int = 1
    port: int = 0
    address: str = "127.0.0.1"
    fingerprint: str = ""
    ca_file: str = ""

    def asked(self, method: str, path: str = "") -> list[Seen]:
        return [one for one in self.seen if one.method == method and (not path or one.path == path)]


def message(status: int, key: str, text: str = "", headers: dict[str, str] | None = None) -> web.Response:
    body = {"error": {"@Message.ExtendedInfo": [{"MessageId": f"IDRAC.2.8.{key}", "Message": text}]}}
    return web.json_response(body, status=status, headers=headers)


def self_signed(folder: Path, address: str = "127.0.0.1") -> tuple[Path, Path, str]:
    """Certificate, key and fingerprint."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "idrac-TAG0001")])
    now = datetime.datetime(2024, 1, 1, tzinfo=datetime.UTC)
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(7)
        .not_valid_before(now)
        .not_valid_after(now + datetime.timedelta(days=36500))
        .add_extension(
            x509.SubjectAlternativeName([x509.IPAddress(ipaddress.ip_address(address))]), critical=False
        )
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    der = made.public_bytes(serialization.Encoding.DER)
    cert_path, key_path = folder / "cert.pem", folder / "key.pem"
    cert_path.write_bytes(made.public_bytes(serialization.Encoding.PEM))
    key_path.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        )
    )
    return cert_path, key_path, hashlib.sha256(der).hexdigest()


class TinyServer:
    """The service on a loopback port, in its own thread and loop."""

    def __init__(
        self,
        folder: Path,
        context: Callable[[ssl.SSLContext], None] | None = None,
        address: str = "127.0.0.1",
    ) -> None:
        cert, key, fingerprint = self_signed(folder, address)
        self.tiny = Tiny(address=address, fingerprint=fingerprint, ca_file=str(cert))
        self._tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._tls.load_cert_chain(cert, key)
        if context is not None:
            context(self._tls)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)

    def __enter__(self) -> Tiny:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self._start(), self._loop).result(10)
        return self.tiny

    def __exit__(self, *args: object) -> None:
        asyncio.run_coroutine_threadsafe(self._runner.cleanup(), self._loop).result(10)
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{tail:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1, handler_cancellation=True)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.tiny.address, 0, ssl_context=self._tls)
        await site.start()
        self.tiny.port = self._runner.addresses[0][1]

    async def _answer(self, request: web.Request) -> web.StreamResponse:
        tiny = self.tiny
        raw = await request.read()
        body = json.loads(raw) if raw else None
        path = request.path_qs
        headers = {name.lower(): value for name, value in request.headers.items()}
        tiny.seen.append(Seen(request.method, path, headers, body))
        rule = tiny.rules.get((request.method, path))
        if rule is not None:
            answer = rule(request)
            answer = await answer if asyncio.iscoroutine(answer) else answer
            if answer is not None:
                return answer
        plain = request.path.rstrip("/")
        if plain == "/redfish/v1":
            return web.json_response(tiny.tree["/redfish/v1"])
        if request.method == "POST" and plain == SESSIONS:
            return self._login(body, request)
        if not self._allowed(headers):
            return message(401, "RAC0401", "unauthorised")
        if request.method == "DELETE" and plain.startswith(SESSIONS + "/"):
            gone = tiny.sessions.pop(plain, None)
            return web.Response(status=204) if gone else message(404, "SYS403", "no such session")
        if request.method == "GET" and plain in tiny.sessions:
            return web.json_response(
                {
                    "@odata.id": plain,
                    "UserName": tiny.sessions[plain][0],
                    "ClientOriginIPAddress": request.remote,
                }
            )
        if plain not in tiny.tree:
            return message(404, "SYS403", f"{plain} is not found")
        if request.method == "GET":
            held = tiny.tree[plain]
            tag = held.get("@odata.etag")
            return web.json_response(held, headers={"ETag": tag} if tag else None)
        return web.Response(status=204)

    def _login(self, body: Any, request: web.Request) -> web.Response:
        tiny = self.tiny
        if tiny.users.get(body["UserName"]) != body["Password"]:
            return message(401, "RAC0212", "Login failed")
        if len(tiny.sessions) >= tiny.limit:
            return message(503, "RAC0218", "The maximum number of user sessions is reached.")
        uri, token = f"{SESSIONS}/{tiny.next_id}", f"token-{tiny.next_id}"
        tiny.next_id += 1
        tiny.sessions[uri] = (body["UserName"], token)
        return web.json_response(
            {"@odata.id": uri}, status=201, headers={"Location": uri, "X-Auth-Token": token}
        )

    def _allowed(self, headers: dict[str, str]) -> bool:
        if "authorization" in headers:
            return True
        return headers.get("x-auth-token") in [token for _, token in self.tiny.sessions.values()]
