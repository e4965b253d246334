"""The narrow edge to MAAS: one session, bounded requests, the API key on each; collisions are sent again."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

import aiohttp
import orjson
from yarl import URL

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerBusyError,
    ProvisionerError,
    ProvisionerGarbledError,
)
from provision.bmc.secret import Secret
from provision.maas.answers import Asked, error_of
from provision.maas.lost import lost
from provision.maas.settings import MaasSettings, api_key, authorization

LARGEST_BODY = 64 * 1024 * 1024
"""Bytes. A commissioned machine with 9 disks has 32 KB, so 511 of them have 16 MB."""
CONNECT_S = 10.0
"""Seconds until a connection must stand, TLS included."""
KEEP_ALIVE_S = 15.0
"""Seconds an idle connection is kept: less than MAAS or a proxy keeps it, so that no write goes into a closing one."""
LONGEST_WAIT_S = 30.0
"""Seconds of one wait before a request is sent again, whatever ``Retry-After`` says."""
RETRY_AFTER_S = 5.0
"""Seconds MAAS asks for after a collision, where its header cannot be read."""

Value = str | int | bool
Fields = Mapping[str, Value | Sequence[Value]]
Sleep = Callable[[float], Awaitable[None]]


@dataclass(frozen=True)
class Ask:
    """One request. :param path: under the API's address; :param query: pairs; :param form: fields of the body.

    :param hidden: secrets it holds, which no error may show; :param quiet: nothing of its answer is shown.
    :param deadline_s: seconds, None means the setting.
    """

    method: str
    path: str
    op: str = ""
    query: tuple[tuple[str, str], ...] = ()
    form: Fields = field(default_factory=dict, repr=False)
    host: str = ""
    hidden: tuple[Secret, ...] = ()
    quiet: bool = False
    deadline_s: float | None = None

    @property
    def asked(self) -> Asked:
        """What errors tell of it."""
        return Asked(self.method, self.path, self.op, self.host)


@dataclass(frozen=True)
class Answer:
    """A success. :param headers: names in lower case; :param body: parsed JSON, the text where it is none."""

    status: int
    headers: Mapping[str, str]
    body: Any = field(repr=False)


class MaasTransport:
    """Requests to one MAAS. Must be made on the event loop it is used on.

    :param sleep: waits between two tries; :param dice: a number from 0 to 1; :param clock: seconds since 1970.
    :raises ProvisionerLoginError: the key is none; :raises OSError: the file of authorities cannot be read.
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
        self.requests = 0
        self._settings = settings
        self._key = api_key(settings.key)
        self._sleep, self._dice, self._clock, self._nonce = sleep, dice, clock, nonce
        context = ssl.create_default_context(cafile=settings.ca_file or None)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=settings.requests, keepalive_timeout=KEEP_ALIVE_S, ssl=context, ttl_dns_cache=300
            ),
            cookie_jar=aiohttp.DummyCookieJar(),
            headers={"Accept": "application/json", "User-Agent": "fabricctl"},
            trust_env=False,
        )
        # aiohttp sends a GET or DELETE a second time when its connection breaks; that is decided here
        self._session._retry_connection = False
        # time spent waiting for a free connection is not time MAAS takes to answer
        self._free = asyncio.Semaphore(settings.requests)

    async def send(self, ask: Ask) -> Answer:
        """Send a request until it does not collide any more. A write is never sent again for another reason.

        A read is sent a second time when its connection broke or MAAS asked for it with ``Retry-After``.
        :raises ProvisionerError: by the table of :mod:`provision.maas.answers`, and of
            :mod:`provision.maas.lost` where there was no answer.
        """
        tries = 0
        while True:
            tries += 1
            try:
                return await self._once(ask)
            except _TryAgainError as again:
                if tries >= (self._settings.conflicts if again.collision else 2):
                    raise again.error from None
                wait = min(LONGEST_WAIT_S, again.after_s * min(tries, 3))
                await self._sleep(wait * (0.5 + self._dice()))

    async def _once(self, ask: Ask) -> Answer:
        deadline_s = ask.deadline_s or self._settings.answer_s
        async with self._free:
            self.requests += 1
            try:
                status, headers, raw = await self._exchange(ask, deadline_s)
            except (aiohttp.ClientError, TimeoutError, OSError, ValueError) as exc:
                error, again = lost(ask.asked, exc, deadline_s)
                if again:
                    raise _TryAgainError(error, 1.0) from exc
                raise error from exc
        if 200 <= status < 300:
            return Answer(status, headers, self._parsed(ask, headers, raw))
        text = "" if ask.quiet else self._masked(ask, raw.decode("utf-8", "replace"))
        error = error_of(ask.asked, status, headers, text)
        if isinstance(error, ProvisionerBusyError):
            raise _TryAgainError(error, _seconds(headers.get("retry-after", "")), collision=status == 409)
        raise error

    async def _exchange(self, ask: Ask, deadline_s: float) -> tuple[int, dict[str, str], bytes]:
        body = encode_form(ask.form) if ask.asked.write else None
        headers = {"Authorization": authorization(self._key, self._clock, self._nonce)}
        if body:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
        async with self._session.request(
            ask.method,
            URL(self._settings.api + address(ask), encoded=True),
            data=body,
            headers=headers,
            skip_auto_headers=("Content-Type",),
            allow_redirects=False,
            timeout=aiohttp.ClientTimeout(total=deadline_s, sock_connect=min(CONNECT_S, deadline_s)),
        ) as answer:
            raw = bytearray()
            async for chunk in answer.content.iter_any():
                raw += chunk
                if len(raw) > LARGEST_BODY:
                    raw.clear()
                    answer.close()
                    raise ProvisionerAnswerError(
                        f"{ask.asked}: an answer of more than {LARGEST_BODY / 2**20:g} MiB", host=ask.host
                    )
            return answer.status, {name.lower(): value for name, value in answer.headers.items()}, bytes(raw)

    def _parsed(self, ask: Ask, headers: Mapping[str, str], raw: bytes) -> Any:
        if "json" not in headers.get("content-type", ""):
            return raw.decode("utf-8", "replace")
        try:
            return orjson.loads(raw) if raw else ""
        except ValueError:
            shown = (
                ""
                if ask.quiet
                else f" that begin with {self._masked(ask, raw[:40].decode('utf-8', 'replace'))!r}"
            )
            raise ProvisionerGarbledError(
                f"{ask.asked}: expected JSON, found {len(raw):,} bytes{shown}", host=ask.host
            ) from None

    def _masked(self, ask: Ask, text: str) -> str:
        return masked(text, (*ask.hidden, self._key.secret, Secret(self._key.token)))

    async def close(self) -> None:
        """Close its connections."""
        await self._session.close()
        await asyncio.sleep(0)


class _TryAgainError(Exception):
    """The same request may be sent again after so many seconds."""

    def __init__(self, error: ProvisionerError, after_s: float, *, collision: bool = False) -> None:
        super().__init__()
        self.error, self.after_s, self.collision = error, after_s, collision


def _seconds(text: str) -> float:
    return float(text) if text.isascii() and text.isdigit() and len(text) < 6 else RETRY_AFTER_S


def masked(text: str, hidden: Iterable[Secret]) -> str:
    """A text without these secrets. Those of less than 3 characters would take whole words apart."""
    for secret in hidden:
        plain = secret.reveal()
        for form in {plain, quote(plain, safe=""), json.dumps(plain)[1:-1]} if len(plain) > 2 else ():
            text = text.replace(form, "***")
    return text


def pairs(fields: Fields) -> list[tuple[str, str]]:
    """Fields as MAAS reads them: a list is the same field several times, a truth is ``true`` or ``false``."""
    found: list[tuple[str, str]] = []
    for name, value in fields.items():
        listed = [value] if isinstance(value, str | int) else value
        found += [(name, _word(one)) for one in listed]
    return found


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def encode_form(fields: Fields) -> bytes:
    """The body of a write. Without fields it is empty: MAAS answers 400 to a multipart body of no parts."""
    return urlencode(pairs(fields)).encode()


def address(ask: Ask) -> str:
    """Path and query of a request. Colons of MACs stay as they are, which a query may hold (RFC 3986, 3.4)."""
    query = [*((("op", ask.op),) if ask.op else ()), *ask.query]
    path = quote(ask.path, safe="/")
    return f"{path}?{urlencode(query, safe=':/')}" if query else path
