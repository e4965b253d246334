"""A server that answers with what a real BMC once answered: a dump, over TLS on loopback.

A dump is a file ``{path: body}``. A body that is an error object goes out with the status such an error has, a path
that is not in the dump is a 404. Reading works (also ``$expand``, ``$select`` and the pages that were captured), and
sessions do; nothing else does: a dump has no behaviour.

By hand::

    python -m tests.sim.idrac.replay DUMP.json --port 8443     # user root, password in $BMC_PASSWORD; Ctrl-C ends it
"""

from __future__ import annotations

import argparse
import asyncio
import base64
import json
import os
import re
import secrets
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any

from aiohttp import ClientPayloadError, web

from tests.sim.idrac.replay_query import expand, select
from tests.sim.idrac.tls import Certificate
from tests.sim.idrac.users import MARKER, ROOT_PASSWORD

SESSIONS = "/redfish/v1/SessionService/Sessions"
_OPEN = {"/redfish", "/redfish/v1", "/redfish/v1/odata", "/redfish/v1/$metadata"}
_STATUS_OF_KEY = {
    "SYS403": 404,
    "ResourceMissingAtURI": 404,
    "LIC501": 403,
    "SWC0242": 403,
    "InsufficientPrivilege": 403,
    "SYS518": 503,
    "SWC0700": 400,
    "RAC0218": 503,
}


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that came in. :param path: with its query."""

    method: str
    path: str
    status: int


def status_of(body: Any) -> int:
    """HTTP status an answer of the dump had: the dump keeps bodies only, so errors are told by their message."""
    if not isinstance(body, dict) or "error" not in body:
        return 200
    error = body["error"]
    told = [str(entry.get("MessageId", "")) for entry in error.get("@Message.ExtendedInfo", [])]
    for message_id in [*told, str(error.get("code", ""))]:
        status = _STATUS_OF_KEY.get(message_id.rpartition(".")[2])
        if status is not None:
            return status
    return 400


class Replay:
    """One dump, served; a context manager.

    :param delay_s: real seconds every answer takes.
    """

    def __init__(
        self,
        dump: Path | Mapping[str, Any],
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        user: str = "root",
        password: str = ROOT_PASSWORD,
        tls: bool = True,
        delay_s: float = 0.0,
    ) -> None:
        self.bodies: dict[str, Any] = (
            json.loads(dump.read_text(encoding="utf-8")) if isinstance(dump, Path) else dict(dump)
        )
        self.address = address
        self.port = port
        self.user = user
        self.password = password
        self.delay_s = delay_s
        self.sessions: dict[str, str] = {}
        self.requests: list[Asked] = []
        self._certificate = Certificate.of(address, "replay", 1) if tls else None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._serve, name="replay", daemon=True)
        self._ready = threading.Event()
        self._runner: web.AppRunner | None = None
        self._error: BaseException | None = None
        self.bugs: list[Exception] = []

    @property
    def fingerprint(self) -> str:
        """SHA-256 of its certificate, lower-case hex; empty without TLS."""
        return self._certificate.fingerprint if self._certificate else ""

    @property
    def url(self) -> str:
        """``https://127.0.0.1:40001``."""
        return f"{'https' if self._certificate else 'http'}://{self.address}:{self.port}"

    def __enter__(self) -> Replay:
        self._thread.start()
        self._ready.wait()
        if self._error is not None:
            raise self._error
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        if self.bugs:
            raise ExceptionGroup("mistakes of the replay server", self.bugs)

    def _serve(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_until_complete(self._start())
        except BaseException as problem:  # noqa: BLE001 - raised again where the server was wanted
            self._error = problem
            self._ready.set()
            return
        self._ready.set()
        self._loop.run_forever()
        if self._runner is not None:
            self._loop.run_until_complete(self._runner.cleanup())
        self._loop.close()

    async def _start(self) -> None:
        app = web.Application()
        app.router.add_route("*", "/{rest:.*}", self._answer)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
        await self._runner.setup()
        site = web.TCPSite(self._runner, self.address, self.port, ssl_context=self._certificate)
        await site.start()
        if self.port == 0:
            server: Any = site._server
            self.port = server.sockets[0].getsockname()[1]

    async def _answer(self, request: web.Request) -> web.Response:
        if self.delay_s:
            await asyncio.sleep(self.delay_s)
        try:
            response = await self._dispatch(request)
        except (ConnectionError, ClientPayloadError, web.HTTPException):
            raise  # the client went away, or sent no HTTP
        except Exception as problem:
            problem.add_note(f"while it answered {request.method} {request.path_qs}")
            self.bugs.append(problem)
            raise
        self.requests.append(Asked(request.method, request.path_qs, response.status))
        response.headers["OData-Version"] = "4.0"
        response.headers["Cache-Control"] = "no-cache"
        return response

    async def _dispatch(self, request: web.Request) -> web.Response:
        path = request.path.rstrip("/") or "/"
        if request.method == "POST" and path in (SESSIONS, "/redfish/v1/Sessions"):
            return await self._log_in(request)
        if path not in _OPEN and not self._known(request):
            return _error(
                401, "Base.1.8.AccessDenied", "The authentication credentials are missing or invalid."
            )
        if request.method == "DELETE" and path.startswith(SESSIONS + "/"):
            return self._log_out(path)
        if request.method not in ("GET", "HEAD"):
            return _error(405, "Base.1.8.OperationNotAllowed", "A dump is only read.")
        return self._read(path, request)

    async def _log_in(self, request: web.Request) -> web.Response:
        try:
            body = await request.json()
        except ValueError:
            return _error(400, "Base.1.8.MalformedJSON", "The request body was no JSON.")
        given = (body.get("UserName"), body.get("Password"))
        if given != (self.user, self.password):
            return _error(
                401, "Base.1.8.AccessDenied", "The authentication credentials are missing or invalid."
            )
        token, number = MARKER + secrets.token_hex(16), str(len(self.requests) + 1000)
        self.sessions[number] = token
        where = f"{SESSIONS}/{number}"
        made = {
            "@odata.id": where,
            "@odata.type": "#Session.v1_1_8.Session",
            "Id": number,
            "Name": "User Session",
            "UserName": self.user,
        }
        return web.json_response(made, status=201, headers={"X-Auth-Token": token, "Location": where})

    def _log_out(self, path: str) -> web.Response:
        if self.sessions.pop(path.rpartition("/")[2], None) is None:
            return _missing(path)
        return web.Response(status=204)

    def _known(self, request: web.Request) -> bool:
        token = request.headers.get("X-Auth-Token")
        if token is not None:
            return token in self.sessions.values()
        scheme, _, coded = request.headers.get("Authorization", "").partition(" ")
        if scheme.lower() != "basic":
            return False
        try:
            return base64.b64decode(coded).decode() == f"{self.user}:{self.password}"
        except ValueError:
            return False

    def _read(self, path: str, request: web.Request) -> web.Response:
        options = {name: value for name, value in request.query.items() if name.startswith("$")}
        page = f"{path}?$skip={options['$skip']}" if options.get("$skip", "0") != "0" else path
        body = self.bodies.get(page)
        if body is None:
            body = self.bodies.get(path + "/")
        if body is None:
            return _missing(request.path_qs)
        if status_of(body) == 200:
            if "$expand" in options:
                body = expand(body, options["$expand"], self.bodies)
            if "$select" in options:
                body = select(body, options["$select"])
        headers = {"ETag": str(body["@odata.etag"])} if "@odata.etag" in body else {}
        return web.json_response(body, status=status_of(body), headers=headers)


def _error(status: int, message_id: str, text: str) -> web.Response:
    info = {"MessageId": message_id, "Message": text, "MessageArgs": [], "Severity": "Critical"}
    error = {
        "code": re.sub(r"\w+\Z", "GeneralError", message_id),
        "message": text,
        "@Message.ExtendedInfo": [info],
    }
    return web.json_response({"error": error}, status=status)


def _missing(path: str) -> web.Response:
    return _error(404, "Base.1.8.ResourceMissingAtURI", f"The resource at the URI {path} was not found.")


def main() -> None:
    """Serve one dump until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Serve a dump of a real BMC on loopback.")
    parser.add_argument("dump", type=Path)
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8443)
    given = parser.parse_args()
    password = os.environ.get("BMC_PASSWORD", "")
    if not password:
        parser.error("expected the password of the simulated BMC in $BMC_PASSWORD")
    with Replay(given.dump, address=given.address, port=given.port, password=password) as server:
        print(f"{server.url}  user {server.user}  SHA-256 {server.fingerprint}", flush=True)
        try:
            while True:
                time.sleep(3600)
        except KeyboardInterrupt:
            pass


if __name__ == "__main__":
    main()
