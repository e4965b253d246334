"""Where and as whom to log in: the operator's ssh configuration applied to a host."""

from __future__ import annotations

import getpass
import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.adapters.files import decode, read_input
from fabricctl.errors import InputError, ViewerError

if TYPE_CHECKING:
    from paramiko.config import SSHConfig

SYSTEM_CONFIG = "/etc/ssh/ssh_config"
USER_CONFIG = "~/.ssh/config"
SYSTEM_KNOWN_HOSTS = ("/etc/ssh/ssh_known_hosts", "/etc/ssh/ssh_known_hosts2")
USER_KNOWN_HOSTS = ("~/.ssh/known_hosts", "~/.ssh/known_hosts2")
SSH_PORT = 22


@dataclass(frozen=True, slots=True)
class SshOptions:
    """What the operator chose for all hosts.

    :param known_hosts: files of recorded host keys in place of the user's own (the system's stay).
    :param key_files: private keys to offer first; one that is missing is an error.
    :param config_file: in place of ``~/.ssh/config``; must exist.
    :param recorded: files of host keys this program recorded itself; read as well, where they are there.
    :param use_agent: offer the keys of ssh-agent.
    :param keepalive_s: seconds between keepalives, which find a dead connection.
    """

    known_hosts: tuple[str, ...] = ()
    key_files: tuple[str, ...] = ()
    config_file: str = ""
    recorded: tuple[str, ...] = ()
    use_agent: bool = True
    keepalive_s: int = 15


@dataclass(frozen=True, slots=True)
class SshTarget:
    """A host as the operator named it. :param user: and :param port: None where not told."""

    host: str
    user: str | None = None
    port: int | None = None


@dataclass(frozen=True, slots=True)
class Login:
    """Everything decided about one login.

    :param host: name or address to connect to; :param key_name: name its host key is recorded under.
    :param key_port: port its host key is recorded under; :param proxy: shell command to connect through, or empty.
    """

    host: str
    port: int
    user: str
    key_name: str
    key_port: int
    known_hosts: tuple[str, ...]
    key_files: tuple[str, ...]
    use_agent: bool
    default_keys: bool
    proxy: str
    keepalive_s: int


def read_config(options: SshOptions) -> SSHConfig:
    """The user's configuration, then the system's: the first value of each keyword counts (ssh_config(5)).

    ``StrictHostKeyChecking`` is not obeyed: an unknown host key is refused always. ``Include`` is not
    followed (paramiko does not).

    :raises InputError: a file is damaged or missing, or a key file is missing.
    """
    from paramiko import ConfigParseError, SSHConfig

    for path in (*options.key_files, *options.known_hosts):
        if not Path(path).expanduser().is_file():
            raise InputError("no such file", path=path)
    user_file = options.config_file or os.path.expanduser(USER_CONFIG)
    config = SSHConfig()
    for path in (user_file, SYSTEM_CONFIG):
        if path != options.config_file and not Path(path).is_file():
            continue
        try:
            config.parse(iter(decode(read_input(path), path).splitlines()))
        except ConfigParseError as exc:
            raise InputError(f"is not an ssh configuration: {exc}", path=path) from exc
    return config


def resolve(target: SshTarget, options: SshOptions, config: SSHConfig, viewer: str) -> Login:
    """Apply the configuration to one host.

    :raises ViewerError: its part of the configuration cannot be used.
    """
    from paramiko import SSHException

    try:
        found = config.lookup(target.host)
        port = target.port or int(found.get("port", SSH_PORT))
    except (SSHException, ImportError, ValueError, KeyError) as exc:
        raise ViewerError(
            f"the ssh configuration for {target.host} cannot be used: {exc}",
            viewer=viewer,
            hint=f"check: ssh -G {target.host}",
        ) from exc
    alias = found.get("hostkeyalias", "")
    user = target.user or found.get("user") or getpass.getuser()
    only = found.get("identitiesonly", "no").lower() == "yes"
    keys = [os.path.expanduser(path) for path in (*options.key_files, *_words(found.get("identityfile", [])))]
    return Login(
        host=found["hostname"],
        port=port,
        user=user,
        key_name=alias or found["hostname"],
        key_port=SSH_PORT if alias else port,
        known_hosts=_known_hosts(options, _words(found.get("userknownhostsfile", ""))),
        key_files=tuple(path for path in dict.fromkeys(keys) if Path(path).is_file()),
        use_agent=options.use_agent and not only,
        default_keys=not only and not options.key_files,
        proxy=_proxy(found.get("proxycommand") or "", found.get("proxyjump") or "", found["hostname"], port),
        keepalive_s=options.keepalive_s,
    )


def _words(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else shlex.split(value)


def _known_hosts(options: SshOptions, from_config: list[str]) -> tuple[str, ...]:
    own = options.known_hosts or tuple(from_config) or USER_KNOWN_HOSTS
    return tuple(os.path.expanduser(path) for path in (*own, *options.recorded, *SYSTEM_KNOWN_HOSTS))


def _proxy(command: str, jump: str, host: str, port: int) -> str:
    """The command whose standard streams reach the host; ``ProxyJump a,b`` is ssh to b by way of a."""
    if command and command.lower() != "none":
        return command
    if not jump or jump.lower() == "none":
        return ""
    *earlier, last = jump.split(",")
    words = ["ssh", "-o", "BatchMode=yes"]
    if earlier:
        words += ["-J", ",".join(earlier)]
    last = last.removeprefix("ssh://")
    name, colon, jump_port = last.rpartition(":")
    if colon and jump_port.isdigit():
        words += ["-p", jump_port]
        last = name
    inside = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    return shlex.join([*words, "-W", inside, "--", last])
