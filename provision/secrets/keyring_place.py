"""Passwords in the keyring of the user who is logged in (Secret Service, KWallet, macOS Keychain)."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from fabricctl.adapters.locks import holder_of
from fabricctl.adapters.store.location import default_file
from fabricctl.errors import SecretError
from provision.secrets.places import locked_beside, parse_json
from provision.secrets.private_file import lock_of


class KeyringPlace:
    """One document under a service name, its user name the site's.

    A keyring cannot list what it holds, so the passwords stand together; and it knows no lock, so a file does that.
    """

    def __init__(self, service: str, site: str) -> None:
        self.reference = f"keyring:{service}"
        self._service, self._site = service, site

    def read(self) -> Any:
        """The document, None when there is none yet."""
        text = self._call("get_password", self._service, self._site)
        return None if text is None else parse_json(text, self.reference)

    def write(self, document: dict[str, Any]) -> None:
        """Replace it."""
        text = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
        self._call("set_password", self._service, self._site, text)

    def locked(self, purpose: str = "lock", busy: str = "") -> AbstractContextManager[None]:
        """Be the only writer of this user on this machine."""
        return locked_beside(Path(default_file(self._site, ".keyring")), self.reference, purpose, busy)

    def holder(self, purpose: str) -> str:
        """Who holds that lock now."""
        return holder_of(lock_of(Path(default_file(self._site, ".keyring")), purpose))

    def _call(self, name: str, *arguments: str) -> Any:
        try:
            import keyring
            from keyring.errors import KeyringError, NoKeyringError
        except ImportError as exc:
            raise SecretError(
                "the keyring module is not installed",
                reference=self.reference,
                hint="pip install 'fabricctl[keyring]'",
            ) from exc
        try:
            return getattr(keyring, name)(*arguments)
        except NoKeyringError:
            raise SecretError(
                "this machine has no keyring that is open to this login (no desktop session?)",
                reference=self.reference,
                hint="on a server write file:PATH or vault:PATH under management.secrets",
            ) from None
        except KeyringError as exc:
            reason = type(exc).__name__  # its text may quote what was to be kept
            raise SecretError(f"the keyring refused ({reason})", reference=self.reference) from None
