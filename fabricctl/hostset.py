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

_DIGITS = re.compile(r"[0-9]+")
_UNFOLDABLE = re.compile(r"[\[\],]|^\s|\s$")
_ITEM = re.compile(r"(\d+)(?:-(\d+)(?:/(\d+))?)?\Z")


def expand(text: str) -> list[str]:
    """Names of a host set in written order, duplicates dropped.

    :raises UsageError: with the part that is wrong.
    """
    names: dict[str, None] = {}
    for part in _split_commas(text):
        for name in _expand_part(part, text):
            names[name] = None
            if len(names) > MAX_HOSTS:
                raise UsageError(f"host set {text!r} names more than {MAX_HOSTS:,} hosts")
    return list(names)


def _split_commas(text: str) -> Iterator[str]:
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
        raise UsageError(f"host set {text!r}: brackets do not pair; expected something like gpu[001-511]")
    yield text[start:]


def _expand_part(part: str, whole: str) -> Iterator[str]:
    part = part.strip()
    if not part:
        raise UsageError(f"host set {whole!r} has an empty name; expected something like gpu[001-511]")
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
        raise UsageError(f"host set {whole!r} names more than {MAX_HOSTS:,} hosts")
    for combination in product(*pieces):
        yield "".join(combination)


def _range_items(inside: str, whole: str) -> list[str]:
    items: list[str] = []
    for item in inside.split(","):
        match = _ITEM.match(item.strip())
        if match is None:
            raise UsageError(f"host set {whole!r}: {item!r} is not a range; expected N, N-M or N-M/STEP")
        first, last, step = match[1], match[2] or match[1], int(match[3] or 1)
        if int(last) < int(first) or step < 1:
            raise UsageError(f"host set {whole!r}: range {item!r} runs backwards")
        if (int(last) - int(first)) // step > MAX_HOSTS:
            raise UsageError(f"host set {whole!r} names more than {MAX_HOSTS:,} hosts")
        items += [f"{n:0{len(first)}d}" for n in range(int(first), int(last) + 1, step)]
    return items


def natural_key(name: str) -> tuple[tuple[int, int, str], ...]:
    """Sort key under which ``leaf2`` comes before ``leaf10``."""
    parts = re.split(r"(\d+)", name)
    return tuple((1, int(p), p) if p.isdigit() and p.isascii() else (0, 0, p) for p in parts)


def fold(names: Iterable[str]) -> str:
    """The host set of these names, sorted naturally: ``gpu[001-003,007],ufm1``.

    One number per name is folded: the last one, or the one before it where that folds more.
    ``expand(fold(names))`` is the same set for names without brackets, commas and outer spaces; names with
    those are printed as they are.
    """
    groups: dict[tuple[str, str], list[str]] = {}
    shown: list[str] = []
    for name in set(names):
        number = None if _UNFOLDABLE.search(name) else _last_number(name)
        if number is None:
            shown.append(name)
        else:
            groups.setdefault((name[: number.start()], name[number.end() :]), []).append(number[0])
    singles: dict[tuple[str, str], list[str]] = {}
    for (head, tail), digits in groups.items():
        earlier = _last_number(head) if len(digits) == 1 else None
        if earlier is None:
            shown += _ranges(head, digits, tail)
        else:
            rest = head[earlier.end() :] + digits[0] + tail
            singles.setdefault((head[: earlier.start()], rest), []).append(earlier[0])
    for (head, tail), digits in singles.items():
        shown += _ranges(head, digits, tail)
    return ",".join(sorted(shown, key=natural_key))


def _last_number(text: str) -> re.Match[str] | None:
    match = None
    for match in _DIGITS.finditer(text):  # noqa: B007 - the last one is wanted
        pass
    return match


def _ranges(head: str, digits: list[str], tail: str) -> Iterator[str]:
    """One set per padding: ``01-16`` never mixes with ``1-9``."""
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
        parts = [f"{a:0{pad}d}" if a == b else f"{a:0{pad}d}-{b:0{pad}d}" for a, b in runs]
        single = len(runs) == 1 and runs[0][0] == runs[0][1]
        yield f"{head}{parts[0]}{tail}" if single else f"{head}[{','.join(parts)}]{tail}"
