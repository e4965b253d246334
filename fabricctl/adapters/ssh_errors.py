"""What went wrong with a login, in an operator's words: paramiko's and the socket's errors translated."""

from __future__ import annotations

import os
import shlex
import socket

from fabricctl.adapters.command import Deadline
from fabricctl.adapters.ssh_config import SSH_PORT, Login
from fabricctl.adapters.ssh_proxy import Proxy
from fabricctl.errors import DeadlineError, LoginRefusedError, UnreachableError, ViewerError

STAGE_LOGIN = "logging in"
_LATE_S = 0.2


def said(exc: BaseException) -> str:
    """The error's own words, its class where it has none."""
    text = exc.strerror if isinstance(exc, OSError) and exc.strerror else str(exc)
    return " ".join(text.split()).rstrip(".") or type(exc).__name__


def try_by_hand(login: Login) -> str:
    """The ssh command that shows the same problem with more words."""
    port = ["-p", str(login.port)] if login.port != SSH_PORT else []
    return "check: " + shlex.join(["ssh", "-v", *port, f"{login.user}@{login.host}", "true"])


def translated(
    exc: Exception, login: Login, viewer: str, deadline: Deadline, stage: str, proxy: Proxy | None
) -> ViewerError:
    """The most specific error of the tree for a failed login.

    :param stage: what was being done when it failed.
    """
    if isinstance(exc, TimeoutError) or deadline.left() < _LATE_S:
        return DeadlineError(f"no full answer within {deadline.seconds:g} s, while {stage}", viewer=viewer)
    if proxy is not None and stage != STAGE_LOGIN:
        words = proxy.words()
        return UnreachableError(
            f"cannot be reached through `{login.proxy}`: {words or said(exc)}", viewer=viewer
        )
    if stage == STAGE_LOGIN:
        return _refused(exc, login, viewer)
    return _unreachable(exc, login, viewer)


def _unreachable(exc: Exception, login: Login, viewer: str) -> UnreachableError:
    where = f"{login.host} port {login.port}"
    if isinstance(exc, socket.gaierror | UnicodeError):
        return UnreachableError(
            f"no address is known for the name {login.host}: {said(exc)}",
            viewer=viewer,
            hint=f"check: getent hosts {shlex.quote(login.host)}",
        )
    if isinstance(exc, ConnectionRefusedError):
        return UnreachableError(
            f"{where} refuses connections", viewer=viewer, hint="does sshd run there, on this port?"
        )
    if isinstance(exc, OSError) and exc.errno is not None:
        return UnreachableError(f"{where} cannot be reached: {said(exc)}", viewer=viewer)
    return UnreachableError(
        f"{where} does not shake hands as an ssh server: {said(exc)}",
        viewer=viewer,
        hint=try_by_hand(login),
    )


def _refused(exc: Exception, login: Login, viewer: str) -> LoginRefusedError:
    import paramiko

    if isinstance(exc, OSError) and exc.filename:
        return LoginRefusedError(f"the key {exc.filename} cannot be read: {said(exc)}", viewer=viewer)
    if isinstance(exc, paramiko.PasswordRequiredException):
        return LoginRefusedError(
            f"no key was accepted for user {login.user}, and one has a passphrase ({_offered(login)})",
            viewer=viewer,
            hint="load it: ssh-add KEYFILE",
        )
    if isinstance(exc, paramiko.BadAuthenticationType):
        return LoginRefusedError(
            f"accepts no key from user {login.user}, only {', '.join(exc.allowed_types)}",
            viewer=viewer,
            hint=try_by_hand(login),
        )
    return LoginRefusedError(
        f"refuses user {login.user} ({_offered(login)})", viewer=viewer, hint=try_by_hand(login)
    )


def _offered(login: Login) -> str:
    kinds = [
        *(f"{path}{_doubt(path)}" for path in login.key_files),
        *(["the agent's keys"] if login.use_agent and os.environ.get("SSH_AUTH_SOCK") else []),
        *(["~/.ssh/id_*"] if login.default_keys else []),
    ]
    return f"offered: {', '.join(kinds)}" if kinds else "there was no key to offer"


def _doubt(path: str) -> str:
    """A remark on a key file that is none: paramiko's own words for it name a type it guessed."""
    try:
        with open(path, "rb") as stream:
            head = stream.read(4096)
    except OSError as exc:
        return f" (cannot be read: {said(exc)})"
    return "" if b"PRIVATE KEY-----" in head or path.endswith("-cert.pub") else " (is no private key)"
