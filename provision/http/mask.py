"""What was sent as a secret does not come back out of a server's answers: some repeat in an error what they were sent.

A server may repeat a part of it, wrap it, or write it as JSON, as Python, or in a URL. So not only the whole is looked
for: every run of six characters that stands in a secret is taken out. It is done before a text is cut or put on one
line, and once more afterwards.
"""

from __future__ import annotations

import base64
import html
import json
import re
from collections.abc import Iterable, Iterator
from urllib.parse import quote, quote_plus

from provision.bmc.secret import Secret
from provision.http.asked import one_line, shorten

STARS = "***"
SHORTEST = 3
"""Shorter ones are not looked for: they stand in every other word."""
WINDOW = 6
"""Characters of a secret that are never shown in a row."""
_CLOUD_CONFIG = "#cloud-config"
_PLAIN_WORD = re.compile(r"(?:[A-Z]?[a-z_]*|[A-Z_]*|[0-9]{1,4})\Z")
_SECRET_NAME = re.compile(r"pass|secret|token", re.IGNORECASE)


class Mask:
    """Secrets, and texts without them. :param secrets: to begin with."""

    def __init__(self, secrets: Iterable[Secret] = ()) -> None:
        self._whole: set[str] = set()
        self._windows: set[str] = set()
        self._sorted: list[str] | None = None
        self._known: set[Secret] = set()
        for secret in secrets:
            self.learn(secret)

    def learn(self, secret: Secret) -> None:
        """Take a secret out from now on.

        Of cloud-init's user data, which are words for the most part, lines are secret that are more than words, and
        all of a private key.
        """
        text = secret.reveal()
        if len(text) < SHORTEST or secret in self._known:
            return
        self._known.add(secret)
        self._sorted = None
        self._whole |= {form for form in (*_forms(text), _base64(text)) if len(form) >= SHORTEST}
        if text.startswith(_CLOUD_CONFIG):
            forms = {form for line in _secret_lines(text) for form in _forms(line)}
        else:
            forms = {*_forms(text), _base64(text)}
        for form in forms:
            self._windows |= {form[at : at + WINDOW] for at in range(len(form) - WINDOW + 1)}

    def text(self, text: str) -> str:
        """A text without them."""
        for _ in range(
            3
        ):  # what stands around the stars may make a secret anew, of one that holds stars itself
            clean = self._without(text)
            if clean == text:
                break
            text = clean
        return text

    def line(self, text: str, longest: int | None = None) -> str:
        """The same on one line. :param longest: characters, when it is to be cut."""
        line = self.text(one_line(self.text(text)))
        return line if longest is None else shorten(line, longest)

    def _without(self, text: str) -> str:
        if self._sorted is None:
            self._sorted = sorted(self._whole, key=len, reverse=True)
        for form in self._sorted:
            text = text.replace(form, STARS)
        hidden = bytearray(len(text))
        for at in range(len(text) - WINDOW + 1):
            if text[at : at + WINDOW] in self._windows:
                hidden[at : at + WINDOW] = b"\1" * WINDOW
        if not any(hidden):
            return text
        return "".join(_starred(text, hidden))


def _starred(text: str, hidden: bytearray) -> Iterator[str]:
    before = 0
    for char, secret in zip(text, hidden, strict=True):
        if not secret:
            yield char
        elif not before:
            yield STARS
        before = secret


def _secret_lines(text: str) -> Iterator[str]:
    """Of user data what must not be shown: all of a private key, and values that are more than words."""
    key = False
    for line in map(str.strip, text.splitlines()):
        border = line.startswith("-----")
        key = key or (border and "BEGIN" in line)
        name, _, value = line.partition(": ")
        if key and not border:
            yield line
        elif not key and (_SECRET_NAME.search(name) or not _words_alone(line)):
            yield value or line
        key = key and not (border and "END" in line)


def _words_alone(line: str) -> bool:
    """Nobody's secret: ``disable_root: true``."""
    return all(_PLAIN_WORD.match(word) for word in re.findall(r"\w+", line))


def _base64(text: str) -> str:
    return base64.b64encode(text.encode("utf-8", "replace")).decode()


def _forms(text: str) -> set[str]:
    """As it may be written: plainly, on one line, as a JSON string once and twice, as Python, in a URL, in HTML."""
    quoted = json.dumps(text)[1:-1]
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    return {
        text,
        one_line(text),
        quoted,
        plain,
        quoted.replace("/", "\\/"),
        json.dumps(quoted)[1:-1],
        json.dumps(plain, ensure_ascii=False)[1:-1],
        repr(text)[1:-1],
        quote(text, safe="", errors="replace"),
        quote_plus(text, errors="replace"),
        html.escape(text),
    }
