"""Starts Ironic and the emulator as processes, waits until they answer, and stops them."""

from __future__ import annotations

import base64
import functools
import http.server
import json
import os
import secrets
import shutil
import socket
import ssl
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.hunt import marker
from tests.sim.ironic.relay import Relay
from tests.sim.ironic.settings import (
    API_USER,
    BMC_USER,
    emulator_text,
    ironic_text,
    password_line,
    write_certificate,
)
from tests.sim.ironic.systems import BmcSystem, Redfish, systems
from tests.sim.judges.environments import IRONIC, environment
from tests.sim.processes import end, tied_to_us

READY_S = 90.0
STOP_S = 20.0
FOLDERS = ("scratch", "bin", "http", "tftp", "images", "emulator")


class IronicServicesError(RuntimeError):
    """One of them did not come up, or ended; the message ends with its log."""


class IronicServices:
    """Both, running. Made by :func:`ironic_services`.

    :ivar url: of Ironic's API; :ivar user: and :ivar password: of HTTP basic there.
    :ivar systems: what the emulator plays; :ivar bmc_password: of user ``admin`` on every BMC.
    :ivar images: URL of the server of images, which has ``boot.iso``, ``kernel`` and ``ramdisk``.
    """

    def __init__(self, folder: Path, programs: Path, count: int) -> None:
        self.folder, self._programs = folder, programs
        self.user, self.bmc_user = API_USER, BMC_USER
        self.password = f"{marker()}{secrets.token_hex(6)}"
        self.bmc_password = f"{marker()}{secrets.token_hex(6)}"
        self._ironic: subprocess.Popen[bytes] | None = None
        self._emulator: subprocess.Popen[bytes] | None = None
        api, emulator = _free_ports(2)
        self._relay = Relay(emulator)
        self._relay.start(system.address for system in systems(count, 0))
        self.systems: list[BmcSystem] = systems(count, self._relay.port)
        self.url = f"http://127.0.0.1:{api}"
        self._files = _serve(folder / "http")
        self.images = f"http://127.0.0.1:{self._files.server_address[1]}"
        self._write(api, emulator)
        self.redfish = Redfish(
            ssl.create_default_context(cafile=str(folder / "bmc.pem")), BMC_USER, self.bmc_password
        )

    def _write(self, api: int, emulator: int) -> None:
        for name in FOLDERS:
            (self.folder / name).mkdir()
        for name in ("boot.iso", "kernel", "ramdisk"):
            (self.folder / "http" / name).write_bytes(name.encode() * 100)
        # Ironic makes config drives with a program that need not be installed; its own environment has one that will do
        (self.folder / "bin" / "genisoimage").symlink_to(self._programs / "pycdlib-genisoimage")
        write_certificate(self.folder, [system.address for system in self.systems])
        texts = {
            "ironic.conf": ironic_text(self.folder, api, int(self._files.server_address[1])),
            "emulator.conf": emulator_text(self.folder, emulator, self.systems),
            "api.htpasswd": password_line(API_USER, self.password),
            "bmc.htpasswd": password_line(BMC_USER, self.bmc_password),
        }
        for name, text in texts.items():
            (self.folder / name).write_text(text, encoding="utf-8")

    def start(self) -> None:
        """Make the database and start both. :raises IronicServicesError: they do not answer in time."""
        made = subprocess.run(
            [self._programs / "ironic-dbsync", "--config-file", self.folder / "ironic.conf", "create_schema"],
            capture_output=True,
            env=self._variables(),
            cwd=self.folder,
            timeout=READY_S,
            check=False,
        )
        if made.returncode:
            raise IronicServicesError(f"ironic-dbsync: {made.stderr.decode('utf-8', 'replace')[-2000:]}")
        self._emulator = self._run("sushy-emulator", "--config", self.folder / "emulator.conf")
        self.start_ironic()
        self._await("sushy-emulator", lambda: self._emulator, self._emulator_answers)

    def start_ironic(self) -> None:
        """Start Ironic alone, on the database it has, and wait until it answers."""
        self._ironic = self._run("ironic", "--config-file", self.folder / "ironic.conf")
        self._await("ironic", lambda: self._ironic, self._ironic_answers)

    def stop_ironic(self, *, kill: bool = False) -> None:
        """End Ironic alone. :param kill: without asking, with its children, as a machine that loses power."""
        if self._ironic is None:
            return
        if kill:
            os.killpg(self._ironic.pid, 9)  # a group of its own, made by _run
            self._ironic.wait(STOP_S)
        else:
            end(self._ironic, stop_s=STOP_S)
            _end_group(self._ironic.pid)
        self._ironic = None

    def stop(self) -> None:
        """End both."""
        self.stop_ironic()
        if self._emulator is not None:
            end(self._emulator, stop_s=STOP_S)
            self._emulator = None
        self._files.shutdown()
        self._files.server_close()
        self._relay.stop()

    def ask(self, path: str) -> Any:
        """What Ironic answers, without the driver between."""
        basic = base64.b64encode(f"{self.user}:{self.password}".encode()).decode()
        headers = {"Authorization": f"Basic {basic}", "X-OpenStack-Ironic-API-Version": "1.78"}
        request = urllib.request.Request(self.url + path, headers=headers)  # noqa: S310
        with urllib.request.urlopen(request, timeout=20) as answer:  # noqa: S310
            return json.load(answer)

    def log(self, name: str) -> str:
        """End of the log of ``ironic`` or ``sushy-emulator``."""
        texts = [
            path.read_text("utf-8", "replace")[-4000:]
            for path in (self.folder / f"{name}.out", self.folder / f"{name}.log")
            if path.exists()
        ]
        return "\n".join(texts)

    def _run(self, name: str, *words: str | Path) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.out").open("ab") as out:
            return subprocess.Popen(
                [*tied_to_us(), str(self._programs / name), *map(str, words)],
                stdout=out,
                stderr=out,
                stdin=subprocess.DEVNULL,
                env=self._variables(),
                cwd=self.folder,
                start_new_session=True,
            )

    def _variables(self) -> Mapping[str, str]:
        """Without proxies; Ironic trusts the emulator's certificate."""
        return {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{self._programs}{os.pathsep}{os.environ.get('PATH', '')}",
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder / "scratch"),
            "REQUESTS_CA_BUNDLE": str(self.folder / "bmc.pem"),
            "NO_PROXY": "*",
        }

    def _await(
        self, name: str, process: Callable[[], subprocess.Popen[bytes] | None], answers: Callable[[], bool]
    ) -> None:
        deadline = time.monotonic() + READY_S
        while not answers():
            running = process()
            if running is None or running.poll() is not None or time.monotonic() > deadline:
                raise IronicServicesError(f"{name} did not come up: {self.log(name)}")
            time.sleep(0.2)

    def _ironic_answers(self) -> bool:
        """The API answers, and a conductor has said that it has the redfish hardware type."""
        try:
            return any(driver["name"] == "redfish" for driver in self.ask("/v1/drivers")["drivers"])
        except (urllib.error.URLError, OSError):
            return False

    def _emulator_answers(self) -> bool:
        try:
            return self.redfish.power(self.systems[0]) == "Off"
        except (urllib.error.URLError, OSError):
            return False


@contextmanager
def ironic_services(count: int = 8) -> Iterator[IronicServices]:
    """Ironic and the emulator with so many servers, in a folder that goes afterwards.

    The folder is not one of the test session: Ironic keeps BMC passwords in its database, as it must.

    :raises IronicServicesError: they did not come up; :raises InstallError: pip could not install them.
    """
    programs = environment(IRONIC) / "bin"
    folder = Path(tempfile.mkdtemp(prefix="ironic-"))
    try:
        services = IronicServices(folder, programs, count)
        try:
            services.start()
            yield services
        except BaseException as problem:
            problem.add_note(f"ironic: {services.log('ironic')}")
            raise
        finally:
            services.stop()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _free_ports(count: int) -> list[int]:
    held = [socket.socket() for _ in range(count)]
    try:
        for one in held:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in held]
    finally:
        for one in held:
            one.close()


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format: str, *args: object) -> None:
        pass


def _serve(folder: Path) -> http.server.ThreadingHTTPServer:
    """A server of files on loopback, in a thread."""
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(_Quiet, directory=str(folder))
    )
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server


def _end_group(group: int) -> None:
    """Children that outlived their parent; mostly there are none."""
    with suppress(ProcessLookupError):
        os.killpg(group, 9)
