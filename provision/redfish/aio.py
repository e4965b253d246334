"""The transport for fleets: aiohttp, one connector per BMC on one event loop.

A connector of its own costs 0.1 ms a BMC and lets each BMC have its pinned certificate together with its own TLS floor;
its connections end with its work, so that a fleet of 511 never holds more open than are asked at once.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from collections.abc import Mapping
from typing import Any

import aiohttp
from yarl import URL

from fabricctl.errors import BmcDeadlineError, BmcError, BmcGarbledError, BmcUnreachableError
from provision.bmc.reply import Reply
from provision.bmc.target import Target, Verify
from provision.redfish.mask import Mask
from provision.redfish.transport import CONNECT_S, LARGEST_BODY, make_reply, too_large, unsent
from provision.redfish.trust import (
    broken_tls,
    ended_in_handshake,
    other_certificate,
    tls_context,
    tls_refusal,
)

HEADERS = {
    "Accept": "application/json",
    "OData-Version": "4.0",
    "User-Agent": "fabricctl",
    # compressed answers cost CPU on both ends, and some BMCs cut them short
    "Accept-Encoding": "identity",
}


class AiohttpTransport:
    """One BMC over aiohttp. Must be made on the event loop it is used on."""

    def __init__(self, target: Target, *, connections: int = 3) -> None:
        self._target = target
        self.mask = Mask()
        self._base = target.url
        self._context = tls_context(target.trust)
        pin = target.trust.fingerprint if target.trust.verify is Verify.PINNED else ""
        connector = aiohttp.TCPConnector(
            ssl=aiohttp.Fingerprint(bytes.fromhex(pin)) if pin else True,
            limit=connections,
            ttl_dns_cache=300,
        )
        self._session = aiohttp.ClientSession(
            connector=connector,
            cookie_jar=aiohttp.DummyCookieJar(),
            headers=HEADERS,
            trust_env=False,
            auto_decompress=False,  # it would unpack without bound
        )
        # aiohttp sends a GET or DELETE a second time when its connection breaks; whether that is right is decided above
        self._session._retry_connection = False
        self._timeouts: dict[float, aiohttp.ClientTimeout] = {}

    async def send(
        self,
        method: str,
        path: str,
        *,
        deadline_s: float,
        headers: Mapping[str, str],
        body: Mapping[str, Any] | None = None,
    ) -> Reply:
        """Send one request; see :class:`Transport`."""
        self.mask.learn(headers, body)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            headers = {**headers, "Content-Type": "application/json"}
        try:
            async with self._session.request(
                method,
                URL(self._base + path, encoded=True),
                data=data,
                headers=headers,
                allow_redirects=False,
                ssl=self._context,
                timeout=self._timeout(deadline_s),
            ) as answer:
                raw = await self._read(answer, path)
                fields = {name.lower(): value for name, value in answer.headers.items()}
                return make_reply(self._target, path, answer.status, fields, raw, self.mask)
        except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as exc:
            raise self._mapped(exc, path, deadline_s) from exc

    async def _read(self, answer: aiohttp.ClientResponse, path: str) -> bytes:
        raw = bytearray()
        try:
            async for chunk in answer.content.iter_any():
                raw += chunk
                if len(raw) > LARGEST_BODY:
                    raw.clear()  # an error keeps what stood around it
                    answer.close()
                    raise too_large(self._target, path)
        except aiohttp.ClientPayloadError:
            if answer.status < 400:
                raise
            return b""  # a refusal stays one when its text is cut short
        return bytes(raw)

    def _timeout(self, deadline_s: float) -> aiohttp.ClientTimeout:
        known = self._timeouts.get(deadline_s)
        if known is None:
            known = aiohttp.ClientTimeout(total=deadline_s, sock_connect=min(CONNECT_S, deadline_s))
            self._timeouts[deadline_s] = known
        return known

    def _mapped(self, exc: BaseException, path: str, deadline_s: float) -> BmcError:
        name = str(self._target)
        if isinstance(exc, aiohttp.ServerFingerprintMismatch):
            return unsent(other_certificate(self._target, exc.got.hex()))
        if isinstance(exc, aiohttp.ConnectionTimeoutError):
            waited = min(CONNECT_S, deadline_s)
            return unsent(BmcUnreachableError(f"no connection within {waited:g} s", bmc=name))
        if isinstance(exc, TimeoutError):
            return BmcDeadlineError(f"{path}: no full answer within {deadline_s:g} s", bmc=name)
        if isinstance(exc, aiohttp.ClientConnectorCertificateError):
            return unsent(tls_refusal(self._target, exc.certificate_error))
        if isinstance(exc, aiohttp.ClientConnectorSSLError):
            return unsent(tls_refusal(self._target, exc.os_error))
        if isinstance(exc, aiohttp.ClientConnectorError) and isinstance(exc.os_error, ConnectionResetError):
            return unsent(ended_in_handshake(self._target))
        if isinstance(exc, aiohttp.ClientConnectorError):
            return unsent(BmcUnreachableError(f"no connection: {_reason(exc.os_error)}", bmc=name))
        if isinstance(exc, ssl.SSLError):  # the connection stood: the request may have arrived
            return broken_tls(self._target, path, exc)
        if isinstance(exc, (aiohttp.ClientPayloadError, aiohttp.ClientResponseError)):
            return BmcGarbledError(f"{path}: the answer is cut short or no HTTP", bmc=name)
        if isinstance(exc, (OSError, aiohttp.ClientConnectionError)):
            return BmcUnreachableError(f"{path}: the connection broke: {_reason(exc)}", bmc=name)
        return BmcGarbledError(f"{path}: no answer that can be read: {_reason(exc)}", bmc=name)

    async def close(self) -> None:
        """Close its connections."""
        await self._session.close()
        await asyncio.sleep(0)


def _reason(exc: BaseException) -> str:
    if isinstance(exc, OSError) and exc.errno is not None and exc.errno > 0:
        # asyncio writes the address into the text, and it is said already
        return os.strerror(exc.errno).lower()
    text = str(exc) or type(exc).__name__
    return " ".join(text.split())[:160].lower()
