"""What somebody may have meant by a name that is none."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from fabricctl.hostset import MAX_DIGITS

_NUMBER = re.compile(rf"(?<![0-9])[0-9]{{1,{MAX_DIGITS}}}(?![0-9])")


def near_name(word: str, known: Iterable[str]) -> str:
    """The known name that is meant most likely, empty when none is like it.

    The same name with numbers of another width comes first: ``gpu1`` is ``gpu01``, not ``gpu21``.
    """
    names = list(known)
    plain = _plain(word)
    alike = [name for name in names if _plain(name) == plain]
    close = alike or get_close_matches(word, names, n=1)
    return close[0] if close else ""


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """The same as a question, for the hint of an error."""
    near = near_name(word, known)
    return f"did you mean {near}?" if near else ""


def _plain(name: str) -> str:
    return _NUMBER.sub(lambda number: str(int(number[0])), name.lower())
