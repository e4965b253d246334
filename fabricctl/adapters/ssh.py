"""Commands on a host behind ssh, by paramiko.

A host key must be recorded (see ``known_hosts``); nothing is recorded here and no password is ever asked
for. Each command runs inside the guard of ``command``, without a terminal, so that both streams stay apart
and it ends with its channel.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from types import TracebackType
from typing import TYPE_CHECKING

from fabricctl.adapters.command import DEFAULT_LIMIT_BYTES, Completed, Deadline, Output, guarded
from fabricctl.adapters.ssh_config import Login
from fabricctl.adapters.ssh_errors import said
from fabricctl.adapters.ssh_login import Connection, log_in
from fabricctl.errors import UnreachableError

if TYPE_CHECKING:
    from paramiko import Channel

_BLOCK = 1 << 17
_NO_STATUS = -1
"""paramiko's word for a channel that closed without an exit status."""


class SshSession:
    """A logged-in host: made by ``connect``, closed on leaving its ``with`` block."""

    def __init__(self, viewer: str, connection: Connection) -> None:
        self.viewer = viewer
        self._connection = connection

    def __enter__(self) -> SshSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()

    def run(
        self, argv: Sequence[str], deadline: Deadline, *, limit_bytes: int = DEFAULT_LIMIT_BYTES
    ) -> Completed:
        """Run one command to its end, whatever its exit code.

        :raises ToolMissingError: no such command; :raises ToolFailedError: it printed more than the limit.
        :raises DeadlineError: it is too slow; :raises UnreachableError: the connection broke.
        :raises KeyboardInterrupt: the deadline was cancelled.
        """
        output = Output(self.viewer, argv, limit_bytes)
        deadline.check(self.viewer, f"starting {output.argv[0]}")
        channel = self._open_channel(argv, deadline)
        try:
            _drain(channel, output, deadline)
            returncode = channel.recv_exit_status() if channel.exit_status_ready() else _NO_STATUS
        finally:
            channel.close()  # closes the guard's standard input, which ends what still runs
        if returncode == _NO_STATUS:
            raise UnreachableError(
                f"the connection broke while {output.doing()}", viewer=self.viewer, hint="try again"
            )
        return output.completed(returncode)

    def _open_channel(self, argv: Sequence[str], deadline: Deadline) -> Channel:
        import paramiko

        try:
            channel = self._connection.transport.open_session(timeout=max(deadline.left(), 0.1))
            channel.settimeout(max(deadline.left(), 0.1))
            channel.exec_command(shlex.join(guarded(argv, deadline)))
        except (paramiko.SSHException, EOFError, OSError) as exc:
            deadline.check(self.viewer, f"starting {argv[0]}")
            raise UnreachableError(
                f"lets us log in but not run a command: {said(exc)}",
                viewer=self.viewer,
                hint="is the account limited to another command or to file transfer?",
            ) from exc
        return channel


def _drain(channel: Channel, output: Output, deadline: Deadline) -> None:
    """Read both streams to their ends, side by side: a full window on one would stall the command."""
    while True:
        ended = channel.closed or (channel.eof_received and channel.exit_status_ready())
        moved = False
        while channel.recv_ready():
            output.add_stdout(channel.recv(_BLOCK))
            moved = True
        while channel.recv_stderr_ready():
            output.add_stderr(channel.recv_stderr(_BLOCK))
            moved = True
        if ended and not moved:
            return
        deadline.check(output.viewer, output.doing())
        if not moved:
            deadline.pause()


def connect(login: Login, deadline: Deadline, *, viewer: str) -> SshSession:
    """Log in to a host; use the result in a ``with`` block.

    :raises ViewerError: unreachable, host key, login refused or deadline.
    :raises InputError: a known_hosts file cannot be read.
    :raises KeyboardInterrupt: the deadline was cancelled.
    """
    return SshSession(viewer, log_in(login, deadline, viewer=viewer))
