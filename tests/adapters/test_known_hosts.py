"""Recorded host keys: what ssh-keygen writes and finds is the reference."""

from __future__ import annotations

import base64
import shutil
import subprocess
from pathlib import Path

import pytest

from fabricctl.adapters.known_hosts import RecordedKey, check, fingerprint, recorded_keys
from fabricctl.errors import HostKeyError
from tests.sim.sshd import make_key

pytestmark = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def new_key(folder: Path, name: str) -> tuple[str, bytes]:
    """Type and base64 text as in a known_hosts line, and the key's bytes."""
    words = make_key(folder / name).with_suffix(".pub").read_text("ascii").split()
    return f"{words[0]} {words[1]}", base64.b64decode(words[1])


@pytest.fixture
def key(tmp_path: Path) -> tuple[str, bytes]:
    return new_key(tmp_path, "host")


def found(folder: Path, line: str, host: str, port: int = 22) -> list[RecordedKey]:
    path = folder / "known"
    path.write_text(f"# a comment\n\n{line}\n")
    return recorded_keys([str(path), str(folder / "absent")], host, port)


def found_by_ssh_keygen(folder: Path, name: str) -> bool:
    return subprocess.run(
        ["ssh-keygen", "-F", name, "-f", str(folder / "known")], capture_output=True, check=False
    ).stdout.startswith(b"#")


@pytest.mark.parametrize(
    ("names", "host", "port", "matches"),
    [
        ("gpu001", "gpu001", 22, True),
        ("gpu001,10.0.0.1", "10.0.0.1", 22, True),
        ("GPU001", "gpu001", 22, True),
        ("gpu001", "gpu0011", 22, False),
        ("gpu001", "gpu001", 2222, False),
        ("[gpu001]:2222", "gpu001", 2222, True),
        ("[gpu001]:2222", "gpu001", 22, False),
        ("*.cluster", "gpu001.cluster", 22, True),
        ("gpu00?", "gpu001", 22, True),
        ("*.cluster,!bad.cluster", "bad.cluster", 22, False),
        ("[*.cluster]:2222", "gpu001.cluster", 2222, True),
        ("g[0-9]", "g1", 22, False),
    ],
)
def test_a_line_is_found_exactly_where_ssh_keygen_finds_it(
    tmp_path: Path, key: tuple[str, bytes], names: str, host: str, port: int, matches: bool
) -> None:
    assert bool(found(tmp_path, f"{names} {key[0]}", host, port)) is matches
    assert found_by_ssh_keygen(tmp_path, host if port == 22 else f"[{host}]:{port}") is matches


def test_hashed_names_are_found(tmp_path: Path, key: tuple[str, bytes]) -> None:
    path = tmp_path / "known"
    path.write_text(f"gpu001 {key[0]}\n[gpu001]:2222 {key[0]}\n")
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", str(path)], check=True, capture_output=True)
    assert "gpu001" not in path.read_text()
    assert [k.line for k in recorded_keys([str(path)], "gpu001", 22)] == [1]
    assert [k.line for k in recorded_keys([str(path)], "gpu001", 2222)] == [2]
    assert recorded_keys([str(path)], "gpu002", 22) == []


def test_the_fingerprint_is_the_one_ssh_keygen_prints(tmp_path: Path, key: tuple[str, bytes]) -> None:
    printed = subprocess.run(
        ["ssh-keygen", "-lf", str(tmp_path / "host.pub")], capture_output=True, text=True, check=True
    ).stdout
    assert fingerprint(key[1]) == printed.split()[1]


def test_damaged_lines_record_nothing(tmp_path: Path) -> None:
    for line in ("gpu001", "gpu001 ssh-ed25519", "gpu001 ssh-ed25519 ***", "|1|x gpu001 y", "\udcff"):
        assert found(tmp_path, line.encode("utf-8", "replace").decode(), "gpu001") == []


def test_a_recorded_key_is_accepted_beside_another_of_its_type(
    tmp_path: Path, key: tuple[str, bytes]
) -> None:
    other, _ = new_key(tmp_path, "other")
    known = found(tmp_path, f"gpu001 {other}\ngpu001 {key[0]}", "gpu001")
    check("gpu001", "gpu001", 22, "ssh-ed25519", key[1], known)


def test_an_unknown_key_is_refused_with_its_fingerprint_and_how_to_check_it(key: tuple[str, bytes]) -> None:
    with pytest.raises(HostKeyError) as caught:
        check("gpu001", "gpu001", 2222, "ssh-ed25519", key[1], [])
    assert fingerprint(key[1]) in str(caught.value)
    assert "ssh-keygen -lf" in str(caught.value)
    assert "ssh-keyscan -p 2222 gpu001" in str(caught.value)


def test_a_different_key_is_refused_with_both_fingerprints_and_the_line(
    tmp_path: Path, key: tuple[str, bytes]
) -> None:
    _, shown = new_key(tmp_path, "other")
    known = found(tmp_path, f"gpu001 {key[0]}", "gpu001")
    with pytest.raises(HostKeyError) as caught:
        check("gpu001", "gpu001", 22, "ssh-ed25519", shown, known)
    for word in (fingerprint(shown), fingerprint(key[1]), f"{tmp_path}/known:3", "differs"):
        assert word in str(caught.value)


def test_a_revoked_key_is_refused_even_where_it_is_also_recorded(
    tmp_path: Path, key: tuple[str, bytes]
) -> None:
    known = found(tmp_path, f"gpu001 {key[0]}\n@revoked * {key[0]}", "gpu001")
    with pytest.raises(HostKeyError, match="revoked"):
        check("gpu001", "gpu001", 22, "ssh-ed25519", key[1], known)


def test_an_authority_alone_accepts_nothing_and_says_why(tmp_path: Path, key: tuple[str, bytes]) -> None:
    known = found(tmp_path, f"@cert-authority * {key[0]}", "gpu001")
    with pytest.raises(HostKeyError, match="@cert-authority"):
        check("gpu001", "gpu001", 22, "ssh-ed25519", key[1], known)
