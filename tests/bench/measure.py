"""CPU seconds and peak memory of a child process, and how the figures are printed."""

from __future__ import annotations

import os
import subprocess
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

BYTECODE = os.path.join(tempfile.gettempdir(), f"fabricctl-bench-bytecode-{os.getuid()}")
"""Where the commands' bytecode is kept from one run to the next."""


class Usage(NamedTuple):
    """What one run of a command took. ``cpu_s`` is user plus system time of it and its children."""

    code: int
    cpu_s: float
    wall_s: float
    peak_mib: float
    out: str
    err: str = ""


def run(
    argv: Sequence[str],
    *,
    cwd: Path,
    env: Mapping[str, str] | None = None,
    text: str = "",
    apart: bool = False,
) -> Usage:
    """Run a command to its end; output and errors together.

    :param text: its standard input; :param apart: errors go into ``err``, so that the output can be parsed.

    A Python command finds its bytecode where an earlier run left it, as an installed one does: where the environment
    forbids to write any, each run would compile every module anew.
    """
    env = {name: text for name, text in (env or os.environ).items() if name != "PYTHONDONTWRITEBYTECODE"}
    env.setdefault("PYTHONPYCACHEPREFIX", BYTECODE)
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err, tempfile.TemporaryFile() as given:
        given.write(text.encode())
        given.seek(0)
        start = time.monotonic()
        errors = err if apart else subprocess.STDOUT
        child = subprocess.Popen(argv, stdin=given, stdout=out, stderr=errors, cwd=cwd, env=env)
        _, status, used = os.wait4(child.pid, 0)
        wall_s = time.monotonic() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        said, complained = (_text(file) for file in (out, err))
    cpu_s = used.ru_utime + used.ru_stime
    return Usage(child.returncode, cpu_s, wall_s, used.ru_maxrss / 1024, said, complained)


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def best(times: int, measured: Callable[[], Usage]) -> Usage:
    """The run with the least CPU time: other load on the machine only ever adds."""
    return min((measured() for _ in range(times)), key=lambda usage: usage.cpu_s)


def cpu_of(times: int, work: Callable[[], object]) -> float:
    """Least CPU seconds of a function in this process."""
    taken = []
    for _ in range(times):
        start = time.process_time()
        work()
        taken.append(time.process_time() - start)
    return min(taken)


def say(what: str, value: str, goal: str = "", met: bool | None = None) -> None:
    """One figure on one line, with its goal and whether it is met."""
    verdict = "" if met is None else ("  met" if met else "  NOT MET")
    print(f"  {what:<58} {value:>12}  {goal}{verdict}")
