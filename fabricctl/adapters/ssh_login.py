"""Logging in to a host by paramiko, within a deadline whatever hangs."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from fabricctl.adapters.command import Deadline
from fabricctl.adapters.known_hosts import RecordedKey, check, recorded_keys
from fabricctl.adapters.ssh_config import Login
from fabricctl.adapters.ssh_errors import STAGE_LOGIN, translated
from fabricctl.adapters.ssh_proxy import Proxy
from fabricctl.errors import ViewerError

if TYPE_CHECKING:
    from paramiko import PKey, SSHClient, Transport

_RSA_SIGNATURES = ("rsa-sha2-512", "rsa-sha2-256")
_LEAST_S = 0.1


class Connection:
    """A host whose key was checked and who accepted our login."""

    def __init__(self, transport: Transport, close: Callable[[], None]) -> None:
        self.transport = transport
        self.close = close


def log_in(login: Login, deadline: Deadline, *, viewer: str) -> Connection:
    """Check the host's key and log in.

    All of it (name service, proxy, handshake, agent, login) shares the deadline, so it happens on a thread
    that is left behind when one of them does not return.

    :raises UnreachableError: no such host, refused, not an ssh server; :raises HostKeyError: see there.
    :raises LoginRefusedError: no key is accepted; :raises DeadlineError: any of it is too slow.
    :raises InputError: a known_hosts file cannot be read.
    :raises KeyboardInterrupt: the deadline was cancelled.
    """
    _quiet_paramiko()
    known = recorded_keys(login.known_hosts, login.key_name, login.key_port)
    attempt = _Attempt(login, viewer, known, deadline)
    threading.Thread(target=attempt.run, name=f"ssh {viewer}", daemon=True).start()
    try:
        while not attempt.done.wait(0.05):
            deadline.check(viewer, attempt.stage)
    except BaseException:
        attempt.abandon()
        raise
    return attempt.outcome()


def _quiet_paramiko() -> None:
    """Keep paramiko's own log lines off the terminal; a handler at the root still gets them."""
    logger = logging.getLogger("paramiko")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


class _Attempt:
    """One login under way on its own thread."""

    def __init__(self, login: Login, viewer: str, known: list[RecordedKey], deadline: Deadline) -> None:
        self.stage = f"connecting to {login.host} port {login.port}"
        self.done = threading.Event()
        self._login = login
        self._viewer = viewer
        self._known = known
        self._deadline = deadline
        self._lock = threading.Lock()
        self._abandoned = False
        self._closers: list[Any] = []
        self._connection: Connection | None = None
        self._error: BaseException | None = None

    def outcome(self) -> Connection:
        """The connection, once ``done``; or what went wrong, raised."""
        if self._error is not None:
            raise self._error
        assert self._connection is not None
        return self._connection

    def abandon(self) -> None:
        """Close whatever there is now, and whatever comes of it later."""
        with self._lock:
            self._abandoned = True
        self._close()

    def run(self) -> None:
        """Log in; the outcome, good or bad, is kept for ``outcome``."""
        try:
            self._connection = self._log_in()
        except BaseException as exc:  # noqa: BLE001 - handed to the waiting thread, raised there
            self._error = exc
        with self._lock:
            unwanted = self._abandoned or self._error is not None
        if unwanted:
            self._close()
        self.done.set()

    def _close(self) -> None:
        for thing in reversed(self._closers):
            thing.close()

    def _log_in(self) -> Connection:
        import paramiko

        login = self._login
        proxy: Proxy | None = None
        try:
            if login.proxy:
                proxy = Proxy(login.proxy)
                self._closers.append(proxy)
                sock = proxy.sock
            else:
                left = max(self._deadline.left(), _LEAST_S)
                sock = socket.create_connection((login.host, login.port), timeout=left)
                self._closers.append(sock)
            return self._shake_hands(sock)
        except ViewerError:
            raise
        except (paramiko.SSHException, OSError, EOFError, ValueError) as exc:
            raise translated(exc, login, self._viewer, self._deadline, self.stage, proxy) from exc

    def _shake_hands(self, sock: socket.socket) -> Connection:
        """Handshake, host key, login: ``connect`` does them in this order."""
        import paramiko

        login, left = self._login, max(self._deadline.left(), _LEAST_S)
        self.stage = f"shaking hands with the ssh server at {login.host} port {login.port}"
        client = paramiko.SSHClient()
        client.set_missing_host_key_policy(self._policy())
        self._closers.append(client)
        keys: Any = list(login.key_files)  # paramiko takes a list; its type stubs do not say so
        client.connect(
            login.host,
            login.port,
            login.user,
            sock=sock,
            timeout=left,
            banner_timeout=left,
            auth_timeout=left,
            channel_timeout=left,
            key_filename=keys,
            allow_agent=login.use_agent,
            look_for_keys=login.default_keys,
            transport_factory=self._transport,
        )
        transport = client.get_transport()
        assert transport is not None
        transport.set_keepalive(login.keepalive_s)
        return Connection(transport, self._close)

    def _policy(self) -> Any:
        """A policy that accepts a recorded key only.

        The client itself is given no recorded keys, so it asks about every key: its own lookup knows neither
        wildcards nor revoked keys nor two keys of one type.
        """
        import paramiko

        attempt = self

        class RecordedKeysOnly(paramiko.MissingHostKeyPolicy):
            def missing_host_key(self, client: SSHClient, hostname: str, key: PKey) -> None:  # noqa: ARG002 - paramiko's signature
                login = attempt._login
                check(
                    attempt._viewer,
                    login.key_name,
                    login.key_port,
                    key.get_name(),
                    key.asbytes(),
                    attempt._known,
                )
                attempt.stage = STAGE_LOGIN

        return RecordedKeysOnly()

    def _transport(self, sock: Any, **options: Any) -> Transport:
        """A transport that asks for the recorded types of host key first, as ssh does."""
        import paramiko

        transport = paramiko.Transport(sock, **options)
        security = transport.get_security_options()
        recorded: list[str] = []
        for key in self._known:
            recorded += _RSA_SIGNATURES if key.type == "ssh-rsa" else (key.type,)
        first = [name for name in dict.fromkeys(recorded) if name in security.key_types]
        security.key_types = (*first, *(name for name in security.key_types if name not in first))
        return transport
