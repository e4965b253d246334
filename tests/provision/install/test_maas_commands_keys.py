"""Host keys from ``fabricctl maas deploy`` to the first login, and what the pools of a host are before it is wiped."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat, load_ssh_private_key
from ruamel.yaml import YAML

from fabricctl.adapters.command import Deadline
from fabricctl.adapters.ssh_config import SshOptions, SshTarget, read_config, resolve
from fabricctl.adapters.ssh_login import log_in
from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import HostKeyError
from fabricctl.nodes.facts import Value
from provision.install import host_keys, zfs
from provision.workflows.install_keys import make_host_key
from tests.provision.install.maas_hall import MaasHall, ready
from tests.provision.install.zpool_texts import FUSE_LIST, FUSE_STATUS
from tests.sim.sshd import Sshd, sshd_program

pytestmark = [pytest.mark.slow, pytest.mark.skipif(sshd_program() is None, reason="sshd is not installed")]
Start = Callable[..., MaasHall]
HOST = "gpu001"
POOLS = "pool data (5 disks, ONLINE, 284672 bytes used) will be lost; pool scratch"


@pytest.fixture
def hall(hall_of: Start) -> MaasHall:
    """One host, installed."""
    hall = ready(hall_of(1))
    hall.do("deploy", "all", "--yes")
    return hall


def installed_key(hall: MaasHall) -> tuple[str, str]:
    """Private and public half as the machine got them in its user data."""
    text = hall.maas.double.machine(HOST).user_data.decode()
    keys = YAML(typ="safe").load(StringIO(text))["ssh_keys"]
    return keys["ed25519_private"], keys["ed25519_public"]


def of_private(private: str) -> str:
    """The public half that belongs to a private one: type and key."""
    public = load_ssh_private_key(private.encode(), None).public_key()
    return public.public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode()


def bare(public: str) -> str:
    """A public key without a comment."""
    return " ".join(public.split()[:2])


def known_hosts(hall: MaasHall) -> Path:
    """The file of recorded keys."""
    (found,) = (hall.folder / "home").rglob("*.known_hosts")
    return found


def fact(hall: MaasHall, field: str) -> Value:
    """What the store holds of the host."""
    location = parse_location(str(hall.folder / "hall.sqlite"), said_by="test")
    with open_store(location, site="simulated") as store:
        return store.facts.current([HOST], field=field)[HOST][-1].fact.value


def test_the_private_key_a_machine_got_belongs_to_the_recorded_public_key(hall: MaasHall) -> None:
    private, public = installed_key(hall)
    assert of_private(private) == bare(public)
    lines = [line.split() for line in known_hosts(hall).read_text().splitlines() if line.startswith(HOST)]
    assert {" ".join(line[1:3]) for line in lines} == {bare(public)}
    record = host_keys.read_record(fact(hall, host_keys.FIELD))
    assert record is not None
    assert [bare(key) for key in record.keys] == [bare(public)]


def test_a_redeploy_makes_another_key_and_forgets_the_old_one(hall: MaasHall) -> None:
    _, old = installed_key(hall)
    hall.do("deploy", "all", "--redeploy", "--again", "--yes")
    private, new = installed_key(hall)
    assert bare(new) != bare(old)
    assert of_private(private) == bare(new)
    kept = known_hosts(hall).read_text()
    assert bare(new) in kept
    assert bare(old) not in kept


def log_in_once(hall: MaasHall, server: Sshd) -> None:
    """A first login with the recorded keys alone. :raises HostKeyError: it is not the recorded key."""
    nobody, config = hall.folder / "nobody", hall.folder / "config"
    nobody.touch()
    config.write_text(
        f"Host {HOST}\n  HostName 127.0.0.1\n  Port {server.port}\n  User {server.user}\n  HostKeyAlias {HOST}\n"
    )
    options = SshOptions(
        (str(nobody),), (str(server.key),), str(config), (str(known_hosts(hall)),), use_agent=False
    )
    login = resolve(SshTarget(HOST), options, read_config(options), HOST)
    log_in(login, Deadline(20), viewer=HOST).close()


def test_ssh_takes_the_key_the_machine_got_at_first_contact_and_no_other(hall: MaasHall) -> None:
    with Sshd(host_key=installed_key(hall)) as server:
        log_in_once(hall, server)
    other = make_host_key()
    with Sshd(host_key=(other.private.reveal(), other.public)) as server, pytest.raises(HostKeyError):
        log_in_once(hall, server)


@contextmanager
def with_pools(hall: MaasHall) -> Iterator[Sshd]:
    """The installed host answers, and its zpool tells of two pools."""
    tools = hall.folder / "bin"
    tools.mkdir()
    listed, status = shlex.quote(FUSE_LIST), shlex.quote(FUSE_STATUS)
    script = f"case $1 in list) printf %s {listed};; status) printf %s {status};; esac"
    (tools / "zpool").write_text(f"#!/bin/sh\n{script}\n")
    (tools / "zpool").chmod(0o755)
    home = hall.folder / "operator"
    (home / ".ssh").mkdir(parents=True)
    hall.environ["HOME"] = str(home)
    with Sshd([tools], login_path="/usr/bin:/bin", host_key=installed_key(hall)) as server:
        (home / ".ssh" / "config").write_text(
            f"Host {HOST}\n  HostName 127.0.0.1\n  Port {server.port}\n  User {server.user}\n"
            f"  HostKeyAlias {HOST}\n  IdentityFile {server.key}\n"
        )
        yield server


def test_the_plan_of_a_redeploy_names_the_pools_that_are_lost_and_keeps_them_as_fact(hall: MaasHall) -> None:
    with with_pools(hall):
        ran = hall.run("maas", "deploy", "all", "--redeploy", "--again")
    assert ran.code == 2
    assert POOLS in " ".join(ran.out.split()), ran.all
    assert fact(hall, zfs.FIELD) == zfs.read_pools(FUSE_LIST, FUSE_STATUS).as_value()
    assert hall.statuses == {HOST: "Deployed"}


def test_a_redeploy_says_what_was_lost_and_the_fact_outlives_it(hall: MaasHall) -> None:
    with with_pools(hall):
        ran = hall.do("deploy", "all", "--redeploy", "--again", "--yes")
    assert POOLS in " ".join(ran.out.partition("deploy: 1 of 1")[2].split()), ran.all
    assert fact(hall, zfs.FIELD) == zfs.read_pools(FUSE_LIST, FUSE_STATUS).as_value()
    assert "PRIVATE KEY" not in ran.all
