"""A secret that does not show itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn


class Secret:
    """A password or token. ``str``, ``repr``, formatting, JSON and pickle do not show it; only :meth:`reveal` does."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        """The text, for the one line that sends it."""
        return self._text

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and self._text == other._text

    def __hash__(self) -> int:
        return hash(self._text)

    def __bool__(self) -> bool:
        return bool(self._text)

    def __repr__(self) -> str:
        return "Secret(***)"

    __str__ = __repr__

    def __reduce__(self) -> NoReturn:
        raise TypeError("a secret is not pickled")


@dataclass(frozen=True, slots=True)
class Credentials:
    """What a BMC asks for at login."""

    user: str
    password: Secret
