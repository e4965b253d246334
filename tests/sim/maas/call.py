"""One call: what came in, and the answers MAAS gives, with the headers it gives them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from tests.sim.maas.forms import Form

API = "/MAAS/api/2.0/"
HASH = "36763f1444f05f8c565d0292aabefcaa9ece4369"
"""Of the describe document of 3.7.3."""
JSON = "application/json; charset=utf-8"
TEXT = "text/plain; charset=utf-8"


@dataclass(frozen=True)
class Incoming:
    """A request to the API. :param path: below ``/MAAS/api/2.0/``; :param form: the body's fields.

    :param known: a valid API key came with it; :param target: path and query as they were sent.
    """

    method: str
    path: str
    query: Form
    form: Form
    known: bool
    target: str = ""

    @property
    def op(self) -> str | None:
        """The operation, None for a plain read, create, update or delete."""
        return self.query.get("op") or self.form.get("op") or None

    @property
    def parts(self) -> list[str]:
        """Of the path."""
        return self.path.strip("/").split("/")


@dataclass
class Answer:
    """An answer. :param body: bytes as they are sent; :param chunked: sent without a length."""

    status: int
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    chunked: bool = False


@dataclass
class Reply:
    """An answer and what happens to it on its way. :param drop: the connection ends instead."""

    answer: Answer
    delay_s: float = 0.0
    drop: bool = False


@dataclass(frozen=True)
class Logged:
    """One request as it was answered. :param op: as faults name it; :param status: 0 where no answer was sent."""

    method: str
    path: str
    op: str
    status: int
    machine: str = ""

    def __iter__(self) -> Any:
        return iter((self.method, self.path, self.op, self.status))


class Refusal(Exception):  # noqa: N818
    """Raised where MAAS would refuse; becomes the answer."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.body.decode(errors="replace"))
        self.answer = answer


def dumps(value: Any) -> bytes:
    """JSON with MAAS's separators."""
    return json.dumps(value).encode()


def ok(value: Any) -> Answer:
    """200 with JSON; bytes are JSON already."""
    return good(200, value if isinstance(value, bytes) else dumps(value), JSON)


def good(status: int, body: bytes, kind: str) -> Answer:
    """An answer of a resource itself: it carries the API's hash."""
    return Answer(
        status, body, {"Content-Type": kind, "Vary": "Authorization, Cookie", "X-Maas-Api-Hash": HASH}
    )


def done_text(text: str) -> Answer:
    """200 with bare text (``OK``, a curtin configuration)."""
    return good(200, text.encode(), "text/plain")


def deleted() -> Answer:
    """204."""
    return good(204, b"", "text/plain")


def absent(kind: str) -> Answer:
    """404 as Django words it. :param kind: ``Machine``, ``Tag``…"""
    return good(404, f"No {kind} matches the given query.".encode(), "text/plain")


def not_allowed(*methods: str) -> Answer:
    """405."""
    answer = good(405, b"", "text/html; charset=utf-8")
    answer.headers["Allow"] = ", ".join(methods)
    return answer


def refused(status: int, text: str) -> Answer:
    """An error of the middleware with text: no hash."""
    return Answer(status, text.encode(), {"Content-Type": TEXT, "Vary": "Cookie"})


def invalid(errors: dict[str, list[str]]) -> Answer:
    """400 with the fields that are wrong."""
    return Answer(400, dumps(errors), {"Content-Type": JSON, "Vary": "Cookie"})


def unreachable(text: str) -> Answer:
    """503 of work after the commit: what was asked for is in the database all the same."""
    return Answer(503, text.encode(), {"Content-Type": TEXT}, chunked=True)


def unrecognised(method: str, op: str | None) -> Answer:
    """400 for an operation nobody knows, and for anybody without a key."""
    return refused(400, f"Unrecognised signature: method={method} op={op}")
