"""The search for passwords where none may be: after a session of tests, in everything the tests left and said.

Passwords of simulated BMCs, and tokens of their sessions, begin with a marker, random for the session. Searched for
it, for its base64 as HTTP Basic would carry it, and for every password that was set on a simulated BMC:

- every file below the session's temporary folder, and below the folders that simulators make (:func:`new_folder`):
  state stores, databases, logs, reports, JSON (also inside ``.gz``);
- every output that a test looked at: of commands, of ``capsys``, of Typer's runner; what pytest itself captured;
- every command line and environment: of each process a test starts, and of all processes, looked at ten times a second;
  only the variable that a site file names may hold a password.

A password may stand in the secret store and in the files that bring it, nothing else; those must be private.
"""

from __future__ import annotations

import base64
import contextlib
import functools
import gzip
import hashlib
import os
import re
import secrets
import shutil
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

VARIABLE = "FABRICCTL_SIM_MARKER"
"""Environment variable that carries the marker to simulators in processes of their own and to pytest's workers."""
PLAIN = "simulated"
"""Marker of simulators that run outside a session of tests."""
GIVEN = frozenset({VARIABLE, "FABRICCTL_SIM_PASSWORD", "BADFISH_PASSWORD"})
"""Environment variables that may hold the marker and a password: the operator sets them, and so badfish wants it."""
EVERY_S = 0.1
SHORTEST = 12
"""Shorter passwords that a test sets are words that may stand anywhere (``calvin``); made ones are longer."""
STORES = (".secrets", ".password")
"""Endings of the secret store and of files a site names as password: they hold passwords and must be private."""
WAL = "pg_wal"
"""PostgreSQL's log of changes: as large as everything it ever wrote, which stands in its tables after a checkpoint."""
LISTS = re.compile(r"(?:factory|vendor|labels)[\w.-]*\.(?:csv|txt|json)\Z")
"""Lists of factory passwords as a vendor sends them: input of ``credentials import``."""


def marker() -> str:
    """How passwords of simulators begin, in this process."""
    return os.environ.get(VARIABLE, PLAIN)


def new_marker() -> str:
    """Choose one for a session, once; its workers inherit it."""
    return os.environ.setdefault(VARIABLE, f"Marked{secrets.token_hex(8)}")


def patterns(words: Iterable[str]) -> tuple[bytes, ...]:
    """Words as they are, and what of them is sure in base64, at each of the three ways it can be aligned."""
    found: set[bytes] = set()
    for word in words:
        plain = word.encode()
        found.add(plain)
        for lead in range(3):
            coded = base64.b64encode(b"\0" * lead + plain)
            # characters that share bits with what stands before or after are not known
            known = coded[(0, 2, 3)[lead] : len(coded) - (0, 3, 2)[(lead + len(plain)) % 3]]
            found.add(known)
    return tuple(found)


LARGE = 2 * 2**20
"""Bytes above which only the words of the session are looked for, not the hundreds of passwords set meanwhile: files
that are made large to be refused would take minutes."""


class Hunt:
    """One session's search.

    :param words: what to look for; :param more: further words, asked for at the end (passwords set meanwhile).
    """

    def __init__(self, *words: str, more: Callable[[], Iterable[str]] = lambda: ()) -> None:
        self._words, self._more = words, more
        self._patterns = self._first = patterns(words)
        self._found: dict[str, None] = {}
        self._lines: set[bytes] = set()
        self._variables: set[tuple[bytes, bytes]] = set()
        self._searched: set[bytes] = set()
        self._roots: list[Path] = []
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._look_at_processes, name="secret hunt", daemon=True)

    def say(self, where: str, *texts: str | bytes | None) -> None:
        """Something was said; remember it when a password is in it."""
        for text in texts:
            data = text.encode("utf-8", "surrogateescape") if isinstance(text, str) else text
            if not data:
                continue
            wanted = self._patterns if len(data) <= LARGE else self._first
            if any(pattern in data for pattern in wanted):
                self._found[where] = None

    @property
    def found(self) -> list[str]:
        """Where passwords were seen so far."""
        return list(self._found)

    def search(self, root: Path) -> None:
        """Look into every file below a folder, and at what was seen of command lines."""
        self._learn()
        for line in self._lines:
            self.say(f"command line of {_name(line)}", line)
        for line, variable in self._variables:
            self.say(f"environment of {_name(line)}: {os.fsdecode(variable.partition(b'=')[0])}", variable)
        for folder in [root, *self._roots]:
            self.search_folder(folder)

    def search_folder(self, root: Path) -> None:
        """Look into every file below a folder that is about to go, or at the end."""
        self._learn()
        for folder, inner, names in os.walk(root):
            inner[:] = [name for name in inner if name != WAL]
            for name in names:
                self._search_file(Path(folder, name))

    def keep_in_mind(self, folder: Path) -> None:
        """A folder that is searched at the end, should it still be there."""
        self._roots.append(folder)

    def _learn(self) -> None:
        """What is looked for by now; a word that holds another one is found with that."""
        more = [word for word in self._more() if not any(known in word for known in self._words)]
        self._patterns = patterns([*self._words, *more])

    def _search_file(self, path: Path) -> None:
        with contextlib.suppress(FileNotFoundError):  # removed while we looked
            if not path.is_file() or path.is_symlink():
                return
            data = path.read_bytes()
            if path.suffix not in STORES:  # of which the mode counts too
                # a database server has the same files again and again
                digest = hashlib.blake2b(data, digest_size=16).digest() + len(self._patterns).to_bytes(4)
                if digest in self._searched:
                    return
                self._searched.add(digest)
            if data[:2] == b"\x1f\x8b":
                with contextlib.suppress(OSError, EOFError):  # not gzip after all, or cut short by a test
                    data = gzip.decompress(data)
            if LISTS.search(path.name):
                return
            if path.suffix in STORES:
                if path.stat().st_mode & 0o077 and any(pattern in data for pattern in self._patterns):
                    self._found[f"{path} (a secret file that others may read)"] = None
                return
            self.say(str(path), data)

    # -- what tests see and start ----------------------------------------------------------------------------

    @contextlib.contextmanager
    def listening(self) -> Iterator[Hunt]:
        """Hear every output that tests look at and every process they start, until left."""
        _HUNTS.append(self)
        _listen()
        self._thread.start()
        try:
            yield self
        finally:
            _HUNTS.remove(self)
            self._stop.set()
            self._thread.join()

    def started(self, argv: object, environment: Mapping[str, str] | None) -> None:
        """A process is being started."""
        words = [argv] if isinstance(argv, str | bytes | os.PathLike) else list(argv)  # type: ignore[call-overload]
        with contextlib.suppress(TypeError):  # not words at all: the start will fail by itself
            line = b"\0".join(os.fsencode(word) for word in words)
            self._lines.add(line)
            self._environment(
                line, (os.fsencode(f"{name}={text}") for name, text in (environment or {}).items())
            )

    def _environment(self, line: bytes, variables: Iterable[bytes]) -> None:
        """Remember those variables of a process that look like a secret, by the words known so far."""
        for variable in variables:
            name = os.fsdecode(variable.partition(b"=")[0])
            if name not in GIVEN and any(pattern in variable for pattern in self._patterns):
                self._variables.add((line, variable))

    def _look_at_processes(self) -> None:
        while not self._stop.wait(EVERY_S):
            for entry in os.scandir("/proc"):
                if entry.name.isdigit():
                    with contextlib.suppress(OSError):  # it ended meanwhile, or is another user's
                        line = Path(entry.path, "cmdline").read_bytes()
                        self._lines.add(line)
                        self._environment(line, Path(entry.path, "environ").read_bytes().split(b"\0"))


def _name(line: bytes) -> str:
    return line.split(b"\0")[0].decode("utf-8", "replace")


def new_folder(prefix: str, inside: str | None = None) -> Path:
    """A folder for a simulator, outside the session's; it is searched too. :func:`remove_folder` ends it."""
    folder = Path(tempfile.mkdtemp(prefix=prefix, dir=inside))
    for hunt in _HUNTS:
        hunt.keep_in_mind(folder)
    return folder


def remove_folder(folder: Path) -> None:
    """Remove it; hunts that listen search it before."""
    for hunt in _HUNTS:
        hunt.search_folder(folder)
    shutil.rmtree(folder, ignore_errors=True)


_HUNTS: list[Hunt] = []


def heard(where: str, *texts: str | bytes | None) -> None:
    """Something was said; every hunt that listens looks at it."""
    for hunt in _HUNTS:
        hunt.say(where, *texts)


def passwords_set() -> set[str]:
    """Passwords that simulated BMCs of this process were given."""
    simulator = sys.modules.get("tests.sim.idrac.users")
    known: set[str] = getattr(simulator, "PASSWORDS", set())
    return {password for password in known if len(password) >= SHORTEST}


_HEARD: list[bool] = []


def _listen() -> None:
    """Hook into what carries outputs to tests and into the start of processes; once a process."""
    if _HEARD:
        return
    _HEARD.append(True)  # an audit hook cannot be taken out again

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            for hunt in _HUNTS:
                hunt.started(args[1], args[3])

    sys.addaudithook(audit)
    _tap(pytest.CaptureFixture, "readouterr", lambda captured, _: ("captured by a test", *captured))
    _tap(
        CliRunner,
        "invoke",
        lambda done, _: ("of a command run within a test", done.stdout_bytes, done.output),
    )
    # subprocess.run takes its output by communicate, too
    _tap(subprocess.Popen, "communicate", lambda done, process: (f"of {str(process.args)[:200]}", *done))


def _tap(owner: Any, name: str, said: Callable[..., tuple[Any, ...]]) -> None:
    """Hear what a method gives back. :param said: of that and the object: where, and texts."""
    plain = getattr(owner, name)

    @functools.wraps(plain)
    def listened(self: Any, *args: Any, **kwargs: Any) -> Any:
        result = plain(self, *args, **kwargs)
        where, *texts = said(result, self)
        heard(f"output {where}", *texts)
        return result

    setattr(owner, name, listened)
