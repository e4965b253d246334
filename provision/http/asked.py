"""What was asked, as errors tell of it, and how a server's words get onto one line."""

from __future__ import annotations

from dataclasses import dataclass

LONGEST = 300
"""Characters of a server's words that are kept."""


@dataclass(frozen=True, slots=True)
class Asked:
    """What was asked, as far as an error tells of it. :param path: under the API's address, without a query.

    :param op: MAAS's operation, empty for a plain read, create, update or delete. :param host: for people.
    """

    method: str
    path: str
    op: str = ""
    host: str = ""

    @property
    def write(self) -> bool:
        """Whether it may change something."""
        return self.method != "GET"

    def __str__(self) -> str:
        return f"{self.method} {self.path}{f'?op={self.op}' if self.op else ''}"


def one_line(text: str) -> str:
    """One line without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())


def shorten(text: str, longest: int = LONGEST) -> str:
    """One line without control characters, cut after so many characters. Secrets are taken out before."""
    line = one_line(text)
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
