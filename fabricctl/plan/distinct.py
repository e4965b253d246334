"""Reading a column by its distinct values: what makes a table of 307,200 rows quick."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TypeVar

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


def distinct(column: Sequence[K], lines: Sequence[int]) -> list[tuple[K, int]]:
    """The different values of a column with the line each stands on first, in that order."""
    first = dict(zip(reversed(column), reversed(lines), strict=True))
    return sorted(first.items(), key=lambda item: item[1])


def read_distinct(column: Sequence[K], lines: Sequence[int], read: Callable[[K, int], V]) -> dict[K, V]:
    """Read every different value once, in the order of first appearance.

    :param read: gets a value and the line it stands on first.
    """
    return {value: read(value, line) for value, line in distinct(column, lines)}
