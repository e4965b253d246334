"""Looking at many machines at once: at each tick one question what changed, and one bulk read of those that matter."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace

from fabricctl.errors import ProvisionerError, ProvisionerLoginError
from provision.install.machine import Machine
from provision.install.provisioner import Provisioner
from provision.install.spec import Changes
from provision.install.waves import Watched, startable, to_read
from provision.workflows.install_model import FlowOptions

TELL_SILENCE_S = 60.0
"""Seconds after which, and again after which, it is told that the provisioner does not answer."""
Ends = Callable[[Machine], bool]


@dataclass(frozen=True, slots=True)
class Seen:
    """What ended a wait.

    :param machine: as read last, None when it is not there any more; :param overdue: time ended first.
    """

    machine: Machine | None
    overdue: bool = False


@dataclass
class _Waiter:
    watched: Watched
    ends: Ends
    answer: asyncio.Future[Seen]


class Watch:
    """Who waits for which machine. All reads of a run are made here, so that their number has a bound.

    A machine is read when something is said of it, when its time is over, and now and then all the same.

    :param heard: called with a machine's id and the newest words about it.
    """

    def __init__(
        self, provisioner: Provisioner, options: FlowOptions, heard: Callable[[str, str], None]
    ) -> None:
        self._provisioner, self._options, self._heard = provisioner, options, heard
        self._waiters: dict[str, _Waiter] = {}
        self._starts: deque[tuple[str, asyncio.Future[bool]]] = deque()
        self._flowing: set[str] = set()
        self._kept: set[str] = set()
        self._cursor: str | None = None
        self._silent_since: float | None = None
        self._told_silent = 0.0
        self._refused: ProvisionerError | None = None
        self.ticks = 0

    async def until(self, id: str, ends: Ends, within_s: float, *, look: bool = False) -> Seen:
        """Wait until a machine is as wanted, or time is over. One wait for each machine at a time.

        :param look: read it at the next tick, whether or not anything is said of it.
        :raises ProvisionerError: the provisioner has not answered for too long, or refuses the key.
        """
        self._check()
        now = self._options.clock()
        answer: asyncio.Future[Seen] = asyncio.get_running_loop().create_future()
        watched = Watched(now + within_s, now, now if look else None)
        self._waiters[id] = _Waiter(watched, ends, answer)
        try:
            return await answer
        finally:
            self._waiters.pop(id, None)

    async def look(self, id: str) -> Machine | None:
        """Read a machine with the others at the next tick; None when it is not there any more."""
        return (await self.until(id, lambda _: True, self._options.deadlines.silence_s, look=True)).machine

    async def place(self, id: str) -> bool:
        """Wait for a place among those that are under way. It is kept until :meth:`leave`, at most to its deadline.

        :returns: False where all are taken by machines nobody waits for.
        :raises ProvisionerError: the provisioner refuses the key.
        """
        self._check()
        start: asyncio.Future[bool] = asyncio.get_running_loop().create_future()
        self._starts.append((id, start))
        return await start

    def take(self, id: str) -> None:
        """A machine that is under way already has its place at once."""
        self._flowing.add(id)

    def keep(self, id: str) -> None:
        """It goes on when this run has ended: its place is given to nobody."""
        self._kept.add(id)

    def leave(self, id: str) -> None:
        """Give its place to another."""
        if id not in self._kept:
            self._flowing.discard(id)

    def _check(self) -> None:
        if self._refused is not None:
            raise self._refused

    async def run(self) -> None:
        """Tick until cancelled."""
        while True:
            await self._tick()
            await self._options.sleep(self._options.poll_s)

    async def _tick(self) -> None:
        self._start_some()
        await asyncio.sleep(0)  # those that were just given a place ask to be looked at, at this tick
        if not self._waiters:
            return
        self.ticks += 1
        try:
            await self._ask_changes()
            await self._read()
            self._silent_since = None
        except ProvisionerLoginError as error:
            self._refused = error
            self._end(error, waiting=True)
        except ProvisionerError as error:
            self._silence(error)

    def _start_some(self) -> None:
        number = startable(
            len(self._starts),
            len(self._flowing),
            wave=self._options.wave,
            at_once=self._options.deploying,
        )
        while number and self._starts:
            id, start = self._starts.popleft()
            if not start.done():
                self._flowing.add(id)
                start.set_result(True)
                number -= 1
        if len(self._kept) >= self._options.deploying:
            for _, start in self._starts:
                if not start.done():
                    start.set_result(False)
            self._starts.clear()

    async def _ask_changes(self) -> None:
        """What changed; the first time only from where to ask, and then nothing may have been missed."""
        first = self._cursor is None
        changes: Changes = await self._provisioner.changes(self._cursor or "")
        self._cursor = changes.cursor
        now = self._options.clock()
        told = set(self._waiters) if first or not changes.complete else changes.ids & self._waiters.keys()
        for id in told:
            waiter = self._waiters[id]
            if waiter.watched.urgent is None:
                waiter.watched = replace(waiter.watched, urgent=now)
        for id, words in changes.said.items():
            self._heard(id, words)

    async def _read(self) -> None:
        now = self._options.clock()
        ids = to_read({id: waiter.watched for id, waiter in self._waiters.items()}, now)
        if not ids:
            return
        asked = {id: self._waiters[id] for id in ids}
        found = {machine.id: machine for machine in await self._provisioner.read(ids)}
        for id, waiter in asked.items():
            if not waiter.answer.done():
                self._judge(waiter, found.get(id), now)

    def _judge(self, waiter: _Waiter, machine: Machine | None, now: float) -> None:
        if machine is None or waiter.ends(machine):
            waiter.answer.set_result(Seen(machine))
        elif waiter.watched.due <= now:
            waiter.answer.set_result(Seen(machine, overdue=True))
        else:
            waiter.watched = Watched(waiter.watched.due, now)

    def _silence(self, error: ProvisionerError) -> None:
        """The provisioner does not answer: wait for it, but not for ever. Phases go on there meanwhile."""
        now = self._options.clock()
        if self._silent_since is None:
            self._silent_since = self._told_silent = now
        silent = now - self._silent_since
        if silent >= self._options.deadlines.silence_s:
            self._end(error)
        elif now - self._told_silent >= TELL_SILENCE_S:
            self._told_silent = now
            words = f"{self._provisioner.name} has not answered for {silent:.0f} s: {error.message}"
            for id in self._waiters:
                self._heard(id, words)

    def _end(self, error: ProvisionerError, *, waiting: bool = False) -> None:
        """Nobody waits any longer. :param waiting: for a place neither."""
        answers: list[asyncio.Future[Seen] | asyncio.Future[bool]] = [
            waiter.answer for waiter in self._waiters.values()
        ]
        if waiting:
            answers += [start for _, start in self._starts]
            self._starts.clear()
        for answer in answers:
            if not answer.done():
                answer.set_exception(error)
