"""The account of a user on a BMC, found by its name: numbers differ (2 on an iDRAC, 1 on a DGX H100)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Account:
    """Where the account is, and which lengths of passwords the BMC accepts; 0: it does not say."""

    path: str
    shortest: int = 0
    longest: int = 0


def find_account(members: Iterable[Mapping[str, Any]], user: str) -> str:
    """Path of the enabled account with this user name, empty when there is none.

    An iDRAC has 16 slots, most of them with an empty name; where only the case differs, the one account is meant.
    """
    usable = [entry for entry in members if entry.get("UserName") and entry.get("Enabled") is not False]
    exact = [entry for entry in usable if entry["UserName"] == user]
    alike = [entry for entry in usable if str(entry["UserName"]).casefold() == user.casefold()]
    chosen = exact or (alike if len(alike) == 1 else [])
    return str(chosen[0].get("@odata.id") or "") if chosen else ""


def lengths(service: Mapping[str, Any]) -> tuple[int, int]:
    """Shortest and longest password of an ``AccountService``; 0 where it says nothing."""
    found = [service.get("MinPasswordLength"), service.get("MaxPasswordLength")]
    shortest, longest = (value if isinstance(value, int) and value > 0 else 0 for value in found)
    return shortest, longest
