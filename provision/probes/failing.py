"""Errors of sockets as reasons why no answer came."""

from __future__ import annotations

import errno
import os
import socket

from provision.install.doctor_seen import NoAnswer, Why

_REASONS = {
    **dict.fromkeys((errno.ECONNREFUSED, errno.ECONNRESET, errno.EPIPE, errno.ECONNABORTED), Why.REFUSED),
    **dict.fromkeys((errno.EHOSTUNREACH, errno.ETIMEDOUT), Why.SILENT),
    **dict.fromkeys(
        (errno.ENETUNREACH, errno.ENETDOWN, errno.ENODEV, errno.EADDRNOTAVAIL, errno.EADDRINUSE),
        Why.UNREACHABLE,
    ),
    **dict.fromkeys((errno.EPERM, errno.EACCES), Why.FORBIDDEN),
}


def why_of(error: OSError) -> NoAnswer:
    """A socket's error as the reason. What is not known says nothing of the server."""
    if isinstance(error, socket.gaierror):
        return NoAnswer(Why.UNNAMED, f"this machine cannot resolve its name: {error.strerror}")
    if isinstance(error, TimeoutError) and error.errno is None:
        return NoAnswer(Why.SILENT, "no answer in time")
    words = os.strerror(error.errno).lower() if error.errno and error.errno > 0 else str(error)
    return NoAnswer(_REASONS.get(error.errno or 0, Why.UNREACHABLE), words)
