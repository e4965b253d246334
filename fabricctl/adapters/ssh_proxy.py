"""A connection through a command: ``ProxyCommand`` and ``ProxyJump`` of ssh_config(5).

The command's standard input and output are one end of a socket pair, so its end is the connection's end.
(paramiko's own ``ProxyCommand`` reads pipes and spins without an error when the command ends early: seen with
5.1.)
"""

from __future__ import annotations

import socket
import subprocess
import tempfile
from contextlib import suppress

from fabricctl.adapters.command import GRACE_S, last_words


class Proxy:
    """A running proxy command.

    :param command: as in the ssh configuration, for a shell.
    :raises OSError: it cannot be started.
    """

    def __init__(self, command: str) -> None:
        self.sock, theirs = socket.socketpair()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the proxy, see close
        with theirs:
            self._process = subprocess.Popen(  # noqa: S603 - as ssh does; the command is the user's own
                ["/bin/sh", "-c", f"exec {command}"],
                stdin=theirs.fileno(),
                stdout=theirs.fileno(),
                stderr=self._stderr,
                start_new_session=True,
            )

    def words(self) -> str:
        """What the command says on its standard error, once it has had a moment to end."""
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(GRACE_S)
        self._stderr.seek(0)
        return last_words(self._stderr.read())

    def close(self) -> None:
        """End the command; safe to call twice."""
        self.sock.close()
        if self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(GRACE_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        self._stderr.close()
