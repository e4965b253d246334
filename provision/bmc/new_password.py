"""New passwords for BMCs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from fabricctl.errors import UsageError
from provision.bmc.secret import Secret

LONGEST = 20
"""IPMI 2.0, 22.30 Set User Password: a BMC stores 16 or 20 bytes, and a longer one shuts IPMI tools out. Dell
recommends 1 to 20 characters for the same reason (iDRAC9 User's Guide, "Recommended characters in user names and
passwords"); the BMC of a DGX H100 accepts no more than 20 (its AccountService, MaxPasswordLength)."""
SHORTEST = 12
"""72 bits. The BMC of a DGX H100 wants 13 (MinPasswordLength)."""
UPPER = "ABCDEFGHJKLMNPQRSTUVWXYZ"
LOWER = "abcdefghijkmnopqrstuvwxyz"
DIGITS = "23456789"
"""Without what looks alike on a crash cart's screen: I, l, 1, O, 0."""
SYMBOLS = "-._+"
"""Of the characters Dell recommends those that no shell, URL or spreadsheet takes for something else. iDRAC9 asks for
one of each kind: upper case, lower case, digit, special character (same page of its manual)."""
_ALL = UPPER + LOWER + DIGITS + SYMBOLS


class Dice(Protocol):
    """Chooses at random: ``secrets.choice``."""

    def __call__(self, seq: Sequence[str], /) -> str:
        """One of them."""
        ...


def check_length(length: int) -> int:
    """:raises UsageError: too short to be safe, or longer than BMCs store."""
    if not SHORTEST <= length <= LONGEST:
        raise UsageError(
            f"--length {length}: expected {SHORTEST} to {LONGEST}; IPMI stores no more than {LONGEST} characters"
        )
    return length


def new_password(length: int, choose: Dice) -> Secret:
    """A password with every kind of character, its first one a letter; all such passwords are equally likely.

    :param length: 12 to 20: 70 to 118 bits; :param choose: ``secrets.choice``.
    """
    while True:
        text = "".join(choose(_ALL) for _ in range(length))
        if text[0] in UPPER + LOWER and all(
            set(text) & set(kind) for kind in (UPPER, LOWER, DIGITS, SYMBOLS)
        ):
            return Secret(text)


def fitting_length(length: int, shortest: int, longest: int) -> int:
    """The length nearest to the one asked for that a BMC accepts; 0 when it accepts none of 12 to 20.

    :param shortest: and ``longest``: what the BMC says of itself; 0 says nothing.
    """
    low, high = max(SHORTEST, shortest), min(LONGEST, longest or LONGEST)
    return min(max(length, low), high) if low <= high else 0
