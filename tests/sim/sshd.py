"""A real OpenSSH server on loopback or in a network namespace, with keys of its own.

Used by tests as a context manager, and by hand::

    python -m tests.sim.sshd --path /folder/with/wrappers      # prints how to log in; Ctrl-C ends it

``--path`` comes first in the PATH of whoever logs in, so programs in it stand for the host's own: together with
``tests.sim.ibsim`` (``write_wrappers``) the host has an ``ibnetdiscover`` that sees a simulated fabric.

sshd needs no PAM here and logs in only the user it runs as, with one key made for it.
"""

from __future__ import annotations

import argparse
import contextlib
import getpass
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from tests.hunt import new_folder, remove_folder
from tests.sim.processes import tied_to_us

READY_S = 10.0
STOP_S = 5.0
SBIN = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))
PLAIN_PATH = "/usr/local/bin:/usr/bin:/bin"


class SshdError(RuntimeError):
    """sshd did not come up; the message ends with its log."""


def sshd_program() -> str | None:
    """Absolute path of sshd (it insists on being started by one)."""
    return shutil.which("sshd", path=SBIN)


def make_key(path: Path) -> Path:
    """A new private key without passphrase; its public half lies beside it."""
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "test", "-f", str(path)], check=True)
    return path


class Sshd:
    """One running server; a context manager.

    :param path: folders that come first in the PATH of whoever logs in.
    :param address: to listen on; the port is chosen free, or given.
    :param inside: words before the server's command, such as ``ip netns exec NAME``.
    :param extra: further lines of sshd_config(5).
    :param login_path: the rest of the PATH.
    :param host_key: its private host key as text, its public half; made here when not given.
    """

    def __init__(
        self,
        path: Sequence[Path] = (),
        *,
        address: str = "127.0.0.1",
        port: int = 0,
        inside: Sequence[str] = (),
        extra: str = "",
        login_path: str = PLAIN_PATH,
        host_key: tuple[str, str] | None = None,
    ) -> None:
        self.address = address
        self.port = port or free_port(address)
        self.user = getpass.getuser()
        self.folder = Path()
        self._path = os.pathsep.join([*map(str, path), login_path])
        self._inside = tuple(inside)
        self._extra = extra
        self._host_key = host_key
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def key(self) -> Path:
        """The private key that may log in."""
        return self.folder / "client_key"

    @property
    def known_hosts(self) -> Path:
        """A file that records this server's host key."""
        return self.folder / "known_hosts"

    def host_line(self, public_key: Path | None = None) -> str:
        """The known_hosts line of this server; with another key it is a lie."""
        text = (public_key or self.folder / "host_key.pub").read_text("ascii").split()
        name = self.address if self.port == 22 else f"[{self.address}]:{self.port}"
        return f"{name} {text[0]} {text[1]}\n"

    def __enter__(self) -> Sshd:
        self.folder = new_folder("sshd-")
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

    def _start(self) -> None:
        program = sshd_program()
        if program is None:
            raise SshdError("sshd is not installed (package openssh-server)")
        if os.getuid() == 0:
            Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # where Debian's sshd drops its privileges
        self._place_host_key(self.folder / "host_key")
        make_key(self.key)
        shutil.copy(self.folder / "client_key.pub", self.folder / "authorized_keys")
        self.known_hosts.write_text(self.host_line(), "ascii")
        config = self.folder / "sshd_config"
        config.write_text(self._config(), "utf-8")
        log = self.folder / "sshd.log"
        with log.open("wb") as out:
            self._process = subprocess.Popen(
                [*tied_to_us(), *self._inside, program, "-D", "-e", "-f", str(config)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._wait(log)

    def _place_host_key(self, path: Path) -> None:
        if self._host_key is None:
            make_key(path)
            return
        private, public = self._host_key
        path.touch(0o600)
        path.write_text(private, "ascii")
        path.with_suffix(".pub").write_text(f"{public}\n", "ascii")

    def _config(self) -> str:
        return (
            f"ListenAddress {self.address}:{self.port}\n"
            f"HostKey {self.folder}/host_key\n"
            f"AuthorizedKeysFile {self.folder}/authorized_keys\n"
            f"SetEnv PATH={self._path} HOME={self.folder}\n"  # bash reads ~/.bashrc under sshd
            "UsePAM no\nStrictModes no\nUseDNS no\nPidFile none\nPermitRootLogin yes\n"
            "PasswordAuthentication no\nKbdInteractiveAuthentication no\nPrintMotd no\nLogLevel VERBOSE\n"
            + self._extra
        )

    def _wait(self, log: Path) -> None:
        deadline = time.monotonic() + READY_S
        assert self._process is not None
        while time.monotonic() < deadline:
            text = log.read_text("utf-8", "replace")
            if "Server listening on" in text:
                return
            if self._process.poll() is not None:
                raise SshdError(f"sshd ended with {self._process.returncode}: {text[-500:]}")
            time.sleep(0.02)
        raise SshdError(f"sshd did not listen within {READY_S:g} s: {text[-500:]}")

    def log(self) -> str:
        """What the server has logged so far."""
        return (self.folder / "sshd.log").read_text("utf-8", "replace")

    def kill_sessions(self) -> None:
        """Kill the servers of all connections, as a crashing host would; not what they started."""
        for pid in descendants(self._process.pid) if self._process is not None else []:
            with contextlib.suppress(OSError):  # it ended by itself
                if Path(f"/proc/{pid}/comm").read_text("ascii").startswith("sshd"):
                    os.kill(pid, signal.SIGKILL)

    def stop(self) -> None:
        """End the server and its sessions, and remove its folder; safe to call twice."""
        if self._process is not None:
            for pid in reversed(descendants(self._process.pid)):
                with contextlib.suppress(ProcessLookupError):  # it ended by itself
                    os.kill(pid, signal.SIGTERM)
            self._process.terminate()
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
            self._process = None
        if self.folder != Path():
            remove_folder(self.folder)


def free_port(address: str) -> int:
    """A TCP port nobody listens on; on an address that is not ours, a fixed one."""
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family) as probe:
        try:
            probe.bind((address, 0))
        except OSError:
            return 22022
        return int(probe.getsockname()[1])


def descendants(pid: int) -> list[int]:
    """Process ids of children, grandchildren and so on, parents before children."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with contextlib.suppress(OSError):  # it ended while we looked
                fields = (entry / "stat").read_text("utf-8", "replace").rpartition(")")[2].split()
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], [pid]
    while todo:
        children = parents.get(todo.pop(), [])
        found += children
        todo += children
    return found


@dataclass(frozen=True, slots=True)
class Namespace:
    """A network of its own behind a pair of virtual cards. :param ours: and :param theirs: their names."""

    name: str
    address: str
    ours: str
    theirs: str

    @property
    def inside(self) -> tuple[str, ...]:
        """Words before a command that shall run there."""
        return ("ip", "netns", "exec", self.name)


@contextlib.contextmanager
def namespace(number: int = 1) -> Iterator[Namespace]:
    """A network namespace reachable at one address; needs root.

    :param number: tells namespaces of one process apart; the address is of TEST-NET-2 (RFC 5737).
    :raises SshdError: when this machine does not allow it.
    """
    name = f"fabricctl-{os.getpid()}-{number}"
    ours, theirs = f"fc{os.getpid() % 100000}a{number}", f"fc{os.getpid() % 100000}b{number}"
    base = 4 * (os.getpid() % 16) * 4 + 4 * (number % 4)
    host, guest = f"198.51.100.{base + 1}", f"198.51.100.{base + 2}"
    try:
        _ip("netns", "add", name)
        _ip("link", "add", ours, "type", "veth", "peer", "name", theirs, "netns", name)
        _ip("addr", "add", f"{host}/30", "dev", ours)
        _ip("link", "set", ours, "up")
        _ip("-n", name, "addr", "add", f"{guest}/30", "dev", theirs)
        _ip("-n", name, "link", "set", theirs, "up")
        _ip("-n", name, "link", "set", "lo", "up")
        yield Namespace(name, guest, ours, theirs)
    finally:
        subprocess.run(["ip", "link", "del", ours], check=False, capture_output=True)
        subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise SshdError(f"ip {' '.join(words)}: {done.stderr.strip()}")


def main() -> int:
    """Run a server until Ctrl-C."""
    parser = argparse.ArgumentParser(description="run an ssh server with keys of its own")
    parser.add_argument("--path", type=Path, action="append", default=[], metavar="FOLDER")
    parser.add_argument("--address", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=0)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends like Ctrl-C: the folder is removed
    with Sshd(options.path, address=options.address, port=options.port) as server:
        sys.stdout.write(
            f"ssh -p {server.port} -i {server.key} -o UserKnownHostsFile={server.known_hosts} "
            f"{server.user}@{server.address}\n"
        )
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):  # the way to end it
            signal.pause()
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
