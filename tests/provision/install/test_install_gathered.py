"""Many host keys at once: few writes, and the event loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import textwrap
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

import pytest

from fabricctl.adapters.known_hosts import recorded_keys
from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import UsageError
from provision.install.cloud_init import UserData
from provision.workflows.install_gathered import Gathered
from provision.workflows.install_keys import Change, HostKeys
from provision.workflows.install_seeds import SiteSeeds

HOLD = """
    import sys, time
    from pathlib import Path
    from fabricctl.adapters.locks import held
    with held(Path(sys.argv[1])):
        print("held", flush=True)
        time.sleep(1.0)
"""


@dataclass(frozen=True)
class Counted(HostKeys):
    """:param writes: changes of each write."""

    writes: list[int] = field(default_factory=list)

    def apply(self, changes: Sequence[Change]) -> list[Exception | None]:
        self.writes.append(len(changes))
        return super().apply(changes)


def test_what_comes_during_a_write_goes_into_the_next_one() -> None:
    written: list[int] = []

    def write(some: Sequence[int]) -> list[Exception | None]:
        time.sleep(0.02)
        written.append(len(some))
        return [None] * len(some)

    async def all() -> None:
        gathered = Gathered(write)
        await asyncio.gather(*(gathered.do(number) for number in range(100)))

    asyncio.run(all())
    assert sum(written) == 100
    assert len(written) <= 2


def test_an_error_is_told_to_whom_it_is_about_and_to_nobody_else() -> None:
    def write(some: Sequence[int]) -> list[Exception | None]:
        return [ValueError(f"{one}") if one == 3 else None for one in some]

    async def all() -> list[object]:
        gathered = Gathered(write)
        return await asyncio.gather(*(gathered.do(n) for n in range(5)), return_exceptions=True)

    assert [str(one) for one in asyncio.run(all())] == ["None", "None", "None", "3", "None"]


def test_a_write_that_fails_is_told_to_all_it_was_for() -> None:
    def write(some: Sequence[int]) -> list[Exception | None]:
        raise OSError(f"{len(some)} are lost")

    async def all() -> list[object]:
        gathered = Gathered(write)
        return await asyncio.gather(*(gathered.do(n) for n in range(3)), return_exceptions=True)

    assert {type(one) for one in asyncio.run(all())} == {OSError}


def test_keys_of_511_hosts_are_few_writes_and_one_bad_name_is_one_host(tmp_path: Path) -> None:
    hosts = [f"gpu{number:03}" for number in range(1, 512)]
    with open_store(parse_location(str(tmp_path / "s.sqlite"), said_by="test"), site="hall") as store:
        keys = Counted(store, tmp_path / "known_hosts", "me", "r")
        seeds = SiteSeeds(keys, UserData(), {"gpu002": ["gpu002.lab.example."]})

        async def all() -> list[object]:
            made = await asyncio.gather(*map(seeds.make, hosts), return_exceptions=True)
            await asyncio.gather(*(seeds.accepted(host) for host in hosts if host != "gpu002"))
            return list(made)

        made = asyncio.run(all())
        assert [at for at, one in enumerate(made) if isinstance(one, UsageError)] == [1]
        assert set(keys.records()) == set(hosts) - {"gpu002"}
        assert {len(record.keys) for record in keys.records().values()} == {1}
    assert len(recorded_keys([str(tmp_path / "known_hosts")], "gpu511", 22)) == 1
    assert (tmp_path / "known_hosts").stat().st_mode & 0o777 == 0o600
    assert sum(keys.writes) == 511 + 510
    assert len(keys.writes) <= 6, "each of them writes the keys of all hosts"


def test_while_somebody_else_writes_the_file_everything_else_goes_on(tmp_path: Path) -> None:
    lock = tmp_path / "known_hosts.lock"
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(lock)]
    with open_store(parse_location(str(tmp_path / "s.sqlite"), said_by="test"), site="hall") as store:
        seeds = SiteSeeds(HostKeys(store, tmp_path / "known_hosts", "me", "r"), UserData())

        async def all() -> float:
            beats = [time.monotonic()]

            async def beat() -> None:
                while True:
                    await asyncio.sleep(0.02)
                    beats.append(time.monotonic())

            beating = asyncio.create_task(beat())
            await asyncio.wait_for(seeds.make("gpu001"), 20)
            beating.cancel()
            return max(after - before for before, after in pairwise(beats))

        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == b"held\n"
            longest = asyncio.run(all())
    assert longest < 0.7, "the loop stood still while the lock was waited for"


@pytest.mark.parametrize("at_once", [1, 40])
def test_a_second_round_works_after_the_first_has_ended(at_once: int) -> None:
    def write(some: Sequence[int]) -> list[Exception | None]:
        return [None] * len(some)

    gathered = Gathered(write)

    async def all() -> None:
        await asyncio.gather(*(gathered.do(number) for number in range(at_once)))

    asyncio.run(asyncio.wait_for(all(), 10))
    asyncio.run(asyncio.wait_for(all(), 10))


def test_keys_that_are_changed_from_many_sides_at_once_are_all_kept(tmp_path: Path) -> None:
    with open_store(parse_location(str(tmp_path / "s.sqlite"), said_by="test"), site="hall") as store:
        sides = [
            SiteSeeds(HostKeys(store, tmp_path / "known_hosts", "me", "r"), UserData()) for _ in range(12)
        ]

        async def all() -> None:
            await asyncio.gather(*(side.make("gpu001") for side in sides))

        asyncio.run(all())
        assert len(sides[0].keys.records()["gpu001"].keys) == len(sides)
