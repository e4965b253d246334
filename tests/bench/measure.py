"""CPU seconds and peak memory of a child process, and how the figures are printed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import IO, NamedTuple

BYTECODE = os.path.join(tempfile.gettempdir(), f"fabricctl-bench-bytecode-{os.getuid()}")
"""Where the commands' bytecode is kept from one run to the next."""


_STARTER = """
import json, os, sys
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, used = os.wait4(pid, 0)
with open(int(sys.argv[1]), "w") as told:
    json.dump([os.waitstatus_to_exitcode(status), used.ru_utime + used.ru_stime, used.ru_maxrss], told)
"""
"""Starts the command and waits for it. Linux counts the memory of whoever starts a command into the command's peak
(getrusage(2); exec keeps the larger mark), and a process that has run a thousand tests is no small one."""


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
        read, write = os.pipe()
        starter = [sys.executable, "-I", "-S", "-c", _STARTER, str(write), *argv]
        with open(read, "rb") as told:
            child = subprocess.Popen(
                starter, stdin=given, stdout=out, stderr=errors, cwd=cwd, env=env, pass_fds=[write]
            )
            os.close(write)
            measured = told.read()
        wall_s = time.monotonic() - start
        child.wait()
        said, complained = (_text(file) for file in (out, err))
    assert measured, said + complained
    code, cpu_s, peak_kib = json.loads(measured)
    return Usage(code, cpu_s, wall_s, peak_kib / 1024, said, complained)


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
