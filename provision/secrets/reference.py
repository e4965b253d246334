"""One secret by reference: ``env:NAME`` or ``file:PATH``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from fabricctl.errors import SecretError
from provision.bmc.secret import Secret
from provision.secrets.private_file import read_private


def read_reference(reference: str, folder: str = "", *, environ: Mapping[str, str] | None = None) -> Secret:
    """The secret behind a reference; of a file, its first line.

    :param folder: a relative file is relative to it.
    :raises SecretError: not set, not there, empty, or open to others.
    """
    kind, _, rest = reference.partition(":")
    if kind == "env":
        text = (os.environ if environ is None else environ).get(rest, "")
        if not text:
            raise SecretError("the environment variable is not set", reference=reference)
    elif kind == "file":
        path = Path(folder, os.path.expanduser(rest))
        data = read_private(path, reference)
        if data is None:
            raise SecretError(f"there is no file {path}", reference=reference)
        text = _first_line(data, reference)
    else:
        raise SecretError(
            "expected a reference env:NAME or file:PATH"
        )  # never repeated: it may be a password
    if not text.isprintable():
        raise SecretError("it has characters that no keyboard has", reference=reference)
    return Secret(text)


def _first_line(data: bytes, reference: str) -> str:
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise SecretError("it is no UTF-8 text", reference=reference) from None  # exc would carry the bytes
    if not lines or not lines[0]:
        raise SecretError("its first line is empty; expected a password", reference=reference)
    if any(line.strip() for line in lines[1:]):
        raise SecretError("it has several lines; expected one password", reference=reference)
    return lines[0]
