"""Opening, upgrading and refusing a store; where it is; what its errors say."""

from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Barrier

import psycopg
import pytest
from sqlalchemy import Column, Connection, Integer, MetaData, Table, Text, inspect, make_url, text
from sqlalchemy.engine.interfaces import ReflectedIndex

from fabricctl.adapters.store import migrate, steps
from fabricctl.adapters.store.engine import Database
from fabricctl.adapters.store.location import Location, find_location, parse_location
from fabricctl.adapters.store.pins import Pin
from fabricctl.adapters.store.schema import version_table
from fabricctl.adapters.store.store import open_store
from fabricctl.errors import (
    StateDamagedError,
    StateError,
    StateUnavailableError,
    StateVersionError,
    UsageError,
)
from fabricctl.nodes.facts import FactTelling, NodeFact
from fabricctl.nodes.model import Fact, IdentityKind
from tests.sim.postgres import GUARDED, Postgres
from tests.store.stores import at, dump, known, place, run


def opened(location: Location, *, site: str = "", create: bool = True) -> None:
    with open_store(location, site=site, create=create):
        pass


def at_once(number: int, work: Callable[[int], object]) -> None:
    """Do it in threads that start together; their errors come out here."""
    barrier = Barrier(number)

    def one(index: int) -> None:
        barrier.wait()
        work(index)

    with ThreadPoolExecutor(number) as pool:
        list(pool.map(one, range(number)))


def test_the_first_opening_makes_every_table_and_the_next_changes_nothing(location: Location) -> None:
    opened(location)
    before = dump(location)
    opened(location)
    assert dump(location) == before
    assert set(before) == {
        *("fabricctl_schema", "runs", "findings", "episodes", "nodes", "node_identities", "events"),
        *("node_facts", "bmc_pins"),
    }


def test_a_file_is_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "a" / "b" / "site.sqlite"
    with open_store(place(str(path))) as store:
        store.runs.record(run(0, [1]), known([1]), lambda _: True)
        for name in os.listdir(path.parent):
            assert stat.S_IMODE((path.parent / name).stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_sqlite_runs_in_wal_mode_with_foreign_keys(tmp_path: Path) -> None:
    location = place(str(tmp_path / "site.sqlite"))
    opened(location)
    database = Database(location)
    with database.reading() as connection:
        asked = ("journal_mode", "foreign_keys", "busy_timeout")
        found = [connection.exec_driver_sql(f"PRAGMA {word}").scalar() for word in asked]
    database.close()
    assert found == ["wal", 1, 10_000]


def test_many_first_openings_at_once_do_not_collide(location: Location) -> None:
    at_once(8, lambda _: opened(location, site="hall"))
    with open_store(location) as store:
        assert store.runs.all() == []


# -- versions -----------------------------------------------------------------------------------------------------


def _tables(*columns: str) -> MetaData:
    """A later fabricctl's tables: one more table, with these columns."""
    tables = MetaData()
    version_table.to_metadata(tables)
    Table("later", tables, Column("id", Integer, primary_key=True), *(Column(name, Text) for name in columns))
    return tables


def _first_step(connection: Connection) -> None:
    connection.execute(text("CREATE TABLE later (id INTEGER PRIMARY KEY)"))


def _second_step(connection: Connection) -> None:
    connection.execute(text("ALTER TABLE later ADD COLUMN colour TEXT"))


SHIPPED = len(migrate.MIGRATIONS)
STEPS = (*migrate.MIGRATIONS, _first_step, _second_step)


def test_an_older_store_is_brought_forward_and_keeps_what_it_holds(location: Location) -> None:
    with open_store(location, site="hall") as store:
        store.runs.record(run(0, [1]), known([1]), lambda _: True)
    before = dump(location)
    database = Database(location)
    migrate.prepare(database, tables=_tables("colour"), steps=STEPS)
    with database.reading() as connection:
        columns = {column["name"] for column in inspect(connection).get_columns("later")}
    database.close()
    after = dump(location)
    assert columns == {"id", "colour"}
    assert after.pop("fabricctl_schema") == [(SHIPPED + 3, "hall")]
    assert after.pop("later") == []
    del before["fabricctl_schema"]
    assert after == before


def test_a_failed_step_leaves_the_old_version_whole(location: Location) -> None:
    opened(location)
    before = dump(location)

    def fails(connection: Connection) -> None:
        _first_step(connection)
        connection.execute(text("ALTER TABLE nowhere ADD COLUMN x TEXT"))

    database = Database(location)
    with pytest.raises(StateError):
        migrate.prepare(database, tables=_tables(), steps=(*migrate.MIGRATIONS, fails))
    database.close()
    assert dump(location) == before


def test_a_newer_store_is_refused_and_left_alone(location: Location) -> None:
    database = Database(location)
    migrate.prepare(database, tables=_tables("colour"), steps=STEPS)
    database.close()
    before = dump(location)
    with pytest.raises(
        StateVersionError,
        match=rf"has version {SHIPPED + 3} of the tables; this fabricctl knows versions up to {SHIPPED + 1}",
    ):
        opened(location)
    assert dump(location) == before


def _shape(location: Location) -> dict[str, tuple[object, ...]]:
    database = Database(location)
    try:
        looked = inspect(database.engine)
        return {
            name: (
                [(c["name"], str(c["type"]), c["nullable"]) for c in looked.get_columns(name)],
                sorted(_index(index) for index in looked.get_indexes(name)),
                sorted(
                    f"{key['constrained_columns']} {key['referred_table']}"
                    for key in looked.get_foreign_keys(name)
                ),
            )
            for name in looked.get_table_names()
        }
    finally:
        database.close()


def _index(index: ReflectedIndex) -> str:
    where = {name: str(value) for name, value in index.get("dialect_options", {}).items() if "where" in name}
    return f"{index['name']} {index['column_names']} {index['unique']} {where}"


def _stored(location: Location, version: int) -> None:
    """A store as an older fabricctl left it."""
    kind = "sqlite" if location.path else "postgresql"
    script = (Path(__file__).parent / "data" / f"version{version}.{kind}.sql").read_text()
    if location.path:
        with closing(sqlite3.connect(location.path)) as file:
            file.executescript(script)
        return
    with psycopg.connect(make_url(location.url).set(drivername="postgresql").render_as_string()) as server:
        server.execute(script)  # type: ignore[call-overload,unused-ignore]


def test_a_store_of_version_1_becomes_what_is_made_today_and_keeps_its_rows(
    location: Location, location_factory: Callable[[], Location]
) -> None:
    _stored(location, 1)
    before = dump(location)
    new = location_factory()
    opened(new)
    opened(location, site="hall")
    assert _shape(location) == _shape(new)
    after = dump(location)
    assert (before.pop("fabricctl_schema"), after.pop("fabricctl_schema")) == (
        [(1, "hall")],
        [(SHIPPED + 1, "hall")],
    )
    assert after == {**before, "node_facts": [], "bmc_pins": []}


def test_a_store_of_version_1_is_used_on_after_its_upgrade(location: Location) -> None:
    _stored(location, 1)
    with open_store(location, site="hall") as store:
        store.runs.record(run(2, [1]), known([1]), lambda _: True)
        store.facts.tell(
            [FactTelling("gpu001", (NodeFact("bmc", "bmc.firmware", "7.10", "redfish"),), frozenset())],
            who="anna",
            reason="harvest",
            now=at(2),
        )
        store.pins.record([Pin("gpu001", "192.0.2.1", "ab" * 32, at(2), "anna")], "first contact")
        assert [run.number for run in store.runs.all()] == [1, 2, 3]
        assert store.nodes.all(["gpu001"])["gpu001"].version == 2
        assert [one.fact.value for one in store.facts.current()["gpu001"]] == ["7.10"]
        assert store.pins.current() == {"gpu001": "ab" * 32}


def test_a_step_takes_nothing_of_the_tables_of_today() -> None:
    assert "store.schema" not in Path(steps.__file__).read_text()


# -- whose and what -----------------------------------------------------------------------------------------------


def test_a_store_belongs_to_one_site(location: Location) -> None:
    opened(location, site="hall")
    opened(location)
    with pytest.raises(StateError, match="belongs to site 'hall', not to 'cellar'"):
        opened(location, site="cellar")


def test_another_programs_file_is_refused_and_not_changed(tmp_path: Path) -> None:
    path = tmp_path / "contacts.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE people (name)")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StateVersionError, match=r"no state store of fabricctl.*tables people"):
        opened(place(str(path)))
    assert path.read_bytes() == before


def test_a_database_may_hold_other_tables_beside_ours(postgres: Postgres) -> None:
    location = place(postgres.new_database())
    database = Database(location)
    with database.writing() as connection:
        connection.execute(text("CREATE TABLE people (name TEXT)"))
    database.close()
    opened(location)


def test_a_file_that_is_no_database_is_said_to_be_none(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("hello " * 1000)
    with pytest.raises(StateDamagedError, match=r"notes\.txt: is no SQLite file"):
        opened(place(str(path)))
    assert path.read_text() == "hello " * 1000


def test_a_damaged_file_is_said_to_be_damaged(tmp_path: Path) -> None:
    location = place(str(tmp_path / "site.sqlite"))
    with open_store(location) as store:
        numbers = range(400)
        store.runs.record(run(0, numbers), known(numbers), lambda _: True)
    data = bytearray(Path(location.path).read_bytes())
    data[8192:-4096] = b"\xa5" * (len(data) - 12288)
    Path(location.path).write_bytes(data)
    with pytest.raises(StateError, match=r"site\.sqlite"), open_store(location) as store:
        store.runs.history("fabric compute")


@pytest.mark.parametrize(
    "change",
    [
        *("findings SET kind = 'lost'", "findings SET place = '{'", "findings SET place = '{}'"),
        *("runs SET made = 'noon'", "runs SET word = 'perhaps'", "runs SET sources = '[1]'"),
        *("episodes SET finding = 'F-0'", "episodes SET last = 99"),
        *(
            "nodes SET state = 'lost'",
            "node_identities SET kind = 'lost'",
            "node_identities SET since = 'noon'",
        ),
        "events SET kind = 'lost'",
    ],
)
def test_a_row_that_cannot_be_read_is_a_damaged_store(change: str, tmp_path: Path) -> None:
    location = place(str(tmp_path / "site.sqlite"))
    with open_store(location) as store:
        store.runs.record(run(0, [1]), known([1]), lambda _: True)
        fact = Fact(IdentityKind.GUID, "0x1", "mlx5_0")
        store.nodes.tell("gpu001", [fact], who="anna", reason="new", now=at(0))
    connection = sqlite3.connect(location.path)
    connection.execute(f"UPDATE {change}")
    connection.commit()
    connection.close()
    with pytest.raises(
        StateDamagedError, match=r"site\.sqlite: holds a row that cannot be read \("
    ) as caught:
        _read_all(location)
    assert caught.value.exit_code == 2
    assert "\n" not in str(caught.value)


def _read_all(location: Location) -> None:
    with open_store(location) as store:
        store.runs.all()
        store.runs.history("fabric compute")
        store.nodes.all()
        store.events.all()


def test_a_missing_store_is_not_made_by_a_reader(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    with pytest.raises(StateError, match="there is none yet"):
        opened(place(str(path)), create=False)
    assert not path.exists()


def test_a_folder_and_a_place_that_cannot_be_made_are_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for path, said in ((tmp_path, "is a folder"), (tmp_path / "file" / "x.sqlite", "cannot be made")):
        with pytest.raises(StateError, match=said):
            opened(place(str(path)))


def test_a_locked_file_is_waited_for_and_then_said(tmp_path: Path) -> None:
    location = place(str(tmp_path / "site.sqlite"))
    opened(location)
    holder = sqlite3.connect(location.path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    started = time.monotonic()
    locked = pytest.raises(StateUnavailableError, match="locked")
    with locked as caught, open_store(location, busy_s=0.3) as store:
        store.runs.record(run(0), {}, lambda _: True)
    holder.close()
    assert time.monotonic() - started >= 0.3
    assert caught.value.exit_code == 3


def test_a_database_that_does_not_answer_is_could_not_tell(tmp_path: Path) -> None:
    with pytest.raises(StateUnavailableError, match="does not answer") as caught:
        opened(place(f"postgresql://fabric@/x?host={tmp_path}"))
    assert caught.value.exit_code == 3
    assert "\n" not in str(caught.value)


AS_NOBODY = """
import os, sys
sys.path.insert(0, os.getcwd())
from fabricctl.adapters.store.location import find_location
from fabricctl.adapters.store.store import open_store
from tests.store.stores import place
with open_store(place(sys.argv[1])):  # whatever is imported late is imported now
    pass
os.setgid(12345); os.setuid(12345)  # an id without a name, as in a container
os.environ.pop("HOME", None); os.environ.pop("XDG_STATE_HOME", None)
for path in sys.argv[1:]:
    for create in (True, False):
        try:
            with open_store(place(path) if path else find_location(site_name="hall"), create=create):
                print("opened")
        except Exception as exc:
            print(type(exc).__name__, exc)
"""


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody without rights")
def test_what_somebody_without_rights_meets_is_one_line() -> None:
    with TemporaryDirectory() as folder:  # tmp_path is for its owner alone, whenever a pytest starts
        Path(folder).chmod(0o755)
        location = place(f"{folder}/site.sqlite")
        opened(location)
        closed = Path(folder) / "closed"
        closed.mkdir(mode=0o700)
        words = [sys.executable, "-c", AS_NOBODY, location.path, str(closed / "x.sqlite"), ""]
        done = subprocess.run(words, capture_output=True, text=True)
    said = done.stdout.splitlines()
    assert len(said) == 6, done.stdout + done.stderr
    assert all(line.startswith("StateError state store") for line in said), said
    assert all("cannot be opened" in line for line in said[:2])
    assert "cannot be made: permission denied" in said[2]
    assert "cannot be read: permission denied" in said[3]
    assert all("set HOME or XDG_STATE_HOME" in line for line in said[4:])


@pytest.mark.parametrize(
    "name", ["x" * 300, "x" * 300 + "/y.sqlite", "loop", "loop/x.sqlite", "pipe", "bell"]
)
@pytest.mark.parametrize("create", [True, False])
def test_no_name_of_a_file_is_a_crash(name: str, create: bool, tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to("loop")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "bell").symlink_to("/dev/null")
    with pytest.raises(StateError, match=r"cannot be (made|read): |is no plain file") as caught:
        opened(place(str(tmp_path / name)), create=create)
    assert "\n" not in str(caught.value)


def test_a_name_that_is_no_text_and_a_folder_that_was_removed_are_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(UsageError, match="no UTF-8"):
        place(os.fsdecode(b"/tmp/\xff.sqlite"))
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    (tmp_path / "here").rmdir()
    with pytest.raises(StateError, match=r"x\.sqlite: the current folder cannot be used"):
        place("x.sqlite")


# -- where --------------------------------------------------------------------------------------------------------


def test_the_option_comes_before_the_environment_before_the_site_file(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FABRICCTL_STATE", "env.sqlite")
    site = {"site_name": "hall", "site_url": "site.sqlite", "site_path": "inventory/site.yaml"}
    assert find_location("opt.sqlite", **site).path == "opt.sqlite"
    assert find_location("", **site).path == "env.sqlite"
    monkeypatch.delenv("FABRICCTL_STATE")
    assert find_location("", **site).path == "inventory/site.sqlite"
    del site["site_url"]
    monkeypatch.setenv("XDG_STATE_HOME", "/var/state")
    assert find_location("", **site).path == "/var/state/fabricctl/hall.sqlite"
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.setenv("HOME", "/home/anna")
    assert find_location("", **site).path == "/home/anna/.local/state/fabricctl/hall.sqlite"
    with pytest.raises(UsageError, match="give --site or --state"):
        find_location()


def test_a_site_name_with_slashes_stays_one_file_name() -> None:
    names = {Path(find_location(site_name=name).path).name for name in ("a/b", "a-b", "a b", "../../etc")}
    assert len(names) == 4
    assert not any("/" in name or name.startswith(".") for name in names)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://anna:hunter2@db/fabric",
        "postgres://anna:hunter2@db/fabric",
        "postgresql+psycopg://anna:hunter2@db/fabric",
        "postgresql://anna@db/fabric?password=hunter2",
        "postgresql://anna@db/fabric?sslpassword=hunter2",
        "postgresql://:hunter2@/fabric",
    ],
)
def test_a_password_in_a_url_is_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(UsageError, match=r"holds a password.*PGPASSFILE.*env:NAME") as caught:
        parse_location(url, said_by="--state")
    assert "hunter2" not in str(caught.value)


def test_a_url_from_the_environment_may_hold_a_password_and_never_shows_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("FABRIC_DB", f"postgresql://anna:hunter2@/fabric?host={tmp_path}")
    location = parse_location("env:FABRIC_DB", said_by="site.yaml: state.url")
    assert "hunter2" in location.url
    assert "hunter2" not in repr(location) + location.place
    with pytest.raises(StateUnavailableError) as caught:
        opened(location)
    assert "hunter2" not in str(caught.value)


def test_what_is_no_place_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROUND", "env:ROUND")
    for text_, said in {
        "mysql://db/x": "mysql:// is no state store",
        "env:NOT_SET_HERE": "NOT_SET_HERE, which is not set",
        "env:ROUND": "names another variable",
        ":memory:": "no file name",
        "postgresql://db:port/x": "no URL",
    }.items():
        with pytest.raises(UsageError, match=said):
            parse_location(text_, said_by="--state")


SESAME = "open sesame"


def test_a_password_file_logs_in(tmp_path: Path, postgres: Postgres) -> None:
    url = postgres.new_database(SESAME)
    secret = tmp_path / "pgpass"
    secret.write_text(f"{postgres.folder}:*:*:{GUARDED}:{SESAME}\n")
    secret.chmod(0o600)
    with open_store(place(f"{url}&passfile={secret}")) as store:
        assert store.runs.all() == []
    with pytest.raises(StateUnavailableError, match="password"):
        opened(place(url))
