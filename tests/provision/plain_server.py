"""Something that listens where a BMC should, and speaks no TLS."""

from __future__ import annotations

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def plain_server(answer: bytes, address: str = "127.0.0.1") -> Iterator[int]:
    """Says the same to everybody. Its port."""
    with socket.create_server((address, 0)) as server:

        def serve() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                with connection:
                    connection.recv(4096)
                    connection.sendall(answer)

        threading.Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        server.shutdown(socket.SHUT_RDWR)
