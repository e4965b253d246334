"""A real PostgreSQL on a unix socket, in a folder of its own.

Used by tests as a context manager, and by hand::

    python -m tests.sim.postgres      # prints its URL; Ctrl-C ends it

It speaks on no network address and trusts whoever reaches its socket. PostgreSQL refuses to run as root: then it runs
as the user ``postgres`` that Debian's package makes, else as ``nobody``.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from pathlib import Path
from types import TracebackType

from tests.hunt import new_folder, remove_folder

GUARDED = "guarded"
READY_S = 30.0
STOP_S = 10.0
ROOM_BYTES = 4 << 30
_SHM = Path("/dev/shm")  # noqa: S108 - a folder of its own is made in it
_DEBIAN = Path("/usr/lib/postgresql")


class PostgresError(RuntimeError):
    """It did not come up; the message ends with its log."""


def find_program(name: str) -> str | None:
    """Absolute path of a program of the newest installed PostgreSQL; Debian keeps it out of the PATH."""
    versions = sorted(
        _DEBIAN.glob("*/bin"), key=lambda path: int(path.parent.name.split(".")[0]), reverse=True
    )
    return shutil.which(name, path=os.pathsep.join([*map(str, versions), os.environ.get("PATH", "")]))


class Postgres:
    """One running server; a context manager.

    Everybody is trusted but ``GUARDED``, who wants a password (scram-sha-256).
    """

    user = "fabric"

    def __init__(self) -> None:
        self.folder = Path()
        self._made = 0
        self._process: subprocess.Popen[bytes] | None = None

    def url(self, database: str = "postgres", user: str = "") -> str:
        """Where a database is; without any password."""
        return f"postgresql://{user or self.user}@/{database}?host={self.folder}"

    def new_database(self, password: str = "") -> str:
        """URL of a new empty database. :param password: makes it one of ``GUARDED``, who logs in with it; once."""
        import psycopg

        self._made += 1
        name = f"test{self._made}"
        owner = GUARDED if password else self.user
        words = [f"CREATE DATABASE {name} OWNER {owner}"]
        if password:
            words.insert(0, f"CREATE ROLE {owner} LOGIN PASSWORD '{password}'")
        with psycopg.connect(
            f"host={self.folder} user={self.user} dbname=postgres", autocommit=True
        ) as connection:
            for word in words:
                connection.execute(word)  # type: ignore[call-overload,unused-ignore]
        return self.url(name, owner)

    def __enter__(self) -> Postgres:
        self.folder = new_folder("pg-", _memory())
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
        initdb, server = find_program("initdb"), find_program("postgres")
        if initdb is None or server is None:
            raise PostgresError("PostgreSQL is not installed (package postgresql)")
        owner = _owner()
        if owner is not None:
            os.chown(self.folder, owner, -1)
        data = self.folder / "data"
        words = [initdb, "-D", str(data), "-U", self.user, "--no-sync", "--encoding=UTF8", "--locale=C"]
        words += ["--auth=trust"]
        made = subprocess.run(words, capture_output=True, user=owner, cwd="/")
        if made.returncode:
            raise PostgresError(f"initdb: {made.stderr.decode('utf-8', 'replace')}")
        rules = data / "pg_hba.conf"
        rules.write_text(f"local all {GUARDED} scram-sha-256\n" + rules.read_text())
        settings = (
            "listen_addresses=",
            f"unix_socket_directories={self.folder}",
            "fsync=off",
            "max_connections=50",
        )
        words = [server, "-D", str(data), *(part for setting in settings for part in ("-c", setting))]
        with (self.folder / "log").open("wb") as log:
            self._process = subprocess.Popen(words, stdout=log, stderr=log, user=owner, cwd="/")
        self._await()

    def _await(self) -> None:
        assert self._process is not None
        deadline = time.monotonic() + READY_S
        log = self.folder / "log"
        while b"ready to accept connections" not in log.read_bytes():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise PostgresError(f"postgres did not start: {log.read_text('utf-8', 'replace')[-2000:]}")
            time.sleep(0.02)

    def stop(self) -> None:
        """End it (by its own process id) and remove its folder."""
        if self._process is not None and self._process.poll() is None:
            # fast shutdown, with a checkpoint: what was written is searched for passwords
            self._process.send_signal(signal.SIGINT)
            try:
                self._process.wait(STOP_S)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        remove_folder(self.folder)


def _memory() -> str | None:
    """A folder in memory with room for a hundred databases; None: there is none. A busy disk costs a test seconds."""
    try:
        return str(_SHM) if shutil.disk_usage(_SHM).free > ROOM_BYTES and os.access(_SHM, os.W_OK) else None
    except OSError:
        return None


def _owner() -> int | None:
    """User id to run as; None: our own."""
    if os.getuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_uid
        except KeyError:
            continue
    raise PostgresError("there is no user postgres and none nobody to run it as")


def main() -> int:
    """Run one until Ctrl-C."""
    with Postgres() as server:
        print(server.new_database())
        try:
            signal.pause()
        except KeyboardInterrupt:
            return 0
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
