"""cloud-init's user-data: what a host does at its first boot.

Format: cloud-init's "Cloud config"; its modules run in an order of their own (cloud.cfg): bootcmd as soon as there is a
network, then users and ssh, then apt and ntp, packages last. The clock is therefore set in bootcmd: before apt and
anything else that looks at the dates of certificates.

Ubuntu 22.04 and 24.04 get the same text: where they differ (form of the apt sources, socket activation of ssh, host key
type dsa) nothing is said.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from typing import Any

from fabricctl.errors import UsageError
from provision.install.host_keys import HostKey, plain_key

CLOCK_S = 60
"""Seconds the clock may take to be set, then cloud-init reports an error."""
_SERVER = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9.:-]*[A-Za-z0-9])?\Z")
_LOGIN = re.compile(r"[a-z_][a-z0-9_-]{0,31}\Z")
_SHELL = re.compile(r"/[A-Za-z0-9/._-]+\Z")
_PROXY = re.compile(r"https?://[A-Za-z0-9\[\]:._-]+/?\Z")

CLOCK_SCRIPT = f"""\
set -eu
if command -v chronyd >/dev/null; then
  for server; do
    set -- "$@" "server $server iburst"
    shift
  done
  exec chronyd -q -t {CLOCK_S} "$@"
fi
mkdir -p /run/systemd/timesyncd.conf.d
printf '[Time]\\nNTP=%s\\n' "$*" > /run/systemd/timesyncd.conf.d/fabricctl.conf
rm -f /run/systemd/timesync/synchronized
systemctl restart systemd-timesyncd.service
left={CLOCK_S}
until [ -e /run/systemd/timesync/synchronized ]; do
  if [ "$left" -le 0 ]; then
    echo "the clock could not be set from $* within {CLOCK_S} s" >&2
    exit 1
  fi
  left=$((left - 1))
  sleep 1
done
"""
"""Sets the clock once, by chronyd where the image has it, else by systemd-timesyncd, which Ubuntu 22.04 and 24.04 have.

chronyd -q needs no running service: starting chrony.service here would wait for sysinit.target, which waits for
cloud-init. Its parameters are the time servers.
"""


@dataclass(frozen=True, slots=True)
class LoginUser:
    """A user to make: no password, these public keys. :param sudo: may do everything without a password."""

    name: str
    ssh_keys: tuple[str, ...]
    sudo: bool = False
    shell: str = "/bin/bash"


@dataclass(frozen=True, slots=True)
class UserData:
    """What goes into user-data.

    :param users: in place of the image's own user, who stays when there are none.
    :param ntp_servers: host names or addresses; without any the clock is left to the provisioner's settings.
    :param host_key: the host's ssh key, made by us, so that the first login is verified.
    """

    users: tuple[LoginUser, ...] = ()
    ntp_servers: tuple[str, ...] = ()
    apt_proxy: str = ""
    host_key: HostKey | None = None


def render_user_data(settings: UserData) -> str:
    """The text, which begins with ``#cloud-config``. It holds a private key: never show or keep it.

    :raises UsageError: a value that cannot be meant: a line break, a private key among the public ones, ...
    """
    return f"#cloud-config\n{_dump(_document(settings))}"


def _document(settings: UserData) -> dict[str, Any]:
    servers = [
        _checked(_SERVER, server, "a time server such as 192.0.2.1") for server in settings.ntp_servers
    ]
    servers = list(dict.fromkeys(servers))
    made: dict[str, Any] = {}
    if servers:
        made["bootcmd"] = [
            ["cloud-init-per", "instance", "fabricctl-clock", "sh", "-c", CLOCK_SCRIPT, "clock", *servers]
        ]
        made["ntp"] = {"enabled": True, "ntp_client": "chrony", "servers": servers}
    if settings.apt_proxy:
        made["apt"] = {"proxy": _checked(_PROXY, settings.apt_proxy, "http://HOST:PORT")}
    made["package_upgrade"] = False
    made["package_reboot_if_required"] = False
    if settings.users:
        made["users"] = [_user(user) for user in _differing(settings.users)]
    made |= _ssh(settings.host_key)
    if servers:
        made["runcmd"] = [["chronyc", "waitsync", str(CLOCK_S), "0.5", "0", "1"]]
    return made


def _ssh(host_key: HostKey | None) -> dict[str, Any]:
    """No passwords, no root; one type of host key, so that no host shows a key nobody recorded."""
    made: dict[str, Any] = {
        "disable_root": True,
        "ssh_pwauth": False,
        "ssh_deletekeys": True,
        "ssh_genkeytypes": ["ed25519"],
        "ssh_publish_hostkeys": {"enabled": False},
    }
    if host_key is not None:
        private = host_key.private.reveal()
        if not private.startswith("-----BEGIN OPENSSH PRIVATE KEY-----\n"):
            raise UsageError("expected a private host key in OpenSSH's format")
        public = plain_key(host_key.public)
        if not public.startswith("ssh-ed25519 "):
            raise UsageError(f"expected a host key of type ssh-ed25519, found {public.partition(' ')[0]}")
        made["ssh_keys"] = {"ed25519_private": private, "ed25519_public": public}
    return made


def _differing(users: tuple[LoginUser, ...]) -> tuple[LoginUser, ...]:
    names = [user.name for user in users]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"expected each user once, found {twice!r} twice")
    return users


def _user(user: LoginUser) -> dict[str, Any]:
    name = _checked(_LOGIN, user.name, "a login name such as ops")
    if not user.ssh_keys:
        raise UsageError(f"user {name}: expected at least one public ssh key, found none")
    made: dict[str, Any] = {
        "name": name,
        "shell": _checked(_SHELL, user.shell, "the path of a shell"),
        "lock_passwd": True,
        "ssh_authorized_keys": [_public(key, name) for key in user.ssh_keys],
    }
    if user.sudo:
        made["sudo"] = "ALL=(ALL) NOPASSWD:ALL"
    return made


def _public(key: str, user: str) -> str:
    """A user's key with its comment. Options before the type are not taken: they could run commands."""
    try:
        plain_key(key.strip())
    except UsageError as exc:
        raise UsageError(f"user {user}: {exc}") from exc
    return key.strip()


def _checked(pattern: re.Pattern[str], text: str, example: str) -> str:
    if not pattern.match(text):
        raise UsageError(f"expected {example}, found {text[:60]!r}")
    return text


def _dump(document: dict[str, Any]) -> str:
    """YAML with every text in quotes: cloud-init reads YAML 1.1, where a bare ``on`` or ``12:30`` is no text."""
    from ruamel.yaml import YAML

    yaml = YAML()
    yaml.width = 1 << 20
    yaml.indent(mapping=2, sequence=4, offset=2)
    stream = io.StringIO()
    yaml.dump(_quoted(document), stream)
    return stream.getvalue()


def _quoted(value: Any) -> Any:
    from ruamel.yaml.scalarstring import DoubleQuotedScalarString, LiteralScalarString

    if isinstance(value, dict):
        return {key: _quoted(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_quoted(inner) for inner in value]
    if isinstance(value, str):
        return LiteralScalarString(value) if "\n" in value else DoubleQuotedScalarString(value)
    return value
