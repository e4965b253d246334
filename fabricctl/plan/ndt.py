"""UFM NDT lists: ``#StartDevice,StartPort,EndDevice,EndPort,LinkType``.

The format of the UFM Network Definition Tool plugin (github.com/Mellanox/ufm_sdk_3.0,
plugins/UFM_NDT_Plugin): comma separated, one row per cable, often written from both ends, with site-specific
columns around the five. Port cells are ``Port 21``, ``Blade 16_Port 2/20`` or ``<host> ibp11s0f0``.
"""

from __future__ import annotations

from fabricctl.plan.columns import header_words
from fabricctl.plan.labels import SiteNames
from fabricctl.plan.model import Plan, PlanFormat, PortNumbers
from fabricctl.plan.table import find_head, parse_delimited

_NDT_WORDS = {"start device", "end device"}


def looks_like_table(head: str) -> bool:
    """Whether a text begins like a cabling table of any kind, an incomplete header included.

    :param head: the beginning of the file; some ten thousand characters are enough.
    """
    return find_head(head.removeprefix("\ufeff")).guess.found >= 3


def looks_like_ndt(head: str) -> bool:
    """Whether a text begins like an NDT list."""
    row = find_head(head.removeprefix("\ufeff")).row
    return {header_words(cell) for cell in row} >= _NDT_WORDS


def parse_ndt(
    text: str, path: str, *, site: SiteNames | None = None, port_numbers: PortNumbers | None = None
) -> Plan:
    """Read an NDT list.

    :raises PlanError: with file, line, what was expected and found.
    """
    return parse_delimited(text, path, PlanFormat.NDT, site, port_numbers)
