"""Where passwords are kept: who may read the file, what a killed writer leaves, vault, keyring."""

from __future__ import annotations

import builtins
import json
import os
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import keyring
import pytest
from keyring.backend import KeyringBackend
from keyring.backends.fail import Keyring as NoKeyring

from fabricctl.errors import SecretError
from provision.secrets.places import FilePlace, find_place
from provision.secrets.private_file import lock_of, locked
from provision.secrets.reference import read_reference

WORD = "Zebra-4711-quilt"
DOCUMENT: dict[str, Any] = {"schema": "fabricctl.secrets/1", "hosts": {"gpu001": {"password": WORD}}}


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_is_readable_by_its_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "hall.secrets"
    old = os.umask(0)
    try:
        FilePlace(path).write(DOCUMENT)
    finally:
        os.umask(old)
    assert (mode_of(path), mode_of(path.parent)) == (0o600, 0o700)
    assert FilePlace(path).read() == DOCUMENT
    assert [item.name for item in path.parent.iterdir()] == ["hall.secrets"]


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o620])
def test_a_file_that_others_may_read_is_refused_with_the_command_that_mends_it(
    tmp_path: Path, mode: int
) -> None:
    path = tmp_path / "hall.secrets"
    FilePlace(path).write(DOCUMENT)
    path.chmod(mode)
    for use in (FilePlace(path).read, lambda: FilePlace(path).write(DOCUMENT)):
        with pytest.raises(SecretError) as caught:
            use()
        assert f"mode {mode:04o}" in str(caught.value)
        assert f"chmod 600 {path}" in str(caught.value)
        assert WORD not in str(caught.value)
    path.chmod(0o600)
    assert FilePlace(path).read() == DOCUMENT


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_a_file_of_somebody_else_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "hall.secrets"
    FilePlace(path).write(DOCUMENT)
    os.chown(path, 65534, 65534)
    with pytest.raises(SecretError, match="belongs to user 65534"):
        FilePlace(path).read()


def test_a_folder_that_everybody_may_write_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(0o777)
    with pytest.raises(SecretError, match="everybody may write its folder"):
        FilePlace(folder / "hall.secrets").write(DOCUMENT)
    folder.chmod(0o1777)
    FilePlace(folder / "hall.secrets").write(DOCUMENT)


@pytest.mark.parametrize("kind", ["folder", "pipe"])
def test_what_is_no_plain_file_is_refused_and_never_waited_for(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "hall.secrets"
    if kind == "folder":
        path.mkdir()
    else:
        os.mkfifo(path, 0o600)
    with pytest.raises(SecretError, match="no plain file"):
        FilePlace(path).read()


def test_a_symbolic_link_stays_and_its_target_is_replaced(tmp_path: Path) -> None:
    target = tmp_path / "real" / "hall.secrets"
    FilePlace(target).write(DOCUMENT)
    link = tmp_path / "link.secrets"
    link.symlink_to(target)
    FilePlace(link).write({"schema": "other"})
    assert link.is_symlink()
    assert FilePlace(target).read() == {"schema": "other"}


@pytest.mark.parametrize(
    "content", ["null", " null\n", '{"a":' + "[" * 100_000 + "]" * 100_000 + "}", "NaN}", "[" * 100_000]
)
def test_a_file_that_holds_nothing_of_ours_is_never_written_anew(tmp_path: Path, content: str) -> None:
    path = tmp_path / "hall.secrets"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(SecretError, match="is damaged"):
        FilePlace(path).read()


def test_a_link_to_nothing_is_not_followed(tmp_path: Path) -> None:
    link = tmp_path / "hall.secrets"
    link.symlink_to(tmp_path / "elsewhere")
    for use in (FilePlace(link).read, lambda: FilePlace(link).write(DOCUMENT)):
        with pytest.raises(SecretError, match="is a link to"):
            use()
    assert not (tmp_path / "elsewhere").exists()


def test_a_damaged_file_is_said_without_what_stands_in_it(tmp_path: Path) -> None:
    path = tmp_path / "hall.secrets"
    path.write_text('{"password": "' + WORD)
    path.chmod(0o600)
    with pytest.raises(SecretError) as caught:
        FilePlace(path).read()
    assert "no JSON" in str(caught.value)
    assert WORD not in repr(caught.value) + str(caught.value.__cause__)
    assert caught.value.__suppress_context__


KILLED = """
    import os, signal, sys
    from pathlib import Path
    from provision.secrets.places import FilePlace
    def die(*_): os.kill(os.getpid(), signal.SIGKILL)
    setattr(os, sys.argv[2], die)
    FilePlace(Path(sys.argv[1])).write({"new": True})
"""


@pytest.mark.parametrize("at", ["fsync", "replace"])
def test_a_writer_killed_midway_leaves_the_old_content_and_the_next_one_sweeps_up(
    tmp_path: Path, at: str
) -> None:
    path = tmp_path / "hall.secrets"
    FilePlace(path).write(DOCUMENT)
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(KILLED), str(path), at], check=False)
    assert done.returncode == -9
    assert FilePlace(path).read() == DOCUMENT
    left = [item for item in tmp_path.iterdir() if item.name.endswith(".part")]
    assert [mode_of(item) for item in left] == [0o600]
    FilePlace(path).write(DOCUMENT)
    assert not [item for item in tmp_path.iterdir() if item.name.endswith(".part")]


def test_a_second_writer_waits_and_says_so_when_it_lasts(tmp_path: Path) -> None:
    path, slept = tmp_path / "hall.secrets", list[float]()
    now = [0.0]

    def sleep(seconds: float) -> None:
        slept.append(seconds)
        now[0] += 1.0

    with (
        FilePlace(path).locked(),
        pytest.raises(SecretError, match="another fabricctl is writing it"),
        locked(lock_of(path), "file:x", wait_s=3.0, clock=lambda: now[0], sleep=sleep),
    ):
        raise AssertionError("both hold it")
    assert len(slept) == 3
    with FilePlace(path).locked():
        pass


def test_a_lock_dies_with_its_holder(tmp_path: Path) -> None:
    path = tmp_path / "hall.secrets"
    holder = f"""
        import os, signal
        from pathlib import Path
        from provision.secrets.places import FilePlace
        with FilePlace(Path({str(path)!r})).locked():
            os.kill(os.getpid(), signal.SIGKILL)
    """
    assert subprocess.run([sys.executable, "-c", textwrap.dedent(holder)], check=False).returncode == -9
    with FilePlace(path).locked(busy="still held"):
        pass


def test_one_password_by_reference(tmp_path: Path) -> None:
    path = tmp_path / "bmc.password"
    path.write_text(WORD + "\n")
    path.chmod(0o600)
    assert read_reference("file:bmc.password", str(tmp_path)).reveal() == WORD
    assert read_reference("env:BMC", environ={"BMC": WORD}).reveal() == WORD


@pytest.mark.parametrize(
    ("content", "said"),
    [("", "first line is empty"), ("a\nb\n", "several lines"), ("a\x07b\n", "no keyboard has")],
)
def test_a_file_that_holds_no_single_password_is_refused(tmp_path: Path, content: str, said: str) -> None:
    path = tmp_path / "bmc.password"
    path.write_text(content)
    path.chmod(0o600)
    with pytest.raises(SecretError, match=said):
        read_reference(f"file:{path}")


def test_a_reference_to_nothing_names_itself() -> None:
    with pytest.raises(SecretError, match="secret env:BMC: the environment variable is not set"):
        read_reference("env:BMC", environ={})
    with pytest.raises(SecretError, match="there is no file /nowhere/x"):
        read_reference("file:/nowhere/x")


def test_a_password_written_as_a_reference_is_not_repeated() -> None:
    with pytest.raises(SecretError) as caught:
        read_reference(WORD)
    assert WORD not in str(caught.value).replace("expected env:NAME or file:PATH", "") or ":" not in WORD


# vault


@pytest.fixture
def vault_password(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "vault.password"
    path.write_text("open sesame\n")
    path.chmod(0o600)
    monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(path))
    return path


def vault(tmp_path: Path, query: str = "") -> Any:
    return find_place(f"vault:secrets.yml{query}", site="hall", site_path=str(tmp_path / "site.yaml"))


@pytest.mark.slow  # starts ansible-vault three times, which takes it a second each
def test_ansible_vault_reads_what_is_written_and_the_other_way_round(
    tmp_path: Path, vault_password: Path
) -> None:
    place = vault(tmp_path)
    assert place.read() is None
    place.write(DOCUMENT)
    path = tmp_path / "secrets.yml"
    assert path.read_bytes().startswith(b"$ANSIBLE_VAULT;1.")
    assert WORD.encode() not in path.read_bytes()
    tool = [str(Path(sys.executable).with_name("ansible-vault"))]
    shown = subprocess.run([*tool, "view", str(path)], capture_output=True, text=True, check=True)
    assert WORD in shown.stdout
    subprocess.run([*tool, "decrypt", str(path)], capture_output=True, check=True)
    with pytest.raises(SecretError, match=r"is not encrypted.*ansible-vault encrypt"):
        place.read()
    subprocess.run([*tool, "encrypt", str(path)], capture_output=True, check=True)
    assert place.read() == DOCUMENT


def test_the_vaults_password_comes_by_reference_or_from_a_script(
    tmp_path: Path, vault_password: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    vault(tmp_path).write(DOCUMENT)
    script = tmp_path / "fetch"
    script.write_text("#!/bin/sh\necho open sesame\n")
    script.chmod(0o755)
    monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(script))
    assert vault(tmp_path).read() == DOCUMENT
    monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE")
    with pytest.raises(SecretError, match="ANSIBLE_VAULT_PASSWORD_FILE"):
        vault(tmp_path).read()
    monkeypatch.setenv("HALL_VAULT", "open sesame")
    assert vault(tmp_path, "?password=env:HALL_VAULT").read() == DOCUMENT
    assert vault(tmp_path, "?password=file:vault.password").read() == DOCUMENT
    monkeypatch.setenv("HALL_VAULT", "wrong")
    with pytest.raises(SecretError, match=r"cannot be decrypted.*password the right one"):
        vault(tmp_path, "?password=env:HALL_VAULT").read()


def test_a_vaults_password_file_that_others_may_read_is_refused(tmp_path: Path, vault_password: Path) -> None:
    vault_password.chmod(0o644)
    with pytest.raises(SecretError, match="chmod 600"):
        vault(tmp_path).write(DOCUMENT)


def without(monkeypatch: pytest.MonkeyPatch, package: str) -> None:
    """As on a machine where the extra is not installed."""
    real = builtins.__import__

    def imported(name: str, *rest: Any, **named: Any) -> Any:
        if name.partition(".")[0] == package:
            raise ImportError(name)
        return real(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", imported)


@pytest.mark.parametrize(
    ("place", "package", "extra"),
    [("vault:secrets.yml", "ansible", "vault"), ("keyring:fabricctl", "keyring", "keyring")],
)
def test_a_missing_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, package: str, extra: str
) -> None:
    (tmp_path / "secrets.yml").write_text("x: 1\n")
    without(monkeypatch, package)
    with pytest.raises(SecretError) as caught:
        find_place(place, site="hall", site_path=str(tmp_path / "site.yaml")).read()
    assert f"pip install 'fabricctl[{extra}]'" in str(caught.value)


# keyring


@pytest.fixture
def own_keyring() -> Iterator[dict[tuple[str, str], str]]:
    """A keyring of the keyring module's own kind, in memory."""
    kept: dict[tuple[str, str], str] = {}

    class InMemory(KeyringBackend):
        priority = 1

        def get_password(self, service: str, username: str) -> str | None:
            return kept.get((service, username))

        def set_password(self, service: str, username: str, password: str) -> None:
            kept[service, username] = password

    before = keyring.get_keyring()
    keyring.set_keyring(InMemory())  # type: ignore[no-untyped-call]
    yield kept
    keyring.set_keyring(before)


def test_the_keyring_keeps_the_document_under_the_sites_name(own_keyring: dict[tuple[str, str], str]) -> None:
    place = find_place("keyring:fabricctl", site="hall", site_path="site.yaml")
    assert place.read() is None
    with place.locked():
        place.write(DOCUMENT)
    assert place.read() == DOCUMENT
    assert json.loads(own_keyring["fabricctl", "hall"]) == DOCUMENT


def test_a_server_without_a_desktop_is_told_what_to_use_instead() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(NoKeyring())  # type: ignore[no-untyped-call]
    try:
        with pytest.raises(SecretError, match=r"no desktop session.*file:PATH or vault:PATH"):
            find_place("keyring:fabricctl", site="hall", site_path="site.yaml").read()
    finally:
        keyring.set_keyring(before)
