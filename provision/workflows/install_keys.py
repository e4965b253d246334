"""ssh host keys of hosts that are installed: made here, public half recorded, private half only handed on.

A key is recorded before the installation is asked for, so that a host never comes up with a key nobody knows, whatever
happens to this process in between. It replaces all others when the installation was accepted, and is withdrawn when it
was refused; with an unknown outcome all stay, until the next installation that is accepted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from fabricctl.adapters.files import write_atomic
from fabricctl.adapters.locks import HeldError, held
from fabricctl.errors import FabricctlError, StateError
from provision.bmc.secret import Secret
from provision.install.host_keys import (
    FIELD,
    SSH_PORT,
    HostKey,
    HostKeyRecord,
    accepted,
    known_hosts,
    offer,
    read_record,
    refused,
)
from provision.workflows.install_book import keep_facts

if TYPE_CHECKING:
    from fabricctl.adapters.store.store import Store

_WAIT_S = 30.0

SOURCE = "fabricctl"
Change = tuple[str, Callable[[HostKeyRecord], HostKeyRecord]]
"""A host, and its record after what it was before."""


def make_host_key() -> HostKey:
    """A new ed25519 key pair in OpenSSH's formats (RFC 8709; PROTOCOL.key of OpenSSH)."""
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
        PublicFormat,
    )

    key = Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.OpenSSH, NoEncryption()).decode("ascii")
    public = key.public_key().public_bytes(Encoding.OpenSSH, PublicFormat.OpenSSH).decode("ascii")
    return HostKey(Secret(private), public)


@dataclass(frozen=True)
class HostKeys:
    """The host keys of a site's hosts: in its state store, and as a file that ssh reads.

    :param store: open for as long as this is used; :param file: see :func:`fabricctl.adapters.known_hosts.site_file`.
    :param who: and ``reason``: for the store's record of who told it.
    """

    store: Store
    file: Path
    who: str
    reason: str
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    make: Callable[[], HostKey] = make_host_key

    def offer(self, hosts: Mapping[str, Sequence[str]], *, port: int = SSH_PORT) -> dict[str, HostKey]:
        """New keys for hosts about to be installed, recorded at once beside those they may show now.

        :param hosts: host -> names and addresses it is reached by, with its own name among them; :param port: of sshd.
        :raises StateError: they cannot be recorded, so nothing must be installed.
        :raises UsageError: a name cannot stand in a known_hosts file.
        """
        made = {host: self.make() for host in hosts}
        self._change([offering(host, made[host], names, port=port) for host, names in hosts.items()])
        return made

    def accepted(self, host: str, public: str) -> None:
        """The installation with this key was accepted: all other keys of the host are forgotten."""
        self._change([accepting(host, public)])

    def refused(self, host: str, public: str) -> None:
        """The installation with this key was refused. When nobody knows, call nothing: all its keys stay."""
        self._change([refusing(host, public)])

    def apply(self, changes: Sequence[Change]) -> list[Exception | None]:
        """Carry out changes with one write. :returns: for each of them why it could not be, or None.

        Reading, changing and writing are one: another command that changes the keys of these hosts waits meanwhile.

        :raises StateError: nothing of it can be recorded; :raises InputError: the file cannot be written.
        """
        with self._alone():
            before = self.records({host for host, _ in changes})
            after = dict(before)
            errors: list[Exception | None] = []
            for host, change in changes:
                try:
                    after[host] = change(after.get(host, HostKeyRecord()))
                except FabricctlError as error:
                    errors.append(error)
                else:
                    errors.append(None)
            changed = {host: record for host, record in after.items() if record != before.get(host)}
            if changed:
                notes = {host: {FIELD: record.as_value()} for host, record in changed.items()}
                keep_facts(self.store, notes, SOURCE, who=self.who, reason=self.reason, now=self.now())
                self._write()
        return errors

    def records(self, hosts: Iterable[str] | None = None) -> dict[str, HostKeyRecord]:
        """What is recorded. :param hosts: of these only."""
        told = self.store.facts.current(None if hosts is None else list(hosts), field=FIELD)
        read = {host: read_record(facts[-1].fact.value) for host, facts in told.items() if facts}
        return {host: record for host, record in read.items() if record is not None}

    def write(self) -> None:
        """Write the file anew from the store, as a whole.

        :raises StateError: another process does not let go of it; :raises InputError: it cannot be written.
        """
        with self._alone():
            self._write()

    def _write(self) -> None:
        write_atomic(self.file, known_hosts(self.records().items()), mode=0o600)

    @contextmanager
    def _alone(self) -> Iterator[None]:
        with ExitStack() as stack:
            try:
                stack.enter_context(held(self.file.with_name(f"{self.file.name}.lock"), wait_s=_WAIT_S))
            except HeldError as exc:
                raise StateError(f"is being written by {exc.who}", place=str(self.file)) from exc
            except OSError as exc:
                raise StateError(
                    f"cannot be written: {(exc.strerror or str(exc)).lower()}", place=str(self.file)
                ) from exc
            yield

    def _change(self, changes: Sequence[Change]) -> None:
        for error in self.apply(changes):
            if error is not None:
                raise error


def offering(host: str, key: HostKey, names: Sequence[str], *, port: int = SSH_PORT) -> Change:
    """Record a key beside those a host may show now."""
    return host, lambda record: offer(record, key.public, names, port=port)


def accepting(host: str, public: str) -> Change:
    """Let this key alone hold."""
    return host, lambda record: accepted(record, public)


def refusing(host: str, public: str) -> Change:
    """Withdraw this key."""
    return host, lambda record: refused(record, public)
