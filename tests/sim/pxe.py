"""A network that boots machines, and machines that boot from it: dnsmasq and qemu in a network namespace.

Used by tests as a context manager, and by hand, as root::

    python -m tests.sim.pxe              # boots one machine over the network and prints its console
    python -m tests.sim.pxe --disk       # the same machine from its empty disk

Learned the hard way, on Debian 12 (qemu 7.2, OVMF 2022.11, iPXE of ipxe-qemu):

- OVMF dies under this machine's KVM, so instructions are emulated: one core while it boots.
- iPXE waits for what the network does not have: seconds for an IPv6 router, so the lab has one (a boot takes 7 s).
- UEFI only: SeaBIOS never enters the card's boot ROM. GPU servers boot UEFI anyway.
- Boot options that ``bootindex`` does not name are dropped by OVMF, so a machine told to boot its disk asks no DHCP.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import re
import shutil
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.hunt import new_folder, remove_folder
from tests.sim.processes import end, tied_to_us

SBIN = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
PROGRAMS = ("qemu-system-x86_64", "dnsmasq", "ip")
CODE = Path("/usr/share/OVMF/OVMF_CODE_4M.fd")
VARIABLES = Path("/usr/share/OVMF/OVMF_VARS_4M.fd")
ROM = Path("/usr/lib/ipxe/qemu/efi-virtio.rom")
PACKAGES = ("qemu-system-x86", "ipxe-qemu", "ovmf", "dnsmasq-base", "iproute2")
"""Debian packages that bring all of them."""
READY_S = 10.0
DISK_BYTES = 64 << 20
SERVER = "192.0.2.1"
"""TEST-NET-1 (RFC 5737), inside the namespace only."""
PREFIX6 = "2001:db8::"
"""Documentation prefix (RFC 3849): iPXE waits fifteen seconds for an IPv6 router before it goes on without."""
SCRIPT = "boot.ipxe"
GREETING = "PXE-LAB-BOOTED"
_LEFT_POST = re.compile(rb"BdsDxe: (?:loading|starting|failed to load) Boot|Configuring \(net|>>Start PXE")
"""OVMF or iPXE on the serial console, once the first boot option is tried."""


class PxeError(RuntimeError):
    """The lab or a machine in it did not come up; the message says what and why."""


def missing() -> list[str]:
    """Which programs and files of :data:`PACKAGES` are not here."""
    absent = [program for program in PROGRAMS if shutil.which(program, path=SBIN) is None]
    return absent + [str(path) for path in (CODE, VARIABLES, ROM) if not path.exists()]


class Machine:
    """One virtual machine, running from its making to :meth:`stop` or its own end.

    :param serial: what its console shows; :param left_post: called once, when the firmware starts to boot something;
    :param ended: called once, with whether nobody asked for it. Both come from a thread of this machine.
    """

    def __init__(
        self,
        argv: Sequence[str],
        serial: Path,
        *,
        left_post: Callable[[], None] = lambda: None,
        ended: Callable[[bool], None] = lambda _: None,
    ) -> None:
        self.serial = serial
        self._argv = argv
        self._left_post, self._ended = left_post, ended
        self._process: subprocess.Popen[bytes] | None = None
        self._stopping = False
        self._started = threading.Event()
        # the process ends with the thread that starts it: with this one, not with a caller's that may be short-lived
        self._thread = threading.Thread(target=self._run, name=f"vm {serial.stem}", daemon=True)
        self._thread.start()
        if not self._started.wait(READY_S):
            raise PxeError("the machine did not start")

    def console(self) -> str:
        """What stands on its serial console so far."""
        return self.serial.read_text("ascii", "replace") if self.serial.exists() else ""

    @property
    def pid(self) -> int:
        """Process id of qemu."""
        return self._process.pid if self._process is not None else 0

    @property
    def running(self) -> bool:
        """Whether it runs."""
        return self._process is not None and self._process.poll() is None

    def cut(self) -> None:
        """Cut its power without waiting for the end; safe to call twice."""
        self._stopping = True
        if self._process is not None and self._process.poll() is None:
            self._process.kill()  # as a plug that is pulled

    def stop(self) -> None:
        """Cut its power, and wait; safe to call twice."""
        self.cut()
        if threading.current_thread() is not self._thread:
            self._thread.join(READY_S)

    def _run(self) -> None:
        out = self.serial.with_suffix(".out")
        try:
            with out.open("wb") as stream:
                self._process = subprocess.Popen(
                    [*tied_to_us(), *self._argv],
                    stdin=subprocess.DEVNULL,
                    stdout=stream,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )
        finally:
            self._started.set()
        try:
            self._watch(self._process)
        finally:
            end(self._process)
            if not self._stopping and self._process.returncode:
                self.serial.write_bytes(self.serial.read_bytes() if self.serial.exists() else b"")
                with self.serial.open("ab") as stream:
                    stream.write(b"\nqemu: " + out.read_bytes()[-500:])
            self._ended(not self._stopping)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        while process.poll() is None:
            if self.serial.exists() and _LEFT_POST.search(self.serial.read_bytes()):
                self._left_post()
                process.wait()
                return
            time.sleep(0.1)


class PxeLab:
    """A namespace with a bridge, DHCP and TFTP; machines are plugged in with :meth:`boot`. Needs root.

    :param machines: MAC of each machine that is served -> its host name.
    :raises PxeError: on entry, when something does not come up.
    """

    def __init__(self, machines: Mapping[str, str]) -> None:
        self.namespace = f"fabricctl-pxe-{os.getpid()}-{uuid.uuid4().hex[:6]}"
        self.folder = Path()
        self.machines = {mac.lower(): name for mac, name in machines.items()}
        self._running: list[Machine] = []
        self._plugged = 0
        self._dnsmasq: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> PxeLab:
        if absent := missing():
            raise PxeError(f"not installed: {', '.join(absent)} (packages {' '.join(PACKAGES)})")
        self.folder = new_folder("pxe-")
        try:
            self._start()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def boot(
        self,
        mac: str,
        *,
        network: bool,
        left_post: Callable[[], None] = lambda: None,
        ended: Callable[[bool], None] = lambda _: None,
    ) -> Machine:
        """Power a machine on, with an empty disk and one card.

        :param network: whether it boots from the card, else from the disk.
        """
        number = self._plugged = self._plugged + 1
        tap = f"tap{number}"
        _ip("-n", self.namespace, "tuntap", "add", "dev", tap, "mode", "tap")
        _ip("-n", self.namespace, "link", "set", tap, "master", "br0")
        _ip("-n", self.namespace, "link", "set", tap, "up")
        disk, variables = self.folder / f"disk{number}.raw", self.folder / f"variables{number}.fd"
        with disk.open("wb") as stream:
            stream.truncate(DISK_BYTES)
        shutil.copy(VARIABLES, variables)
        serial = self.folder / f"{self.machines.get(mac.lower(), 'machine')}-{number}.serial"
        card, drive = (",bootindex=1", "") if network else ("", ",bootindex=1")
        argv = [
            *self._inside("qemu-system-x86_64"),
            *("-accel", "tcg", "-machine", "q35", "-m", "512", "-smp", "1"),
            *("-nodefaults", "-vga", "none", "-display", "none", "-monitor", "none", "-no-reboot"),
            *("-drive", f"if=pflash,format=raw,unit=0,readonly=on,file={CODE}"),
            *("-drive", f"if=pflash,format=raw,unit=1,file={variables}"),
            *(
                "-drive",
                f"if=none,id=d0,format=raw,file={disk}",
                "-device",
                f"virtio-blk-pci,drive=d0{drive}",
            ),
            *("-netdev", f"tap,id=n0,ifname={tap},script=no,downscript=no"),
            *("-device", f"virtio-net-pci,netdev=n0,mac={mac.lower()},romfile={ROM}{card}"),
            *("-serial", f"file:{serial}"),
        ]
        machine = Machine(argv, serial, left_post=left_post, ended=ended)
        self._running.append(machine)
        return machine

    @property
    def pid(self) -> int:
        """Process id of dnsmasq."""
        return self._dnsmasq.pid if self._dnsmasq is not None else 0

    def log(self) -> str:
        """What dnsmasq has logged so far."""
        return (self.folder / "dnsmasq.log").read_text("utf-8", "replace")

    def asked(self, mac: str) -> bool:
        """Whether this card has asked for an address."""
        return re.search(rf"DHCPDISCOVER\(\S+\) (?:\S+ )?{mac.lower()}", self.log()) is not None

    def leased(self, mac: str) -> str:
        """The address this card was given, empty when none."""
        found = re.findall(rf"DHCPACK\(\S+\) (\S+) {mac.lower()}", self.log())
        return found[-1] if found else ""

    def fetched(self, mac: str) -> int:
        """How often this card has been sent the whole boot script."""
        address = self.leased(mac)
        return len(re.findall(rf"sent \S*/{SCRIPT} to {re.escape(address)}\b", self.log())) if address else 0

    def stop(self) -> None:
        """End the machines and dnsmasq, remove the namespace and the folder; safe to call twice."""
        for machine in self._running:
            machine.stop()
        self._running.clear()
        if self._dnsmasq is not None:
            end(self._dnsmasq)
            self._dnsmasq = None
        subprocess.run(["ip", "netns", "del", self.namespace], check=False, capture_output=True)
        if self.folder != Path():
            remove_folder(self.folder)

    def _inside(self, program: str) -> list[str]:
        return ["ip", "netns", "exec", self.namespace, shutil.which(program, path=SBIN) or program]

    def _start(self) -> None:
        _ip("netns", "add", self.namespace)
        inside = ("-n", self.namespace)
        _ip(*inside, "link", "set", "lo", "up")
        _ip(*inside, "link", "add", "br0", "type", "bridge")
        _ip(*inside, "addr", "add", f"{SERVER}/24", "dev", "br0")
        _ip(*inside, "addr", "add", f"{PREFIX6}1/64", "dev", "br0", "nodad")
        _ip(*inside, "link", "set", "br0", "up")
        served = self.folder / "tftp"
        served.mkdir()
        (served / SCRIPT).write_text(
            f"#!ipxe\necho {GREETING} ${{net0/mac}} ${{net0/ip}} platform ${{platform}}\nsleep 3600\n",
            "ascii",
        )
        fixed = [
            f"--dhcp-host={mac},192.0.2.{50 + number},{name}"
            for number, (mac, name) in enumerate(self.machines.items())
        ]
        with (self.folder / "dnsmasq.log").open("wb") as out:
            self._dnsmasq = subprocess.Popen(
                [
                    *(*tied_to_us(), *self._inside("dnsmasq"), "--no-daemon", "--conf-file=/dev/null"),
                    *(
                        "--user=root",
                        "--port=0",
                        "--interface=br0",
                        "--bind-interfaces",
                        "--except-interface=lo",
                    ),
                    *("--dhcp-range=192.0.2.50,192.0.2.250,255.255.255.0,1h", *fixed),
                    *(
                        "--no-ping",
                        "--enable-tftp",
                        f"--tftp-root={served}",
                        f"--dhcp-boot={SCRIPT}",
                        "--log-dhcp",
                    ),
                    *(f"--dhcp-range={PREFIX6},ra-only", "--enable-ra"),
                    "--dhcp-option=encap:175,176,1b",  # iPXE: do not wait ten seconds for a second DHCP server
                    *(f"--dhcp-leasefile={self.folder}/leases", "--log-facility=-", "--pid-file="),
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait_for_dnsmasq(self._dnsmasq)

    def _wait_for_dnsmasq(self, process: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + READY_S
        while "TFTP root is" not in (text := self.log()):
            if process.poll() is not None or time.monotonic() > deadline:
                raise PxeError(f"dnsmasq did not come up: {text[-500:]}")
            time.sleep(0.02)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise PxeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def main() -> int:
    """Boot one machine and print its console."""
    parser = argparse.ArgumentParser(description="boot one virtual machine over the network")
    parser.add_argument("--disk", action="store_true", help="from its empty disk instead")
    parser.add_argument("--seconds", type=float, default=90.0, help="at most so long (default 90)")
    options = parser.parse_args()
    mac = "02:00:00:aa:00:01"
    with contextlib.suppress(KeyboardInterrupt), PxeLab({mac: "node001"}) as lab:
        start = time.monotonic()
        left: list[float] = []
        machine = lab.boot(
            mac, network=not options.disk, left_post=lambda: left.append(time.monotonic() - start)
        )
        while time.monotonic() - start < options.seconds and machine.running and not lab.fetched(mac):
            time.sleep(0.2)
        took = time.monotonic() - start
        time.sleep(2)
        sys.stdout.write(
            f"{machine.console()}\n{lab.log()[-1500:]}\n"
            f"POST left after {left}, asked {lab.asked(mac)}, scripts sent {lab.fetched(mac)}, after {took:.1f} s\n"
        )
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
