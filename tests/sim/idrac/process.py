"""A simulator in a process of its own, for what must not share an interpreter with its clients: benches, PXE, kills."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self

ROOT = Path(__file__).resolve().parents[3]


class SimProcess:
    """``python -m tests.sim.idrac``, started, and asked over its control channel.

    :param arguments: its options (``--count``, ``--latency``…); port and control port are chosen unless given.
    """

    def __init__(self, *arguments: str) -> None:
        self._arguments = ["--port", "0", "--control", "0", "--json", *arguments]
        self._process: subprocess.Popen[str] | None = None
        self.overview: dict[str, Any] = {}

    def start(self) -> Self:
        """Start it and wait until it serves."""
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.sim.idrac", *self._arguments],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            self._process.wait(10)
            raise RuntimeError(f"the simulator ended with {self._process.returncode} before it served")
        self.overview = json.loads(line)
        return self

    def stop(self) -> None:
        """End it."""
        if self._process is None:
            return
        self._process.terminate()
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        if self._process.stdout is not None:
            self._process.stdout.close()
        if self._process.returncode == 1:
            raise RuntimeError("mistakes of the simulator; they stand in its standard error")

    @property
    def pid(self) -> int:
        """Of the process, to measure what it uses."""
        assert self._process is not None
        return self._process.pid

    @property
    def port(self) -> int:
        """Of all its BMCs."""
        return int(self.overview["port"])

    @property
    def hosts(self) -> list[str]:
        """Names of the hosts."""
        return [bmc["host"] for bmc in self.overview["bmcs"]]

    @property
    def addresses(self) -> list[str]:
        """Of the BMCs, in the order of the hosts."""
        return [bmc["address"] for bmc in self.overview["bmcs"]]

    def get(self, path: str = "/") -> Any:
        """Ask the control channel, see :mod:`control`."""
        return self._ask("GET", path, None)

    def post(self, place: str, /, **asked: Any) -> Any:
        """Tell the control channel something, see :mod:`control`."""
        return self._ask("POST", place, asked)

    def _ask(self, method: str, path: str, asked: dict[str, Any] | None) -> Any:
        url = f"http://127.0.0.1:{self.overview['control_port']}{path}"
        data = None if asked is None else json.dumps(asked).encode()
        request = urllib.request.Request(url, data, method=method)
        try:
            with urllib.request.urlopen(request, timeout=30) as answer:  # noqa: S310
                return json.load(answer)
        except urllib.error.HTTPError as problem:
            raise RuntimeError(f"{method} {path}: {problem.read().decode()}") from problem

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()
