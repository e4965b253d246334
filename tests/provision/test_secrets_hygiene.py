"""Where passwords of BMCs may not be: output of any form, logs, tracebacks, the state store, other processes."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import time
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from fabricctl.cli.main import main
from fabricctl.errors import FabricctlError
from fabricctl.site.load import load_site
from provision.bmc.secret import Secret
from tests.hunt import patterns
from tests.provision.halls import Hall
from tests.provision.leaks import assert_no_secret
from tests.sim.idrac import PASSWORD_VARIABLE, Simulator
from tests.sim.idrac.users import MARKER
from tests.sim.postgres import Postgres, find_program

ROOT = Path(__file__).resolve().parents[2]


class Desk:
    """A hall with imported factory passwords and recorded certificates."""

    def __init__(self, hall: Hall) -> None:
        self.hall = hall
        self.list = hall.folder / "factory.csv"
        for number, bmc in enumerate(hall.sim):
            bmc.users["root"] = f"{MARKER}-factory-{number}"
        rows = "".join(f"{bmc.service_tag},{bmc.users['root']}\n" for bmc in hall.sim)
        self.list.write_text("Service Tag,Password\n" + rows)
        self.list.chmod(0o600)
        hall.run("credentials", "import", str(self.list))
        hall.run("trust", "--yes")

    @property
    def words(self) -> list[str]:
        """Every password that is or was."""
        kept = (self.hall.folder / "hall.secrets").read_text()
        old = [line.split(",")[1] for line in self.list.read_text().splitlines()[1:]]
        now = [bmc.users["root"] for bmc in self.hall.sim]
        assert all(word in kept for word in now)
        return [*old, *now]


@pytest.fixture
def desk(simulator: Callable[..., Simulator], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Desk:
    return Desk(Hall(tmp_path, simulator(2), capsys))


def test_neither_output_nor_state_store_nor_log_holds_a_password(
    desk: Desk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    said = ""
    for line in (
        ["credentials", "rotate", "all", "--yes", "--format", "json"],
        ["credentials", "rotate", "gpu001", "--yes"],
        ["credentials", "list"],
        ["credentials", "list", "--format", "csv"],
        ["trust", "--format", "json"],
        ["scan", "--format", "markdown"],
    ):
        code, out, err = desk.hall.run(*line)
        assert code == 0, err
        said += out + err
    words = desk.words
    assert len(set(words)) == 4
    for word in words:
        assert word not in said
        assert word not in caplog.text
    assert_no_secret([desk.hall.folder], words, but={"hall.secrets", "factory.csv"})


@pytest.mark.parametrize("broken", ["mode", "json", "entry", "site", "list"])
def test_a_traceback_of_debug_holds_no_password(
    desk: Desk, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    kept, words = desk.hall.folder / "hall.secrets", desk.words
    arguments = ["credentials", "rotate", "all", "--yes"]
    if broken == "mode":
        kept.chmod(0o644)
    elif broken == "json":
        kept.write_text(kept.read_text()[:-40])
    elif broken == "entry":
        kept.write_text(kept.read_text().replace('"since"', '"when"'))
    elif broken == "site":
        kept.write_text(kept.read_text().replace('"hall"', '"annex"'))
    else:
        desk.list.write_text(desk.list.read_text() + f"{words[0]},{words[1]}\n")
        arguments = ["credentials", "import", str(desk.list)]
    assert main(["bmc", *arguments, "--site", desk.hall.path], debug=True) != 0
    kept.chmod(0o600)
    shown = "".join(capsys.readouterr())
    assert "Traceback (most recent call last)" in shown
    for word in words:
        assert word not in shown


@pytest.mark.slow
def test_a_postgresql_state_store_holds_no_password_after_harvest_rotation_and_power(
    desk: Desk, postgres: Postgres
) -> None:
    desk.hall.sim.clock.speed = 1000.0
    url = postgres.new_database()
    site = Path(desk.hall.path)
    site.write_text(site.read_text().replace("hall.sqlite", f"'{url}'"))
    for line in (
        ["trust", "--yes"],
        ["harvest", "all", "--full"],
        ["credentials", "rotate", "all", "--yes"],
        ["power", "off", "all", "--force", "--yes"],
        ["harvest", "all", "--quick"],
    ):
        code, out, err = desk.hall.run(*line)
        assert code == 0, (line, out, err)
    program = find_program("pg_dump")
    assert program is not None
    dump = subprocess.run([program, "--inserts", "--dbname", url], capture_output=True, check=True).stdout
    own = desk.hall.sim[0].identity
    for known in (own["tag"], own["mac:NIC.Embedded.1-1-1"].lower(), "node.power", "bmc.password"):
        assert known.encode() in dump, "the dump shows what was done"
    assert not any(pattern in dump for pattern in patterns([MARKER, *desk.words]))


def test_a_password_typed_into_the_site_file_is_refused_and_not_repeated(tmp_path: Path) -> None:
    text = "name: hall\nmanagement:\n  bmc_access: {gpu001: {password: Zebra-4711}}\n"
    with pytest.raises(FabricctlError) as caught:
        load_site(text, str(tmp_path / "site.yaml"))
    said = "".join(traceback.format_exception(caught.value))
    assert "expected a reference such as env:BMC_PASSWORD or file:PATH" in said
    assert "Zebra" not in said


def test_an_exception_that_carries_a_secret_does_not_show_it() -> None:
    error = ValueError("no", Secret("Zebra-4711"), {"password": Secret("Zebra-4712")})
    assert "Zebra" not in "".join(traceback.format_exception(error)) + repr(error)


def command(desk: Desk, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "fabricctl", "bmc", *arguments, "--site", desk.hall.path]


@pytest.mark.slow
@pytest.mark.parametrize("requests", [9, 12, 16, 22])
def test_a_rotation_killed_in_the_act_shows_nothing_and_the_next_one_finishes(
    desk: Desk, requests: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A real process, killed when the BMCs have answered so many requests; the process list is read meanwhile."""
    monkeypatch.delenv(
        PASSWORD_VARIABLE
    )  # of other sites' files; this one's passwords are in the secret store
    words = desk.words
    for bmc in desk.hall.sim:
        bmc.latency = lambda *_: 0.06  # so that there is something to be killed in the midst of
    process = subprocess.Popen(
        command(desk, "credentials", "rotate", "all", "--yes"),
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    seen, before = b"", _answered(desk)
    while _answered(desk) - before < requests and process.poll() is None:
        seen += b"".join(_processes_below(process.pid))
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    out = process.communicate()[0]
    done = subprocess.run(
        command(desk, "credentials", "rotate", "all", "--yes"), cwd=ROOT, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    now = [bmc.users["root"] for bmc in desk.hall.sim]
    for word in {*words, *desk.words}:
        assert word.encode() not in seen + out + done.stdout + done.stderr
    for bmc, word in zip(desk.hall.sim, now, strict=True):
        assert f'"password": "{word}"' in (desk.hall.folder / "hall.secrets").read_text()
        logins = [one for one in bmc.requests if one.method == "POST" and one.path.endswith("/Sessions")]
        assert sum(one.status == 401 for one in logins) <= 1
    assert '"pending"' not in (desk.hall.folder / "hall.secrets").read_text()


def _answered(desk: Desk) -> int:
    return sum(len(bmc.requests) for bmc in desk.hall.sim)


def _processes_below(pid: int) -> Iterator[bytes]:
    """Command line and environment of a process and of its children, as ``ps eww`` would show them."""
    for entry in os.scandir("/proc"):
        if not entry.name.isdigit():
            continue
        try:
            parent = int(Path(entry.path, "stat").read_text().rpartition(")")[2].split()[1])
            if int(entry.name) == pid or parent == pid:
                yield Path(entry.path, "cmdline").read_bytes() + Path(entry.path, "environ").read_bytes()
        except (OSError, IndexError, ValueError):
            continue
