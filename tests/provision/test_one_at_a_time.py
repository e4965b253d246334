"""Two commands on one BMC at once: the second one sends nothing, and says who is at it."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from fabricctl.adapters.locks import HeldError, held, holder_of
from fabricctl.adapters.store.location import state_folder
from fabricctl.errors import SecretError
from provision.secrets.store import credentials_for
from tests.provision.halls import Hall
from tests.provision.key_desk import Keys, Killed
from tests.sim.idrac import PASSWORD_VARIABLE, Simulator

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
def hall(
    simulator: Callable[..., Simulator],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> Hall:
    sim = simulator(2)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv(PASSWORD_VARIABLE, sim.password)
    hall = Hall(tmp_path, sim, capsys, password=f"env:{PASSWORD_VARIABLE}")
    assert hall.run("trust", "--yes")[0] == 0
    return hall


def lock_of(hall: Hall, at: int) -> Path:
    return state_folder() / "locks" / f"{hall.sim.addresses[at]}_{hall.sim.port}.lock"


@pytest.mark.parametrize(
    "command", ["locate gpu[001-002] on", "bios set gpu[001-002] SysProfile=PerfOptimized"]
)
def test_a_bmc_that_is_being_changed_is_left_alone_and_the_others_are_not(hall: Hall, command: str) -> None:
    with somebody_else(lock_of(hall, 0)) as pid:
        code, out, err = hall.run(*command.split(), "--yes")
    assert code == 3, out + err
    assert f"it is being changed by PID {pid} of " in out + err
    kinds = [{one.method for one in bmc.requests if "Session" not in one.path} for bmc in hall.sim]
    assert kinds[0] == {"GET"}
    assert "PATCH" in kinds[1]
    if command.startswith("locate"):
        assert hall.run(*command.split(), "--yes")[0] == 0


def test_reading_goes_on_while_somebody_changes(hall: Hall) -> None:
    with somebody_else(lock_of(hall, 0)):
        assert hall.run("power", "status")[0] == 0


def test_a_lock_dies_with_its_holder_and_says_nothing_then(tmp_path: Path) -> None:
    path = tmp_path / "locks" / "a.lock"
    with somebody_else(path) as pid:
        assert f"PID {pid} of " in holder_of(path)
        with pytest.raises(HeldError, match=f"PID {pid} of "), held(path):
            pass
        os.kill(pid, 9)
    assert holder_of(path) == ""
    with held(path):
        assert f"PID {os.getpid()} of " in holder_of(path)
    assert (holder_of(path), path.read_text()) == ("", "")


def test_a_name_of_another_lock_is_nobodys(tmp_path: Path) -> None:
    assert holder_of(tmp_path / "none") == ""


def test_a_change_of_passwords_that_is_under_way_is_not_called_interrupted(
    simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    desk = Keys(Hall(tmp_path, simulator(1), capsys)).start()
    with pytest.raises(Killed):
        desk.rotate(stop="kept")
    with somebody_else(tmp_path / ".hall.secrets.rotate") as pid:
        with pytest.raises(SecretError, match=f"being changed by PID {pid} of ") as caught:
            credentials_for(desk.hall.site, desk.store, desk.targets[0])
        assert "interrupted" not in str(caught.value)
        assert f"being changed by PID {pid} of " in desk.hall.run("credentials", "list")[1]
        _, out, err = desk.hall.run("power", "status")
        assert "password of it" not in out + err
        code, _, err = desk.hall.run("credentials", "rotate", "all", "--yes")
        assert (code, f"PID {pid} of " in err) == (2, True)
    with pytest.raises(SecretError, match="was interrupted"):
        credentials_for(desk.hall.site, desk.store, desk.targets[0])
