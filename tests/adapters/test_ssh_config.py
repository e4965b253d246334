"""Where and as whom to log in; ``ssh -G`` is the reference for what a configuration means."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from fabricctl.adapters.ssh_config import Login, SshOptions, SshTarget, read_config, resolve
from fabricctl.errors import InputError

CONFIG = """
Host gpu*
  User admin
  Port 2200
  HostName %h.cluster.example
  IdentityFile ~/.ssh/no_such_key
Host gpu002
  HostName 10.0.0.2
Host alias
  HostKeyAlias rack7
  Port 2300
Host far
  ProxyJump jump@gate:2022
Host farther
  ProxyJump one,two
Host piped
  ProxyCommand nc -x proxy %h %p
Host plain
  ProxyCommand none
Host *
  User fallback
  UserKnownHostsFile /a/known /b/known
"""


def login(folder: Path, host: str, *, user: str | None = None, port: int | None = None) -> Login:
    path = folder / "config"
    path.write_text(CONFIG)
    options = SshOptions(config_file=str(path))
    return resolve(SshTarget(host, user, port), options, read_config(options), host)


@pytest.mark.skipif(shutil.which("ssh") is None, reason="ssh is not installed")
@pytest.mark.parametrize("host", ["gpu001", "gpu002", "alias", "other"])
def test_host_user_and_port_are_those_of_ssh(tmp_path: Path, host: str) -> None:
    ours = login(tmp_path, host)
    printed = subprocess.run(
        ["ssh", "-G", "-F", str(tmp_path / "config"), host], capture_output=True, text=True, check=True
    ).stdout
    theirs = dict(line.split(" ", 1) for line in printed.splitlines() if " " in line)
    assert (ours.host, ours.user, str(ours.port)) == (theirs["hostname"], theirs["user"], theirs["port"])


def test_what_the_operator_writes_wins(tmp_path: Path) -> None:
    found = login(tmp_path, "gpu001", user="root", port=22)
    assert (found.user, found.port) == ("root", 22)


def test_a_host_key_alias_stands_without_the_port(tmp_path: Path) -> None:
    found = login(tmp_path, "alias")
    assert (found.key_name, found.key_port, found.port) == ("rack7", 22, 2300)


@pytest.mark.parametrize(
    ("host", "command"),
    [
        ("far", "ssh -o BatchMode=yes -p 2022 -W far:22 -- jump@gate"),
        ("farther", "ssh -o BatchMode=yes -J one -W farther:22 -- two"),
        ("piped", "nc -x proxy piped 22"),
        ("plain", ""),
    ],
)
def test_a_proxy_is_a_command(tmp_path: Path, host: str, command: str) -> None:
    assert login(tmp_path, host).proxy == command


def test_known_hosts_files_of_the_configuration_replace_the_usual(tmp_path: Path) -> None:
    files = login(tmp_path, "other").known_hosts
    assert files[:2] == ("/a/known", "/b/known")
    assert "/etc/ssh/ssh_known_hosts" in files
    assert not any(".ssh/known_hosts" in path for path in files)


def test_known_hosts_files_by_option_replace_those_of_the_configuration(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text(CONFIG)
    mine = tmp_path / "mine"
    mine.touch()
    options = SshOptions(config_file=str(path), known_hosts=(str(mine),))
    files = resolve(SshTarget("other"), options, read_config(options), "other").known_hosts
    assert files[0] == str(mine)
    assert "/a/known" not in files


def test_keys_that_are_not_there_are_not_offered(tmp_path: Path) -> None:
    assert login(tmp_path, "gpu001").key_files == ()


@pytest.mark.parametrize("field", ["known_hosts", "key_files", "config_file"])
def test_a_file_named_by_option_must_exist(tmp_path: Path, field: str) -> None:
    missing = str(tmp_path / "missing")
    options = {
        "known_hosts": SshOptions(known_hosts=(missing,)),
        "key_files": SshOptions(key_files=(missing,)),
        "config_file": SshOptions(config_file=missing),
    }[field]
    with pytest.raises(InputError, match="missing: no such file"):
        read_config(options)


def test_a_damaged_configuration_is_named(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_text("Host a\n  User\n")
    with pytest.raises(InputError, match="is not an ssh configuration"):
        read_config(SshOptions(config_file=str(path)))
