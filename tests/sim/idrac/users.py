"""Passwords of simulated BMCs: such that a search finds them wherever they are."""

from __future__ import annotations

import os

MARKER = os.environ.get("FABRICCTL_SIM_MARKER", "simulated")
"""How passwords and tokens begin: random in a session of tests, which ends with a search for it (``tests/hunt.py``)."""
ROOT_PASSWORD = f"{MARKER}-calvin"
PASSWORDS: set[str] = set()
"""Every password that was ever set on a simulated BMC of this process."""


class Users(dict[str, str]):
    """Name -> password."""

    def __setitem__(self, name: str, password: str) -> None:
        PASSWORDS.add(password)
        super().__setitem__(name, password)
