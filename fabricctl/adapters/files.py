"""Reading inputs and writing outputs: every way a file can disappoint is one line a human acts on.

Inputs are read in bounded memory: size and kind are checked before the content, compressed text is unpacked
as a stream against the same limit, and a file that is plainly not text is refused after its first block.
"""

from __future__ import annotations

import difflib
import errno
import io
import os
import secrets
import stat
import sys
import zlib
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from fabricctl.errors import InputError

DEFAULT_LIMIT_BYTES = 256 << 20
"""256 MiB of text: about four times the ibnetdiscover output of a 100,000-GPU fabric."""

STDIN = "-"
_BLOCK = 1 << 18
_HEAD = 4096
_GZIP = b"\x1f\x8b"
_ZIP = b"PK\x03\x04"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_OTHER_PACKERS = {
    b"BZh": "bzip2",
    b"\xfd7zXZ\x00": "xz",
    b"\x28\xb5\x2f\xfd": "zstd",
}
_PASSED_DESCRIPTORS = ("/dev/fd/", "/dev/stdin", "/proc/self/fd/")
"""Where a shell puts the pipe of ``<(command)``: it has a writer, so reading it cannot hang unnoticed."""


def read_input(path: str, *, limit_bytes: int = DEFAULT_LIMIT_BYTES) -> bytes:
    """Content of a file, unpacked if it is gzip (told by its first bytes, not by its name).

    ``-`` is standard input. A zip container passes as it is (a spreadsheet is one); other binary
    content is refused without reading it whole.

    :param limit_bytes: most bytes of (unpacked) content that are accepted.
    :raises InputError: missing, a folder, a pipe, not readable, too big, cut short, or not text.
    """
    try:
        with _open(path) as stream:
            return _read(stream, path, limit_bytes)
    except OSError as exc:
        raise _cannot_read(path, exc) from exc


def decode(data: bytes, path: str) -> str:
    """Text of an input: UTF-8 with or without byte order mark, or UTF-16 with one.

    Bytes that are not UTF-8 survive as surrogate escapes: node descriptions are 64 free bytes (InfiniBand
    Architecture Specification, NodeDescription) and some are written in other encodings.

    :raises InputError: when the content has NUL bytes, so is no text.
    """
    if data[:2] in _UTF16:
        try:
            text = data.decode("utf-16")
        except UnicodeDecodeError as exc:
            raise InputError("starts as UTF-16 text but is damaged", path=path) from exc
    else:
        text = data.decode("utf-8-sig", "surrogateescape")
    where = text.find("\0")
    if where >= 0:
        line = text.count("\n", 0, where) + 1
        raise InputError("has a NUL byte here; expected text, found a binary file", path=path, line=line)
    return text


def write_atomic(path: str | os.PathLike[str], content: str | bytes, *, mode: int | None = None) -> None:
    """Write a whole file or leave what was there: a temporary neighbour takes its place when complete.

    A symbolic link stays and its target is replaced; a device or pipe (``/dev/stdout``) is written directly.

    :param mode: permissions; by default those of the file replaced, or the usual ones of a new file.
    :raises InputError: when the place cannot be written.
    """
    data = content.encode("utf-8", "surrogateescape") if isinstance(content, str) else content
    shown = os.fspath(path)
    target = Path(os.path.realpath(shown))
    try:
        old = _stat_or_none(Path(shown))
        if old is not None and stat.S_ISDIR(old.st_mode):
            raise InputError("is a folder; expected a file name to write to", path=shown)
        if old is not None and not stat.S_ISREG(old.st_mode):
            Path(shown).write_bytes(data)
            return
        if mode is None and old is not None:
            mode = stat.S_IMODE(old.st_mode)
        _replace(target, data, mode)
    except OSError as exc:
        hint = "make the folder first" if exc.errno == errno.ENOENT else ""
        raise InputError(f"cannot be written: {_reason(exc)}", path=shown, hint=hint) from exc


def _stat_or_none(path: Path) -> os.stat_result | None:
    try:
        return path.stat()
    except FileNotFoundError:
        return None


def _replace(target: Path, data: bytes, mode: int | None) -> None:
    temporary = target.with_name(f".{target.name[:200]}.{secrets.token_hex(4)}.part")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode or 0o666)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            if mode is not None:
                os.fchmod(stream.fileno(), mode)
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(temporary, target)
    except BaseException:
        with suppress(FileNotFoundError):
            temporary.unlink()
        raise


def _open(path: str) -> BinaryIO:
    """A stream to read from; opening never waits for the other end of a pipe."""
    if path == STDIN:
        return _standard_input()
    if not path or "\0" in path:
        raise InputError(f"{path!r} is not a file name")
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        _refuse_odd_kinds(path, os.fstat(descriptor).st_mode, terminal=os.isatty(descriptor))
        os.set_blocking(descriptor, True)
        return os.fdopen(descriptor, "rb", buffering=0)
    except BaseException:
        os.close(descriptor)
        raise


def _standard_input() -> BinaryIO:
    if sys.stdin is None or sys.stdin.closed:
        raise InputError("is closed; expected text piped into this command", path=STDIN)
    if sys.stdin.isatty():
        raise InputError(
            "is a terminal; expected text piped into this command",
            path=STDIN,
            hint="for example: ibnetdiscover | fabricctl ... -",
        )
    try:
        descriptor = os.dup(sys.stdin.fileno())
        os.set_blocking(descriptor, True)  # else "nothing yet" would look like the end
        return os.fdopen(descriptor, "rb", buffering=0)
    except (OSError, io.UnsupportedOperation):  # a stream in memory has no descriptor
        return io.BytesIO(sys.stdin.buffer.read())


def _refuse_odd_kinds(path: str, mode: int, *, terminal: bool) -> None:
    if stat.S_ISREG(mode):
        return
    if stat.S_ISDIR(mode):
        raise InputError("is a folder; expected a file", path=path)
    if terminal:
        raise InputError("is a terminal; expected a file", path=path)
    if stat.S_ISFIFO(mode) and not path.startswith(_PASSED_DESCRIPTORS):
        raise InputError("is a named pipe; expected a file", path=path, hint=f"give - and redirect: < {path}")
    if stat.S_ISBLK(mode):
        raise InputError("is a disk; expected a file", path=path)


def _read(stream: BinaryIO, path: str, limit: int) -> bytes:
    head = _first_block(stream)
    if head.startswith(_GZIP):
        return _collect(_unpack(head, stream, path), path, limit)
    for magic, packer in _OTHER_PACKERS.items():
        if head.startswith(magic):
            raise InputError(
                f"is {packer}-compressed; expected plain text or .gz", path=path, hint="unpack it first"
            )
    size = _size(stream)
    if size > limit:
        raise _too_big(path, limit, f"found {size:,} bytes")
    return _collect(_blocks(head, stream), path, limit)


def _size(stream: BinaryIO) -> int:
    """Size of a regular file, 0 where the stream does not know."""
    try:
        info = os.fstat(stream.fileno())
    except (OSError, io.UnsupportedOperation):
        return 0
    return info.st_size if stat.S_ISREG(info.st_mode) else 0


def _first_block(stream: BinaryIO) -> bytes:
    """At least the first 4 KiB where there are as many: a pipe may hand over less at a time."""
    head = b""
    while len(head) < _HEAD:
        block = stream.read(_BLOCK)
        if not block:
            break
        head += block
    return head


def _blocks(head: bytes, stream: BinaryIO) -> Iterator[bytes]:
    block = head
    while block:
        yield block
        block = stream.read(_BLOCK)


def _collect(blocks: Iterator[bytes], path: str, limit: int) -> bytes:
    """Join blocks within the limit, looking at the first 4 KiB for signs of a binary file."""
    whole = io.BytesIO()  # grows in place: its value is handed over without a second copy
    judged = False
    for block in blocks:
        if whole.tell() + len(block) > limit:
            raise _too_big(path, limit, "it holds more")
        whole.write(block)
        if not judged and whole.tell() >= _HEAD:
            _refuse_binary(bytes(whole.getbuffer()[:_HEAD]), path)
            judged = True
    if not judged:
        _refuse_binary(whole.getvalue(), path)
    return whole.getvalue()


def _refuse_binary(head: bytes, path: str) -> None:
    if b"\0" in head and not head.startswith((_ZIP, *_UTF16)):
        raise InputError("is a binary file (it has NUL bytes); expected text", path=path)


def _unpack(head: bytes, stream: BinaryIO, path: str) -> Iterator[bytes]:
    """Unpacked blocks of a gzip stream of one or more members, each at most one block long."""
    members = 0
    machine = zlib.decompressobj(wbits=31)
    for block in _blocks(head, stream):
        rest = block
        while rest:
            if machine.eof:
                rest = rest.lstrip(b"\0")  # tapes and some tools pad with zeros
                if not rest:
                    break
                machine = zlib.decompressobj(wbits=31)
            try:
                text = machine.decompress(rest, _BLOCK)
            except zlib.error as exc:
                what = f"data after member {members}" if members else "compressed data"
                raise InputError(f"is a damaged .gz file: {what} cannot be unpacked", path=path) from exc
            if text:
                yield text
            members += machine.eof
            rest = machine.unused_data if machine.eof else machine.unconsumed_tail
    if not machine.eof:
        raise InputError(
            "is a cut-off .gz file: it ends in the middle of its compressed data",
            path=path,
            hint="copy it again",
        )


def _too_big(path: str, limit: int, found: str) -> InputError:
    return InputError(
        f"is too big: expected at most {limit:,} bytes of text, {found}",
        path=path,
        hint="is it the right file?",
    )


def _reason(exc: OSError) -> str:
    return (exc.strerror or str(exc)).lower()


def _cannot_read(path: str, exc: OSError) -> InputError:
    if exc.errno == errno.ENOENT:
        return InputError("no such file", path=path, hint=_nearest_file(path))
    if exc.errno in (errno.EACCES, errno.EPERM):
        return InputError("cannot be read: permission denied", path=path)
    if exc.errno == errno.ENXIO:
        return InputError("is a socket; expected a file", path=path)
    return InputError(f"cannot be read: {_reason(exc)}", path=path)


def _nearest_file(path: str) -> str:
    """A question naming the file of the same folder that looks most alike, empty when none does."""
    wanted = Path(path)
    try:
        names = os.listdir(wanted.parent)
    except OSError:
        return f"the folder {wanted.parent} is not there either" if not wanted.parent.exists() else ""
    near = difflib.get_close_matches(wanted.name, names[:10_000], n=1)
    return f"did you mean {wanted.parent / near[0]}?" if near else ""
