"""Real ``fabricctl`` commands against simulated BMCs, killed when a test says so."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.sim.idrac import PASSWORD_VARIABLE, Simulator

ENDS_S = 60.0
"""No command of these tests takes so long."""
RUN_VARIABLE = "FABRICCTL_TEST_RUN"
"""In the environment of everything a command starts, so that what it leaves behind is found."""


@dataclass(frozen=True)
class Killed:
    """What became of a command. :param code: exit code; minus the signal when that ended it."""

    code: int
    out: str
    err: str
    after_s: float


@dataclass
class Site:
    """A site file, a state store and an environment of their own, for one simulator."""

    simulator: Simulator
    folder: Path
    run: str = field(default_factory=lambda: uuid.uuid4().hex)

    def __post_init__(self) -> None:
        hosts = ", ".join(self.simulator.hosts)
        self.file = self.folder / "site.yaml"
        self.state = self.folder / "state.sqlite"
        self.file.write_text(
            f"name: lab\nnode_models: {{m: {{hcas: [mlx5_0], gpus: 8}}}}\nnodes: {{'{hosts}': {{model: m}}}}\n"
            + self.simulator.site_text(),
            "utf-8",
        )

    @property
    def environment(self) -> Mapping[str, str]:
        """With the password, and nothing of the user's own."""
        return {
            **os.environ,
            PASSWORD_VARIABLE: self.simulator.password,
            RUN_VARIABLE: self.run,
            "XDG_STATE_HOME": str(self.folder / "home"),
        }

    def argv(self, *words: str) -> list[str]:
        """A command of this site."""
        return [
            *(sys.executable, "-m", "fabricctl", *words),
            *("--site", str(self.file), "--state", str(self.state)),
        ]

    def fabricctl(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run one to its end."""
        return subprocess.run(
            self.argv(*words),
            env=self.environment,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=ENDS_S,
            check=False,
        )

    def killed(self, *words: str, number: signal.Signals, when: Callable[[], bool]) -> Killed:
        """Start one and send it a signal as soon as ``when`` says so, unless it has ended by then."""
        start = time.monotonic()
        with subprocess.Popen(
            self.argv(*words),
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process:
            try:
                while process.poll() is None and not when():
                    assert time.monotonic() - start < ENDS_S
                    time.sleep(0.001)
                after_s = time.monotonic() - start
                process.send_signal(number)
                out, err = process.communicate(timeout=ENDS_S)
            except BaseException:
                process.kill()
                raise
        return Killed(process.returncode, out, err, after_s)

    def sessions(self) -> dict[str, int]:
        """BMC -> open sessions, without those that have none."""
        return {bmc.host: len(bmc.sessions) for bmc in self.simulator if len(bmc.sessions)}

    def settled(self, seconds: float) -> bool:
        """Wait until no BMC has a session and nothing that a command started still runs."""
        deadline = time.monotonic() + seconds
        while self.sessions() or self.left_running():
            if time.monotonic() > deadline:
                return False
            time.sleep(0.05)
        return True

    def left_running(self) -> list[int]:
        """Processes with this site's mark in their environment."""
        mark, found = f"{RUN_VARIABLE}={self.run}".encode(), []
        for entry in os.scandir("/proc"):
            if entry.name.isdigit():
                with suppress(OSError):  # it ended meanwhile, or is not ours
                    if mark in Path(entry.path, "environ").read_bytes():
                        found.append(int(entry.name))
        return found

    def changed(self, kind: str) -> set[str]:
        """Nodes with an event of a kind in the store."""
        with closing(sqlite3.connect(self.state)) as store:
            return {row[0] for row in store.execute("SELECT subject FROM events WHERE kind = ?", (kind,))}

    def store_is_whole(self) -> bool:
        """Whether SQLite finds nothing wrong with the store."""
        if not self.state.exists():
            return True
        with closing(sqlite3.connect(self.state)) as store:
            return store.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
