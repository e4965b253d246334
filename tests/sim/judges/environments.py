"""Environments of the judges: made once, kept in the user's cache."""

from __future__ import annotations

import fcntl
import hashlib
import os
import subprocess
import sys
import venv
from dataclasses import dataclass
from pathlib import Path

INSTALL_S = 240.0


class InstallError(RuntimeError):
    """A judge could not be installed; the message ends with what pip said."""


@dataclass(frozen=True, slots=True)
class Judge:
    """One program. :param package: name and version, as pip takes it; :param beside: more of the same.

    :param install_s: seconds pip may take.
    """

    name: str
    package: str
    beside: tuple[str, ...] = ()
    install_s: float = INSTALL_S

    @property
    def packages(self) -> tuple[str, ...]:
        """All that is installed."""
        return (self.package, *self.beside)


PROTOCOL = Judge("protocol", "redfish-protocol-validator==1.3.2")
SERVICE = Judge("service", "redfish-service-validator==3.1.8")
SUSHY = Judge("sushy", "sushy==5.14.0")
BADFISH = Judge("badfish", "badfish==1.8.2")
"""Under GPL-3: it is run, nothing of it is imported or copied."""

IRONIC = Judge("ironic", "ironic==39.0.0", ("sushy-tools==2.2.0",), install_s=900.0)
"""A provisioner, and an emulator of BMCs it can drive."""


def cache() -> Path:
    """Where environments are kept: XDG_CACHE_HOME, or ``~/.cache``."""
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    return home / "fabricctl-judges"


def environment(judge: Judge) -> Path:
    """Folder of the judge's environment; made, or made anew for another version of the judge or of Python.

    :raises InstallError: pip did not find or install it.
    """
    mark = hashlib.sha256(f"{' '.join(judge.packages)} {sys.version} {sys.prefix}".encode()).hexdigest()[:12]
    folder = cache() / f"{judge.name}-{mark}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f"{judge.name}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = folder / "done"
        if not done.exists():
            venv.create(folder, clear=True, with_pip=True)
            _install(folder, judge)
            done.touch()
    return folder


def _install(folder: Path, judge: Judge) -> None:
    command = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", *judge.packages]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=judge.install_s, check=False)
    except subprocess.TimeoutExpired:
        raise InstallError(f"{judge.package}: pip took more than {judge.install_s:.0f} s") from None
    if run.returncode != 0:
        lines = [line for line in run.stderr.splitlines() if not line.startswith("WARNING")]
        raise InstallError(f"{judge.package}: {' '.join(lines[-2:])}")
