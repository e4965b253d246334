"""Servers on loopback that answer something else, or nothing: a reason each time, never an exception."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from provision.install.doctor_seen import HttpSeen, NoAnswer, Why
from provision.probes.http import ask_proxy, get
from provision.probes.name_server import ask_name, ask_reverse
from provision.probes.ntp import ask_ntp

Answer = Callable[[bytes], bytes | None]


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, answer: Answer) -> None:
        self._answer = answer

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def datagram_received(self, data: bytes, addr: tuple[str, int]) -> None:
        answer = self._answer(data)
        if answer is not None and isinstance(self._transport, asyncio.DatagramTransport):
            self._transport.sendto(answer, addr)


@asynccontextmanager
async def udp(answer: Answer) -> AsyncIterator[int]:
    """A server that answers each datagram with what the function makes of it. :return: its port."""
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(lambda: _Datagrams(answer), ("127.0.0.1", 0))
    try:
        yield int(transport.get_extra_info("sockname")[1])
    finally:
        transport.close()


@asynccontextmanager
async def tcp(answer: bytes | None) -> AsyncIterator[int]:
    """A server that reads a little, writes this, and closes; None: it stays silent. :return: its port."""

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(100)
        if answer is None:
            await asyncio.sleep(30)
        writer.write(answer or b"")
        writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield server.sockets[0].getsockname()[1]
    finally:
        server.close()


def closed_port(kind: int) -> int:
    with socket.socket(socket.AF_INET, kind) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def why(seen: object) -> Why:
    assert isinstance(seen, NoAnswer), seen
    return seen.why


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda data: b"hello", Why.GARBLED),
        (lambda data: data, Why.GARBLED),  # its own question sent back
        (lambda data: b"\x24" + bytes(47), Why.GARBLED),  # an answer to somebody else's question
        (lambda data: None, Why.SILENT),
    ],
)
def test_a_time_server_that_answers_something_else(answer: Answer, expected: Why) -> None:
    async def ask() -> object:
        async with udp(answer) as port:
            return await ask_ntp("127.0.0.1", port=port, answer_s=0.2)

    assert why(asyncio.run(ask())) is expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [(lambda data: data[:2] + b"\x84", Why.GARBLED), (lambda data: None, Why.SILENT)],
)
def test_a_name_server_that_answers_something_else(answer: Answer, expected: Why) -> None:
    async def ask() -> object:
        async with udp(answer) as port:
            return await ask_name("127.0.0.1", "gpu001.maas", port=port, answer_s=0.2)

    assert why(asyncio.run(ask())) is expected


def test_a_port_nobody_listens_on_is_refused() -> None:
    port = closed_port(socket.SOCK_DGRAM)
    assert why(asyncio.run(ask_ntp("127.0.0.1", port=port, answer_s=0.5))) is Why.REFUSED
    web = closed_port(socket.SOCK_STREAM)
    assert why(asyncio.run(get(f"http://127.0.0.1:{web}/", answer_s=0.5))) is Why.REFUSED


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (b"", Why.REFUSED),
        (b"SSH-2.0-OpenSSH_9.2\r\n", Why.GARBLED),
        (None, Why.SILENT),
    ],
)
def test_a_web_server_that_answers_something_else(answer: bytes | None, expected: Why) -> None:
    async def ask() -> object:
        async with tcp(answer) as port:
            return await get(f"http://127.0.0.1:{port}/", answer_s=0.4)

    assert why(asyncio.run(ask())) is expected


def test_a_web_server_without_tls_is_not_trusted_as_one_with() -> None:
    async def ask() -> object:
        async with tcp(b"HTTP/1.1 400 Bad Request\r\n\r\n") as port:
            return await get(f"https://127.0.0.1:{port}/", answer_s=2)

    assert why(asyncio.run(ask())) is Why.UNTRUSTED


def test_a_redirect_is_an_answer_and_is_not_followed() -> None:
    async def ask() -> object:
        page = b"HTTP/1.1 302 Found\r\nLocation: http://192.0.2.1/login\r\nContent-Length: 0\r\n\r\n"
        async with tcp(page) as port:
            return await get(f"http://127.0.0.1:{port}/", answer_s=2)

    seen = asyncio.run(ask())
    assert isinstance(seen, HttpSeen)
    assert seen.status == 302


def test_an_endless_page_is_read_only_at_its_beginning() -> None:
    async def ask() -> object:
        page = b"HTTP/1.1 200 OK\r\n\r\n" + b"x" * 3_000_000
        async with tcp(page) as port:
            return await get(f"http://127.0.0.1:{port}/", answer_s=5)

    seen = asyncio.run(ask())
    assert isinstance(seen, HttpSeen)
    assert 0 < len(seen.body) <= 16_384


def test_a_proxy_that_answers_502_is_up_and_the_page_is_asked_for_without_it() -> None:
    async def ask() -> tuple[object, object]:
        bad = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"
        good = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
        async with tcp(bad) as proxy, tcp(good) as page:
            seen = await ask_proxy(f"http://127.0.0.1:{proxy}", f"http://127.0.0.1:{page}/", answer_s=2)
            return seen.through, seen.direct

    through, direct = asyncio.run(ask())
    assert isinstance(through, HttpSeen)
    assert isinstance(direct, HttpSeen)
    assert (through.status, direct.status) == (502, 200)


def test_what_is_no_address_or_name_is_no_exception() -> None:
    assert why(asyncio.run(ask_reverse("127.0.0.1", "gpu001"))) is Why.UNNAMED
    assert why(asyncio.run(ask_name("127.0.0.1", "a" * 64))) is Why.UNNAMED


def test_every_answer_has_its_deadline() -> None:
    async def ask() -> object:
        async with tcp(None) as port:
            return await get(f"http://127.0.0.1:{port}/", answer_s=0.3)

    begun = time.monotonic()
    asyncio.run(ask())
    assert time.monotonic() - begun < 5
