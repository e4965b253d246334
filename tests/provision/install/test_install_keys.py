"""Host keys in the state store and in the file that ssh reads; a first login to a real sshd."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fabricctl.adapters.command import Deadline
from fabricctl.adapters.known_hosts import recorded_keys, site_file
from fabricctl.adapters.ssh_config import SshOptions, SshTarget, read_config, resolve
from fabricctl.adapters.ssh_login import log_in
from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.store import Store, open_store
from fabricctl.errors import HostKeyError, StateError, UsageError
from fabricctl.site.load import load_site
from fabricctl.workflows.verify_cabling import Request, observe
from provision.install.host_keys import HostKeyRecord
from provision.workflows.install_keys import HostKeys, make_host_key
from tests.sim.sshd import Sshd, sshd_program

WHEN = datetime(2026, 11, 30, 12, tzinfo=UTC)
NAMES = ("gpu001", "gpu001.example.org", "192.0.2.7")


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with open_store(parse_location(str(tmp_path / "state.sqlite"), said_by="test"), site="hall") as opened:
        yield opened


@pytest.fixture
def keys(store: Store, tmp_path: Path) -> HostKeys:
    return HostKeys(store, tmp_path / "state" / "hall.known_hosts", "op@controller", "install", lambda: WHEN)


def known(keys: HostKeys, name: str = "gpu001") -> list[str]:
    found = recorded_keys([str(keys.file)], name, 22)
    return [f"{key.line}" for key in found]


def publics(keys: HostKeys, host: str = "gpu001") -> tuple[str, ...]:
    return keys.records([host]).get(host, HostKeyRecord()).keys


def test_a_key_is_in_store_and_file_before_anything_is_sent(keys: HostKeys) -> None:
    made = keys.offer({"gpu001": NAMES})["gpu001"]
    assert publics(keys) == (made.public,)
    assert all(len(known(keys, name)) == 1 for name in NAMES)


def test_an_unknown_outcome_keeps_both_and_the_next_acceptance_one(keys: HostKeys) -> None:
    old = keys.offer({"gpu001": NAMES})["gpu001"].public
    keys.accepted("gpu001", old)
    lost = keys.offer({"gpu001": NAMES})["gpu001"].public
    assert publics(keys) == (old, lost)
    third = keys.offer({"gpu001": NAMES})["gpu001"].public
    assert publics(keys) == (old, lost, third)
    assert len(known(keys)) == 3
    keys.accepted("gpu001", third)
    assert publics(keys) == (third,)
    assert len(known(keys)) == 1


def test_a_refusal_leaves_what_was_there(keys: HostKeys) -> None:
    old = keys.offer({"gpu001": NAMES})["gpu001"].public
    keys.accepted("gpu001", old)
    keys.refused("gpu001", keys.offer({"gpu001": NAMES})["gpu001"].public)
    assert publics(keys) == (old,)


def test_hosts_do_not_touch_each_other(keys: HostKeys) -> None:
    made = keys.offer({f"gpu{n:03}": (f"gpu{n:03}",) for n in range(1, 4)})
    keys.accepted("gpu002", made["gpu002"].public)
    assert {host: publics(keys, host) for host in made} == {host: (key.public,) for host, key in made.items()}


def test_the_private_half_is_in_no_file_whatever_happens(
    keys: HostKeys, store: Store, tmp_path: Path
) -> None:
    made = [keys.offer({"gpu001": NAMES})["gpu001"] for _ in range(3)]
    keys.refused("gpu001", made[0].public)
    keys.accepted("gpu001", made[2].public)
    # what follows the public half, which an OpenSSH private key repeats near its beginning
    lines = [line for key in made for line in key.private.reveal().splitlines()[4:-1]]
    written = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert len(lines) == 6
    assert b"ssh-ed25519" in written
    assert not any(line.encode() in written for line in lines)
    assert b"PRIVATE KEY" not in written


def test_the_file_is_for_its_owner_and_a_lost_one_is_written_again(keys: HostKeys) -> None:
    keys.offer({"gpu001": NAMES})
    assert keys.file.stat().st_mode & 0o777 == 0o600
    before = keys.file.read_text()
    keys.file.unlink()
    keys.write()
    assert keys.file.read_text() == before


def test_a_file_that_cannot_be_written_stops_the_installation(store: Store, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("")
    keys = HostKeys(store, tmp_path / "taken" / "hall.known_hosts", "op", "install", lambda: WHEN)
    with pytest.raises(StateError, match="cannot be written"):
        keys.offer({"gpu001": NAMES})


def test_a_name_that_is_a_pattern_stops_the_installation_and_records_nothing(keys: HostKeys) -> None:
    with pytest.raises(UsageError):
        keys.offer({"gpu001": ("*",)})
    assert keys.records() == {}


def test_the_site_s_file_lies_beside_its_state(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert site_file("hall") == str(tmp_path / "fabricctl" / "hall.known_hosts")


def first_login(server: Sshd, recorded: Path, folder: Path) -> None:
    nobody = folder / "nobody_knows"
    nobody.touch()
    options = SshOptions((str(nobody),), (str(server.key),), use_agent=False, recorded=(str(recorded),))
    target = SshTarget("127.0.0.1", server.user, server.port)
    login = resolve(target, options, read_config(options), "gpu001")
    log_in(login, Deadline(10), viewer="gpu001").close()


@pytest.mark.slow
@pytest.mark.skipif(sshd_program() is None, reason="sshd is not installed")
def test_the_first_login_to_a_host_with_its_recorded_key_is_verified(store: Store, tmp_path: Path) -> None:
    made = make_host_key()
    with Sshd() as other, Sshd(host_key=(made.private.reveal(), made.public)) as server:
        keys = HostKeys(store, tmp_path / "hall.known_hosts", "op", "install", make=lambda: made)
        keys.offer({"gpu001": ("127.0.0.1",)}, port=server.port)
        first_login(server, keys.file, tmp_path)
        with pytest.raises(HostKeyError):
            first_login(other, keys.file, tmp_path)


HALL = "name: hall\nnode_models: {m: {hcas: [mlx5_0]}}\nnodes: {gpu001: {model: m}}\n"


@pytest.mark.slow
@pytest.mark.skipif(sshd_program() is None, reason="sshd is not installed")
def test_verify_cabling_takes_the_keys_recorded_for_its_site_and_no_other_site_s(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    nobody, tool = tmp_path / "nobody_knows", tmp_path / "ibnetdiscover"
    nobody.touch()
    tool.write_text(
        '#!/bin/sh\nprintf \'Switch 2 "S-0000000000000001" # "leaf" base port 0 lid 1 lmc 0\\n\'\n'
    )
    tool.chmod(0o755)
    made = make_host_key()
    site = load_site(HALL, "site.yaml")
    with Sshd([tmp_path], host_key=(made.private.reveal(), made.public)) as server:
        keys = HostKeys(store, Path(site_file("hall")), "op", "install", make=lambda: made)
        keys.offer({"gpu001": ("127.0.0.1",)}, port=server.port)
        viewer = f"ssh://{server.user}@127.0.0.1:{server.port}"
        request = Request(viewers=[viewer], known_hosts=[str(nobody)], key_files=[str(server.key)])
        here = observe(request, (), lambda _: None, site=site)
        assert [source.failed for source in here.sources] == [""]
        other = load_site(HALL.replace("hall", "other"), "site.yaml")
        elsewhere = observe(request, (), lambda _: None, site=other)
    assert "host key is unknown" in elsewhere.sources[0].failed
