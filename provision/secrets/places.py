"""Where passwords are kept: a private file, a file encrypted by ansible-vault, or the desktop's keyring.

========================  =====================================================================================
``file:PATH``             JSON, mode 0600, replaced whole and on disk before anything else goes on
``vault:PATH``            YAML encrypted by ansible-vault; its password from ``ANSIBLE_VAULT_PASSWORD_FILE``, or by
                          reference: ``vault:PATH?password=env:NAME`` or ``...?password=file:PATH``
``keyring:SERVICE``       one document in the keyring of the user who is logged in
========================  =====================================================================================
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Protocol

from fabricctl.adapters.locks import holder_of
from fabricctl.adapters.store.location import default_file
from fabricctl.errors import SecretError, StateError
from provision.secrets.private_file import lock_of, locked, read_private, write_private


class Place(Protocol):
    """A place that holds one document."""

    @property
    def reference(self) -> str:
        """As people write it: ``file:/srv/hall.secrets``."""
        ...

    def read(self) -> Any:
        """The document, None when there is none yet. :raises SecretError: it cannot be read."""
        ...

    def write(self, document: dict[str, Any]) -> None:
        """Replace the document, durably. :raises SecretError: it cannot be written."""
        ...

    def locked(self, purpose: str = "lock", busy: str = "") -> AbstractContextManager[None]:
        """Be the only writer. :param purpose: apart from others; :param busy: what to say when somebody else is."""
        ...

    def holder(self, purpose: str) -> str:
        """Who holds that lock now, in words; empty when nobody does."""
        ...


class FilePlace:
    """JSON in a private file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.reference = f"file:{path}"

    def read(self) -> Any:
        """The document, None when there is none yet."""
        data = read_private(self.path, self.reference)
        return None if data is None else parse_json(data, self.reference)

    def write(self, document: dict[str, Any]) -> None:
        """Replace it."""
        text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
        write_private(self.path, text.encode(), self.reference)

    def locked(self, purpose: str = "lock", busy: str = "") -> AbstractContextManager[None]:
        """Be the only writer."""
        return locked_beside(self.path, self.reference, purpose, busy)

    def holder(self, purpose: str) -> str:
        """Who holds that lock now."""
        return holder_of(lock_of(self.path, purpose))


def locked_beside(path: Path, reference: str, purpose: str, busy: str) -> AbstractContextManager[None]:
    """The lock of a file; one with its own words is not waited for."""
    lock = lock_of(path, purpose)
    return locked(lock, reference, wait_s=0.0, busy=busy) if busy else locked(lock, reference)


def parse_json(data: bytes | str, reference: str) -> Any:
    """:raises SecretError: it is no JSON; what stands there is not told."""
    try:
        return whole(json.loads(data), reference)
    except (ValueError, RecursionError):
        raise SecretError("is damaged: no JSON", reference=reference, hint="restore a backup") from None


def whole(document: Any, reference: str) -> Any:
    """A document that is there. None would stand for one that never was, and be written anew.

    :raises SecretError: it is null.
    """
    if document is None:
        raise SecretError("is damaged: it holds nothing", reference=reference, hint="restore a backup")
    return document


def find_place(text: str, *, site: str, site_path: str) -> Place:
    """The place that the site file names, else a file named after the site.

    :param text: ``management.secrets``; :param site_path: a relative file is relative to that of the site.
    :raises SecretError: it cannot be used.
    """
    if not text:
        try:
            return FilePlace(Path(default_file(site, ".secrets")))
        except StateError as exc:
            hint = "set HOME or XDG_STATE_HOME, or name a place under management.secrets"
            raise SecretError(exc.message, reference=f"of site {site}", hint=hint) from exc
    kind, _, rest = text.partition(":")
    folder = os.path.dirname(site_path) if site_path != "-" else ""
    make = _KINDS.get(kind)
    if make is None or not rest:
        raise SecretError("expected file:PATH, vault:PATH or keyring:SERVICE", reference=text)
    return make(rest, folder, site)


def _file(rest: str, folder: str, _site: str) -> Place:
    return FilePlace(Path(folder, os.path.expanduser(rest)))


def _vault(rest: str, folder: str, _site: str) -> Place:
    from provision.secrets.vault import VaultPlace

    path, _, query = rest.partition("?")
    word, _, password = query.partition("=")
    if query and (word != "password" or not password):
        raise SecretError("expected vault:PATH or vault:PATH?password=env:NAME", reference=f"vault:{rest}")
    return VaultPlace(Path(folder, os.path.expanduser(path)), password, folder)


def _keyring(rest: str, _folder: str, site: str) -> Place:
    from provision.secrets.keyring_place import KeyringPlace

    return KeyringPlace(rest, site)


_KINDS: dict[str, Callable[[str, str, str], Place]] = {"file": _file, "vault": _vault, "keyring": _keyring}
