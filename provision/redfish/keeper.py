"""Who remembers open sessions: a second process, so that even a killed run leaves none behind."""

from __future__ import annotations

import json
import logging
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from provision.bmc.secret import Credentials
from provision.bmc.target import Target, Verify
from provision.redfish import reaper
from provision.redfish.ledger import Ledger

LOG = logging.getLogger(__name__)
STARTS = 3
"""Times a reaper is started in one run: whoever ends it again and again means it."""
PARTING_S = 5.0
"""Seconds the reaper may take to end when it has nothing left to do."""


class Keeper(Protocol):
    """Who remembers open sessions, in case this process is killed."""

    def asking(self, target: Target, path: str, credentials: Credentials) -> int:
        """A login is about to be sent. Gives the number of this login."""
        ...

    def opened(self, number: int, uri: str, token: str) -> None:
        """It was answered with a session."""
        ...

    def closed(self, number: int) -> None:
        """There is no session, or none any more."""
        ...

    def stale(self, target: Target, user: str) -> list[str]:
        """URIs of sessions that earlier runs, killed meanwhile, left at this BMC."""
        ...

    def cleaned(self, target: Target, uri: str) -> None:
        """A session that an earlier run left is gone."""
        ...


class KeptByReaper:
    """The parent's side of :mod:`provision.redfish.reaper`: a pipe that closes when this process dies, however.

    It is started with the first login. What goes through the pipe (tokens, and the password of a login that is not
    answered yet) stays in memory on both sides.
    """

    def __init__(self, folder: Path | None) -> None:
        self._ledger = Ledger(folder) if folder is not None else None
        self._process: subprocess.Popen[bytes] | None = None
        self._last = 0
        self._starts = 0
        self._open: dict[int, list[dict[str, Any]]] = {}

    def asking(self, target: Target, path: str, credentials: Credentials) -> int:
        """A login is about to be sent."""
        self._start()
        self._last += 1
        number = self._last
        shown = {"address": target.address, "port": target.port, "user": credentials.user, "at": time.time()}
        if self._ledger is not None:
            self._ledger.write({"asking": number, "host": target.host, **shown})
        trust = target.trust
        secret = {
            "path": path,
            "password": credentials.password.reveal(),
            "pin": trust.fingerprint if trust.verify is Verify.PINNED else "",
            "ca": os.path.abspath(trust.ca_file) if trust.verify is Verify.CA else "",
            "floor": trust.tls_floor,
        }
        self._open[number] = []
        self._tell(number, {"asking": number, **shown, **secret})
        return number

    def opened(self, number: int, uri: str, token: str) -> None:
        """It was answered with a session."""
        if self._ledger is not None:
            self._ledger.write({"opened": number, "uri": uri})
        self._tell(number, {"opened": number, "uri": uri, "token": token})

    def closed(self, number: int) -> None:
        """There is none, or none any more."""
        if self._ledger is not None:
            self._ledger.write({"closed": number})
        self._open.pop(number, None)
        self._write({"closed": number})

    def stale(self, target: Target, user: str) -> list[str]:
        """URIs of sessions that earlier runs left."""
        return self._ledger.stale(target, user) if self._ledger is not None else []

    def cleaned(self, target: Target, uri: str) -> None:
        """A session that an earlier run left is gone."""
        if self._ledger is not None:
            self._ledger.cleaned(target, uri)

    def finish(self) -> None:
        """The run is over: what is still open is the reaper's now, and nobody waits for that."""
        if self._ledger is not None:
            if self._open:
                self._ledger.leave()
            else:
                self._ledger.remove()
        process = self._process
        if process is None or process.stdin is None:
            return
        try:
            process.stdin.close()
        except OSError:
            LOG.warning("the reaper of BMC sessions ended early")
        if not self._open:
            try:
                process.wait(PARTING_S)
            except subprocess.TimeoutExpired:
                LOG.warning("the reaper of BMC sessions does not end")
        # it may outlive this process: that is no leak to warn of
        process.returncode = process.returncode or 0

    def _tell(self, number: int, line: dict[str, Any]) -> None:
        self._open[number].append(line)
        self._write(line)

    def _write(self, line: Mapping[str, Any]) -> None:
        process = self._process
        if process is None or process.stdin is None:
            return
        try:
            process.stdin.write(json.dumps(line).encode() + b"\n")
            process.stdin.flush()
        except OSError:  # somebody ended it: another one takes over all that is open
            self._process = None
            LOG.warning("the reaper of BMC sessions was ended")
            with suppress(OSError):
                process.stdin.close()
            process.poll()
            self._start()
            for told in [line for lines in self._open.values() for line in lines]:
                self._write(told)

    def _start(self) -> None:
        if self._process is not None or self._starts >= STARTS:
            return
        self._starts += 1
        inherited = []
        if self._ledger is not None:
            try:
                self._ledger.open()
            except OSError as exc:
                LOG.warning("BMC sessions are not written down: %s", exc)
            else:
                inherited = [self._ledger.descriptor] if self._ledger.descriptor is not None else []
        try:
            self._process = subprocess.Popen(  # noqa: S603 - this interpreter, a file of this package
                [sys.executable, "-I", "-S", str(Path(reaper.__file__).resolve())],
                stdin=subprocess.PIPE,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                cwd="/",
                env=_environment(),
                pass_fds=inherited,
                start_new_session=True,
            )
        except OSError as exc:
            LOG.warning("no reaper of BMC sessions: %s", exc)
            return
        if self._ledger is not None and inherited:
            self._write({"ledger": str(self._ledger.path.resolve())})


def _environment() -> dict[str, str]:
    """What an interpreter may need to start; nothing else, as passwords may stand in the environment."""
    return {name: os.environ[name] for name in ("LD_LIBRARY_PATH",) if name in os.environ}
