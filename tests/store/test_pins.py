"""Recorded certificates in the store, on both databases; and reading a store that was never written."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from sqlalchemy import event

from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.location import Location
from fabricctl.adapters.store.migrate import prepare
from fabricctl.adapters.store.pins import Pin, PinStore
from fabricctl.adapters.store.reading import read_store
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import StateError
from tests.store.stores import at, place


def pin(host: str, print_: str, hours: float = 0) -> Pin:
    return Pin(host, "192.0.2.1", print_ * 64, at(hours), "anna")


def test_a_new_certificate_takes_the_place_of_the_former_and_is_an_event(location: Location) -> None:
    with open_store(location) as store:
        store.pins.record([pin("gpu002", "b"), pin("gpu001", "a")], "first contact")
        store.pins.record([pin("gpu001", "c", 1), pin("gpu002", "b", 1)], "new board")
        assert store.pins.current() == {"gpu001": "c" * 64, "gpu002": "b" * 64}
        assert [(one.host, one.since) for one in store.pins.holding()] == [
            ("gpu002", at(0)),
            ("gpu001", at(1)),
        ]
        assert [(one.host, one.until) for one in store.pins.all()] == [
            ("gpu001", at(1)),
            ("gpu002", None),
            ("gpu001", None),
        ]
        told = [(one.subject, one.reason, one.before, one.after) for one in store.events.all()]
    assert told == [
        ("gpu001", "first contact", "", f"certificate {'a' * 64} at 192.0.2.1"),
        ("gpu002", "first contact", "", f"certificate {'b' * 64} at 192.0.2.1"),
        ("gpu001", "new board", f"certificate {'a' * 64}", f"certificate {'c' * 64} at 192.0.2.1"),
    ]


def test_the_certificates_of_a_hall_are_recorded_by_a_handful_of_statements(location: Location) -> None:
    database = Database(location)
    prepare(database)
    seen: list[str] = []
    event.listen(database.engine, "before_cursor_execute", lambda *told: seen.append(told[2]))
    for print_ in "ab":
        PinStore(database).record([pin(f"gpu{n:03d}", print_) for n in range(511)], "trust")
    said = [text for text in seen if not text.startswith("BEGIN")]
    assert len(PinStore(database).current()) == 511
    database.close()
    assert len(said) < 20, said


# -- reading ------------------------------------------------------------------------------------------------------


def test_a_store_that_was_never_written_is_read_as_none_and_not_made(tmp_path: Path) -> None:
    for path in (tmp_path / "none.sqlite", tmp_path / "no" / "folder.sqlite"):
        with read_store(place(str(path)), "hall") as store:
            assert store is None
        assert not path.exists()


def test_a_store_that_is_there_is_read(location: Location) -> None:
    with open_store(location, site="hall") as store:
        store.pins.record([pin("gpu001", "a")], "first contact")
    with read_store(location, "hall") as found:
        assert found is not None
        assert found.pins.current() == {"gpu001": "a" * 64}


@pytest.mark.skipif(os.getuid() == 0, reason="nothing is closed to root")
def test_a_folder_that_may_not_be_looked_into_is_no_empty_store(tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    with pytest.raises(StateError, match="permission denied"), read_store(place(str(closed / "x.sqlite"))):
        pass


def test_a_file_that_is_no_store_is_not_taken_for_an_empty_one(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    with pytest.raises(StateError, match="cannot be read"), read_store(place(str(tmp_path / "loop"))):
        pass
