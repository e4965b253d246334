"""What a picture shows beside the verdict, gathered from the site file and an earlier report."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from fabricctl.adapters.files import decode, read_input
from fabricctl.picture.extras import Extras
from fabricctl.picture.former import Former, read_former

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


def load_former(path: str) -> Former:
    """An earlier report.

    :raises InputError: the file cannot be read, or is none.
    """
    return read_former(decode(read_input(path), path), path)


def picture_extras(site: Site | None, *, made: datetime, former: Former | None = None) -> Extras:
    """Site name, racks and heights where a site file tells them.

    :param made: when the fabric was judged.
    """
    when = made.strftime("%Y-%m-%d %H:%M:%S %Z").strip()
    if site is None:
        return Extras(made=when, former=former)
    from fabricctl.site.use import heights, rack_spots

    return Extras(site=site.name, made=when, racks=rack_spots(site), heights=heights(site), former=former)
