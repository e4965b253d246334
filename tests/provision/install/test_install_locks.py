"""Two commands on the same hosts at once: the second one leaves them alone, and says who is at them."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabricctl.adapters.locks import held, holder_of
from fabricctl.errors import StateError
from provision.install.outcome import End, NodeResult, Told
from provision.workflows.install_locks import alone
from provision.workflows.install_model import Progress
from provision.workflows.install_release import release
from tests.provision.install.flow_kit import Client, Kit, by_host, flow_kit, hosts_of

HOLD = """
    import sys
    from pathlib import Path
    from fabricctl.adapters.locks import held
    with held(Path(sys.argv[1])):
        print("held", flush=True)
        sys.stdin.read()
"""


@contextmanager
def somebody_else(path: Path) -> Iterator[int]:
    """Another process holds a lock. Gives its PID."""
    path.parent.mkdir(parents=True, exist_ok=True)
    command = [sys.executable, "-c", textwrap.dedent(HOLD), str(path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"held\n"
        try:
            yield process.pid
        finally:
            process.stdin.close()


@pytest.fixture
def kit(tmp_path: Path) -> Iterator[Kit]:
    with flow_kit(tmp_path) as kit:
        kit.more = {"locks": tmp_path / "locks"}
        yield kit


def lock_of(kit: Kit, host: str) -> Path:
    return Path(kit.more["locks"]) / f"{host}.lock"


async def released(client: Client, hosts: list[str]) -> list[NodeResult]:
    return await release(client.maas, hosts, client.options)


@pytest.mark.parametrize("verb", ["enrol", "commission", "deploy", "release"])
def test_a_host_somebody_is_at_is_left_alone_and_the_others_are_not(kit: Kit, verb: str) -> None:
    hosts = hosts_of(2)
    before = {"enrol": [], "commission": ["enrol"], "deploy": ["enrol", "commission"]}
    for step in before.get(verb, ["enrol", "commission", "deploy"]):
        kit.run(lambda client, step=step: getattr(client, step)(hosts))  # type: ignore[misc]
    state, sent = kit.ends().get("gpu001"), len(kit.store.events.all(subjects=["gpu001"]))
    with somebody_else(lock_of(kit, "gpu001")) as pid:
        results = by_host(
            kit.run(lambda c: released(c, hosts) if verb == "release" else getattr(c, verb)(hosts))
        )
    left = results["gpu001"]
    assert (left.outcome, left.end, left.written) == (Told.UNKNOWN, End.NOT_STARTED, False)
    assert left.reason.startswith(f"it is being changed by PID {pid} of ")
    assert kit.ends().get("gpu001") == state
    assert len(kit.store.events.all(subjects=["gpu001"])) == sent
    assert results["gpu002"].outcome is Told.OK
    assert kit.ends()["gpu002"] != state


def test_two_runs_of_one_process_exclude_each_other_too(kit: Kit) -> None:
    hosts = hosts_of(2)

    async def ready(client: Client) -> None:
        await client.enrol(hosts)
        await client.commission(hosts)

    async def both(client: Client) -> list[list[NodeResult]]:
        return list(await asyncio.gather(client.deploy(hosts), client.deploy(hosts)))

    kit.run(ready)
    first, second = kit.run(both)
    assert {one.end for one in first} == {End.DEPLOYED}
    assert {one.end for one in second} == {End.NOT_STARTED}
    assert all(f"PID {os.getpid()} of " in one.reason for one in second)
    assert sorted(kit.keys.made) == hosts


def test_a_host_is_let_go_as_soon_as_it_is_finished_and_all_are_at_the_end(kit: Kit) -> None:
    hosts = hosts_of(2)
    kit.run(lambda client: client.enrol(hosts))
    seen: dict[str, dict[str, bool]] = {}

    def heard(progress: Progress) -> None:
        if progress.ended is not None:
            seen[progress.host] = {host: bool(holder_of(lock_of(kit, host))) for host in hosts}

    kit.more |= {"progress": heard, "wave": 1, "deploying": 1}
    kit.run(lambda client: client.commission(hosts))
    (first, then), (last, end) = seen.items()
    assert then == {first: False, last: True}
    assert end == {first: False, last: False}


def test_a_killed_command_leaves_no_lock_behind(tmp_path: Path) -> None:
    path = tmp_path / "gpu001.lock"
    with somebody_else(path) as pid, alone(tmp_path, ["gpu001"]) as locks:
        assert f"PID {pid} of " in locks.busy["gpu001"]
    with alone(tmp_path, ["gpu001"]) as locks:
        assert locks.busy == {}


def test_more_hosts_than_files_may_usually_be_open_can_be_locked(tmp_path: Path) -> None:
    hosts = [f"gpu{number:04}" for number in range(1500)]
    with alone(tmp_path, hosts) as locks:
        assert locks.busy == {}
        assert holder_of(tmp_path / "gpu1499.lock")
    with held(tmp_path / "gpu0000.lock"):
        pass


def test_a_folder_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StateError, match="cannot be locked"), alone(tmp_path / "file", ["gpu001"]):
        pass


def test_no_folder_keeps_nobody_out() -> None:
    with alone(None, ["gpu001"]) as locks:
        assert locks.result("gpu001") is None
