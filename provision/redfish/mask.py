"""What was sent to a BMC as a secret does not come back out of its answers: some echo a password in their errors."""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import Any

STARS = "***"
SHORTEST = 4
"""Shorter ones are not looked for: they stand in every other word."""
SHORTEST_IN_BODY = 8
"""Of secrets looked for in good answers: a password such as ``root`` or ``Enabled`` must not change what is read."""
_HEADERS = ("x-auth-token", "authorization")


class Mask:
    """The secrets of one link, learnt from what is sent over it."""

    def __init__(self) -> None:
        self._known: list[str] = []

    def learn(self, headers: Mapping[str, str], body: Any = None) -> None:
        """Keep what of a request (or of the answer to a login) is secret."""
        found = [value for name, value in headers.items() if name.lower() in _HEADERS]
        for value in [value.removeprefix("Basic ") for value in found if value.startswith("Basic ")]:
            found += [value, b64decode(value).decode("utf-8", "replace").partition(":")[2]]
        self._keep([*found, *(_passwords(body) if body is not None else ())])

    def _keep(self, secrets: Iterable[str]) -> None:
        new = [one for one in secrets if len(one) >= SHORTEST and one not in self._known]
        if new:  # longest first: one may be the beginning of another
            self._known = sorted([*self._known, *new], key=len, reverse=True)

    def text(self, text: str) -> str:
        """A text for people without them."""
        return _cut(text, self._known)

    def raw(self, raw: bytes) -> bytes:
        """What could not be understood, without them."""
        for secret in self._known:
            for form in _raw_forms(secret):
                raw = raw.replace(form, STARS.encode())
        return raw

    def body(self, body: Any, raw: bytes, *, good: bool) -> Any:
        """A parsed body without them.

        :param raw: what it was parsed from, in which they are looked for; :param good: of an answer that is no error.
        """
        least = SHORTEST_IN_BODY if good else SHORTEST
        inside = [
            secret
            for secret in self._known
            if len(secret) >= least and any(form in raw for form in _raw_forms(secret))
        ]
        return _without(body, inside) if inside else body

    def error(self, error: BaseException) -> None:
        """Take them out of an exception and of what led to it, as far as that is text."""
        seen: set[int] = set()
        waiting: list[BaseException | None] = [error]
        while waiting:
            one = waiting.pop()
            if one is None or id(one) in seen:
                continue
            seen.add(id(one))
            waiting += [one.__cause__, one.__context__]
            one.args = tuple(self.text(arg) if isinstance(arg, str) else arg for arg in one.args)
            for name in ("message", "hint"):
                text = getattr(one, name, None)
                if isinstance(text, str) and self.text(text) != text:
                    setattr(one, name, self.text(text))


def _passwords(body: Any) -> list[str]:
    """Values of everything that is called a password or token: of accounts, logins, shares, BIOS settings."""
    found: list[str] = []
    waiting = [body]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Mapping):
            for name, value in one.items():
                if isinstance(value, str) and str(name).lower().endswith(("password", "token")):
                    found.append(value)
                else:
                    waiting.append(value)
        elif isinstance(one, (list, tuple)):
            waiting += one
    return found


@lru_cache(maxsize=1024)
def _forms(text: str) -> tuple[str, ...]:
    """As it may be written, longest first: plainly, or as a JSON string."""
    plain = json.dumps(text, ensure_ascii=False)[1:-1]
    forms = {text, plain, plain.replace("/", "\\/"), json.dumps(text)[1:-1]}
    return tuple(sorted(forms, key=len, reverse=True))


@lru_cache(maxsize=1024)
def _raw_forms(secret: str) -> tuple[bytes, ...]:
    """As it may stand in JSON; also where the JSON that was sent is quoted there."""
    forms = {twice for once in _forms(secret) for twice in _forms(once)}
    return tuple(form.encode("utf-8", "surrogatepass") for form in sorted(forms, key=len, reverse=True))


def _cut(text: str, secrets: Iterable[str]) -> str:
    for secret in secrets:
        for form in _forms(secret):
            text = text.replace(form, STARS)
    return text


def _without(value: Any, secrets: list[str]) -> Any:
    if isinstance(value, str):
        return _cut(value, secrets)
    if isinstance(value, dict):
        return {_without(name, secrets): _without(inner, secrets) for name, inner in value.items()}
    return [_without(inner, secrets) for inner in value] if isinstance(value, list) else value
