"""Many addresses for one server: what reaches any of them goes on to it."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterable
from contextlib import suppress

CONNECT_S = 10.0
CHUNK = 65536


class Relay:
    """Listens on addresses of loopback, each with the same port, and passes connections on to 127.0.0.1.

    :param to: port of the server; read at each connection, so that it may change.
    """

    def __init__(self, to: int) -> None:
        self.to = to
        self._listening: list[socket.socket] = []
        self._open: set[socket.socket] = set()
        self._lock = threading.Lock()
        self.port = 0

    def start(self, addresses: Iterable[str]) -> None:
        """Listen; the port is chosen with the first address."""
        for address in addresses:
            listener = socket.socket()
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((address, self.port))
            listener.listen(64)
            self.port = int(listener.getsockname()[1])
            self._listening.append(listener)
            threading.Thread(target=self._accept, args=(listener,), daemon=True).start()

    def stop(self) -> None:
        """Close everything."""
        with self._lock:
            ends = [*self._listening, *self._open]
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _accept(self, listener: socket.socket) -> None:
        while True:
            try:
                near, _ = listener.accept()
            except OSError:
                return
            try:
                far = socket.create_connection(("127.0.0.1", self.to), CONNECT_S)
            except OSError:
                near.close()
                continue
            far.settimeout(None)
            with self._lock:
                self._open |= {near, far}
            for source, sink in ((near, far), (far, near)):
                threading.Thread(target=self._pass_on, args=(source, sink), daemon=True).start()

    def _pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        with suppress(OSError):
            while chunk := source.recv(CHUNK):
                sink.sendall(chunk)
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
        with self._lock:
            self._open.discard(source)
        source.close()
