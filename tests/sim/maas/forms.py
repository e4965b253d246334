"""Bodies of requests: multipart and urlencoded, as fields that may be repeated."""

from __future__ import annotations

from dataclasses import dataclass, field
from email.message import Message
from email.parser import BytesParser
from urllib.parse import parse_qsl


class FormError(ValueError):
    """A body MAAS answers with 400 and nothing."""


@dataclass
class Form:
    """Fields in order of arrival; files apart."""

    fields: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, list[bytes]] = field(default_factory=dict)

    def get(self, name: str, default: str = "") -> str:
        """The last value of a field, as Django gives it."""
        return self.fields.get(name, [default])[-1]

    def all(self, name: str) -> list[str]:
        """Every value."""
        return list(self.fields.get(name, []))

    def has(self, name: str) -> bool:
        """Whether it was sent, even empty."""
        return name in self.fields

    def flag(self, name: str, default: bool = False) -> bool:
        """As a boolean: ``true``, ``1``, ``yes``, ``on``."""
        return self.get(name).lower() in ("true", "1", "yes", "on") if self.has(name) else default

    def add(self, name: str, value: str) -> None:
        """One more value."""
        self.fields.setdefault(name, []).append(value)


def parse_query(text: str) -> Form:
    """Of a query or an urlencoded body."""
    form = Form()
    for name, value in parse_qsl(text, keep_blank_values=True):
        form.add(name, value)
    return form


def parse_body(content_type: str, data: bytes) -> Form:
    """Of a request's body. An empty body is an empty form.

    :raises FormError: multipart without a part, or broken.
    """
    if not data:
        return Form()
    message = Message()
    message["Content-Type"] = content_type or "application/x-www-form-urlencoded"
    if message.get_content_type() != "multipart/form-data":
        return parse_query(data.decode("utf-8", "replace"))
    boundary = message.get_boundary()
    if not boundary:
        raise FormError
    return _multipart(boundary.encode(), data)


def _multipart(boundary: bytes, data: bytes) -> Form:
    pieces = (b"\r\n" + data).split(b"\r\n--" + boundary)[1:]
    form = Form()
    parts = 0
    for piece in pieces:
        if piece.startswith(b"--"):
            break
        parts += 1
        _part(form, piece.removeprefix(b"\r\n"))
    if not parts:
        raise FormError
    return form


def _part(form: Form, piece: bytes) -> None:
    message = BytesParser().parsebytes(piece)
    name = message.get_param("name", header="content-disposition")
    if not isinstance(name, str):
        return
    if message.get("Content-Transfer-Encoding"):
        value = message.get_payload(decode=True)
        content = value if isinstance(value, bytes) else b""
    else:
        content = piece.partition(b"\r\n\r\n")[2]
    if message.get_filename() is not None:
        form.files.setdefault(name, []).append(content)
    else:
        form.add(name, content.decode("utf-8", "replace"))
