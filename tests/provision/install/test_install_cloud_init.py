"""User-data: read back as cloud-init reads it, judged by cloud-init itself where it is installed."""

from __future__ import annotations

import io
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ruamel.yaml import YAML

from fabricctl.errors import UsageError
from provision.bmc.secret import Secret
from provision.install.cloud_init import CLOCK_SCRIPT, LoginUser, UserData, render_user_data
from provision.install.host_keys import HostKey
from provision.workflows.install_keys import make_host_key

KEY = make_host_key()
OPS = LoginUser("ops", (f"{KEY.public} ops@example.org",), sudo=True)
FULL = UserData(
    (OPS, LoginUser("dana", (KEY.public,), False, "/bin/sh")),
    ("192.0.2.1", "ntp.example.org", "2001:db8::1"),
    "http://192.0.2.10:3142",
    KEY,
)


def read(text: str) -> Any:
    """As cloud-init reads it: YAML 1.1."""
    yaml = YAML(typ="safe", pure=True)
    yaml.version = (1, 1)
    return yaml.load(io.StringIO(text))


def rendered(settings: UserData) -> Any:
    return read(render_user_data(settings))


def test_the_first_line_says_what_it_is() -> None:
    assert render_user_data(FULL).splitlines()[0] == "#cloud-config"


def test_the_clock_is_set_before_anything_else_and_from_the_site_s_servers() -> None:
    made = rendered(FULL)
    assert next(iter(made)) == "bootcmd"
    (command,) = made["bootcmd"]
    assert command[:6] == ["cloud-init-per", "instance", "fabricctl-clock", "sh", "-c", CLOCK_SCRIPT]
    assert command[7:] == ["192.0.2.1", "ntp.example.org", "2001:db8::1"]
    assert made["ntp"] == {
        "enabled": True,
        "ntp_client": "chrony",
        "servers": ["192.0.2.1", "ntp.example.org", "2001:db8::1"],
    }


def test_users_have_keys_and_no_passwords() -> None:
    made = rendered(FULL)
    assert made["users"] == [
        {
            "name": "ops",
            "shell": "/bin/bash",
            "lock_passwd": True,
            "ssh_authorized_keys": [f"{KEY.public} ops@example.org"],
            "sudo": "ALL=(ALL) NOPASSWD:ALL",
        },
        {"name": "dana", "shell": "/bin/sh", "lock_passwd": True, "ssh_authorized_keys": [KEY.public]},
    ]
    assert (made["ssh_pwauth"], made["disable_root"]) == (False, True)
    assert "passw" not in render_user_data(FULL).lower().replace("lock_passwd", "").replace("nopasswd", "")


def test_the_host_shows_our_key_and_no_other() -> None:
    made = rendered(FULL)
    assert made["ssh_keys"] == {"ed25519_private": KEY.private.reveal(), "ed25519_public": KEY.public}
    assert made["ssh_deletekeys"] is True
    assert made["ssh_genkeytypes"] == ["ed25519"]


def test_nothing_is_upgraded_and_nobody_is_called() -> None:
    made = rendered(FULL)
    assert made["package_upgrade"] is False
    assert "phone_home" not in made
    assert made["ssh_publish_hostkeys"] == {"enabled": False}


def test_what_is_not_asked_for_is_not_there() -> None:
    made = rendered(UserData())
    assert set(made) == {
        *("package_upgrade", "package_reboot_if_required", "disable_root", "ssh_pwauth"),
        *("ssh_deletekeys", "ssh_genkeytypes", "ssh_publish_hostkeys"),
    }


def test_packages_come_through_the_proxy() -> None:
    assert rendered(FULL)["apt"] == {"proxy": "http://192.0.2.10:3142"}


@pytest.mark.parametrize("name", ["on", "yes", "null", "no", "y", "n1e3", "true"])
def test_a_name_that_yaml_would_take_for_something_else_stays_a_name(name: str) -> None:
    assert rendered(UserData((LoginUser(name, (KEY.public,)),)))["users"][0]["name"] == name


PRINTABLE = st.text(st.characters(exclude_categories=("C", "Z")) | st.just(" "), max_size=60)


@given(PRINTABLE)
def test_any_printable_comment_of_a_key_comes_back_as_it_was(comment: str) -> None:
    key = f"{KEY.public} {comment}".strip()
    assert rendered(UserData((LoginUser("ops", (key,)),)))["users"][0]["ssh_authorized_keys"] == [key]


@given(
    st.text(max_size=20), st.sampled_from("\n\r\t\x00\x0b\x85\u2028\u2029\ud800\x1b"), st.text(max_size=20)
)
def test_no_value_may_hold_a_line_break_or_a_control_character(before: str, odd: str, after: str) -> None:
    text = f"x{before}{odd}{after}x"
    for settings in (
        UserData((LoginUser("ops", (f"{KEY.public} {text}",)),)),
        UserData((LoginUser(text, (KEY.public,)),)),
        UserData((LoginUser("ops", (KEY.public,), False, f"/{text}"),)),
        UserData(ntp_servers=(text,)),
        UserData(apt_proxy=f"http://{text}"),
        UserData(host_key=HostKey(KEY.private, f"{KEY.public} {text}")),
    ):
        with pytest.raises(UsageError):
            render_user_data(settings)


@given(st.text(min_size=1, max_size=40))
def test_a_time_server_is_passed_on_whole_or_refused(server: str) -> None:
    try:
        made = rendered(UserData(ntp_servers=(server,)))
    except UsageError:
        return
    assert made["ntp"]["servers"] == [server] == made["bootcmd"][0][7:]
    assert not set(server) & set(" \"'$`\\;&|<>(){}*?!#~")


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        (UserData((LoginUser("ops", ()),)), "user ops: expected at least one public ssh key"),
        (UserData((OPS, OPS)), "found 'ops' twice"),
        (UserData((LoginUser("Ops", (KEY.public,)),)), "expected a login name"),
        (UserData((LoginUser("ops", (f'command="rm -rf /" {KEY.public}',)),)), "user ops: expected a public"),
        (
            UserData((LoginUser("ops", (KEY.private.reveal(),)),)),
            "user ops: expected a public ssh key, found a private",
        ),
        (UserData(apt_proxy="http://user:pw@192.0.2.1:3142"), "expected http://HOST:PORT"),
        (
            UserData(host_key=HostKey(Secret("ssh-ed25519"), KEY.public)),
            "private host key in OpenSSH's format",
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_in_words(settings: UserData, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        render_user_data(settings)


def test_settings_do_not_show_the_private_key() -> None:
    assert KEY.private.reveal().splitlines()[2] not in f"{FULL} {FULL!r}"


@pytest.mark.slow
@pytest.mark.parametrize(
    "settings",
    [FULL, UserData(), UserData((OPS,)), UserData(ntp_servers=("192.0.2.1",)), UserData(host_key=KEY)],
)
def test_cloud_init_itself_finds_it_valid(
    settings: UserData, tmp_path: Path, need_tools: Callable[..., None]
) -> None:
    need_tools("cloud-init")
    path = tmp_path / "user-data"
    path.write_text(render_user_data(settings), encoding="utf-8")
    judged = subprocess.run(
        ["cloud-init", "schema", "--config-file", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (judged.returncode, "Valid cloud-config" in judged.stdout) == (0, True), (
        judged.stdout + judged.stderr
    )


@pytest.mark.slow
def test_cloud_init_s_judgement_sees_a_wrong_value(tmp_path: Path, need_tools: Callable[..., None]) -> None:
    need_tools("cloud-init")
    path = tmp_path / "user-data"
    path.write_text(
        render_user_data(FULL).replace("disable_root: true", "disable_root: [1]"), encoding="utf-8"
    )
    judged = subprocess.run(
        ["cloud-init", "schema", "--config-file", str(path)],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert judged.returncode != 0


def clock(folder: Path, *servers: str, programs: dict[str, str], prefix: tuple[str, ...] = ()) -> str:
    """What the clock script called, with these programs in its path and nothing else but the usual ones."""
    tools = folder / "bin"
    tools.mkdir()
    for name in ("mkdir", "rm", "touch", "cat"):
        (tools / name).symlink_to(f"/usr/bin/{name}")
    for name, script in programs.items():
        (tools / name).write_text(f"#!/bin/sh\n{script}\n")
        (tools / name).chmod(0o755)
    done = subprocess.run(
        [*prefix, "/bin/sh", "-c", CLOCK_SCRIPT, "clock", *servers],
        env={"PATH": str(tools), "OUT": str(folder)},
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    told = folder / "told"
    return f"{done.returncode}\n{told.read_text() if told.exists() else ''}{done.stderr}"


def test_chronyd_sets_the_clock_once_from_every_server(tmp_path: Path) -> None:
    told = clock(
        tmp_path, "192.0.2.1", "ntp.example.org", programs={"chronyd": 'printf "%s\\n" "$@" > "$OUT/told"'}
    )
    assert told.splitlines() == [
        *("0", "-q", "-t", "60", "server 192.0.2.1 iburst", "server ntp.example.org iburst")
    ]


OWN_RUN = ("/usr/bin/unshare", "-m", "/bin/sh", "-c", '/bin/mount -t tmpfs none /run && exec "$@"', "sh")
TIMESYNCD = """\
cat /run/systemd/timesyncd.conf.d/fabricctl.conf > "$OUT/told"
echo "$@" >> "$OUT/told"
mkdir -p /run/systemd/timesync
touch /run/systemd/timesync/synchronized"""


@pytest.mark.skipif(os.getuid() != 0, reason="needs root for a /run of its own")
def test_without_chronyd_timesyncd_is_told_the_servers_and_waited_for(tmp_path: Path) -> None:
    told = clock(tmp_path, "192.0.2.1", "192.0.2.2", programs={"systemctl": TIMESYNCD}, prefix=OWN_RUN)
    assert told.splitlines() == [
        "0",
        "[Time]",
        "NTP=192.0.2.1 192.0.2.2",
        "restart systemd-timesyncd.service",
    ]


@pytest.mark.skipif(os.getuid() != 0, reason="needs root for a /run of its own")
def test_a_clock_that_is_never_set_is_an_error_after_a_minute(tmp_path: Path) -> None:
    told = clock(
        tmp_path,
        "192.0.2.1",
        programs={"systemctl": ":", "sleep": 'echo "$1" >> "$OUT/told"'},
        prefix=OWN_RUN,
    )
    assert told.splitlines() == ["1", *["1"] * 60, "the clock could not be set from 192.0.2.1 within 60 s"]
