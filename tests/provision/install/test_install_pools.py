"""Keeping the state of ZFS pools: a real sshd whose host has a zpool that prints what real ones print."""

from __future__ import annotations

import asyncio
import shlex
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.adapters.ssh_config import SshOptions
from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.store import Store, open_store
from provision.install.zfs import FIELD, Pools, read_pools, read_record
from provision.workflows.install_pools import PoolExport
from tests.provision.install.zpool_texts import FUSE_LIST, FUSE_STATUS
from tests.sim.sshd import Sshd, free_port, sshd_program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sshd_program() is None, reason="sshd is not installed")]

WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
ZPOOL = "case $1 in list) printf %s {listed};; status) printf %s {status};; esac\n"
GOOD = ZPOOL.format(listed=shlex.quote(FUSE_LIST), status=shlex.quote(FUSE_STATUS))
Ask = Callable[..., str]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(parse_location(str(tmp_path / "state.sqlite"), said_by="test"), site="hall") as opened:
        yield opened


@pytest.fixture
def ask(store: Store, tmp_path: Path) -> Ask:
    """Ask gpu001, whose zpool is this script; None: it has none."""

    def asked(
        script: str | None = GOOD, *, known: bool = True, listens: bool = True, deadline_s: float = 10
    ) -> str:
        tools = tmp_path / "bin"
        tools.mkdir(exist_ok=True)
        (tools / "zpool").unlink(missing_ok=True)
        if script is not None:
            (tools / "zpool").write_text(f"#!/bin/sh\n{script}\n")
            (tools / "zpool").chmod(0o755)
        with Sshd([tools], login_path="/usr/bin:/bin") as server:
            port = server.port if listens else free_port("127.0.0.1")
            config = tmp_path / "config"
            config.write_text(f"Host gpu001\n  HostName 127.0.0.1\n  Port {port}\n  User {server.user}\n")
            nobody = tmp_path / "nobody_knows"
            nobody.touch()
            recorded = (str(server.known_hosts),) if known else ()
            options = SshOptions(
                (str(nobody),), (str(server.key),), str(config), recorded=recorded, use_agent=False
            )
            export = PoolExport(store, options, "op", "deploy", deadline_s, lambda: WHEN)
            return asyncio.run(export("gpu001"))

    return asked


def kept(store: Store) -> Pools | None:
    facts = store.facts.current(["gpu001"], field=FIELD).get("gpu001", [])
    return read_record(facts[-1].fact.value) if facts else None


def test_pools_are_kept_and_said(ask: Ask, store: Store) -> None:
    assert ask() == (
        "pool data (5 disks, ONLINE, 284672 bytes used) will be lost; "
        "pool scratch (1 disk, ONLINE, 97792 bytes used) will be lost"
    )
    assert kept(store) == read_pools(FUSE_LIST, FUSE_STATUS)


def test_a_host_without_pools_has_none(ask: Ask, store: Store) -> None:
    assert ask("[ $1 = list ] || echo 'no pools available'") == "no ZFS pools"
    assert kept(store) == Pools()


def test_an_error_of_zpool_is_no_empty_list(ask: Ask, store: Store) -> None:
    told = ask("echo 'The ZFS modules are not loaded.' >&2; exit 1")
    assert told == (
        "could not tell of its ZFS pools: gpu001: zpool list ended with exit code 1: The ZFS modules are not loaded."
    )
    assert kept(store) is None


def test_a_host_that_does_not_answer_is_said_with_what_was_kept(ask: Ask, store: Store) -> None:
    ask()
    told = ask(listens=False)
    assert told.startswith("could not tell of its ZFS pools: gpu001: ")
    assert "; on 2026-11-30 there was: pool data (5 disks, ONLINE, 284672 bytes used)" in told
    assert kept(store) == read_pools(FUSE_LIST, FUSE_STATUS)


def test_a_host_with_a_key_nobody_recorded_is_not_asked(ask: Ask, store: Store) -> None:
    assert "host key is unknown" in ask(known=False)
    assert kept(store) is None


def test_a_zpool_that_hangs_ends_at_the_deadline(ask: Ask) -> None:
    assert "could not tell of its ZFS pools: gpu001: " in ask("sleep 60", deadline_s=2)
