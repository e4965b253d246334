"""The narrow edge to MAAS: one session, bounded requests, the API key on each; collisions are sent again."""

from __future__ import annotations

import asyncio
import random
import secrets
import time
from collections.abc import Callable
from typing import Any

import orjson

from provision.bmc.secret import Secret
from provision.http.edge import Edge, Limits, LostError, Reply, Request
from provision.http.lost import Named, unreadable
from provision.http.mask import Mask
from provision.maas.retry import Patience, Sleep, disturbance, refusal
from provision.maas.settings import MaasSettings, api_key, authorization
from provision.maas.wire import Answer, Ask, address, encode_form

KEEP_ALIVE_S = 15.0
"""Seconds an idle connection is kept: less than MAAS or a proxy keeps it, so that no write goes into a closing one."""
SHOWN = 40
"""Characters that are shown of what should be JSON and is not."""


class MaasTransport:
    """Requests to one MAAS. Must be made on the event loop it is used on.

    :param sleep: waits between two tries; :param dice: a number from 0 to 1; :param clock: seconds since 1970.
    :raises ProvisionerLoginError: the key is none.
    :raises ProvisionerUnreachableError: the file of authorities cannot be read.
    """

    def __init__(
        self,
        settings: MaasSettings,
        *,
        sleep: Sleep = asyncio.sleep,
        dice: Callable[[], float] = random.random,
        clock: Callable[[], float] = time.time,
        nonce: Callable[[], str] = lambda: secrets.token_hex(16),
    ) -> None:
        self._settings = settings
        self._key = api_key(settings.key)
        self._clock, self._nonce = clock, nonce
        self._patience = Patience(sleep, dice)
        limits = Limits(settings.requests, settings.answer_s, KEEP_ALIVE_S)
        self._edge = Edge(Named("MAAS", "maas", settings.url), limits, settings.ca_file)

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._edge.requests

    async def send(self, ask: Ask) -> Answer:
        """Send a request; see :class:`provision.maas.wire.Sender`."""
        return await self._patience.with_(lambda: self._once(ask))

    async def _once(self, ask: Ask) -> Answer:
        request = self._request(ask)
        try:
            reply = await self._edge.send(ask.asked, request, ask.deadline_s)
        except LostError as lost:
            raise disturbance(lost) from None
        if 200 <= reply.status < 300:
            return Answer(reply.status, reply.headers, self._parsed(ask, reply))
        text = "" if ask.quiet else reply.text
        raise refusal(ask.asked, reply.status, reply.headers, text, self._mask(ask))

    def _request(self, ask: Ask) -> Request:
        """What goes over the wire for it."""
        body = encode_form(ask.form) if ask.asked.write else None
        headers = {"Authorization": authorization(self._key, self._clock, self._nonce)}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        return Request(ask.method, self._settings.api + address(ask), headers, body)

    def _parsed(self, ask: Ask, reply: Reply) -> Any:
        if "json" not in reply.headers.get("content-type", ""):
            return reply.raw.decode("utf-8", "replace")
        try:
            return orjson.loads(reply.raw) if reply.raw else ""
        except ValueError:
            begin = "" if ask.quiet else self._mask(ask).line(reply.text, SHOWN)
            shown = f" that begin with {begin!r}" if begin else ""
            raise unreadable(ask.asked, f"expected JSON, found {len(reply.raw):,} bytes{shown}") from None

    def _mask(self, ask: Ask) -> Mask:
        return Mask((*ask.hidden, self._key.secret, Secret(self._key.token)))

    async def close(self) -> None:
        """Close its connections."""
        await self._edge.close()
