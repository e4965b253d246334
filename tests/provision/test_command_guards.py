"""Whom a command may ask at all: nobody at an address of two hosts, nobody but the machine that should answer."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.provision.halls import Hall
from tests.sim.idrac import PASSWORD_VARIABLE, Simulator

CHANGES = [
    "power on gpu001",
    "power off gpu001 --force",
    "power cycle all",
    "boot pxe gpu001",
    "media insert gpu001 http://192.0.2.10/node.iso --no-boot",
    "media eject gpu001",
    "bios set gpu001 SysProfile=PerfOptimized",
    "locate gpu001 on",
    "jobs clear gpu001 --id JID_1",
    "credentials rotate gpu001",
]
READS = [
    "status",
    "clock",
    "trust",
    "logs",
    "harvest",
    "sessions",
    "power status",
    "boot status",
    "media status",
    "jobs list",
    "firmware list",
    "bios get all",
]


@pytest.fixture
def hall(
    simulator: Callable[..., Simulator],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Hall:
    sim = simulator(2)
    monkeypatch.setenv(PASSWORD_VARIABLE, sim.password)
    hall = Hall(tmp_path, sim, capsys, password=f"env:{PASSWORD_VARIABLE}")
    rewrite(hall, "{port", "{verify: 'off', port")
    return hall


def rewrite(hall: Hall, old: str, new: str) -> None:
    path = Path(hall.path)
    assert old in path.read_text()
    path.write_text(path.read_text().replace(old, new))


def asked(hall: Hall) -> list[str]:
    return [f"{one.method} {one.path}" for bmc in hall.sim for one in bmc.requests]


@pytest.mark.parametrize("command", CHANGES)
def test_nothing_is_changed_through_an_address_of_two_hosts(hall: Hall, command: str) -> None:
    rewrite(hall, f"gpu002: {hall.sim.addresses[1]}", f"gpu002: {hall.sim.addresses[0]}")
    code, _, err = hall.run(*command.split(), "--yes")
    assert code == 2
    assert "gives one BMC address to gpu[001-002]" in err
    assert asked(hall) == []


def test_hosts_with_addresses_of_their_own_are_changed_all_the_same(hall: Hall) -> None:
    rewrite(hall, "gpu001,gpu002", "gpu001,gpu002,gpu003")
    rewrite(hall, "bmc_addresses: {", f"bmc_addresses: {{gpu003: {hall.sim.addresses[1]}, ")
    rewrite(hall, "  bmc_access:\n", f"  bmc_access:\n    gpu003: {{port: {hall.sim.port}}}\n")
    assert hall.run("locate", "gpu002", "on", "--yes")[0] == 2
    assert hall.run("locate", "gpu001", "on", "--yes")[0] == 0


@pytest.mark.parametrize("command", CHANGES)
def test_another_machine_than_the_right_one_is_sent_neither_password_nor_command(
    hall: Hall, command: str
) -> None:
    hall.sim.cross_cables("gpu001", "gpu002")
    code, out, err = hall.run(*command.split(), "--yes")
    assert code == 3, out + err
    assert "another machine answers" in out + err
    assert {one.split()[0] for one in asked(hall)} == {"GET"}


@pytest.mark.parametrize("command", [*READS, *CHANGES])
def test_where_no_bmc_has_an_address_nothing_is_a_success(hall: Hall, command: str) -> None:
    path = Path(hall.path)
    kept = [line for line in path.read_text().splitlines() if "bmc_addresses" not in line]
    path.write_text("\n".join(kept) + "\n")
    words = ["all" if word == "gpu001" else word for word in command.split()]
    more = ["--yes"] if command in CHANGES else []
    code, out, err = hall.run(*words, *more)
    assert code == 2, out + err
    assert "nothing to ask" in err
