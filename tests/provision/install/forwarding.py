"""The same server at another address: bytes are passed on both ways."""

from __future__ import annotations

import socket
import socketserver
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

Place = tuple[str, int]


@contextmanager
def forwarded(at: Place, to: Place) -> Iterator[None]:
    """Listen at one place while the block runs, and pass what comes on to another."""

    class Pass(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            with socket.create_connection(to, timeout=30) as there:
                back = threading.Thread(target=copied, args=(there, self.request), daemon=True)
                back.start()
                copied(self.request, there)
                back.join(timeout=30)

    with socketserver.ThreadingTCPServer(at, Pass) as server:
        server.daemon_threads = True
        server.block_on_close = False
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield
        finally:
            server.shutdown()


def copied(source: socket.socket, target: socket.socket) -> None:
    """All of one direction."""
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
