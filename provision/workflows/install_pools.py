"""ZFS pools of a host about to be installed anew: their state is read over ssh and kept, when the host answers.

Nothing is changed on the host. When it does not answer, what was kept before is said instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from fabricctl.adapters.command import Deadline
from fabricctl.adapters.ssh_config import SshOptions, SshTarget, read_config, resolve
from fabricctl.errors import FabricctlError, ToolFailedError, ToolMissingError
from provision.install.zfs import FIELD, LIST_COMMAND, STATUS_COMMAND, Pools, read_pools, read_record
from provision.workflows.install_book import keep_facts

if TYPE_CHECKING:
    from fabricctl.adapters.ssh import SshSession
    from fabricctl.adapters.store.store import Store

LIMIT_BYTES = 4 << 20
DEADLINE_S = 20.0


@dataclass(frozen=True)
class PoolExport:
    """Keeps the state of pools in the store. An instance is called with a host and tells what came of it.

    :param store: open for as long as this is used; :param options: for ssh, with the site's recorded keys.
    :param who: and ``reason``: for the store's record; :param deadline_s: for all of one host.
    :param user: who logs in where the ssh configuration names nobody.
    """

    store: Store
    options: SshOptions
    who: str
    reason: str
    deadline_s: float = DEADLINE_S
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    user: str = ""

    async def __call__(self, host: str) -> str:
        """What was kept or why nothing could be, in one line; a host's failure is no exception."""
        return await asyncio.to_thread(self.keep, host)

    def keep(self, host: str) -> str:
        """The same, on this thread."""
        try:
            read = self._read(host)
        except ToolMissingError:
            read = Pools()  # a host without the tools has no pools
        except FabricctlError as exc:
            return f"could not tell of its ZFS pools: {exc}{self._before(host)}"
        try:
            self._tell(host, read)
        except FabricctlError as exc:
            return f"{_words(read)}; this could not be kept: {exc}"
        return _words(read)

    def _read(self, host: str) -> Pools:
        from fabricctl.adapters.ssh import connect

        deadline = Deadline(self.deadline_s)
        config = read_config(self.options)
        user = None if "user" in config.lookup(host) else self.user or None
        login = resolve(SshTarget(host, user), self.options, config, host)
        with connect(login, deadline, viewer=host) as session:
            return read_pools(_run(session, LIST_COMMAND, deadline), _run(session, STATUS_COMMAND, deadline))

    def _tell(self, host: str, read: Pools) -> None:
        notes = {host: {FIELD: read.as_value()}}
        keep_facts(self.store, notes, "ssh zpool", who=self.who, reason=self.reason, now=self.now())

    def _before(self, host: str) -> str:
        """What was kept last, for a sentence that goes on."""
        try:
            facts = self.store.facts.current([host], field=FIELD).get(host, [])
        except FabricctlError:
            return ""
        record = read_record(facts[-1].fact.value) if facts else None
        if record is None:
            return ""
        return f"; on {facts[-1].confirmed:%Y-%m-%d} there was: {_words(record)}"


@dataclass(frozen=True)
class OnRecord:
    """Pools as they were told last. :param confirmed: when."""

    pools: Pools
    confirmed: datetime

    @property
    def lost(self) -> str:
        """``pool data (8 disks, ONLINE, 112 TB used), recorded 2026-11-30, will be lost``; empty without any."""
        told = [
            f"{pool.words}, recorded {self.confirmed:%Y-%m-%d}, will be lost" for pool in self.pools.pools
        ]
        return "; ".join(told)


def pools_on_record(store: Store, hosts: Sequence[str]) -> Mapping[str, OnRecord]:
    """Pools that are recorded of hosts, of those that had any. :raises StateError: the store cannot be read."""
    found = {}
    for host, facts in store.facts.current(hosts, field=FIELD).items():
        pools = read_record(facts[-1].fact.value) if facts else None
        if pools is not None and pools.pools:
            found[host] = OnRecord(pools, facts[-1].confirmed)
    return found


def _run(session: SshSession, command: tuple[str, ...], deadline: Deadline) -> str:
    """Its output. :raises ToolFailedError: it ended with an error, so that its silence is no empty list."""
    done = session.run(command, deadline, limit_bytes=LIMIT_BYTES)
    if done.returncode != 0:
        said = [line for line in done.stderr.decode("utf-8", "replace").splitlines() if line.isprintable()]
        raise ToolFailedError(
            f"{' '.join(command[:2])} ended with exit code {done.returncode}: {said[-1] if said else 'no word'}",
            viewer=session.viewer,
        )
    return done.stdout.decode("utf-8", "replace")


def _words(read: Pools) -> str:
    """``no ZFS pools``, or each pool that will be lost, and what could not be read."""
    told = "; ".join(pool.lost for pool in read.pools) or ("" if read.unread else "no ZFS pools")
    unread = f"could not tell of {', '.join(read.unread)}" if read.unread else ""
    return "; ".join(filter(None, (told, unread)))
