"""One command at a time on a host: a second one leaves it alone, and says who is at it.

Locks are files of this computer and this user, as those of BMCs are; the kernel lets go of them when their holder dies.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from urllib.parse import quote

from fabricctl.adapters.locks import HeldError, held
from fabricctl.errors import StateError
from provision.install.outcome import End, NodeResult, Told


class Alone:
    """The locks of a run. :ivar busy: host -> who else is at it, in words; those are to be left alone."""

    def __init__(self) -> None:
        self.busy: dict[str, str] = {}
        self._held: dict[str, ExitStack] = {}

    def take(self, path: Path, host: str) -> None:
        """Hold the lock of a host, or note who does. :raises StateError: there can be no such file."""
        stack = ExitStack()
        try:
            stack.enter_context(held(path))
        except HeldError as exc:
            self.busy[host] = exc.who
        except OSError as exc:
            raise StateError(f"cannot be locked: {exc.strerror}", place=str(path)) from exc
        else:
            self._held[host] = stack

    def let_go(self, host: str) -> None:
        """Nothing more is done to this host."""
        stack = self._held.pop(host, None)
        if stack is not None:
            stack.close()

    def all(self) -> None:
        """Let go of all."""
        for host in list(self._held):
            self.let_go(host)

    def result(self, host: str) -> NodeResult | None:
        """What comes of a host that somebody else is at; None when nobody is."""
        who = self.busy.get(host)
        if who is None:
            return None
        words = f"it is being changed by {who}; nothing was sent: look at it again when that has ended"
        return NodeResult(host, Told.UNKNOWN, End.NOT_STARTED, reason=words)


@contextmanager
def alone(folder: Path | None, hosts: Sequence[str]) -> Iterator[Alone]:
    """Hold the locks of hosts while the block runs, of those that nobody holds.

    Take them before anything is read that is decided on. :param folder: where the locks are, None: nobody is kept out.
    :raises StateError: a lock cannot be made.
    """
    locks = Alone()
    try:
        if folder is not None:
            from provision.redfish.fleet import make_room

            make_room(len(hosts))
            for host in dict.fromkeys(hosts):
                locks.take(folder / f"{quote(host, safe='')}.lock", host)
        yield locks
    finally:
        locks.all()
