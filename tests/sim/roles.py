"""The services beside MAAS's API, each a real server, on a small network of their own: two network namespaces.

``dnsmasq`` offers addresses and boot files, another ``dnsmasq`` answers DNS, ``chronyd`` tells the time without
touching the machine's clock, ``tinyproxy`` stands before a small web server that plays the archive. Each can be
stopped alone, and a second DHCP server can be plugged in. Needs root. By hand::

    python -m tests.sim.roles        # brings it up, prints addresses and how to enter it, ends with Ctrl-C
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from tests.hunt import new_folder, remove_folder
from tests.sim.processes import end, tied_to_us

T = TypeVar("T")
SBIN = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
PROGRAMS = ("dnsmasq", "chronyd", "tinyproxy", "ip")
PACKAGES = ("dnsmasq-base", "chrony", "tinyproxy", "iproute2")
READY_S = 10.0
SERVICES = ("dhcp", "dns", "ntp", "upstream", "proxy")
SERVER, CLIENT, ROGUE = "192.0.2.1", "192.0.2.9", "192.0.2.66"
"""TEST-NET-1 (RFC 5737), inside the namespaces only."""
INTERFACE = "eth0"
"""Of the client."""
DOMAIN = "maas.example"
PROXY = f"http://{SERVER}:8000"
PAGE = f"http://{SERVER}:8080/ubuntu/dists/jammy/Release"
RELEASE = "Origin: Ubuntu\nLabel: Ubuntu\nSuite: jammy\nVersion: 22.04\nCodename: jammy\n"
_NEWNET = 0x40000000
_LISTENING = "0A"
"""State of a socket in ``/proc/net/tcp``."""


class RolesError(RuntimeError):
    """A server or the network did not come up; the message says which and why."""


def missing() -> list[str]:
    """Which programs are not here."""
    return [program for program in PROGRAMS if shutil.which(program, path=SBIN) is None]


class Roles:
    """All services of the network, running from entry to exit; ``stop("dns")`` ends one.

    :param machines: host name -> MAC; the first has address 192.0.2.51, the others count up.
    """

    def __init__(self, machines: Mapping[str, str]) -> None:
        self.machines = {name: mac.lower() for name, mac in machines.items()}
        stem = f"fabricctl-roles-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self.inner, self.client, self.stranger = (f"{stem}-{end}" for end in ("s", "c", "r"))
        self.folder = Path()
        self._running: dict[str, subprocess.Popen[bytes]] = {}
        self._changed: set[str] = set()

    def __enter__(self) -> Roles:
        if absent := missing():
            raise RolesError(f"not installed: {', '.join(absent)} (packages {' '.join(PACKAGES)})")
        self.folder = new_folder("roles-")
        try:
            self._network()
            for role in SERVICES:
                self.start(role)
            self._changed.clear()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def address(self, host: str) -> str:
        """The address of a machine."""
        return f"192.0.2.{51 + list(self.machines).index(host)}"

    def start(self, role: str, **options: Any) -> None:
        """Start one server: ``dhcp``, ``dns``, ``ntp``, ``upstream``, ``proxy``, or ``rogue``, a second DHCP server.

        :param options: of ``dhcp``: ``boot=False``; of ``dns``: ``wrong=ADDRESS`` for every machine; of ``ntp``:
            ``synchronised=False``; of ``upstream``: ``page=TEXT``.
        """
        self.stop(role)
        self._changed.add(role)
        argv, ready = getattr(self, f"_{role}")(**options)
        namespace = self.stranger if role == "rogue" else self.inner
        log = self.folder / f"{role}.log"
        with log.open("wb") as out:
            process = subprocess.Popen(
                [*tied_to_us(), "ip", "netns", "exec", namespace, *argv],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._running[role] = process
        deadline = time.monotonic() + READY_S
        while not ready(log):
            if process.poll() is not None or time.monotonic() > deadline:
                raise RolesError(f"{role} did not come up: {log.read_text('utf-8', 'replace')[-500:]}")
            time.sleep(0.02)

    def stop(self, role: str) -> None:
        """End one server; fine when it does not run."""
        self._changed.add(role)
        process = self._running.pop(role, None)
        if process is not None:
            end(process)

    def restore(self) -> None:
        """Every server as it was at the beginning."""
        for role in sorted(self._changed):
            self.stop(role)
        for role in SERVICES:
            if role in self._changed:
                self.start(role)
        self._changed.clear()

    def inside(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine on the client, on an event loop of its own."""
        return self.call(lambda: asyncio.run(work()))

    def call(self, work: Callable[[], T]) -> T:
        """Call something on the client, on a thread of its own; threads it starts are there too."""
        found: list[T] = []
        failed: list[BaseException] = []

        def run() -> None:
            try:
                _enter(self.client)
                found.append(work())
            except BaseException as error:  # noqa: BLE001 (raised again in the caller's thread)
                failed.append(error)

        thread = threading.Thread(target=run, name="on the client", daemon=True)
        thread.start()
        thread.join(60)
        if failed:
            raise failed[0]
        if not found:
            raise RolesError("the work on the client did not end")
        return found[0]

    def log(self, role: str) -> str:
        """What a server has logged so far."""
        return (self.folder / f"{role}.log").read_text("utf-8", "replace")

    def close(self) -> None:
        """End all servers, remove the namespaces and the folder; safe to call twice."""
        for role in list(self._running):
            self.stop(role)
        for namespace in (self.client, self.stranger, self.inner):
            subprocess.run(["ip", "netns", "del", namespace], check=False, capture_output=True)
        if self.folder != Path():
            remove_folder(self.folder)

    # ---- the network -------------------------------------------------------------------------------------------

    def _network(self) -> None:
        for namespace in (self.inner, self.client, self.stranger):
            _ip("netns", "add", namespace)
            _ip("-n", namespace, "link", "set", "lo", "up")
        inside = ("-n", self.inner)
        _ip(*inside, "link", "add", "br0", "type", "bridge")
        _ip(*inside, "addr", "add", f"{SERVER}/24", "dev", "br0")
        _ip(*inside, "link", "set", "br0", "up")
        for namespace, port, address in ((self.client, "port1", CLIENT), (self.stranger, "port2", ROGUE)):
            _ip(*inside, "link", "add", port, "type", "veth", "peer", "name", INTERFACE, "netns", namespace)
            _ip(*inside, "link", "set", port, "master", "br0")
            _ip(*inside, "link", "set", port, "up")
            _ip("-n", namespace, "addr", "add", f"{address}/24", "dev", INTERFACE)
            _ip("-n", namespace, "link", "set", INTERFACE, "up")

    # ---- the servers: command line, and how to see that it is ready ------------------------------------------

    def _dhcp(self, *, boot: bool = True) -> tuple[list[str], Callable[[Path], bool]]:
        return self._offers("br0", SERVER, "bootx64.efi" if boot else "")

    def _rogue(self) -> tuple[list[str], Callable[[Path], bool]]:
        return self._offers(INTERFACE, ROGUE, "evil.efi")

    def _offers(self, interface: str, address: str, boot: str) -> tuple[list[str], Callable[[Path], bool]]:
        argv = [
            *("dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--user=root", "--port=0", "--no-ping"),
            *(f"--interface={interface}", "--bind-interfaces", "--except-interface=lo", "--pid-file="),
            *("--dhcp-range=192.0.2.100,192.0.2.200,255.255.255.0,1h", "--dhcp-authoritative"),
            *(f"--dhcp-host={mac},{self.address(name)},{name}" for name, mac in self.machines.items()),
            *([f"--dhcp-boot={boot},,{address}"] if boot else []),
            *(f"--dhcp-leasefile={self.folder}/leases-{interface}", "--log-facility=-", "--log-dhcp"),
        ]
        return argv, lambda log: "DHCP, sockets bound" in log.read_text("utf-8", "replace")

    def _dns(self, *, wrong: str = "") -> tuple[list[str], Callable[[Path], bool]]:
        argv = [
            *("dnsmasq", "--no-daemon", "--conf-file=/dev/null", "--user=root", "--no-hosts", "--no-resolv"),
            *(f"--listen-address={SERVER}", "--bind-interfaces", "--pid-file=", "--log-facility=-"),
            *(f"--local=/{DOMAIN}/", "--local=/2.0.192.in-addr.arpa/", "--edns-packet-max=512"),
            *(f"--txt-record=long.{DOMAIN},{number:0200}" for number in range(12)),
            *(
                f"--host-record={name}.{DOMAIN},{name},{wrong or self.address(name)}"
                for name in self.machines
            ),
        ]
        return argv, lambda log: "started, version" in log.read_text("utf-8", "replace")

    def _ntp(self, *, synchronised: bool = True) -> tuple[list[str], Callable[[Path], bool]]:
        conf = self.folder / "chrony.conf"
        conf.write_text(
            f"bindaddress {SERVER}\nport 123\ncmdport 0\nallow 192.0.2.0/24\npidfile {self.folder}/chronyd.pid\n"
            + ("local stratum 8\n" if synchronised else ""),
            "ascii",
        )
        program = shutil.which("chronyd", path=SBIN) or "chronyd"
        return [program, "-d", "-x", "-u", "root", "-f", str(conf)], lambda log: _listens(self, "udp", 123)

    def _upstream(self, *, page: str = RELEASE) -> tuple[list[str], Callable[[Path], bool]]:
        served = self.folder / "archive"
        place = served / "ubuntu/dists/jammy/Release"
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(page, "utf-8")
        argv = [sys.executable, "-m", "http.server", "8080", "--bind", SERVER, "--directory", str(served)]
        return argv, lambda log: _listens(self, "tcp", 8080)

    def _proxy(self, *, allow: str = "192.0.2.0/24") -> tuple[list[str], Callable[[Path], bool]]:
        conf = self.folder / "tinyproxy.conf"
        conf.write_text(f"Port 8000\nListen {SERVER}\nTimeout 5\nMaxClients 20\nAllow {allow}\n", "ascii")
        return ["tinyproxy", "-d", "-c", str(conf)], lambda log: _listens(self, "tcp", 8000)


def _listens(roles: Roles, kind: str, port: int) -> bool:
    """Whether a socket is bound to a port in the servers' namespace."""
    where = f"/proc/net/{kind}"
    done = subprocess.run(
        ["ip", "netns", "exec", roles.inner, "cat", where], check=False, capture_output=True, text=True
    )
    rows = [line.split() for line in done.stdout.splitlines()[1:]]
    return any(
        row[1].endswith(f":{port:04X}") and (kind == "udp" or row[3] == _LISTENING)
        for row in rows
        if len(row) > 3
    )


def _enter(namespace: str) -> None:
    """Move this thread into a network namespace."""
    libc = ctypes.CDLL(None, use_errno=True)
    with open(f"/run/netns/{namespace}", "rb") as stream:
        if libc.setns(stream.fileno(), _NEWNET) != 0:
            raise OSError(ctypes.get_errno(), "setns", namespace)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RolesError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def main() -> int:
    """Bring it up and wait."""
    with contextlib.suppress(KeyboardInterrupt), Roles({"gpu001": "02:00:00:aa:00:01"}) as roles:
        sys.stdout.write(
            f"server {SERVER}, client {CLIENT} on {INTERFACE}, proxy {PROXY}, page {PAGE}\n"
            f"enter: ip netns exec {roles.client} {os.environ.get('SHELL', 'sh')}\n"
        )
        sys.stdout.flush()
        threading.Event().wait()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
