"""HTTP to Ironic: one request, its answer or its error, and waiting for nodes that Ironic itself has locked."""

from __future__ import annotations

import asyncio
import base64
import json
import time
from collections.abc import Awaitable, Callable
from typing import Any

from fabricctl.errors import ProvisionerBusyError, ProvisionerGarbledError
from provision.bmc.secret import Secret
from provision.http.asked import Asked
from provision.http.edge import Edge, Limits, LostError, Reply, Request
from provision.http.lost import Named, unreadable
from provision.http.mask import Mask
from provision.ironic.answers import error_of, told
from provision.ironic.settings import IronicSettings
from provision.ironic.version import Version, agreed, written

HEADER = "X-OpenStack-Ironic-API-Version"
IDLE_S = 4.0
"""Ironic closes connections that are idle for ten seconds; a write on one of them would be lost."""
AGAIN_S = 2.0
SHOWN = 40
"""Characters that are shown of what should be JSON and is not."""
LONGEST_ERROR = 1 << 16
"""Bytes of an error's body that are looked at."""


class IronicLink:
    """One Ironic. Made on the event loop it is used on.

    :raises ProvisionerUnreachableError: the file of authorities cannot be read.
    """

    def __init__(
        self,
        settings: IronicSettings,
        *,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.settings, self.sleep, self.clock = settings, sleep, clock
        self._version: Version | None = None
        self._mask = Mask()
        self._headers = _headers(settings, self._mask)
        limits = Limits(settings.requests, settings.answer_s, IDLE_S)
        self._edge = Edge(Named("Ironic", "ironic", settings.url), limits, settings.ca_file)

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        return self._edge.requests

    def learn(self, secret: Secret) -> None:
        """A secret that is sent: it is taken out of everything Ironic says."""
        self._mask.learn(secret)

    def clean(self, text: str) -> str:
        """A text of Ironic on one line, without the secrets that were sent to it."""
        return self._mask.line(text)

    async def version(self) -> Version:
        """The microversion that is spoken; asked once. :raises ProvisionerUnsupportedError: there is none."""
        if self._version is None:
            self._version = agreed(await self._once("GET", "/", None, None))
        return self._version

    async def get(self, path: str) -> Any:
        """Read something. :raises ProvisionerError: as the table of ``answers`` says."""
        return await self._once("GET", path, None, await self.version())

    async def write(self, method: str, path: str, body: Any = None) -> Any:
        """Change something; sent again only where Ironic said that it did nothing because the node was locked.

        :raises ProvisionerBusyError: it was still locked when the time was spent.
        :raises ProvisionerOutcomeUnknownError: no answer, or Ironic's own failure.
        """
        version = await self.version()
        until = self.clock() + self.settings.locked_s
        while True:
            try:
                return await self._once(method, path, body, version)
            except ProvisionerBusyError:
                if self.clock() + AGAIN_S > until:
                    raise
            await self.sleep(AGAIN_S)

    async def list(self, path: str, key: str) -> list[dict[str, Any]]:
        """All entries of a collection, page by page (Ironic gives at most 1,000 at once)."""
        found: list[dict[str, Any]] = []
        following = path
        while following:
            body = await self.get(following)
            page = body.get(key) if isinstance(body, dict) else None
            if not isinstance(page, list):
                raise ProvisionerGarbledError(f"Ironic: expected a list of {key} at {path}, found none")
            found += [one for one in page if isinstance(one, dict)]
            onward = body.get("next")
            at = onward.find("/v1/") if isinstance(onward, str) else -1
            following = onward[at:] if at >= 0 and page else ""
        return found

    async def close(self) -> None:
        """Close connections."""
        await self._edge.close()

    async def _once(self, method: str, path: str, body: Any, version: Version | None) -> Any:
        asked = Asked(method, path.partition("?")[0])
        headers = dict(self._headers)
        if version:
            headers[HEADER] = written(version)
        raw = None if body is None else json.dumps(body).encode()
        if raw is not None:
            headers["Content-Type"] = "application/json"
        try:
            reply = await self._edge.send(asked, Request(method, self.settings.url + path, headers, raw))
        except LostError as lost:
            raise lost.error from None
        if reply.status >= 300:
            words = told(reply.raw[:LONGEST_ERROR], self._mask)
            raise error_of(reply.status, words, str(asked), write=asked.write)
        return self._parsed(asked, reply)

    def _parsed(self, asked: Asked, reply: Reply) -> Any:
        if not reply.raw.strip():
            return None
        try:
            return json.loads(reply.raw)
        except (ValueError, RecursionError):
            start = self._mask.line(reply.text, SHOWN)
            raise unreadable(asked, f"expected JSON, found {start!r}") from None


def _headers(settings: IronicSettings, mask: Mask) -> dict[str, str]:
    if not (settings.user and settings.password):
        return {}
    mask.learn(settings.password)
    basic = base64.b64encode(f"{settings.user}:{settings.password.reveal()}".encode()).decode()
    mask.learn(Secret(basic))
    return {"Authorization": f"Basic {basic}"}
