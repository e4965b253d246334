"""A time server is asked for the time."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Callable

from provision.install.doctor_seen import NoAnswer, NtpSeen, Why
from provision.probes import ntp_packet
from provision.probes.failing import why_of

PORT = 123
TRIES = 3


async def ask_ntp(
    server: str, *, port: int = PORT, answer_s: float = 2.0, now: Callable[[], float] = time.time
) -> NtpSeen | NoAnswer:
    """The quickest of three answers: it bounds the offset best. A clock that says it is not set says so each time.

    :param answer_s: seconds for each; :param now: this machine's clock, Unix seconds.
    """
    loop = asyncio.get_running_loop()
    try:
        found = await loop.getaddrinfo(server, port, type=socket.SOCK_DGRAM)
    except OSError as error:
        return why_of(error)
    seen: list[NtpSeen] = []
    failed: NoAnswer | None = None
    for _ in range(TRIES):
        one = await _once(found[0][0], found[0][4], answer_s, now)
        if isinstance(one, NtpSeen):
            seen.append(one)
        else:
            failed = one
    if seen:
        return min(seen, key=lambda one: one.delay_s)
    if failed is not None and failed.why is Why.SILENT:
        return NoAnswer(Why.SILENT, f"no answer to {TRIES} questions, {answer_s:g} s each")
    return failed or NoAnswer(Why.SILENT, "no answer")


async def _once(
    family: int, address: tuple[str | int, ...] | tuple[int, bytes], answer_s: float, now: Callable[[], float]
) -> NtpSeen | NoAnswer:
    loop = asyncio.get_running_loop()
    stamp = secrets.randbits(64) or 1
    strange = 0
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as sock:
            sock.setblocking(False)
            await loop.sock_connect(sock, address)
            async with asyncio.timeout(answer_s):
                sent = now()
                await loop.sock_sendall(sock, ntp_packet.ask(stamp))
                while True:  # a late answer to the question before is passed over
                    data = await loop.sock_recv(sock, 1024)
                    answer = ntp_packet.read(data, stamp, sent, now())
                    if answer is not None:
                        return answer
                    strange = len(data)
    except OSError as error:  # TimeoutError is one
        return (
            NoAnswer(Why.GARBLED, f"{strange} bytes that are no answer of NTP") if strange else why_of(error)
        )
