"""Which state store a command means, and who runs it."""

from __future__ import annotations

import getpass
import os
import socket
from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import ENVIRONMENT, Location, find_location

if TYPE_CHECKING:
    from fabricctl.site.schema import Site


def locate(site: Site | None, state: str) -> Location:
    """The store of a site, or the one that ``--state`` names.

    :raises UsageError: there is none, or what names it cannot be used.
    """
    if site is None:
        return find_location(state)
    url = site.state.url if site.state is not None else ""
    return find_location(state, site_name=site.name, site_url=url, site_path=site.path)


def is_named(site: Site | None, state: str) -> bool:
    """Whether somebody named a store; else it is the default one of the site."""
    return bool(state or os.environ.get(ENVIRONMENT) or (site is not None and site.state is not None))


def operator() -> str:
    """Who runs this command: ``user@host``."""
    try:
        user = getpass.getuser()
    except (KeyError, OSError):  # a container's user id without a name
        user = str(os.getuid())
    return f"{user}@{socket.gethostname()}"
