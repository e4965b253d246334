"""The network side: one port on loopback, and what happens to answers on their way."""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from email.utils import format_datetime
from typing import Any

from aiohttp import ClientPayloadError, web

from tests.sim.maas.double import MaasDouble, Reply
from tests.sim.maas.power import is_on

_RESET = struct.pack("ii", 1, 0)
_LEFT = (ConnectionError, ClientPayloadError, web.HTTPException)
CONTROL = "/control/"


class Front:
    """Serves one double. :param control: whether ``/control/…`` is served too, for those who started a process."""

    def __init__(self, double: MaasDouble, port: int = 0, *, control: bool = False) -> None:
        self.double = double
        self.port = port
        self._control = control
        self._runner: web.ServerRunner | None = None

    async def start(self, host: str = "127.0.0.1") -> None:
        """Listen."""
        server = web.Server(self._handle, access_log=None, handler_cancellation=True, keepalive_timeout=60)
        self._runner = web.ServerRunner(server, shutdown_timeout=0.2)
        await self._runner.setup()
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, self.port))
        self.port = listener.getsockname()[1]
        await web.SockSite(self._runner, listener, backlog=512).start()
        self.double.origin = f"http://{host}:{self.port}"

    async def stop(self) -> None:
        """Close every connection."""
        if self._runner is not None:
            await self._runner.cleanup()

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        try:
            data = await request.read() if request.can_read_body else b""
            if self._control and request.path.startswith(CONTROL):
                return self._controlled(request, data)
            headers = {name.lower(): value for name, value in request.headers.items()}
            reply = self.double.serve(request.method, request.raw_path, headers, data)
        except _LEFT:
            raise
        except Exception as problem:
            problem.add_note(f"while it answered {request.method} {request.raw_path}")
            self.double.bugs.append(problem)
            raise
        if reply.delay_s > 0:
            await asyncio.sleep(reply.delay_s)
        if reply.drop:
            _reset(request)
        return await self._send(request, reply)

    async def _send(self, request: web.BaseRequest, reply: Reply) -> web.StreamResponse:
        answer = reply.answer
        headers = {
            "Server": "TwistedWeb/24.3.0",
            "Date": format_datetime(self.double.time.real(), usegmt=True),
            "X-Frame-Options": "DENY",
            **answer.headers,
        }
        if not answer.chunked:
            return web.Response(status=answer.status, body=answer.body, headers=headers)
        response = web.StreamResponse(status=answer.status, headers=headers)
        response.enable_chunked_encoding()
        await response.prepare(request)
        await response.write(answer.body)
        await response.write_eof()
        return response

    def _controlled(self, request: web.BaseRequest, data: bytes) -> web.Response:
        """``state`` (GET), ``faults`` (POST a list of rules, DELETE) and ``advance`` (POST seconds).

        ``DELETE faults?machine=gpu001`` takes away the rules for one machine.
        """
        place = request.path.removeprefix(CONTROL)
        double = self.double
        try:
            match request.method, place:
                case "GET", "state":
                    pass
                case "POST", "faults":
                    with double.lock:
                        double.faults.take(json.loads(data))
                case "DELETE", "faults":
                    with double.lock:
                        double.faults.clear(request.query.get("machine", ""))
                case "POST", "advance":
                    double.advance(float(data))
                case _:
                    return web.json_response({"problem": f"no {request.method} {place}"}, status=404)
        except (ValueError, TypeError) as problem:
            return web.json_response({"problem": str(problem)}, status=400)
        return web.json_response(_overview(double))


def _reset(request: web.BaseRequest) -> None:
    """:raises CancelledError: always; the connection is gone."""
    transport = request.transport
    if transport is not None:
        transport.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET)
        transport.abort()
    raise asyncio.CancelledError


def _overview(double: MaasDouble) -> dict[str, Any]:
    machines = double.machines
    return {
        "simulated_s": double.time.now(),
        "requests": len(double.requests),
        "faults": [
            {"kind": one.kind, "machine": one.machine, "hits": one.hits} for one in double.faults.rules
        ],
        "machines": {
            one.hostname: {
                "id": one.system_id,
                "status": one.status.value,
                "on": is_on(one),
                "resets": one.resets,
            }
            for one in machines.values()
        },
    }
