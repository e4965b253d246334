"""Reading a store that may never have been written; nothing of SQLAlchemy is imported where there is none."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from fabricctl.adapters.store.location import Location

if TYPE_CHECKING:
    from fabricctl.adapters.store.store import Store


@contextmanager
def read_store(location: Location, site: str = "") -> Iterator[Store | None]:
    """An open store, None where none was ever written: nothing is wrong then, it just holds nothing.

    :raises StateError: it is there and cannot be used; a file that may not be looked at counts as there.
    """
    if not location.written:
        yield None
        return
    from fabricctl.adapters.store.store import open_store

    with open_store(location, site=site, create=False) as store:
        yield store
