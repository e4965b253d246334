"""The network side: one loopback address a BMC, one port, TLS, and what goes wrong on a wire."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
import struct
from collections.abc import Callable, Sequence
from ssl import SSLContext

from aiohttp import ClientPayloadError, web

from tests.sim.idrac.bmc import Logged, SimBmc
from tests.sim.idrac.call import Answer
from tests.sim.idrac.faults import Fault
from tests.sim.idrac.messages import TEXTS, arguments, errors, message
from tests.sim.idrac.readiness import Readiness, refusal_of
from tests.sim.idrac.service import Incoming, answer
from tests.sim.idrac.template import dumps

_RESET = struct.pack("ii", 1, 0)
_JSON = "application/json; charset=utf-8"
_LEFT = (ConnectionError, ClientPayloadError, web.HTTPException)
"""The client went away, or what it sent was no HTTP: nothing of ours."""


class Front:
    """Serves BMCs. :param contexts: TLS context of each BMC, None for plain HTTP."""

    def __init__(
        self, bmcs: Sequence[SimBmc], port: int, context: Callable[[SimBmc], SSLContext | None]
    ) -> None:
        self._by_address = {bmc.address: bmc for bmc in bmcs}
        self._context = context
        self._runner: web.ServerRunner | None = None
        self.port = port
        self.bugs: list[Exception] = []
        """What went wrong in here, and not by a fault that was asked for: the simulator's own mistakes."""

    async def start(self) -> None:
        """Listen on every address."""
        server = web.Server(self._handle, access_log=None, handler_cancellation=True, keepalive_timeout=120)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.2)
        await self._runner.setup()
        for bmc in self._by_address.values():
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((bmc.address, self.port))
            self.port = listener.getsockname()[1]
            site = web.SockSite(self._runner, listener, ssl_context=self._context(bmc), backlog=128)
            await site.start()

    async def stop(self) -> None:
        """Close every connection."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        transport = request.transport
        if transport is None:
            raise ConnectionResetError
        bmc = self._by_address[transport.get_extra_info("sockname")[0]]
        kind = "reads" if request.method in ("GET", "HEAD") else "writes"
        bmc.in_flight[kind] += 1
        bmc.most_in_flight[kind] = max(bmc.most_in_flight[kind], bmc.in_flight[kind])
        try:
            return await self._answer(bmc, request)
        except _LEFT:
            raise
        except Exception as problem:
            problem.add_note(f"while it answered {request.method} {request.raw_path} for {bmc.host}")
            self.bugs.append(problem)
            _log(bmc, request.method, request.raw_path.partition("?")[0], "", 500, "", None)
            raise  # the client sees a bare 500
        finally:
            bmc.in_flight[kind] -= 1

    async def _answer(self, bmc: SimBmc, request: web.BaseRequest) -> web.StreamResponse:
        bmc.settle()
        raw_path, _, query = request.raw_path.partition("?")
        path = "/" + raw_path.strip("/")
        fault = next((one for one in list(bmc.faults) if one.strikes(request.method, path, bmc.dice)), None)
        data = await request.read() if request.can_read_body else b""
        if bmc.part(Readiness).absent_until > bmc.now():
            fault = Fault(reset=True)
        if fault is not None and (fault.reset or fault.hang):
            _log(bmc, request.method, path, query, 0, "", fault)
            return await self._break(request, hang=fault.hang)
        headers = {name.lower(): value for name, value in request.headers.items()}
        incoming = Incoming(request.method, raw_path, query, headers, data, request.remote or "")
        other = _faulty(bmc, fault, path) if fault is not None and _replaces(fault) else None
        carried, user = (None, "") if other and fault and not fault.carried else answer(bmc, incoming)
        said = other or carried
        assert said is not None
        dropped = fault is not None and fault.drop_answer
        _log(bmc, request.method, path, query, 0 if dropped else said.status, user, fault)
        await self._wait(bmc, request.method, path, fault)
        if dropped:
            return await self._break(request, hang=False)
        return await _send(request, bmc, said, cut=fault is not None and fault.cut_body)

    async def _wait(self, bmc: SimBmc, method: str, path: str, fault: Fault | None) -> None:
        seconds = bmc.latency(method, path, bmc.dice) if bmc.latency is not None else 0.0
        seconds += fault.delay_s if fault is not None else 0.0
        if seconds > 0:
            await asyncio.sleep(seconds)

    async def _break(self, request: web.BaseRequest, *, hang: bool) -> web.StreamResponse:
        if hang:
            await asyncio.sleep(86400)
        transport = request.transport
        if transport is not None:
            transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
            transport.abort()
        raise asyncio.CancelledError


def _replaces(fault: Fault) -> bool:
    return fault.status is not None or bool(fault.message_id) or fault.body is not None


def _faulty(bmc: SimBmc, fault: Fault, path: str) -> Answer:
    """What a fault answers with."""
    headers = {"Retry-After": str(fault.retry_after)} if fault.retry_after is not None else {}
    key = fault.message_id.rpartition(".")[2]
    known = TEXTS.get(key)
    status = fault.status or (known.status if known else 500)
    if fault.body is not None:
        return Answer(status, fault.body.encode(), headers)
    if not key:
        return Answer(status, None, headers)
    if key == "SYS518" and not fault.message:
        said = refusal_of(bmc, "SYS518", fault.retry_after or 30)
        said.status = status
        if fault.retry_after is None:
            said.headers.pop("Retry-After", None)
        return said
    args = arguments(key, *fault.args, other=path)
    return errors(bmc.profile, status, message(bmc.profile, key, *args, text=fault.message), headers=headers)


def _log(
    bmc: SimBmc, method: str, path: str, query: str, status: int, user: str, fault: Fault | None
) -> None:
    word = (
        ""
        if fault is None
        else next(
            (name for name in ("reset", "hang", "drop_answer", "cut_body") if getattr(fault, name)), "fault"
        )
    )
    bmc.requests.append(Logged(method, path, status, bmc.now(), user, query, word))


async def _send(request: web.BaseRequest, bmc: SimBmc, said: Answer, *, cut: bool) -> web.StreamResponse:
    headers = {"Server": bmc.profile.value.server, "OData-Version": "4.0", "Cache-Control": "no-cache"}
    headers.update(said.headers)
    data = said.body if isinstance(said.body, bytes) else b"" if said.body is None else dumps(said.body)
    if data:
        headers.setdefault("Content-Type", _JSON)
    if not cut:
        return web.Response(status=said.status, body=data, headers=headers)
    response = web.StreamResponse(status=said.status, headers=headers)
    response.content_length = len(data)
    await response.prepare(request)
    await response.write(data[: len(data) // 2])
    if request.transport is not None:
        request.transport.close()
    raise asyncio.CancelledError


def addresses(first: str, count: int) -> list[str]:
    """Loopback addresses counted up from the first; ``.0`` and ``.255`` are left out.

    :raises ValueError: not all of them are loopback addresses.
    """
    found: list[str] = []
    at = ipaddress.IPv4Address(first)
    while len(found) < count:
        if not at.is_loopback:
            raise ValueError(f"expected {count} loopback addresses from {first}, found {at}")
        if at.packed[3] not in (0, 255):
            found.append(str(at))
        at += 1
    return found
