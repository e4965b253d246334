"""Passwords in a YAML file that ansible-vault encrypts: ``ansible-vault view`` and playbooks read it, too."""

from __future__ import annotations

import io
import os
import subprocess
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from fabricctl.adapters.locks import holder_of
from fabricctl.errors import SecretError
from provision.bmc.secret import Secret
from provision.secrets.places import locked_beside, whole
from provision.secrets.private_file import lock_of, read_private, write_private
from provision.secrets.reference import read_reference

VARIABLE = "fabricctl_bmc_secrets"
"""The one variable of the file: as group_vars it must not fill a playbook with words such as "hosts"."""
PASSWORD_FILE = "ANSIBLE_VAULT_PASSWORD_FILE"  # noqa: S105 - the name of a variable
SCRIPT_S = 60
"""Longest wait for a script that fetches the vault's password."""


class VaultPlace:
    """An encrypted file.

    :param password: reference to the vault's password; empty: ``ANSIBLE_VAULT_PASSWORD_FILE`` names its file, or a
        script that prints it, as for ansible itself. :param folder: references to files are relative to it.
    """

    def __init__(self, path: Path, password: str, folder: str) -> None:
        self.path = path
        self.reference = f"vault:{path}"
        self._password, self._folder = password, folder

    def read(self) -> Any:
        """The document, None when there is none yet."""
        data = read_private(self.path, self.reference, encrypted=True)
        if data is None:
            return None
        tools = _Tools(self.reference)
        if not tools.is_encrypted(data):
            hint = f"ansible-vault encrypt {self.path}; whoever could read it knows the passwords"
            raise SecretError("is not encrypted", reference=self.reference, hint=hint)
        return _parse(tools.decrypt(data, self._secret()), self.reference)

    def write(self, document: dict[str, Any]) -> None:
        """Replace it."""
        stream = io.BytesIO()
        YAML(typ="safe", pure=True).dump({VARIABLE: document}, stream)
        data = _Tools(self.reference).encrypt(stream.getvalue(), self._secret())
        write_private(self.path, data, self.reference, encrypted=True)

    def locked(self, purpose: str = "lock", busy: str = "") -> AbstractContextManager[None]:
        """Be the only writer."""
        return locked_beside(self.path, self.reference, purpose, busy)

    def holder(self, purpose: str) -> str:
        """Who holds that lock now."""
        return holder_of(lock_of(self.path, purpose))

    def _secret(self) -> Secret:
        if self._password:
            return read_reference(self._password, self._folder)
        name = os.environ.get(PASSWORD_FILE, "")
        if not name:
            raise SecretError(
                "the vault's password is not known",
                reference=self.reference,
                hint=f"set {PASSWORD_FILE}, or write vault:PATH?password=env:NAME",
            )
        path = Path(os.path.expanduser(name))
        if path.is_file() and os.access(path, os.X_OK):
            return _from_script(path)
        return read_reference(f"file:{path}")


def _from_script(path: Path) -> Secret:
    """What a password script prints; ansible runs an executable password file, too."""
    reference = f"script:{path}"
    try:
        done = subprocess.run(  # noqa: S603 - the operator names the script, as for ansible
            [os.path.abspath(path)],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SCRIPT_S,
            check=False,
        )
        text = done.stdout.decode("utf-8").strip("\r\n")
    except OSError as exc:
        raise SecretError(f"cannot be run: {exc.strerror}", reference=reference) from exc
    except subprocess.TimeoutExpired:
        raise SecretError(f"printed no password within {SCRIPT_S} s", reference=reference) from None
    except UnicodeDecodeError:
        raise SecretError("printed no UTF-8 text", reference=reference) from None
    if done.returncode or not text:
        raise SecretError(f"printed no password (exit code {done.returncode})", reference=reference)
    return Secret(text)


def _parse(data: bytes, reference: str) -> Any:
    try:
        document = YAML(typ="safe", pure=True).load(data)
    except (YAMLError, ValueError, RecursionError):
        raise SecretError("is damaged: no YAML", reference=reference, hint="restore a backup") from None
    return whole(document.get(VARIABLE) if isinstance(document, dict) else document, reference)


class _Tools:
    """ansible-core's own cipher, so that every ansible of the site reads what is written here."""

    def __init__(self, reference: str) -> None:
        self._reference = reference
        try:
            from ansible.parsing.vault import AnsibleVaultError, VaultLib, VaultSecret, is_encrypted
        except ImportError as exc:
            raise SecretError(
                "ansible-vault files need ansible-core, which is not installed",
                reference=reference,
                hint="pip install 'fabricctl[vault]'",
            ) from exc
        self._error, self._library, self._secret, self._is_encrypted = (
            AnsibleVaultError,
            VaultLib,
            VaultSecret,
            is_encrypted,
        )

    def is_encrypted(self, data: bytes) -> bool:
        return bool(self._is_encrypted(data))

    def decrypt(self, data: bytes, password: Secret) -> bytes:
        try:
            return bytes(self._of(password).decrypt(data))
        except self._error:
            hint = "is its password the right one?"
            raise SecretError("cannot be decrypted", reference=self._reference, hint=hint) from None

    def encrypt(self, data: bytes, password: Secret) -> bytes:
        return bytes(self._of(password).encrypt(data))

    def _of(self, password: Secret) -> Any:
        return self._library([("default", self._secret(password.reveal().encode()))])
