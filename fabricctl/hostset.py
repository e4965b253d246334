"""Host sets: ``gpu[001-511]`` and back.

The notation is the one of ClusterShell and Slurm: comma-separated names, each with any number of bracketed
ranges, zero padding kept: ``leaf-su[01-16]-r[1-8],ufm1``. Parsing is strict; folding never merges names
whose padding differs.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from fabricctl.errors import UsageError

MAX_HOSTS = 1_000_000
"""A range above this is a typing error, not a cluster."""

MAX_DIGITS = 18
"""Digits of a number; a longer run of digits is text: nobody counts with it, and it may be thousands long."""

_RUN = re.compile(r"([0-9]+)")
_NUMBER = re.compile(rf"(?<![0-9])([0-9]{{1,{MAX_DIGITS}}})(?![0-9])")
_UNFOLDABLE = re.compile(r"[\[\],]|^\s|\s$")
_ITEM = re.compile(r"(N)(?:-(N)(?:/(N))?)?\Z".replace("N", f"[0-9]{{1,{MAX_DIGITS}}}"))


def expand(text: str) -> list[str]:
    """Names of a host set in written order, duplicates dropped.

    :raises UsageError: with the part that is wrong.
    """
    names: dict[str, None] = {}
    for part in split_names(text):
        for name in _expand_part(part, text):
            names[name] = None
            if len(names) > MAX_HOSTS:
                raise UsageError(f"host set {_shown(text)} names more than {MAX_HOSTS:,} hosts")
    return list(names)


def split_names(text: str) -> Iterator[str]:
    """The comma-separated names or ranges of a host set, as written.

    :raises UsageError: brackets that do not pair.
    """
    depth, start = 0, 0
    for index, char in enumerate(text):
        if char == "[":
            depth += 1
        elif char == "]":
            depth -= 1
        elif char == "," and depth == 0:
            yield text[start:index]
            start = index + 1
        if depth not in (0, 1):
            break
    if depth != 0:
        raise UsageError(
            f"host set {_shown(text)}: brackets do not pair; expected something like gpu[001-511]"
        )
    yield text[start:]


def _expand_part(part: str, whole: str) -> Iterator[str]:
    part = part.strip()
    if not part:
        raise UsageError(f"host set {_shown(whole)} has an empty name; expected something like gpu[001-511]")
    pieces: list[list[str]] = []
    rest = part
    while rest:
        head, bracket, tail = rest.partition("[")
        pieces.append([head])
        if not bracket:
            break
        inside, _, rest = tail.partition("]")
        pieces.append(_range_items(inside, whole))
    size = 1
    for piece in pieces:
        size *= len(piece)
    if size > MAX_HOSTS:
        raise UsageError(f"host set {_shown(whole)} names more than {MAX_HOSTS:,} hosts")
    for combination in product(*pieces):
        yield "".join(combination)


def _range_items(inside: str, whole: str) -> list[str]:
    items: list[str] = []
    for item in inside.split(","):
        match = _ITEM.match(item.strip())
        if match is None:
            raise UsageError(
                f"host set {_shown(whole)}: {_shown(item)} is not a range; expected N, N-M or N-M/STEP"
            )
        first, last, step = match[1], match[2] or match[1], int(match[3] or 1)
        if int(last) < int(first) or step < 1:
            raise UsageError(f"host set {_shown(whole)}: range {_shown(item)} runs backwards")
        if (int(last) - int(first)) // step > MAX_HOSTS:
            raise UsageError(f"host set {_shown(whole)} names more than {MAX_HOSTS:,} hosts")
        items += [f"{n:0{len(first)}d}" for n in range(int(first), int(last) + 1, step)]
    return items


def _shown(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:97] + "...")


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which ``leaf2`` comes before ``leaf10``."""
    parts = _RUN.split(name)  # text and digits alternate: digits stand at odd places
    return tuple((1, _size(part), part) if at % 2 else (0, 0, part) for at, part in enumerate(parts))


def _size(digits: str) -> int:
    """The number; of a run too long for one, something that is greater and grows with its length."""
    return int(digits) if len(digits) <= MAX_DIGITS else 10**MAX_DIGITS + len(digits)


def fold(names: Iterable[str]) -> str:
    """The host set of these names, sorted naturally: ``gpu[001-003,007],leaf-p[01-16]-r[1-8],ufm1``.

    Numbers are folded one after the other, the last of each name first, where all else is alike.
    ``expand(fold(names))`` is the same set for names without brackets, commas and outer spaces; names with
    those are printed as they are. Runs of more than ``MAX_DIGITS`` digits are text.
    """
    plain: list[str] = []
    split: dict[int, list[tuple[str, ...]]] = {}
    for name in set(names):
        pieces = () if _UNFOLDABLE.search(name) else tuple(_NUMBER.split(name))
        if len(pieces) > 1:
            split.setdefault(len(pieces), []).append(pieces)
        else:
            plain.append(name)
    for size, items in split.items():
        for at in range(size - 2, 0, -2):  # text and number alternate: numbers stand at odd places
            items = list(_merged(items, at))
        plain += ["".join(item) for item in items]
    return ",".join(sorted(plain, key=natural_key))


def _merged(items: list[tuple[str, ...]], at: int) -> Iterator[tuple[str, ...]]:
    """Names that differ in the number at one place only become one, with a range there."""
    groups: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for item in items:
        groups.setdefault((item[:at], item[at + 1 :]), []).append(item[at])
    for (head, tail), numbers in groups.items():
        for text in _ranges(numbers):
            yield (*head, text, *tail)


def _ranges(digits: list[str]) -> Iterator[str]:
    """One text per padding: ``01-16`` never mixes with ``1-9``."""
    padded = any(d[0] == "0" and len(d) > 1 for d in digits)
    by_pad: dict[int, list[int]] = {}
    for text in digits:
        by_pad.setdefault(len(text) if padded else 0, []).append(int(text))
    for pad, values in by_pad.items():
        runs: list[list[int]] = []
        for value in sorted(values):
            if runs and value == runs[-1][1] + 1:
                runs[-1][1] = value
            else:
                runs.append([value, value])
        texts = [f"{a:0{pad}d}" if a == b else f"{a:0{pad}d}-{b:0{pad}d}" for a, b in runs]
        yield texts[0] if len(values) == 1 else f"[{','.join(texts)}]"
