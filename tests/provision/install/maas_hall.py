"""A site with simulated BMCs and a double of MAAS behind them, and ``fabricctl`` run on it as an operator does."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from fabricctl.adapters.store.location import parse_location
from fabricctl.adapters.store.pins import Pin
from fabricctl.adapters.store.store import open_store
from fabricctl.cli.main import main
from provision.report.schemas import schema_of
from tests.sim.hall import KEY_VARIABLE, hardware_of, site_text
from tests.sim.idrac import PASSWORD_VARIABLE, Simulator
from tests.sim.maas.process import ServedDouble, maas_double

ENDS_S = 300.0
"""No command of these tests takes so long, however busy this computer is."""
WIDTH = 80
SPEED = 1200.0
"""Simulated seconds per real second, where nothing else is said."""
_LAST = [10]
"""Of the addresses: simulators of one test run are apart."""


@dataclass(frozen=True)
class Ran:
    """What a command said."""

    code: int
    out: str
    err: str

    @property
    def all(self) -> str:
        """Everything it wrote, and its exit code, for messages of failed tests."""
        return f"exit {self.code}\n{self.out}\n{self.err}"


@dataclass
class MaasHall:
    """A folder with a site file and a state store.

    :param environ: of commands, over the usual.
    """

    folder: Path
    simulator: Simulator
    maas: ServedDouble
    capsys: pytest.CaptureFixture[str]
    environ: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.site = self.folder / "site.yaml"
        self.write(site_text(self.simulator, self.maas, poll_s=0.1))
        pins = [Pin(b.host, b.address, b.fingerprint, datetime.now(UTC), "test") for b in self.simulator]
        with open_store(
            parse_location(str(self.folder / "hall.sqlite"), said_by="test"), site="simulated"
        ) as store:
            store.pins.record(pins, "first contact")

    def write(self, text: str) -> None:
        """The site file."""
        self.site.write_text(text, "utf-8")

    def change(self, old: str, new: str) -> None:
        """Another word in the site file."""
        text = self.site.read_text("utf-8")
        assert old in text
        self.write(text.replace(old, new))

    @property
    def environment(self) -> Mapping[str, str]:
        """With both secrets, and nothing of the user's own."""
        return {
            PASSWORD_VARIABLE: self.simulator.password,
            KEY_VARIABLE: self.maas.api_key,
            "XDG_STATE_HOME": str(self.folder / "home"),
            "COLUMNS": str(WIDTH),
            **self.environ,
        }

    def run(self, *words: str) -> Ran:
        """A command, in this process."""
        with pytest.MonkeyPatch.context() as patched:
            for name, value in self.environment.items():
                patched.setenv(name, value)
            code = main([*words, "--site", str(self.site)])
        out, err = self.capsys.readouterr()
        return Ran(code, out, err)

    def start(self, *words: str) -> subprocess.Popen[str]:
        """A command as a process of its own."""
        return subprocess.Popen(
            [sys.executable, "-m", "fabricctl", *words, "--site", str(self.site)],
            env={**os.environ, **self.environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def process(self, *words: str) -> Ran:
        """A command to its end, as a process of its own."""
        with self.start(*words) as started:
            try:
                out, err = started.communicate(timeout=ENDS_S)
            finally:
                started.kill()
        return Ran(started.returncode, out, err)

    def do(self, *words: str) -> Ran:
        """``fabricctl maas ...``, which must end well."""
        ran = self.run("maas", *words)
        assert ran.code == 0, ran.all
        return ran

    def document(self, schema: str, *words: str) -> dict[str, Any]:
        """The JSON of ``fabricctl maas ...``, which its schema must accept."""
        ran = self.run("maas", *words, "--format", "json")
        document: dict[str, Any] = json.loads(ran.out)
        jsonschema.validate(document, schema_of(schema))
        return document

    def pace(self, speed: float) -> None:
        """From now on, simulated seconds per real second in MAAS; 0: nothing there goes on by itself."""
        double = self.maas.double
        with double.lock:
            double.time.settle()
            double.time.clock.speed = speed

    @contextmanager
    def waited_for(self, op: str = "events.query") -> Iterator[None]:
        """Nothing goes on in MAAS until a command asks for what changed, which it does when it waits; then all does."""
        self.pace(0)
        double, ended = self.maas.double, threading.Event()
        before = len(double.requests)

        def wait() -> None:
            while not ended.wait(0.01):
                if any(one.op == op for one in double.requests[before:]):
                    self.pace(SPEED)
                    return

        waiting = threading.Thread(target=wait, name="waited for")
        waiting.start()
        try:
            yield
        finally:
            ended.set()
            waiting.join()

    def interrupted(self, *words: str, when: str, within_s: float = ENDS_S) -> Ran:
        """``fabricctl maas ...``, sent SIGINT when MAAS has a machine of that status. From now on time stands still."""
        self.pace(0)
        started = self.start("maas", *words)
        try:
            until = time.monotonic() + within_s
            while when not in self.statuses.values():
                assert time.monotonic() < until, f"no machine became {when}: {self.statuses}"
                assert started.poll() is None, "it ended before"
                time.sleep(0.02)
            started.send_signal(signal.SIGINT)
            out, err = started.communicate(timeout=ENDS_S)
        finally:
            started.kill()
            started.wait()
        return Ran(started.returncode, out, err)

    @property
    def statuses(self) -> dict[str, str]:
        """Host -> MAAS's word for its state."""
        double = self.maas.double
        with double.lock:
            return {record.hostname: record.status.value for record in double.records.values()}


@contextmanager
def maas_hall(
    folder: Path, capsys: pytest.CaptureFixture[str], count: int = 2, **options: Any
) -> Iterator[MaasHall]:
    """A hall while the block runs. :param options: of the double's settings."""
    _LAST[0] += 1
    with Simulator(count, first=f"127.46.{_LAST[0]}.1", port=0) as simulator:
        settings = {"speed": SPEED, "hardware": hardware_of(simulator), **options}
        with maas_double(**settings) as maas:
            yield MaasHall(folder, simulator, maas, capsys)


def harvested(hall: MaasHall) -> MaasHall:
    """Every part of every host is recorded."""
    ran = hall.run("bmc", "harvest", "--full")
    assert ran.code == 0, ran.all
    return hall


def enrolled(hall: MaasHall) -> MaasHall:
    """And every host is a machine."""
    harvested(hall).do("enrol", "all", "--yes")
    return hall


def ready(hall: MaasHall) -> MaasHall:
    """And was commissioned."""
    enrolled(hall).do("commission", "all", "--yes")
    return hall
