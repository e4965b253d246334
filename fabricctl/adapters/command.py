"""What local and remote commands share: a deadline, a result, and a guard that leaves no orphan.

The guard is a short POSIX shell script around the command. It holds its standard input open towards us
and, the moment that closes, ends its whole process group. So the command ends when we close the channel on
purpose, and also when we are killed, when the connection breaks, or when sshd drops the session; a plain ssh
channel without a terminal would leave it running, and a terminal would mix its two output streams. Where the
host has ``timeout``, that is a second end for the case that a dead network is noticed late.
"""

from __future__ import annotations

import math
import shlex
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from fabricctl.errors import DeadlineError, ToolFailedError, ToolMissingError

DEFAULT_LIMIT_BYTES = 256 << 20
"""Most bytes of standard output taken from one command: four times a 100,000-GPU fabric's discovery."""

STDERR_LIMIT_BYTES = 1 << 20
"""Standard error beyond this is dropped and said so."""

POLL_S = 0.02
GRACE_S = 1
"""Seconds between asking a command to end and killing it."""

_RC_MISSING = 127  # POSIX shell: command not found

_GUARD = (
    # Administrators' tools live in sbin folders, which sshd leaves out of other users' PATH.
    'PATH="${PATH:-/usr/bin:/bin}:/usr/local/sbin:/usr/sbin:/sbin"; s=$1; shift; '
    'command -v "$1" >/dev/null 2>&1 || exit 127; '
    f"if timeout -k {GRACE_S} 9 true >/dev/null 2>&1; then "
    f'set -- timeout -k {GRACE_S} "$s" "$@"; fi; '
    # A background job's standard input is /dev/null (POSIX, asynchronous lists), so ours waits at 3.
    'exec 3<&0; "$@" </dev/null 3<&- & c=$! ; '
    '( read -r x <&3; trap "" TERM; kill -TERM -$c; kill -TERM 0; '
    f"sleep {GRACE_S}; kill -KILL -$c; kill -KILL 0 ) >/dev/null 2>&1 & w=$! ; "
    "exec 3<&-; wait $c; r=$?; exec 2>/dev/null; kill -TERM -$c; kill $w; exit $r"
)
"""No single quote, backslash or newline, and each exclamation mark before a blank (else csh looks up its
history): so it passes through any login shell."""


class Deadline:
    """A point in time that everything done for one viewer shares, and a way to stop early.

    :param seconds: from now; :param cancelled: set by whoever wants all of it to end at once.
    """

    def __init__(
        self,
        seconds: float,
        *,
        cancelled: threading.Event | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.seconds = seconds
        self.cancelled = cancelled or threading.Event()
        self._clock = clock
        self._end = clock() + seconds

    def left(self) -> float:
        """Seconds left, never below zero."""
        return max(0.0, self._end - self._clock())

    def check(self, viewer: str, doing: str) -> None:
        """Return while there is time.

        :param doing: what is being waited for, as in "no full answer within 5 s, while *connecting*".
        :raises DeadlineError: when there is none left.
        :raises KeyboardInterrupt: when cancelled.
        """
        if self.cancelled.is_set():
            raise KeyboardInterrupt
        if self.left() <= 0:
            raise DeadlineError(f"no full answer within {self.seconds:g} s, while {doing}", viewer=viewer)

    def pause(self, seconds: float = POLL_S) -> None:
        """Wait a moment, less when cancelled or late."""
        self.cancelled.wait(min(seconds, self.left()))

    def part(self, seconds: float) -> Deadline:
        """A deadline at most so far away, that ends with this one."""
        return Deadline(min(seconds, self.left()), cancelled=self.cancelled, clock=self._clock)


@dataclass(frozen=True, slots=True)
class Completed:
    """A command that ran to its end.

    :param returncode: its exit code; above 128, 128 + the signal that ended it.
    """

    argv: tuple[str, ...]
    stdout: bytes
    stderr: bytes
    returncode: int


class Session(Protocol):
    """A place where commands run: this machine or a host behind ssh."""

    viewer: str

    def run(
        self, argv: Sequence[str], deadline: Deadline, *, limit_bytes: int = DEFAULT_LIMIT_BYTES
    ) -> Completed:
        """Run one command to its end, whatever its exit code.

        :raises ViewerError: no such command, deadline, connection lost, too much output.
        :raises KeyboardInterrupt: the deadline was cancelled; the command has been ended.
        """
        ...


def guarded(argv: Sequence[str], deadline: Deadline) -> list[str]:
    """The command inside its guard; its standard input must stay open as long as it shall live."""
    seconds = math.ceil(deadline.left()) + 1
    return ["sh", "-c", _GUARD, "sh", str(seconds), *argv]


class Output:
    """Both output streams of a running command, within their limits."""

    def __init__(self, viewer: str, argv: Sequence[str], limit_bytes: int) -> None:
        self.viewer = viewer
        self.argv = tuple(argv)
        self._limit = limit_bytes
        self._out: list[bytes] = []
        self._err: list[bytes] = []
        self._out_size = self._err_size = 0

    def add_stdout(self, block: bytes) -> None:
        """Keep a block of standard output.

        :raises ToolFailedError: when it is more than the limit.
        """
        self._out_size += len(block)
        if self._out_size > self._limit:
            raise ToolFailedError(
                f"{shlex.join(self.argv)} printed more than {self._limit:,} bytes and was stopped",
                viewer=self.viewer,
            )
        self._out.append(block)

    def add_stderr(self, block: bytes) -> None:
        """Keep a block of standard error, drop what is beyond its limit."""
        room = max(0, STDERR_LIMIT_BYTES - self._err_size)
        self._err_size += len(block)
        if room:
            self._err.append(block[:room])

    def stderr(self) -> bytes:
        """Standard error so far, with a last line saying how much was dropped."""
        dropped = self._err_size - STDERR_LIMIT_BYTES
        tail = f"\n({dropped:,} more bytes of standard error dropped)\n".encode() if dropped > 0 else b""
        return b"".join(self._err) + tail

    def doing(self) -> str:
        """What a deadline interrupts here, with the command's last words."""
        said = last_words(self.stderr())
        return f"{shlex.join(self.argv)} was running" + (f"; its last words: {said}" if said else "")

    def completed(self, returncode: int) -> Completed:
        """The result.

        :raises ToolMissingError: when the shell found no such command.
        """
        if returncode == _RC_MISSING:
            raise ToolMissingError(
                f"has no command {self.argv[0]}",
                viewer=self.viewer,
                hint="it is in the package infiniband-diags" if self.argv[0].startswith(("ib", "sm")) else "",
            )
        return Completed(self.argv, b"".join(self._out), self.stderr(), returncode)


def last_words(stderr: bytes, *, lines: int = 3, width: int = 300) -> str:
    """The last lines of standard error as one printable line, empty when there are none."""
    text = stderr[-8192:].decode("utf-8", "replace")
    kept = [" ".join(line.split()) for line in text.splitlines() if line.strip()]
    joined = " / ".join(kept[-lines:])
    printable = "".join(char if char.isprintable() else "?" for char in joined)
    return printable if len(printable) <= width else "..." + printable[3 - width :]
