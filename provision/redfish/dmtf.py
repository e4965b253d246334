"""The transport for single nodes: the DMTF `redfish` client in worker threads.

Of the library this uses how a request is built and sent. What it does besides is held back here, as measured on
version 3.4: it sends a POST again after a timeout (``max_retry``; one reset was carried out four times), verifies no
certificate, follows redirects, takes proxies and passwords from the environment, and logs tokens at debug level.
"""

from __future__ import annotations

import asyncio
import logging
import socket
import ssl
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import redfish.rest.v1 as library
import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPSConnection
from urllib3.connectionpool import HTTPSConnectionPool

from fabricctl.errors import BmcDeadlineError, BmcError, BmcGarbledError, BmcUnreachableError
from provision.bmc.reply import Reply
from provision.bmc.target import Target, Verify
from provision.redfish.mask import Mask
from provision.redfish.transport import CONNECT_S, LARGEST_BODY, make_reply, too_large, unsent
from provision.redfish.trust import broken_tls, fingerprint_of, other_certificate, tls_context, tls_refusal

library.LOGGER.setLevel(logging.CRITICAL + 1)
_LATE = (requests.Timeout, urllib3.exceptions.ReadTimeoutError)
HEADERS = {"Accept": "application/json", "User-Agent": "fabricctl", "Accept-Encoding": "identity"}


class DmtfTransport:
    """One BMC over the DMTF client: a client of its own for each request that is under way at once."""

    def __init__(self, target: Target, threads: ThreadPoolExecutor) -> None:
        self._target = target
        self.mask = Mask()
        self._threads = threads
        self._context = tls_context(target.trust)
        self._idle: list[_Client] = []

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
        client = self._idle.pop() if self._idle else _Client(self._target, self._context)
        loop = asyncio.get_running_loop()
        asked = {**HEADERS, **headers}
        work = loop.run_in_executor(self._threads, client.send, method, path, asked, body, deadline_s)
        try:
            async with asyncio.timeout(deadline_s):
                status, fields, raw = await asyncio.shield(work)
            reply = make_reply(self._target, path, status, fields, raw, self.mask)
        except BaseException as exc:
            sent = client.abort()
            work.cancel()  # where no thread has begun it yet; one that has ends at its next step
            work.add_done_callback(_looked_at)
            mapped = self._mapped(exc, sent, path, deadline_s)
            if mapped is exc:
                raise
            raise mapped from exc
        self._idle.append(client)
        return reply

    def _mapped(self, exc: BaseException, sent: bool, path: str, deadline_s: float) -> BaseException:
        """The error of ours for one of the library, which wraps all that ends a request into ``RetriesExhausted``.

        :param sent: whether the BMC may have got any of the request.
        """
        if isinstance(exc, BmcError) or not isinstance(exc, Exception):
            return exc
        name = str(self._target)
        chain = _chain(exc)
        if isinstance(exc, TimeoutError):
            if sent:
                return BmcDeadlineError(f"{path}: no full answer within {deadline_s:g} s", bmc=name)
            return unsent(BmcUnreachableError(f"no connection within {deadline_s:g} s", bmc=name))
        for cause in chain:
            if isinstance(cause, _OtherCertificateError):
                return unsent(other_certificate(self._target, cause.found))
            if isinstance(cause, ssl.SSLError):
                if sent:
                    return broken_tls(self._target, path, cause)
                return unsent(tls_refusal(self._target, cause))
        if any(isinstance(cause, _LATE) for cause in chain):
            if sent:
                return BmcDeadlineError(f"{path}: no full answer within {deadline_s:g} s", bmc=name)
            # a handshake that takes too long is a read timeout to the library
            waited = min(CONNECT_S, deadline_s)
            return unsent(BmcUnreachableError(f"no connection within {waited:g} s", bmc=name))
        if any(isinstance(cause, _TooLargeError) for cause in chain):
            return too_large(self._target, path)
        if any(isinstance(cause, _CutShortError) for cause in chain):
            return BmcGarbledError(f"{path}: the answer is cut short", bmc=name)
        reason = next((c.strerror for c in chain if isinstance(c, OSError) and c.strerror), "")
        if not sent:
            return unsent(
                BmcUnreachableError(f"no connection: {(reason or 'name unknown').lower()}", bmc=name)
            )
        return BmcUnreachableError(f"{path}: the connection broke: {(reason or 'closed').lower()}", bmc=name)

    async def close(self) -> None:
        """Close its connections."""
        while self._idle:
            self._idle.pop().abort()


class _OtherCertificateError(Exception):
    def __init__(self, found: str) -> None:
        super().__init__("another certificate than the pinned one")
        self.found = found


class _TooLargeError(Exception):
    pass


class _CutShortError(Exception):
    pass


class _AbortedError(Exception):
    """Nobody waits for the request any more."""


class _Client(library.HttpClient):  # type: ignore[misc]
    """The library's client, held to one try, no redirects, no environment and this BMC's certificate."""

    def __init__(self, target: Target, context: ssl.SSLContext) -> None:
        self._adapter = _Adapter(target, context)
        super().__init__(
            base_url=target.url,
            max_retry=0,
            proxies={},
            check_connectivity=False,
            https_adapter=self._adapter,
        )
        self._session.trust_env = False
        self._session.headers.clear()
        self._session.get_redirect_target = _nowhere

    def send(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: Mapping[str, Any] | None,
        deadline_s: float,
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers in lower case, body."""
        self._adapter.begin()
        answer = self._rest_request(
            path,
            method=method,
            body=None if body is None else dict(body),
            headers=headers,
            allow_redirects=False,
            timeout=(min(CONNECT_S, deadline_s), deadline_s),
            max_retry=0,
        )
        fields = {name.lower(): value for name, value in answer.getheaders()}
        return answer.status, fields, answer.read

    def abort(self) -> bool:
        """End what is under way, from another thread; whether any of the request may have left."""
        sent = self._adapter.abort()
        self._session.close()
        return sent


def _nowhere(answer: object) -> None:
    """Where a redirect leads to: the library would look even though it is not to follow, and fail at odd places."""


class _Adapter(HTTPAdapter):
    """Whatever ``verify`` the library says, this BMC's context and pin decide.

    A thread cannot be stopped while it resolves a name or shakes hands, so it could send a command long after its
    caller has given up and sent another one. Hence one lock decides which comes first: the first byte of the request,
    or the abort. After the abort nothing is sent; before it, the request counts as sent.
    """

    def __init__(self, target: Target, context: ssl.SSLContext) -> None:
        self._context = context
        self._verify: bool | str = target.trust.ca_file if target.trust.verify is Verify.CA else False
        self._pin = target.trust.fingerprint if target.trust.verify is Verify.PINNED else ""
        self._lock = threading.Lock()
        self._aborted = False
        self._sent = False
        self._socket: socket.socket | None = None
        super().__init__(max_retries=0, pool_connections=1, pool_maxsize=1)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """Give every connection our context, and make connections that check the pin."""
        adapter = self

        class Connection(_Connection):
            owner = adapter

        class Pool(HTTPSConnectionPool):
            ConnectionCls = Connection

        super().init_poolmanager(*args, ssl_context=self._context, **kwargs)
        self.poolmanager.pool_classes_by_scheme = {"https": Pool}

    def send(self, request: Any, *args: Any, **kwargs: Any) -> Any:
        """Send with our trust, straight to the BMC."""
        kwargs.update(verify=self._verify, proxies={}, stream=True)
        answer = super().send(request, *args, **kwargs)
        raw = bytearray()
        try:
            for chunk in answer.raw.stream(65536, decode_content=False):
                raw += chunk
                if len(raw) > LARGEST_BODY:
                    raw.clear()  # an error keeps what stood around it
                    raise _TooLargeError
        except urllib3.exceptions.ProtocolError as exc:
            if answer.status_code < 400:
                raise _CutShortError from exc
            raw.clear()  # a refusal stays one when its text is cut short
        answer._content = bytes(raw)
        return answer

    def begin(self) -> None:
        """A request begins: none of it has left yet."""
        with self._lock:
            if self._aborted:
                raise _AbortedError
            self._sent = False

    def reached(self, sock: socket.socket) -> None:
        """The BMC is reached; what follows can be broken off at this socket, the handshake included."""
        with self._lock:
            if self._aborted:
                raise _AbortedError
            self._drop()
            # of its own: wrapping a socket into TLS takes the number away from the first one
            self._socket = sock.dup()

    def made(self, connection: _Connection) -> None:
        """A connection stands; refuse it when its certificate is another one."""
        if self._pin and isinstance(connection.sock, ssl.SSLSocket):
            found = fingerprint_of(connection.sock.getpeercert(binary_form=True) or b"")
            if found != self._pin:
                raise _OtherCertificateError(found)
        # by the pin or the context; where trust is off, every report says so instead
        connection.is_verified = True

    def sending(self) -> None:
        """The next bytes of the request are about to leave."""
        with self._lock:
            if self._aborted:
                raise _AbortedError
            self._sent = True

    def abort(self) -> bool:
        """Shut the connection, whatever waits on it; whether any of the request may have left."""
        with self._lock:
            self._aborted = True
            if self._socket is not None:
                with suppress(OSError):  # the BMC was faster
                    self._socket.shutdown(socket.SHUT_RDWR)
            self._drop()
            return self._sent

    def _drop(self) -> None:
        if self._socket is not None:
            self._socket.close()
            self._socket = None


class _Connection(HTTPSConnection):
    owner: _Adapter

    def _new_conn(self) -> socket.socket:
        sock: socket.socket = super()._new_conn()
        try:
            self.owner.reached(sock)
        except BaseException:
            sock.close()
            raise
        return sock

    def connect(self) -> None:
        """Connect, then look whom to."""
        try:
            super().connect()
            self.owner.made(self)
        except BaseException:
            self.close()
            raise

    def send(self, data: Any) -> None:
        """Send a part of a request, unless its caller has given up."""
        self.owner.sending()
        super().send(data)


def _chain(exc: BaseException) -> list[BaseException]:
    """The exception and what caused it, also what urllib3 keeps in ``reason`` and ``args``."""
    found: list[BaseException] = []
    waiting: list[Any] = [exc]
    while waiting and len(found) < 40:
        one = waiting.pop(0)
        if isinstance(one, BaseException) and not any(one is known for known in found):
            found.append(one)
            waiting += [one.__cause__, one.__context__, getattr(one, "reason", None), *one.args]
    return found


def _looked_at(work: asyncio.Future[Any]) -> None:
    if not work.cancelled():
        work.exception()
