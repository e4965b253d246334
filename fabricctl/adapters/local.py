"""Commands on this machine, with a deadline, bounded output and no orphan."""

from __future__ import annotations

import os
import selectors
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from types import TracebackType

from fabricctl.adapters.command import (
    DEFAULT_LIMIT_BYTES,
    GRACE_S,
    Completed,
    Deadline,
    Output,
    guarded,
)
from fabricctl.errors import ToolFailedError, ToolMissingError

LOCAL = "local"
_BLOCK = 1 << 16
_POLL_S = 0.1


class LocalSession:
    """This machine as a viewer."""

    def __init__(self, viewer: str = LOCAL) -> None:
        self.viewer = viewer

    def __enter__(self) -> LocalSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def run(
        self, argv: Sequence[str], deadline: Deadline, *, limit_bytes: int = DEFAULT_LIMIT_BYTES
    ) -> Completed:
        """Run one command in a process group of its own, ended whole when we stop waiting for it.

        :raises ToolMissingError: no such command; :raises ToolFailedError: it cannot be started, or prints
            more than the limit; :raises DeadlineError: it is too slow.
        :raises KeyboardInterrupt: the deadline was cancelled.
        """
        output = Output(self.viewer, argv, limit_bytes)
        deadline.check(self.viewer, f"starting {output.argv[0]}")
        process = _start(argv, deadline, self.viewer)
        try:
            _drain(process, output, deadline)
            returncode = _reap(process, output, deadline)
        finally:
            _end(process)
        return output.completed(returncode)


def _start(argv: Sequence[str], deadline: Deadline, viewer: str) -> subprocess.Popen[bytes]:
    try:
        return subprocess.Popen(  # noqa: S603 - a fixed guard, the command as separate words
            guarded(argv, deadline),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
            bufsize=0,
        )
    except FileNotFoundError as exc:
        raise ToolMissingError("has no command sh", viewer=viewer) from exc
    except (OSError, ValueError) as exc:
        raise ToolFailedError(f"{argv[0]} cannot be started: {exc}", viewer=viewer) from exc


def _drain(process: subprocess.Popen[bytes], output: Output, deadline: Deadline) -> None:
    """Read both streams to their ends, side by side: a full pipe on one would stall the command."""
    assert process.stdout is not None
    assert process.stderr is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ, output.add_stdout)
        selector.register(process.stderr, selectors.EVENT_READ, output.add_stderr)
        while selector.get_map():
            deadline.check(output.viewer, output.doing())
            for key, _ in selector.select(min(_POLL_S, deadline.left())):
                block = os.read(key.fd, _BLOCK)
                if block:
                    key.data(block)
                else:
                    selector.unregister(key.fileobj)


def _reap(process: subprocess.Popen[bytes], output: Output, deadline: Deadline) -> int:
    while (returncode := process.poll()) is None:
        deadline.check(output.viewer, output.doing())
        deadline.pause()
    return returncode


def _end(process: subprocess.Popen[bytes]) -> None:
    """Let the guard end what still runs; kill the group if the guard itself is stuck."""
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    if process.returncode is not None:
        return
    try:
        process.wait(GRACE_S + 0.5)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
