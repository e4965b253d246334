"""Open sessions, written down: who comes after a killed run can tell its sessions from those of others.

The standard library alone: the reaper of sessions reads it, too.

One file per run, one JSON object per line: ``asking`` before a login is sent, ``opened`` with the session's URI, never
its token, ``closed``. The run and its reaper hold a lock on the file; a file nobody holds is of a run that is dead.
"""

from __future__ import annotations

import fcntl
import json
import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from provision.bmc.target import Target

LOG = logging.getLogger(__name__)
ENDING = ".sessions"
OLD_S = 24 * 3600.0
"""Seconds after which an entry is forgotten: no BMC keeps an idle session for a day (iDRAC9: at most three hours)."""


@dataclass(frozen=True, slots=True)
class Held:
    """One session of some run.

    :param alive: whether that run (or its reaper) still lives.
    """

    address: str
    port: int
    user: str
    uri: str
    at: float
    alive: bool


class Ledger:
    """This run's file in a folder, made at the first line.

    A disk that is full, or a folder that can no longer be written, costs the list of sessions and nothing else: the
    reaper has it, too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: int | None = None
        self._full = False
        self._path = folder / f"{os.getpid()}-{time.time_ns()}{ENDING}"
        self._earlier: dict[tuple[str, int], list[tuple[Path, Held]]] | None = None

    @property
    def descriptor(self) -> int | None:
        """The open, locked file; whoever inherits it keeps the run alive."""
        return self._file

    @property
    def path(self) -> Path:
        """Where it is."""
        return self._path

    def open(self) -> None:
        """Make the file. :raises OSError: it cannot be made."""
        if self._file is None:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_CLOEXEC
            self._file = os.open(self._path, flags, 0o600)
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def write(self, line: Mapping[str, Any]) -> None:
        """Add a line; one write call, so that a kill leaves whole lines."""
        if self._file is None or self._full:
            return
        try:
            os.write(self._file, json.dumps(line, separators=(",", ":")).encode() + b"\n")
        except OSError as exc:
            self._full = True  # a line that is missing may be the one that closes a session
            LOG.warning("BMC sessions are not written down any more: %s: %s", self._path, exc.strerror)

    def remove(self) -> None:
        """All was closed: nobody needs it."""
        if self._file is not None:
            _remove(self._path)
            os.close(self._file)
            self._file = None

    def leave(self) -> None:
        """Something is still open: the reaper, or the next run, will need it."""
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def stale(self, target: Target, user: str) -> list[str]:
        """URIs that dead runs left at a BMC under this user."""
        if self._earlier is None:
            self._earlier = {}
            for path, held in read_folder(self._folder, but=self._path):
                if not held.alive:
                    self._earlier.setdefault((held.address, held.port), []).append((path, held))
        known = self._earlier.get((target.address, target.port), [])
        return [held.uri for _, held in known if held.user == user]

    def cleaned(self, target: Target, uri: str) -> None:
        """One of them is gone: its file says so, and goes with its last one."""
        known = (self._earlier or {}).get((target.address, target.port), [])
        for path, held in [entry for entry in known if entry[1].uri == uri]:
            known.remove((path, held))
            others = any(path == other for entries in (self._earlier or {}).values() for other, _ in entries)
            if not others:
                _remove(path)


def read_folder(folder: Path, *, but: Path | None = None) -> Iterator[tuple[Path, Held]]:
    """Sessions of every run but one, with their files; files of dead runs that hold none any more are removed."""
    try:
        paths = sorted(folder.glob(f"*{ENDING}")) if folder.is_dir() else []
    except OSError:
        return
    for path in paths:
        if path == but:
            continue
        try:
            alive = _is_held(path)
            held = list(read_file(path, alive=alive))
        except OSError:
            continue  # gone meanwhile, or somebody else's: then it is not ours to look into
        if not held and not alive:
            _remove(path)
        yield from ((path, one) for one in held)


def read_file(path: Path, *, alive: bool) -> Iterator[Held]:
    """Sessions of one file that were opened and not closed."""
    asking: dict[Any, dict[str, Any]] = {}
    for line in path.read_text("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
        except ValueError:
            continue  # the disk was full
        if not isinstance(entry, dict):
            continue
        if "asking" in entry:
            asking[entry["asking"]] = entry
        elif "opened" in entry and entry["opened"] in asking:
            asking[entry["opened"]]["uri"] = entry.get("uri")
        elif "closed" in entry:
            asking.pop(entry["closed"], None)
    for entry in asking.values():
        try:
            at, port = float(entry.get("at") or 0), int(entry.get("port") or 443)
        except (TypeError, ValueError):
            continue  # damaged
        if entry.get("uri") and time.time() - at < OLD_S:
            yield Held(str(entry.get("address")), port, str(entry.get("user")), str(entry["uri"]), at, alive)


def _remove(path: Path) -> None:
    """What is left of a list that cannot be removed is found out to be old by the next run."""
    with suppress(OSError):
        path.unlink()


def _is_held(path: Path) -> bool:
    with path.open("rb") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False
