"""Live discovery: ask one or many hosts for what they see of the fabric, side by side.

A viewer that fails is a ``Capture`` with an error, never an empty fabric. Reading what the captures say is
the parsers' work.
"""

from __future__ import annotations

import re
import shlex
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.adapters.command import DEFAULT_LIMIT_BYTES, Completed, Deadline, Session, last_words
from fabricctl.adapters.files import decode, write_atomic
from fabricctl.adapters.local import LocalSession
from fabricctl.adapters.ssh_config import SshOptions, SshTarget, read_config, resolve
from fabricctl.errors import InputError, ToolFailedError, ViewerError
from fabricctl.workflows.fan_out import fan_out
from fabricctl.workflows.hca_port import PROBE, choose, parse_ports
from fabricctl.workflows.viewers import Viewer, parse_viewers

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from paramiko.config import SSHConfig

__all__ = ["Capture", "Runner", "Viewer", "collect", "parse_viewers", "ssh_runner"]

TOOL = "ibnetdiscover"
MAX_PARALLEL = 8
SMINFO_S = 10.0
"""Most seconds spent on the optional question who the subnet manager is."""

_NODE = re.compile(rb"^(?:Switch|Ca|Hca|Rt)[ \t]", re.MULTILINE)
"""First word of a node's line in ibnetdiscover's output (infiniband-diags, ibnetdiscover.c)."""
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True, slots=True)
class Capture:
    """What came of one viewer.

    :param label: the viewer's name in messages; :param text: the tool's standard output, empty when there was
        no node in it. :param stderr: its standard error. :param error: why this is not, or not all of, what
        the viewer sees; text and error together mean a tool that failed after printing nodes.
    :param command: what was run there; :param started: in UTC; :param seconds: from connecting to the end.
    :param sminfo: text of ``sminfo`` there, empty when it gave none; :param notes: sentences a reader should
        know. :param saved: the file that keeps ``text``, empty when not saved.
    """

    label: str
    text: str
    stderr: str
    error: ViewerError | None
    command: str
    started: datetime
    seconds: float
    sminfo: str = ""
    notes: tuple[str, ...] = ()
    saved: str = ""


Runner = Callable[[Viewer, Deadline], "AbstractContextManager[Session]"]
"""Opens a place where a viewer's commands run; raises ViewerError when it cannot."""
Progress = Callable[[Capture, int, int], None]
"""Told of each finished viewer, with how many are done and how many there are."""


def collect(
    viewers: Sequence[Viewer],
    *,
    deadline_s: float,
    save_dir: str | None = None,
    progress: Progress | None = None,
    runner: Runner | None = None,
    parallel: int = MAX_PARALLEL,
    limit_bytes: int = DEFAULT_LIMIT_BYTES,
) -> list[Capture]:
    """Discover from every viewer; captures come in the viewers' order.

    :param deadline_s: seconds for all of one viewer, from its connection on.
    :param save_dir: keep raw outputs there (made if missing): ``HOST.ibnetdiscover.txt`` and, where there is
        something to keep, ``HOST.ibnetdiscover.stderr`` and ``HOST.sminfo.txt``.
    :param progress: called on this thread; :param runner: how commands are run, by default ``ssh_runner()``.
    :param parallel: most viewers asked at once; :param limit_bytes: most output taken from one.
    :raises InputError: the ssh configuration, or the folder to save in, cannot be used.
    :raises KeyboardInterrupt: interrupted; commands that ran have been ended, finished captures are saved.
    """
    names = _file_names(viewers)
    folder = None if save_dir is None else _folder(save_dir)
    if runner is None:
        runner = ssh_runner(SshOptions(), read=any(viewer.host for viewer in viewers))
    opened = runner

    def ask(index: int, deadline: Deadline) -> Capture:
        asking = _Asking(viewers[index], deadline, limit_bytes)
        capture = asking.run(opened)
        return capture if folder is None else _save(capture, asking.raw, folder / names[index])

    def told(capture: Capture, done: int) -> None:
        if progress is not None:
            progress(capture, done, len(viewers))

    return fan_out(len(viewers), ask, deadline_s=deadline_s, parallel=parallel, done=told)


def ssh_runner(options: SshOptions, *, read: bool = True) -> Runner:
    """The usual runner: this machine for a viewer without host, else ssh under these options.

    :param read: read the ssh configuration now; False when no viewer has a host.
    :raises InputError: the ssh configuration cannot be used, or a file it names by option is missing.
    """
    config: SSHConfig | None = read_config(options) if read else None

    def open_session(viewer: Viewer, deadline: Deadline) -> AbstractContextManager[Session]:
        if not viewer.host:
            return LocalSession(viewer.label)
        from fabricctl.adapters.ssh import connect

        assert config is not None, "the ssh configuration was not read"
        target = SshTarget(viewer.host, viewer.user, viewer.port)
        login = resolve(target, options, config, viewer.label)
        return connect(login, deadline, viewer=viewer.label)

    return open_session


@dataclass
class _Asking:
    """One viewer being asked; what is known so far survives an error on the way."""

    viewer: Viewer
    deadline: Deadline
    limit_bytes: int
    command: str = TOOL
    raw: bytes = b""
    stderr: str = ""
    sminfo: str = ""
    notes: list[str] = field(default_factory=list)

    def run(self, runner: Runner) -> Capture:
        """Ask, turning a failure of the viewer into data."""
        started, began = datetime.now(UTC), time.monotonic()
        error: ViewerError | None = None
        text = ""
        try:
            with runner(self.viewer, self.deadline) as session:
                error = self._discover(session)
            text = decode(self.raw, f"{TOOL} at {self.viewer.label}") if self.raw else ""
        except ViewerError as exc:
            error = exc
        except InputError as exc:
            if not self.raw:
                raise
            error = ToolFailedError(str(exc), viewer=self.viewer.label)
        return Capture(
            label=self.viewer.label,
            text=text,
            stderr=self.stderr,
            error=error,
            command=self.command,
            started=started,
            seconds=time.monotonic() - began,
            sminfo=self.sminfo,
            notes=tuple(self.notes),
        )

    def _discover(self, session: Session) -> ViewerError | None:
        """Choose a port, run the tool, ask for the subnet manager; an error where the output is in doubt."""
        options = self._port_options(session)
        argv = [TOOL, *options]
        self.command = shlex.join(argv)
        result = session.run(argv, self.deadline, limit_bytes=self.limit_bytes)
        self.stderr = result.stderr.decode("utf-8", "replace")
        error = _judge(result, self.viewer.label)
        if _NODE.search(result.stdout):
            self.raw = result.stdout
            self._ask_sminfo(session, options)
        return error

    def _port_options(self, session: Session) -> tuple[str, ...]:
        viewer = self.viewer
        if viewer.hca and viewer.hca_port:
            return ("-C", viewer.hca, "-P", str(viewer.hca_port))
        ports = parse_ports(session.run(PROBE, self.deadline).stdout.decode("utf-8", "replace"))
        choice = choose(ports, viewer.hca, viewer.hca_port, viewer.label)
        self.notes += choice.notes
        return choice.options

    def _ask_sminfo(self, session: Session, options: tuple[str, ...]) -> None:
        """Best effort: a fabric without subnet manager is discovered all the same."""
        try:
            result = session.run(["sminfo", *options], self.deadline.part(SMINFO_S))
        except ViewerError as exc:
            self.notes.append(f"the subnet manager could not be asked: {exc.message}")
            return
        if result.returncode == 0:
            self.sminfo = result.stdout.decode("utf-8", "surrogateescape")
        else:
            words = last_words(result.stderr) or f"sminfo ended with exit code {result.returncode}"
            self.notes.append(f"the subnet manager could not be asked: {words}")


def _judge(result: Completed, viewer: str) -> ToolFailedError | None:
    """Why the output is not, or not all of, the fabric; None when nothing speaks against it."""
    tool = shlex.join(result.argv)
    words = last_words(result.stderr)
    said = f": {words}" if words else ", with nothing on its standard error"
    hint = ""
    if "umad" in words.lower():
        hint = "is there an InfiniBand port, and may this user open /dev/infiniband/umad*? root may"
    if result.returncode != 0:
        return ToolFailedError(
            f"{tool} ended with exit code {result.returncode}{said}", viewer=viewer, hint=hint
        )
    if not _NODE.search(result.stdout):
        return ToolFailedError(f"{tool} printed no node{said}", viewer=viewer, hint=hint)
    return None


def _folder(save_dir: str) -> Path:
    folder = Path(save_dir)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as exc:
        raise InputError(f"cannot be made: {exc.strerror}", path=save_dir) from exc
    return folder


def _file_names(viewers: Sequence[Viewer]) -> list[str]:
    """A safe file name stem for each viewer, no two alike."""
    names: list[str] = []
    for viewer in viewers:
        stem = _UNSAFE.sub("_", viewer.label.replace("/", "-").replace(" ", ".")).strip("_.") or "viewer"
        name, count = stem, 1
        while name in names:
            count += 1
            name = f"{stem}_{count}"
        names.append(name)
    return names


def _save(capture: Capture, raw: bytes, stem: Path) -> Capture:
    """Keep what came; say where a file of an earlier run stays because nothing came this time."""
    saved, notes = "", list(capture.notes)
    contents = {
        "ibnetdiscover.txt": raw,
        "ibnetdiscover.stderr": capture.stderr.encode(),
        "sminfo.txt": capture.sminfo.encode("utf-8", "surrogateescape"),
    }
    for ending, content in contents.items():
        path = stem.with_name(f"{stem.name}.{ending}")
        if content:
            write_atomic(path, content)
            saved = str(path) if content is raw else saved
        elif path.exists():
            notes.append(f"{path} is of an earlier run: this time there was nothing to save in its place")
    return replace(capture, saved=saved, notes=tuple(notes))
