"""A value with where it comes from: read off a resource, derived by a rule, or absent for a reason. Never just "".

Nothing a BMC says is believed without its place, and nothing it does not say is filled in silently.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from enum import StrEnum
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class How(StrEnum):
    """How a value came about."""

    READ = "read"
    DERIVED = "derived"
    ABSENT = "absent"


@dataclass(frozen=True, slots=True)
class Reading(Generic[T]):
    """One value of one part.

    :param value: None exactly when it is absent; :param source: path of the resource, empty when several were asked.
    :param why: the rule it was derived by, the reason it is absent, or what contradicts it; else empty.
    """

    value: T | None
    how: How
    source: str = ""
    why: str = ""

    @property
    def known(self) -> bool:
        """Whether there is a value."""
        return self.value is not None


def read(value: T, source: str, why: str = "") -> Reading[T]:
    """A value as a resource says it. :param why: what contradicts it, if anything."""
    return Reading(value, How.READ, source, why)


def derived(value: T, source: str, rule: str) -> Reading[T]:
    """A value worked out from another."""
    return Reading(value, How.DERIVED, source, rule)


def absent(reason: str, source: str = "") -> Reading[Any]:
    """No value. :param reason: why, for people."""
    return Reading(None, How.ABSENT, source, reason)


def words(resource: Any, name: str, source: str) -> Reading[str]:
    """A text property of a resource; null, blanks and an absent property are absent.

    Trailing blanks are dropped: an iDRAC9 6.00.30 pads the serial number of a BlueField-2 to 29 characters, and a
    comparison with what is printed on the card would fail.
    """
    if name not in resource:
        return absent(f"{name} is not told", source)
    value = resource[name]
    if value is None:
        return absent(f"{name} is null", source)
    text = str(value).strip()
    return read(text, source) if text else absent(f"{name} is empty", source)


def readings(part: Any) -> Iterator[tuple[str, Reading[Any]]]:
    """The readings of a part (a dataclass), by field name."""
    for name in _names(part):
        value = getattr(part, name)
        if isinstance(value, Reading):
            yield name, value


_NAMES: dict[object, tuple[str, ...]] = {}


def _names(part: Any) -> tuple[str, ...]:
    """Fields of a part's class, worked out once: a harvest asks for those of 25,000 parts."""
    kind = type(part)
    if kind not in _NAMES:
        _NAMES[kind] = tuple(field.name for field in fields(kind))
    return _NAMES[kind]
