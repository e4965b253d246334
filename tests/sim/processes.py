"""What the simulators share about the processes they start."""

from __future__ import annotations

import shutil
import subprocess

STOP_S = 5.0


def tied_to_us() -> list[str]:
    """Words before a command: even when the thread that starts it is killed outright, it ends with it."""
    return ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []


def end(process: subprocess.Popen[bytes], *, stop_s: float = STOP_S) -> None:
    """Ask a process of ours to end, and make it; one that has ended already is fine."""
    process.terminate()
    try:
        process.wait(stop_s)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
