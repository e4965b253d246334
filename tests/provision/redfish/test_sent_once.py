"""A command reaches the BMC at most once, however slow names, handshakes and threads are."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from random import Random
from typing import Any

import pytest
from aiohttp import web

from fabricctl.errors import BmcDeadlineError, BmcError, BmcUnreachableError
from provision.bmc.reply import Reply
from provision.bmc.target import Target, Trust
from provision.redfish import dmtf
from provision.redfish.aio import AiohttpTransport
from provision.redfish.dmtf import DmtfTransport
from provision.redfish.limits import FleetOptions
from provision.redfish.link import Link
from provision.redfish.transport import Transport
from tests.provision.redfish.conftest import target_of
from tests.provision.redfish.tiny import Tiny

RESET = "/redfish/v1/Systems/System.Embedded.1/Actions/ComputerSystem.Reset"
NAME = "bmc.test"
PATIENCE_S = 60.0
"""For what must happen; no test waits so long for what must not."""


class Gate:
    """Holds back whoever comes before the last try, until it is opened."""

    def __init__(self) -> None:
        self.opened = threading.Event()
        self.last_try = False

    def pass_through(self) -> None:
        if not self.last_try:
            assert self.opened.wait(PATIENCE_S)


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.opened.set()


async def no_sleep(seconds: float) -> None:
    await asyncio.sleep(0)


def command(target: Target, writes: bool, gate: Gate) -> Reply | BmcError:
    """One command as workflows give it: its first two tries have too little time, as the gate is closed; the third has
    plenty. The gate opens when the command is over, and every thread is awaited.
    """
    deadlines = [0.3, 0.3, PATIENCE_S]

    async def work(transport: Transport) -> Reply | BmcError:
        link = Link(target, transport, FleetOptions(None, sleep=no_sleep, random=Random(1)))

        async def send(counts: bool) -> Reply:
            gate.last_try = len(deadlines) == 1
            return await link.send(
                "POST", RESET, deadline_s=deadlines.pop(0), headers={}, body={"ResetType": "PowerCycle"}
            )

        try:
            return await link.until_ready(send, idempotent=False)
        except BmcError as exc:
            return exc
        finally:
            gate.opened.set()
            await asyncio.sleep(0.3)  # for an event loop that would send late
            await transport.close()

    async def run() -> Reply | BmcError:
        if not writes:
            return await work(AiohttpTransport(target))
        with ThreadPoolExecutor(4) as threads:
            return await work(DmtfTransport(target, threads))

    return asyncio.run(run())


def must_be_told_as_it_was(result: Reply | BmcError, tiny: Tiny) -> None:
    received = len(tiny.asked("POST", RESET))
    assert received <= 1
    if isinstance(result, Reply):
        assert received == 1
    elif not result.sent:
        assert received == 0


@pytest.fixture
def service(tiny: Tiny) -> Tiny:
    tiny.rules["POST", RESET] = lambda request: web.Response(status=204)
    return tiny


def test_a_command_whose_name_resolves_late_is_sent_once(
    service: Tiny, writes: bool, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = socket.getaddrinfo

    def slow(host: Any, *args: Any, **kwargs: Any) -> Any:
        if host != NAME:
            return real(host, *args, **kwargs)
        gate.pass_through()
        return real("127.0.0.1", *args, **kwargs)

    monkeypatch.setattr(socket, "getaddrinfo", slow)
    target = Target("gpu001", NAME, service.port, trust=Trust(fingerprint=service.fingerprint))
    result = command(target, writes, gate)
    must_be_told_as_it_was(result, service)
    if writes:
        assert isinstance(result, Reply)  # the first two tries never left, so a third was right


@contextmanager
def in_front(port: int, gate: Gate) -> Iterator[int]:
    """Something between: what comes before the last try it passes on only when the gate is opened."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            while True:
                try:
                    near, _ = server.accept()
                except OSError:
                    return
                threading.Thread(target=between, args=(near,), daemon=True).start()

        def between(near: socket.socket) -> None:
            gate.pass_through()
            with near, socket.create_connection(("127.0.0.1", port)) as far:
                back = threading.Thread(target=pump, args=(far, near), daemon=True)
                back.start()
                pump(near, far)
                back.join(PATIENCE_S)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)


def pump(source: socket.socket, sink: socket.socket) -> None:
    try:
        while data := source.recv(65536):
            sink.sendall(data)
        sink.shutdown(socket.SHUT_WR)
    except OSError:
        return


def test_a_command_whose_handshake_is_slow_is_sent_once(service: Tiny, writes: bool, gate: Gate) -> None:
    with in_front(service.port, gate) as port:
        target = Target("gpu001", "127.0.0.1", port, trust=Trust(fingerprint=service.fingerprint))
        result = command(target, writes, gate)
    must_be_told_as_it_was(result, service)
    if writes:
        assert isinstance(result, Reply)


def test_a_command_given_up_just_before_its_first_byte_is_not_sent(
    service: Tiny, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dmtf._Adapter.made

    def slow(self: Any, connection: Any) -> None:
        real(self, connection)
        gate.pass_through()

    monkeypatch.setattr(dmtf._Adapter, "made", slow)
    result = command(target_of(service), True, gate)
    must_be_told_as_it_was(result, service)
    assert isinstance(result, Reply)


def test_a_command_that_no_thread_has_begun_is_never_sent(service: Tiny, gate: Gate) -> None:
    async def run() -> None:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(gate.pass_through)
            transport = DmtfTransport(target_of(service), threads)
            with pytest.raises(BmcUnreachableError) as caught:
                await transport.send("POST", RESET, deadline_s=0.2, headers={}, body={})
            assert not caught.value.sent
            gate.opened.set()
            await transport.close()

    asyncio.run(run())
    assert service.seen == []


def test_a_cancelled_command_that_was_not_sent_yet_never_is(
    service: Tiny, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = dmtf._Adapter.made
    reached = threading.Event()

    def slow(self: Any, connection: Any) -> None:
        real(self, connection)
        reached.set()
        gate.pass_through()

    monkeypatch.setattr(dmtf._Adapter, "made", slow)

    async def run() -> None:
        with ThreadPoolExecutor(1) as threads:
            transport = DmtfTransport(target_of(service), threads)
            task = asyncio.ensure_future(
                transport.send("POST", RESET, deadline_s=PATIENCE_S, headers={}, body={})
            )
            await asyncio.to_thread(reached.wait, PATIENCE_S)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            gate.opened.set()

    asyncio.run(run())
    assert service.seen == []


def test_a_command_that_left_counts_as_sent_when_its_time_is_up(service: Tiny, writes: bool) -> None:
    async def hang(request: Any) -> None:
        await asyncio.sleep(PATIENCE_S)

    service.rules["POST", RESET] = hang

    async def run() -> None:
        with ThreadPoolExecutor(1) as threads:
            target = target_of(service)
            transport: Transport = DmtfTransport(target, threads) if writes else AiohttpTransport(target)
            with pytest.raises(BmcDeadlineError) as caught:
                await transport.send("POST", RESET, deadline_s=1.0, headers={}, body={})
            assert caught.value.sent
            await transport.close()

    asyncio.run(run())
    assert len(service.asked("POST", RESET)) == 1
