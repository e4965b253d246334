"""Kinds of cables: what a sheet or an EEPROM calls a cable, and which kind of assembly that is.

Part numbers: NVIDIA LinkX product pages, docs.nvidia.com/networking/display/ (400g100gpam4ovpub, mcp4y10nxxx2x400pub,
mcp7y00nxxx800pub, intrcnctcabreqndr400eth); of MCA4J80 no page was found. An active optical cable has its
transceivers fixed to it, so it is handled as a cable of one plug per cage, like a copper one.
"""

from __future__ import annotations

import re
from enum import StrEnum
from functools import lru_cache
from typing import NamedTuple

from fabricctl.rates import Rate


class AssemblyType(StrEnum):
    """Kinds of cables (NVIDIA LinkX product pages; see ``fabricctl/repair/assemblies.py``)."""

    FIBRE = "fibre_straight"
    FIBRE_SPLIT_2 = "fibre_split_1x2"
    TWIN_DAC = "twin_dac"
    TWIN_ACC = "twin_acc"
    DAC_SPLIT_2 = "dac_split_1x2"
    DAC_SPLIT_4 = "dac_split_1x4"
    SINGLE_DAC = "single_dac"
    """One port at each end, plugged into a cage (QSFP56 and older)."""


PART_NUMBERS: dict[str, AssemblyType] = {
    "MCP4Y10": AssemblyType.TWIN_DAC,
    "MCA4J80": AssemblyType.TWIN_ACC,
    "MCP7Y00": AssemblyType.DAC_SPLIT_2,
    "MCP7Y10": AssemblyType.DAC_SPLIT_2,
    "MCA7J60": AssemblyType.DAC_SPLIT_2,
    "MCA7J65": AssemblyType.DAC_SPLIT_2,
    "MCP7Y50": AssemblyType.DAC_SPLIT_4,
    "MCP7Y40": AssemblyType.DAC_SPLIT_4,
    "MCA7J70": AssemblyType.DAC_SPLIT_4,
    "MCA7J75": AssemblyType.DAC_SPLIT_4,
    "MFP7E10": AssemblyType.FIBRE,
    "MFP7E30": AssemblyType.FIBRE,
    "MFP7E20": AssemblyType.FIBRE_SPLIT_2,
    "MFP7E40": AssemblyType.FIBRE_SPLIT_2,
}
"""First seven characters of a part number -> kind."""

COPPER_REACH_M = 5.0
"""No copper cable is longer: active ones of 400 and 800 Gb/s end at 5 m (MCA4J80, MCA7J60: see the pages above)."""
ACCEPTED = (
    "fibre, fibre 1:2, AOC, DAC, DAC 1:2, DAC 1:4, twin DAC, twin ACC, a LinkX part number (MCP7Y00-N002), or "
    + ", ".join(AssemblyType)
)
"""Words to show a user whose own were not understood."""

_PART = re.compile("(?<![A-Z0-9])(" + "|".join(PART_NUMBERS) + ")", re.I)
_FIBRE = re.compile(
    r"fib(?:re|er)|optical patch|mpo|mtp|\bmmf\b|\bsmf\b|multi-?mode|single-?mode|\bom[345]\b|\bos2\b"
)
_COPPER = re.compile(r"\bdac\b|\bacc\b|copper|direct attach|twinax")
_ACTIVE = re.compile(r"\baoc\b|active optic")
_SPLIT = re.compile(r"\b1 ?[:x] ?([24])\b|\b1[- ]to[- ]([24])\b|\bone to (two|four)\b")
_SPLIT_WORD = re.compile(r"split|break-?out|\by[- ]cable\b")
_TWIN = re.compile(r"\btwin\b|\b2 ?x ?400|\b800 ?g")


class Ends(NamedTuple):
    """What is known of a cable's ends where a word such as DAC leaves the kind open.

    :param twin: ports per cage at end a and end b, 0 where unknown; :param host: whether an end is a host.
    """

    twin: tuple[int, int] = (0, 0)
    host: bool = False


def assembly_of_part(text: str) -> AssemblyType | None:
    """Kind of the first known part number in a text; None when there is none."""
    match = _PART.search(text)
    return PART_NUMBERS[match[1].upper()] if match is not None else None


@lru_cache(maxsize=1024)
def read_assembly(text: str, ends: Ends | None = None, rate: Rate | None = None) -> AssemblyType | None:
    """The kind a text names: a value of ``AssemblyType``, a part number, or the field's words (``DAC``, ``fiber 1:2``).

    A plain "DAC" is a twin cable between two twin-port cages, a splitter from one to a host, a single one between
    cages of one port; the rate tells where cages are not known (NDR and XDR cages hold two ports).

    :returns: None when the words name no kind, or one that the ends leave open.
    """
    word = " ".join(text.lower().split())
    exact = word.replace(" ", "_").replace("-", "_")
    if exact in set(AssemblyType):
        return AssemblyType(exact)
    part = assembly_of_part(text)
    if part is not None:
        return part
    if _ACTIVE.search(word):
        return AssemblyType.SINGLE_DAC
    split = _SPLIT.search(word)
    tails = next((group for group in split.groups() if group), "") if split else ""
    many = {"2": 2, "two": 2, "4": 4, "four": 4}.get(tails, 2 if _SPLIT_WORD.search(word) else 0)
    if _COPPER.search(word):
        return _copper(word, many, ends or Ends(), rate)
    if _FIBRE.search(word):
        return None if many == 4 else AssemblyType.FIBRE_SPLIT_2 if many else AssemblyType.FIBRE
    return None


def is_open_splitter(text: str) -> bool:
    """``splitter``, ``1:2``, ``breakout``: a splitter, and nothing says whether of fibre or copper."""
    word = " ".join(text.lower().split())
    told = _COPPER.search(word) or _FIBRE.search(word) or _ACTIVE.search(word) or assembly_of_part(text)
    return not told and bool(_SPLIT.search(word) or _SPLIT_WORD.search(word))


def _copper(word: str, tails: int, ends: Ends, rate: Rate | None) -> AssemblyType | None:
    if tails:
        return AssemblyType.DAC_SPLIT_2 if tails == 2 else AssemblyType.DAC_SPLIT_4
    both = AssemblyType.TWIN_ACC if re.search(r"\bacc\b", word) else AssemblyType.TWIN_DAC
    if _TWIN.search(word):
        return both
    a, b = ends.twin
    if not (a and b) and rate is not None:
        guess = 2 if rate.speed in ("NDR", "XDR") else 1
        a, b = a or guess, b or guess
    if ends.host:
        return {1: AssemblyType.SINGLE_DAC, 2: AssemblyType.DAC_SPLIT_2}.get(max(a, b))
    if (a, b) == (2, 2):
        return both
    return AssemblyType.SINGLE_DAC if (a, b) == (1, 1) else None
