"""A real InfiniBand fabric in one process: ibsim, optionally OpenSM, and the real diagnostic tools on top.

Used by tests as a context manager, and by hand::

    python -m tests.sim.netgen small3 > /tmp/small3.net
    python -m tests.sim.ibsim /tmp/small3.net --discover          # ibnetdiscover's text on standard output
    python -m tests.sim.ibsim /tmp/small3.net --shell             # a shell in which every diag tool works

Learned the hard way, all on Debian 12 (ibsim 0.10, OpenSM 3.3.23):

- ``libumad2sim`` is preloaded into the tool alone, never exported: every program that lists a folder would attach.
- It writes a fake sysfs ``sys-<pid>`` into the working folder, so tools run in a folder of their own.
- OpenSM is stopped before ibsim: once its fabric is gone it ignores SIGTERM.
- OpenSM buffers its log; ``-d 2`` makes it flush, else "SUBNET UP" shows a minute late.
- At most ten clients at a time, OpenSM included.
"""

from __future__ import annotations

import argparse
import contextlib
import glob
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType

from tests.hunt import new_folder, remove_folder
from tests.sim.processes import tied_to_us

READY_S = 60.0
"""ibsim loads 320 switches in about one second."""
SUBNET_UP_S = 180.0
"""OpenSM brings 320 switches up in five to seven seconds on a quiet machine."""
STOP_S = 5.0
LIMITS = ("-N", "6000", "-S", "400", "-P", "40000")
"""Nodes, switches, ports: the defaults are too small for 320 switches."""
TOOLS = (
    "ibnetdiscover",
    "iblinkinfo",
    "ibqueryerrors",
    "smpquery",
    "sminfo",
    "perfquery",
    "ibhosts",
    "ibswitches",
)
SBIN = os.pathsep.join((os.environ.get("PATH", ""), "/usr/sbin", "/sbin"))


class SimError(RuntimeError):
    """ibsim or OpenSM did not come up; the message ends with the tail of its log."""


def preload_library() -> str | None:
    """Path of libumad2sim, wherever this architecture keeps it."""
    found = sorted(
        glob.glob("/usr/lib*/*/umad2sim/libumad2sim.so*") + glob.glob("/usr/lib*/umad2sim/libumad2sim.so*")
    )
    return found[0] if found else None


def missing_tools(*tools: str) -> list[str]:
    """Which of ibsim, libumad2sim and the named tools are not installed."""
    absent = [tool for tool in ("ibsim", *tools) if shutil.which(tool, path=SBIN) is None]
    return absent if preload_library() else [*absent, "libumad2sim"]


class Ibsim:
    """One simulated fabric; a context manager.

    :param net: an ibsim net file (ibnetdiscover's own output is one).
    :param opensm: also run a subnet manager and wait until the subnet is up.
    :param sim_host: node id on which the tools sit, ibsim's first node when empty.
    :raises SimError: on entry, when something does not come up in time.
    """

    def __init__(self, net: Path, *, opensm: bool = False, sim_host: str = "") -> None:
        self.net = net.resolve()
        self.opensm = opensm
        self.sim_host = sim_host
        self.folder = Path()
        self.socket_name = f"fabricctl-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        self._sim: subprocess.Popen[bytes] | None = None
        self._managers: list[subprocess.Popen[bytes]] = []

    def __enter__(self) -> Ibsim:
        self.folder = new_folder("ibsim-")
        try:
            self._start_sim()
            if self.opensm:
                self.start_opensm()
        except BaseException:
            self.stop()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    # -- daemons ---------------------------------------------------------------------------------------------

    def _start_sim(self) -> None:
        log = self.folder / "ibsim.log"
        with log.open("wb") as out:
            self._sim = subprocess.Popen(
                [*tied_to_us(), "ibsim", "-s", *LIMITS, str(self.net)],
                stdin=subprocess.PIPE,  # ibsim's console; it must stay open
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=self.folder,
                env=self._environment(),
                start_new_session=True,
            )
        _wait_for("simulator ready", log, self._sim, READY_S)

    def start_opensm(self, *, sim_host: str = "", port_guid: str = "", conf: Path | None = None) -> Path:
        """Start a subnet manager and wait for the subnet; returns its dump folder (opensm-subnet.lst).

        :param conf: a configuration file of OpenSM.
        :param sim_host: node id it sits on; then ``port_guid`` must be that node's port.
        """
        folder = self.folder / f"opensm-{len(self._managers)}"
        folder.mkdir()
        log = folder / "opensm.log"
        where = ["-g", port_guid] if port_guid else []
        where += ["-F", str(conf)] if conf is not None else []
        with (folder / "opensm.out").open("wb") as out:
            process = subprocess.Popen(
                [
                    *tied_to_us(),
                    *self.command(["opensm", "-e", "-d", "2", "-f", str(log), "-R", "ftree,updn", *where]),
                ],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
                cwd=folder,
                env=self._environment(sim_host) | {"OSM_CACHE_DIR": str(folder), "OSM_TMP_DIR": str(folder)},
                start_new_session=True,
            )
        self._managers.append(process)
        _wait_for("SUBNET UP", log, process, SUBNET_UP_S)
        return folder

    def console(self, line: str) -> None:
        """A line for ibsim's console, such as ``Unlink "S-..."[3]``; it acts a moment later."""
        if self._sim is None or self._sim.stdin is None:
            raise SimError("ibsim is not running")
        self._sim.stdin.write(f"{line}\n".encode())
        self._sim.stdin.flush()

    def stop(self) -> None:
        """Stop subnet managers, then ibsim, and remove the folder; safe to call twice."""
        for process in reversed(self._managers):
            _end(process)
        self._managers.clear()
        if self._sim is not None:
            _end(self._sim)
            if self._sim.stdin is not None:
                with contextlib.suppress(BrokenPipeError):  # it is gone: that was the aim
                    self._sim.stdin.close()
            self._sim = None
        if self.folder != Path():
            remove_folder(self.folder)

    # -- tools -----------------------------------------------------------------------------------------------

    def _environment(self, sim_host: str = "") -> dict[str, str]:
        extra = {"IBSIM_SOCKNAME": self.socket_name, "PATH": SBIN}
        host = sim_host or self.sim_host
        if host:
            extra["SIM_HOST"] = host
        return {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "SIM_HOST")} | extra

    @staticmethod
    def command(argv: Sequence[str]) -> list[str]:
        """The command that runs a tool on the fabric (in the right environment)."""
        return ["env", f"LD_PRELOAD={preload_library()}", *argv]

    def run(
        self, *argv: str, timeout_s: float = 60, sim_host: str = "", check: bool = True
    ) -> subprocess.CompletedProcess[str]:
        """Run a diagnostic tool, for instance ``run("ibnetdiscover", "-p")``.

        :raises subprocess.CalledProcessError: when it fails and ``check``.
        :raises subprocess.TimeoutExpired: it is killed first.
        """
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            return subprocess.run(
                self.command(argv),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=timeout_s,
                check=check,
                cwd=folder,
                env=self._environment(sim_host),
            )

    def discover(self, *options: str, sim_host: str = "") -> str:
        """Text of a real ``ibnetdiscover``."""
        return self.run("ibnetdiscover", *options, sim_host=sim_host, timeout_s=120).stdout

    def write_wrappers(self, folder: Path, tools: Sequence[str] = TOOLS, sim_host: str = "") -> None:
        """Executables under the tools' own names that talk to this fabric, for a PATH or an ssh host."""
        folder.mkdir(parents=True, exist_ok=True)
        host = sim_host or self.sim_host
        for tool in tools:
            real = shutil.which(tool, path=SBIN)
            if real is None:
                continue
            script = folder / tool
            script.write_text(
                "#!/bin/sh\n"
                f"export IBSIM_SOCKNAME={shlex.quote(self.socket_name)}\n"
                + (f"export SIM_HOST={shlex.quote(host)}\n" if host else "")
                + f'work=$(mktemp -d) && cd "$work" || exit 70\ntrap \'rm -rf "$work"\' EXIT\n'
                f'env LD_PRELOAD={shlex.quote(preload_library() or "")} {shlex.quote(real)} "$@"\n',
                encoding="utf-8",
            )
            script.chmod(0o755)


def _wait_for(word: str, log: Path, process: subprocess.Popen[bytes], deadline_s: float) -> None:
    deadline = time.monotonic() + deadline_s
    while time.monotonic() < deadline:
        text = log.read_text("utf-8", "replace") if log.exists() else ""
        if word in text:
            return
        if process.poll() is not None:
            raise SimError(f"{log.stem} ended with {process.returncode} before {word!r}: {text[-500:]}")
        time.sleep(0.05)
    raise SimError(f"{log.stem}: no {word!r} within {deadline_s:g} s: {text[-500:]}")


def _end(process: subprocess.Popen[bytes]) -> None:
    """SIGTERM to its process group, SIGKILL after a while; the process is reaped either way."""
    for number, patience_s in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, STOP_S)):
        if process.poll() is not None:
            return
        with contextlib.suppress(ProcessLookupError):  # it ended between the two lines
            os.killpg(process.pid, number)
        with contextlib.suppress(subprocess.TimeoutExpired):  # the next, harder signal follows
            process.wait(patience_s)


@contextlib.contextmanager
def simulated(lines: str | Iterator[str], **options: bool | str) -> Iterator[Ibsim]:
    """A running fabric from the text of a net file; options as of :class:`Ibsim`."""
    with tempfile.TemporaryDirectory(prefix="ibsim-net-") as folder:
        net = Path(folder) / "fabric.net"
        with net.open("w", encoding="utf-8") as out:
            out.writelines([lines] if isinstance(lines, str) else lines)
        sim = Ibsim(net, opensm=bool(options.get("opensm", False)), sim_host=str(options.get("sim_host", "")))
        with sim:
            yield sim


def main() -> int:
    parser = argparse.ArgumentParser(description="run a net file under ibsim and OpenSM")
    parser.add_argument("net", type=Path)
    parser.add_argument("--no-opensm", action="store_true", help="no subnet manager: every LID stays 0")
    parser.add_argument("--sim-host", default="", metavar="NODEID", help="where the tools sit")
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--discover", action="store_true", help="print ibnetdiscover's output and stop")
    what.add_argument(
        "--shell", action="store_true", help="a shell with the diag tools on its PATH; exit to stop"
    )
    options = parser.parse_args()
    absent = missing_tools("opensm", "ibnetdiscover")
    if absent:
        sys.stderr.write(f"not installed: {', '.join(absent)} (make setup as root installs them)\n")
        return 2
    with Ibsim(options.net, opensm=not options.no_opensm, sim_host=options.sim_host) as sim:
        if options.discover:
            sys.stdout.write(sim.discover())
            return 0
        tools = sim.folder / "bin"
        sim.write_wrappers(tools)
        shell = os.environ.get("SHELL", "/bin/sh")
        return subprocess.run(
            [shell], env=os.environ | {"PATH": f"{tools}{os.pathsep}{SBIN}"}, check=False
        ).returncode


if __name__ == "__main__":
    raise SystemExit(main())
