"""A file that only its owner reads: checked before it is read, replaced whole, one writer at a time."""

from __future__ import annotations

import os
import shlex
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

from fabricctl.adapters.files import write_atomic
from fabricctl.adapters.locks import HeldError, held
from fabricctl.errors import InputError, SecretError

LIMIT_BYTES = 64 << 20
WAIT_S = 10.0
"""Longest wait for another writer."""


def read_private(path: Path, reference: str, *, encrypted: bool = False) -> bytes | None:
    """Content of a file that belongs to us and that nobody else may read; None when it is not there.

    What is checked is the open file, so that it cannot be exchanged between check and use.

    :param reference: as messages name it; :param encrypted: anybody may read it, so owner and mode do not matter.
    :raises SecretError: it is open to others, is somebody else's, or cannot be read.
    """
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        _refuse_dangling(path, reference)
        return None
    except (OSError, ValueError) as exc:
        raise _cannot("be read", reference, exc) from exc
    try:
        found = os.fstat(descriptor)
        _refuse_odd(found, reference)
        if not encrypted:
            _refuse_open(found, path, reference)
        with os.fdopen(descriptor, "rb", closefd=False) as stream:
            data = stream.read(LIMIT_BYTES + 1)
    except OSError as exc:
        raise _cannot("be read", reference, exc) from exc
    finally:
        os.close(descriptor)
    if len(data) > LIMIT_BYTES:
        raise SecretError(f"is bigger than {LIMIT_BYTES:,} bytes: no file of passwords", reference=reference)
    return data


def write_private(path: Path, data: bytes, reference: str, *, encrypted: bool = False) -> None:
    """Replace the file, or leave what was there; on disk when this returns. The caller holds the lock.

    :param encrypted: one that is there keeps its mode; else only its owner may read it.
    :raises SecretError: it cannot be written, or what stands there is open to others.
    """
    _refuse_dangling(path, reference)
    real = Path(os.path.realpath(path))
    mode = 0o600
    with suppress(FileNotFoundError):
        found = real.stat()
        _refuse_odd(found, reference)
        if encrypted:
            mode = stat.S_IMODE(found.st_mode)
        else:
            _refuse_open(found, path, reference)
    try:
        real.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        _refuse_folder(real.parent, reference)
        for left in real.parent.glob(f".{_glob_escape(real.name[:200])}.*.part"):
            left.unlink(missing_ok=True)  # of a writer that was killed: it holds passwords
        write_atomic(real, data, mode=mode)
        folder = os.open(real.parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(folder)  # else the name may still lead to the old file after a power failure
        finally:
            os.close(folder)
    except InputError as exc:
        raise SecretError(exc.message, reference=reference, hint=exc.hint) from exc
    except OSError as exc:
        raise _cannot("be written", reference, exc) from exc


@contextmanager
def locked(
    path: Path,
    reference: str,
    *,
    wait_s: float = WAIT_S,
    busy: str = "another fabricctl is writing it",
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Hold the lock file at ``path``; the kernel lets go of it when its holder dies.

    :param busy: what to say when another process still holds it after ``wait_s``.
    :raises SecretError: it is held, or cannot be made.
    """
    with ExitStack() as stack:
        try:
            stack.enter_context(held(path, wait_s=wait_s, clock=clock, sleep=sleep))
        except HeldError as exc:
            hint = "try again when that has ended"
            raise SecretError(f"{busy} ({exc.who})", reference=reference, hint=hint) from exc
        except OSError as exc:
            raise _cannot("be locked", reference, exc) from exc
        yield


def lock_of(path: Path, purpose: str = "lock") -> Path:
    """The lock file beside a file, hidden, so that neither Ansible nor people take it for content."""
    real = Path(os.path.realpath(path))
    return real.with_name(f".{real.name[:200]}.{purpose}")


def _refuse_dangling(path: Path, reference: str) -> None:
    """Whoever made the link chose where passwords would be written."""
    if path.is_symlink() and not path.exists():
        raise SecretError(
            f"is a link to {os.readlink(path)}, where nothing is",
            reference=reference,
            hint="make that file (mode 0600), or remove the link",
        )


def _refuse_odd(found: os.stat_result, reference: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise SecretError("is no plain file; expected a file of passwords", reference=reference)


def _refuse_open(found: os.stat_result, path: Path, reference: str) -> None:
    if found.st_uid != os.geteuid():
        raise SecretError(
            f"belongs to user {found.st_uid}, and this is user {os.geteuid()}; expected a file of one's own",
            reference=reference,
            hint="run as its owner, or name another place under management.secrets",
        )
    mode = stat.S_IMODE(found.st_mode)
    if mode & 0o077:
        raise SecretError(
            f"others may read or write it (mode {mode:04o}); expected mode 0600",
            reference=reference,
            hint=f"chmod 600 {shlex.quote(str(path))}; whoever could read it knows the passwords",
        )


def _refuse_folder(folder: Path, reference: str) -> None:
    """Who may write the folder may put another file into its place."""
    mode = folder.stat().st_mode
    if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
        raise SecretError(
            f"everybody may write its folder {folder} (mode {stat.S_IMODE(mode):04o})",
            reference=reference,
            hint=f"chmod o-w {shlex.quote(str(folder))}",
        )


def _glob_escape(name: str) -> str:
    return "".join(f"[{char}]" if char in "*?[" else char for char in name)


def _cannot(what: str, reference: str, exc: OSError | ValueError) -> SecretError:
    reason = str(getattr(exc, "strerror", "") or exc).lower()
    return SecretError(f"cannot {what}: {reason}", reference=reference)
