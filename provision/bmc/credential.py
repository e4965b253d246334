"""Passwords of BMCs as they are kept: whose, which, since when; never shown."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from provision.bmc.secret import Credentials, Secret


class KeyKind(StrEnum):
    """What a password belongs to."""

    HOST = "host"
    """Whatever machine stands at this node's place."""
    TAG = "tag"
    """The machine with this service tag, wherever it stands."""

    @property
    def words(self) -> str:
        """As people write it."""
        return "host" if self is KeyKind.HOST else "service tag"


@dataclass(frozen=True, slots=True, order=True)
class Key:
    """Whose password. :param name: host name, or service tag in upper case."""

    kind: KeyKind
    name: str

    def __str__(self) -> str:
        return self.name if self.kind is KeyKind.HOST else f"service tag {self.name}"


class CredentialState(StrEnum):
    """How far a password got."""

    FACTORY = "factory"
    """As the vendor delivered it."""
    CURRENT = "current"
    """Chosen by us, and a login with it succeeded."""
    PENDING = "pending"
    """A new one was chosen; whether the BMC has it already is not known."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One kept password.

    :param user: login name, empty where the site file tells it. :param password: None where the site file has a
        reference and only a new password is kept here. :param since: when it was kept; :param source: who gave it
        (``import crates.csv``, ``rotate``). :param factory: as the vendor delivered it.
    :param pending: a new password on its way to the BMC, :param pending_since: when it was chosen.
    """

    key: Key
    user: str
    password: Secret | None
    since: datetime
    source: str
    factory: bool = False
    pending: Secret | None = None
    pending_since: datetime | None = None

    @property
    def state(self) -> CredentialState:
        """A password on its way outweighs the rest: which one holds is not known."""
        if self.pending is not None:
            return CredentialState.PENDING
        return CredentialState.FACTORY if self.factory else CredentialState.CURRENT

    def credentials(self, default_user: str) -> Credentials | None:
        """What to log in with, None where no password is kept."""
        return Credentials(self.user or default_user, self.password) if self.password is not None else None
