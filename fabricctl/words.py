"""Words and safe text that everything which speaks to people shares.

Names come off the wire: a node description is any 64 bytes. ``clean`` and ``printable`` make them safe to write.
"""

from __future__ import annotations

import re

_SURROGATE = re.compile("[\ud800-\udfff]")
_UNPRINTABLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\uffff\ud800-\udfff]"
)


def clean(text: str) -> str:
    """Text any UTF-8 writer takes: bytes that were not UTF-8 (kept as lone surrogates) become U+FFFD."""
    return _SURROGATE.sub("\ufffd", text)


def printable(text: str) -> str:
    """One line that shows what it holds: white space is a blank, every control, zero-width or direction
    changing character becomes U+FFFD, so that a name can neither break a format nor hide in it."""
    return re.sub(r"[\t\n\r]+", " ", _UNPRINTABLE.sub("\ufffd", text))


def plural(word: str) -> str:
    """``cable`` -> ``cables``, ``switch`` -> ``switches``, ``leaf`` -> ``leaves``, ``identity`` -> ``identities``."""
    if word.endswith("leaf"):
        return f"{word[:-1]}ves"
    if word.endswith("y") and word[-2:-1] not in "aeiou":
        return f"{word[:-1]}ies"
    return f"{word}{'es' if word.endswith(('ch', 'sh', 's', 'x')) else 's'}"


def many(number: int, word: str) -> str:
    """``1 cable``, ``4,032 cables``."""
    return f"{number:,} {word if number == 1 else plural(word)}"
