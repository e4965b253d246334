"""A request to MAAS and its answer, as values; how fields are written. Whoever carries them, see :class:`Sender`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol
from urllib.parse import quote, urlencode

from provision.bmc.secret import Secret
from provision.http.asked import Asked

Value = str | int | bool
Fields = Mapping[str, Value | Sequence[Value]]


@dataclass(frozen=True)
class Ask:
    """One request. :param path: under the API's address; :param query: pairs; :param form: fields of the body.

    :param hidden: secrets it holds, which no error may show; :param quiet: nothing of its answer is shown.
    :param deadline_s: seconds, None means the setting.
    """

    method: str
    path: str
    op: str = ""
    query: tuple[tuple[str, str], ...] = ()
    form: Fields = field(default_factory=dict, repr=False)
    host: str = ""
    hidden: tuple[Secret, ...] = ()
    quiet: bool = False
    deadline_s: float | None = None

    @property
    def asked(self) -> Asked:
        """What errors tell of it."""
        return Asked(self.method, self.path, self.op, self.host)


@dataclass(frozen=True)
class Answer:
    """A success. :param headers: names in lower case; :param body: parsed JSON, the text where it is none."""

    status: int
    headers: Mapping[str, str]
    body: Any = field(repr=False)


class Sender(Protocol):
    """Carries requests to one MAAS."""

    @property
    def requests(self) -> int:
        """HTTP requests sent so far."""
        ...

    async def send(self, ask: Ask) -> Answer:
        """Send a request until it does not collide any more. A write is never sent again for another reason.

        :raises ProvisionerError: by the table of :mod:`provision.maas.answers`, and of
            :mod:`provision.http.lost` where there was no answer.
        """
        ...

    async def close(self) -> None:
        """Close its connections."""
        ...


def pairs(fields: Fields) -> list[tuple[str, str]]:
    """Fields as MAAS reads them: a list is the same field several times, a truth is ``true`` or ``false``."""
    found: list[tuple[str, str]] = []
    for name, value in fields.items():
        listed = [value] if isinstance(value, str | int) else value
        found += [(name, _word(one)) for one in listed]
    return found


def _word(value: Value) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def encode_form(fields: Fields) -> bytes:
    """The body of a write. Without fields it is empty: MAAS answers 400 to a multipart body of no parts."""
    return urlencode(pairs(fields)).encode()


def address(ask: Ask) -> str:
    """Path and query of a request. Colons of MACs stay as they are, which a query may hold (RFC 3986, 3.4)."""
    query = [*((("op", ask.op),) if ask.op else ()), *ask.query]
    path = quote(ask.path, safe="/")
    return f"{path}?{urlencode(query, safe=':/')}" if query else path
