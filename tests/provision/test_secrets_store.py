"""Whose password is whose, what becomes of one on its way, and that none shows itself."""

from __future__ import annotations

import json
import pickle
import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fabricctl.errors import SecretError
from fabricctl.site.load import load_site
from fabricctl.site.schema import Site
from provision.bmc.credential import CredentialState, Entry, Key, KeyKind
from provision.bmc.secret import Secret
from provision.bmc.target import Target
from provision.secrets.document import from_document, to_document
from provision.secrets.places import FilePlace
from provision.secrets.store import SecretStore, credentials_for, open_secrets

NOW = datetime(2026, 3, 2, 10, 15, tzinfo=UTC)
HOST, TAG = Key(KeyKind.HOST, "gpu001"), Key(KeyKind.TAG, "F54P1G3")
TARGET = Target("gpu001", "192.0.2.1", service_tag="F54P1G3")
SITE = """\
name: hall
node_models:
  m: {hcas: [mlx5_0]}
nodes:
  gpu[001-004]: {model: m}
management:
  bmc_addresses: {"gpu[001-004]": 192.0.2.1}
"""


def site_of(folder: Path, more: str = "") -> Site:
    path = folder / "site.yaml"
    path.write_text(SITE + more)
    return load_site(path.read_text(), str(path))


def entry(key: Key, password: str | None, user: str = "", factory: bool = False) -> Entry:
    return Entry(key, user, Secret(password) if password else None, NOW, "import list.csv", factory)


def store_at(tmp_path: Path) -> SecretStore:
    return SecretStore(FilePlace(tmp_path / "hall.secrets"), "hall")


def test_the_default_place_is_named_after_the_site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    assert open_secrets(site_of(tmp_path)).reference == f"file:{tmp_path}/fabricctl/hall.secrets"


def test_a_named_place_is_relative_to_the_site_file(tmp_path: Path) -> None:
    site = site_of(tmp_path, "  secrets: file:keys/bmc\n")
    assert open_secrets(site).reference == f"file:{tmp_path}/keys/bmc"


def test_the_hosts_own_entry_comes_before_that_of_the_machine_and_that_before_the_site(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BMC", "of all")
    site = site_of(tmp_path, "  bmc_access: {'gpu[001-004]': {user: admin, password: env:BMC}}\n")
    store = store_at(tmp_path)

    def found() -> tuple[str, str]:
        held = credentials_for(site, store, TARGET)
        return held.user, held.password.reveal()

    assert found() == ("admin", "of all")
    store.put([entry(TAG, "of the machine", user="root", factory=True)])
    assert found() == ("root", "of the machine")
    store.put([entry(HOST, "of the place")])
    assert found() == ("admin", "of the place")


def test_without_any_it_says_where_it_looked_and_what_to_run(tmp_path: Path) -> None:
    with pytest.raises(SecretError) as caught:
        credentials_for(site_of(tmp_path), store_at(tmp_path), TARGET)
    said = str(caught.value)
    for word in (
        "gpu001 (192.0.2.1)",
        f"{tmp_path}/hall.secrets",
        "service tag F54P1G3",
        "management.bmc_access",
        f"fabricctl bmc credentials import FILE --site {tmp_path}/site.yaml",
    ):
        assert word in said


def test_while_a_change_is_pending_nobody_guesses(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.put([entry(TAG, "old")])
    store.begin([Entry(TAG, "", Secret("old"), NOW, "x", pending=Secret("new"), pending_since=NOW)])
    with pytest.raises(SecretError, match=r"was interrupted.*credentials rotate gpu001"):
        credentials_for(site_of(tmp_path), store, TARGET)


def test_a_pending_password_that_holds_takes_the_place_of_the_old_one(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.begin([Entry(TAG, "root", Secret("old"), NOW, "x", True, Secret("new"), NOW)])
    assert store.entries()[TAG].state is CredentialState.PENDING
    store.promote([TAG], NOW, "rotate")
    again = store_at(tmp_path).entries()[TAG]
    assert again == Entry(TAG, "root", Secret("new"), NOW, "rotate")
    assert again.state is CredentialState.CURRENT


def test_a_pending_password_that_does_not_hold_is_forgotten(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.begin([Entry(TAG, "root", Secret("old"), NOW, "x", True, Secret("new"), NOW)])
    store.begin([Entry(HOST, "root", None, NOW, "x", pending=Secret("new"), pending_since=NOW)])
    store.drop_pending([TAG, HOST])
    assert store_at(tmp_path).entries() == {TAG: Entry(TAG, "root", Secret("old"), NOW, "x", True)}


def test_a_second_pending_password_never_takes_the_place_of_one_that_may_hold(tmp_path: Path) -> None:
    store = store_at(tmp_path)
    store.begin([Entry(TAG, "", Secret("old"), NOW, "x", pending=Secret("new"), pending_since=NOW)])
    with pytest.raises(SecretError, match="another password for service tag F54P1G3 is on its way"):
        store.begin([Entry(TAG, "", Secret("old"), NOW, "x", pending=Secret("newer"), pending_since=NOW)])
    assert store_at(tmp_path).entries()[TAG].pending == Secret("new")


def test_two_writers_lose_nothing_of_each_other(tmp_path: Path) -> None:
    def write(name: str) -> None:
        store = store_at(tmp_path)
        for number in range(8):
            store.put([entry(Key(KeyKind.HOST, f"{name}{number}"), "x")])

    threads = [threading.Thread(target=write, args=(name,)) for name in "abcd"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(store_at(tmp_path).entries()) == 32


def test_only_one_command_changes_passwords_at_a_time(tmp_path: Path) -> None:
    with store_at(tmp_path).alone():
        store_at(tmp_path).put([entry(HOST, "x")])
        with pytest.raises(SecretError, match="another fabricctl is changing passwords"):
            store_at(tmp_path).alone().__enter__()


def test_the_store_of_another_site_is_refused(tmp_path: Path) -> None:
    store_at(tmp_path).put([entry(HOST, "x")])
    with pytest.raises(SecretError, match="passwords of site 'hall', not of 'annex'"):
        SecretStore(FilePlace(tmp_path / "hall.secrets"), "annex").entries()


@pytest.mark.parametrize(
    "document",
    [
        [],
        {"schema": "fabricctl.findings/1"},
        {"schema": "fabricctl.secrets/1", "hosts": []},
        {"schema": "fabricctl.secrets/1", "hosts": {"gpu001": "Zebra-4711"}},
        {
            "schema": "fabricctl.secrets/1",
            "hosts": {"gpu001": {"password": "Zebra-4711", "since": "Zebra-4711"}},
        },
        {"schema": "fabricctl.secrets/9"},
    ],
)
def test_a_document_that_is_not_ours_is_refused_without_quoting_it(document: object) -> None:
    with pytest.raises(SecretError) as caught:
        from_document(document, "hall", "file:x")
    assert "Zebra" not in str(caught.value)
    assert caught.value.__cause__ is None


texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=20)
moments = st.datetimes(timezones=st.just(UTC)).map(lambda moment: moment.replace(microsecond=0))


@given(st.lists(st.tuples(st.sampled_from(KeyKind), texts, texts, st.none() | texts, moments), max_size=5))
def test_entries_survive_being_written_as_json(
    rows: list[tuple[KeyKind, str, str, str | None, datetime]],
) -> None:
    entries = {
        key: Entry(
            key, "", Secret(old), when, "x", False, Secret(new) if new else None, when if new else None
        )
        for kind, name, old, new, when in rows
        for key in [Key(kind, name)]
    }
    written = json.loads(json.dumps(to_document(entries.values(), "hall")))
    assert from_document(written, "hall", "file:x") == entries


def test_a_secret_shows_itself_nowhere() -> None:
    held = entry(HOST, "Zebra-4711")
    for shown in (repr(held), str(held), f"{held.password}", f"{held.password!r:>30}"):
        assert "Zebra" not in shown
    for take in (lambda: json.dumps(held.password), lambda: pickle.dumps(held.password)):
        with pytest.raises(TypeError) as caught:
            take()
        assert "Zebra" not in str(caught.value)
