"""Inputs and outputs on a real disk, with real pipes and real gzip."""

from __future__ import annotations

import gzip
import io
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fabricctl.adapters.files import decode, read_input, write_atomic
from fabricctl.errors import InputError

TEXT = b'Switch 40 "S-1"  # "leaf"\n' * 5000


def refusal(path: Path | str, **options: int) -> str:
    with pytest.raises(InputError) as caught:
        read_input(str(path), **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


READER = """
import sys
from fabricctl.adapters.files import read_input
from fabricctl.errors import InputError
try:
    sys.stdout.buffer.write(read_input(sys.argv[1]))
except InputError as exc:
    sys.exit(str(exc))
"""
READ = (sys.executable, "-c", READER)


def refused(call: Callable[[], object]) -> str:
    """The refusal of a call, empty when there was none; any other exception is raised."""
    try:
        call()
    except InputError as exc:
        return str(exc)
    return ""


def test_a_plain_file_is_read_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(TEXT)
    assert read_input(str(path)) == TEXT


def test_gzip_is_told_by_content_not_by_name(tmp_path: Path) -> None:
    packed, plain = tmp_path / "a.txt", tmp_path / "b.gz"
    packed.write_bytes(gzip.compress(TEXT))
    plain.write_bytes(TEXT)
    assert read_input(str(packed)) == read_input(str(plain)) == TEXT


def test_gzip_of_several_members_with_padding_is_one_text(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT) + gzip.compress(b"more\n") + b"\0" * 600)
    assert read_input(str(path)) == TEXT + b"more\n"


def test_an_empty_file_is_empty(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch()
    assert read_input(str(path)) == b""


@pytest.mark.parametrize("kept", [3, 12, 60, -1])
def test_a_cut_off_gzip_is_refused(tmp_path: Path, kept: int) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT)[:kept])
    assert "cut-off .gz" in refusal(path)


def test_a_gzip_with_a_flipped_byte_is_refused(tmp_path: Path) -> None:
    data = bytearray(gzip.compress(TEXT))
    data[-6] ^= 0xFF  # in the checksum
    path = tmp_path / "a.gz"
    path.write_bytes(data)
    assert "damaged .gz" in refusal(path)


def test_other_bytes_after_a_gzip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(TEXT) + b"rubbish")
    assert "data after member 1" in refusal(path)


def test_a_decompression_bomb_is_refused_at_the_limit(tmp_path: Path) -> None:
    path = tmp_path / "bomb.gz"
    path.write_bytes(gzip.compress(b" " * 64_000_000))
    assert path.stat().st_size < 100_000
    assert "at most 1,000,000 bytes" in refusal(path, limit_bytes=1_000_000)


def test_a_disk_image_of_zeros_is_refused_after_its_first_block(tmp_path: Path) -> None:
    path = tmp_path / "disk.img"
    with path.open("wb") as stream:
        stream.truncate(200_000_000)
    assert "binary file" in refusal(path)


def test_a_file_above_the_limit_is_refused_with_its_size(tmp_path: Path) -> None:
    path = tmp_path / "big"
    path.write_bytes(TEXT)
    assert f"at most 100 bytes of text, found {len(TEXT):,} bytes" in refusal(path, limit_bytes=100)


def test_a_packed_binary_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.gz"
    path.write_bytes(gzip.compress(b"\x7fELF\0\0\0"))
    assert "binary file" in refusal(path)


@pytest.mark.parametrize(
    ("magic", "name"), [(b"BZh91AY", "bzip2"), (b"\xfd7zXZ\0", "xz"), (b"\x28\xb5\x2f\xfd", "zstd")]
)
def test_other_packers_are_named(tmp_path: Path, magic: bytes, name: str) -> None:
    path = tmp_path / "a"
    path.write_bytes(magic + b"...")
    assert f"{name}-compressed" in refusal(path)


def test_a_zip_container_passes_for_a_spreadsheet_is_one(tmp_path: Path) -> None:
    path = tmp_path / "a.xlsx"
    path.write_bytes(b"PK\x03\x04\0\0\0")
    assert read_input(str(path)).startswith(b"PK")


def test_a_missing_file_is_named_with_the_nearest_there_is(tmp_path: Path) -> None:
    (tmp_path / "cabling.csv").touch()
    text = refusal(tmp_path / "cabeling.csv")
    assert text.startswith(f"{tmp_path}/cabeling.csv: no such file")
    assert f"did you mean {tmp_path}/cabling.csv?" in text


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    assert f"the folder {tmp_path}/no is not there" in refusal(tmp_path / "no" / "a.csv")


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert "is a folder" in refusal(tmp_path)


def test_a_named_pipe_without_writer_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert "is a named pipe" in refusal(tmp_path / "pipe")


def test_a_socket_is_refused(tmp_path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(tmp_path / "s"))
        assert "is a socket" in refusal(tmp_path / "s")


@pytest.mark.skipif(os.getuid() == 0, reason="root may read everything")
def test_a_file_without_permission_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch(mode=0)
    assert "permission denied" in refusal(path)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become nobody")
def test_a_file_of_another_user_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.touch(mode=0o600)
    child = os.fork()
    if child == 0:
        os.setuid(65534)
        try:
            read_input(str(path))
        except InputError as exc:
            os._exit(0 if "permission denied" in str(exc) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("path", ["", "a\0b"])
def test_what_is_no_file_name_is_refused(path: str) -> None:
    assert "is not a file name" in refusal(path)


def test_an_endless_device_is_refused_after_its_first_block() -> None:
    assert "binary file" in refusal("/dev/zero")


def test_standard_input_is_read_whatever_comes_slowly() -> None:
    with subprocess.Popen(["sh", "-c", "printf one; sleep 0.3; printf two"], stdout=subprocess.PIPE) as slow:
        done = subprocess.run([*READ, "-"], stdin=slow.stdout, stdout=subprocess.PIPE, timeout=20, check=True)
    assert done.stdout == b"onetwo"


def test_a_packed_standard_input_is_unpacked() -> None:
    done = subprocess.run(
        [*READ, "-"], input=gzip.compress(TEXT), stdout=subprocess.PIPE, timeout=20, check=True
    )
    assert done.stdout == TEXT


def test_a_closed_standard_input_is_refused() -> None:
    done = subprocess.run(
        ["sh", "-c", '"$@" <&-', "sh", *READ, "-"], stderr=subprocess.PIPE, timeout=20, check=False
    )
    assert b"standard input: is closed" in done.stderr


def test_a_terminal_is_refused_with_an_example() -> None:
    ours, theirs = os.openpty()
    done = subprocess.run([*READ, "-"], stdin=theirs, stderr=subprocess.PIPE, timeout=20, check=False)
    os.close(ours)
    os.close(theirs)
    assert b"standard input: is a terminal" in done.stderr
    assert b"ibnetdiscover | fabricctl" in done.stderr


def test_a_pipe_passed_by_the_shell_is_read() -> None:
    done = subprocess.run(
        ["bash", "-c", '"$@" <(sleep 0.2; echo hello)', "bash", *READ],
        stdout=subprocess.PIPE,
        timeout=20,
        check=True,
    )
    assert done.stdout == b"hello\n"


def test_a_stream_in_memory_stands_for_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT)))
    assert read_input("-") == TEXT


def test_a_byte_order_mark_is_dropped() -> None:
    assert decode(b"\xef\xbb\xbfA,B\n", "x") == "A,B\n"


def test_utf16_with_a_mark_is_read() -> None:
    assert decode("Ca\t1 é\n".encode("utf-16"), "x") == "Ca\t1 é\n"


def test_bytes_that_are_not_utf8_survive() -> None:
    data = b'Ca 1 "H-1" # "caf\xe9"\n'
    assert decode(data, "x").encode("utf-8", "surrogateescape") == data


def test_a_nul_byte_is_an_error_naming_its_line() -> None:
    with pytest.raises(InputError, match=r"^x:3: has a NUL byte"):
        decode(b"a\nb\nc\0", "x")


@settings(max_examples=100, deadline=None)
@given(st.binary(max_size=400))
def test_any_bytes_decode_or_are_refused(data: bytes) -> None:
    refusal_text = refused(lambda: decode(data, "x"))
    assert not refusal_text or refusal_text.startswith("x")


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.booleans(), st.integers(0, 40))
def test_any_file_is_read_or_refused(tmp_path: Path, data: bytes, packed: bool, cut: int) -> None:
    path = tmp_path / "any"
    whole = gzip.compress(data) if packed else data
    path.write_bytes(whole[: len(whole) - cut] if cut else whole)
    refusal_text = refused(lambda: read_input(str(path)))
    assert not refusal_text or refusal_text.startswith(str(path))


def test_a_written_file_replaces_the_old_one_and_leaves_no_other(tmp_path: Path) -> None:
    path = tmp_path / "report.json"
    path.write_text("old")
    path.chmod(0o640)
    write_atomic(path, "new\udce9")
    assert path.read_bytes() == b"new\xe9"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_new_file_gets_the_mode_asked_for(tmp_path: Path) -> None:
    write_atomic(tmp_path / "a", b"x", mode=0o600)
    assert (tmp_path / "a").stat().st_mode & 0o777 == 0o600


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "real").write_text("old")
    (tmp_path / "link").symlink_to("real")
    write_atomic(tmp_path / "link", "new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real").read_text() == "new"


def test_writing_into_a_missing_folder_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot be written: no such file.*make the folder first"):
        write_atomic(tmp_path / "no" / "a", "x")


def test_writing_onto_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a folder"):
        write_atomic(tmp_path, "x")


def test_a_full_disk_leaves_the_old_file_and_no_part(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_text("old")
    program = (
        "import resource, signal, sys\nfrom fabricctl.adapters.files import write_atomic\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))\nwrite_atomic(sys.argv[1], 'x' * 5000)\n"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, check=False)
    assert b"InputError" in done.stderr
    assert b"cannot be written: file too large" in done.stderr
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
