"""What comes over the wire: keys, bodies, headers, methods, clocks; each as a real MAAS 3.7.3 answers."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime

import pytest

from tests.sim.maas.process import ServedDouble, maas_double
from tests.sim.maas_asker import Asker, signed

MAC = "52:54:00:00:00:01"


@pytest.fixture
def maas() -> Iterator[ServedDouble]:
    with maas_double() as served:
        yield served


@pytest.fixture
def ask(maas: ServedDouble) -> Asker:
    return Asker(maas.url, maas.api_key)


def test_a_collection_without_a_key_is_an_operation_nobody_knows(ask: Asker) -> None:
    said = ask.send("GET", "api/2.0/machines/")
    assert (said.status, said.text) == (400, "Unrecognised signature: method=GET op=None")
    assert "x-maas-api-hash" not in said.headers


def test_a_resource_that_serves_nobody_unknown_says_forbidden_with_401(ask: Asker) -> None:
    said = ask.send("GET", "api/2.0/users/?op=whoami")
    assert (said.status, said.text) == (401, "Forbidden")


def test_a_wrong_key_is_refused_with_401(maas: ServedDouble) -> None:
    said = Asker(maas.url, "a:b:c")("GET", "machines/")
    assert (said.status, said.text) == (401, "Authorization Error: Invalid API key.")
    assert said.headers["www-authenticate"] == 'OAuth realm="OAuth"'


def test_a_wrong_secret_is_refused_with_401(maas: ServedDouble) -> None:
    said = Asker(maas.url, maas.api_key + "x")("GET", "machines/")
    assert said.status == 401


@pytest.mark.parametrize(("off_s", "status"), [(-290, 200), (290, 200), (-320, 401), (320, 401)])
def test_a_clock_that_is_off_by_more_than_five_minutes_is_refused(
    ask: Asker, maas: ServedDouble, off_s: int, status: int
) -> None:
    header = signed(maas.api_key, time.time() + off_s)
    said = ask.send("GET", "api/2.0/machines/", headers={"Authorization": header})
    assert said.status == status
    if status == 401:
        assert "Expired timestamp" in said.text
        assert "greater difference than threshold 300" in said.text


@pytest.mark.parametrize("path", ["version/", "describe/"])
def test_version_and_description_need_no_key(ask: Asker, path: str) -> None:
    assert ask.send("GET", f"api/2.0/{path}").status == 200


def test_the_version_is_the_recorded_one(ask: Asker) -> None:
    said = ask.send("GET", "api/2.0/version/").json
    assert (said["version"], said["subversion"]) == ("3.7.3", "")


def test_an_answer_has_the_recorded_headers(ask: Asker) -> None:
    said = ask("GET", "machines/")
    assert said.headers["server"] == "TwistedWeb/24.3.0"
    assert said.headers["content-type"] == "application/json; charset=utf-8"
    assert said.headers["vary"] == "Authorization, Cookie"
    assert said.headers["x-frame-options"] == "DENY"
    assert said.headers["x-maas-api-hash"] == "36763f1444f05f8c565d0292aabefcaa9ece4369"


def test_the_clock_is_in_the_date_header() -> None:
    with maas_double(clock_offset_s=-7200) as maas:
        said = Asker(maas.url, maas.api_key).send("GET", "api/2.0/version/")
        away = parsedate_to_datetime(said.headers["date"]) - datetime.now(UTC)
        assert abs(away + timedelta(hours=2)) < timedelta(seconds=5)


def test_multipart_without_a_part_is_refused_with_nothing(ask: Asker, maas: ServedDouble) -> None:
    headers = {
        "Authorization": signed(maas.api_key),
        "Content-Type": "multipart/form-data; boundary=b",
    }
    said = ask.send("POST", "api/2.0/machines/?op=allocate", b"--b--\r\n", headers)
    assert (said.status, said.text) == (400, "")


def test_an_empty_body_is_an_empty_form(ask: Asker) -> None:
    said = ask("POST", "machines/?op=allocate")
    assert (said.status, said.text) == (409, "No machine available.")


def test_multipart_with_one_empty_part_is_an_empty_form(ask: Asker, maas: ServedDouble) -> None:
    headers = {
        "Authorization": signed(maas.api_key),
        "Content-Type": 'multipart/form-data; boundary="b"',
    }
    said = ask.send("POST", "api/2.0/machines/?op=allocate", b"--b\r\n\r\n\r\n--b--\r\n", headers)
    assert said.status == 409


def test_multipart_and_urlencoded_bodies_say_the_same(ask: Asker, maas: ServedDouble) -> None:
    fields = {"name": "rack-a1", "comment": "ü\r\n2"}
    parts = "".join(
        f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'
        for name, value in fields.items()
    )
    headers = {"Authorization": signed(maas.api_key), "Content-Type": "multipart/form-data; boundary=b"}
    said = ask.send("POST", "api/2.0/tags/", f"{parts}--b--\r\n".encode(), headers)
    assert said.json["comment"] == "ü\r\n2"
    assert ask("POST", "tags/", name="rack-a2", comment="ü\r\n2").json["comment"] == "ü\r\n2"


def test_a_method_that_is_not_allowed_says_which_are(ask: Asker) -> None:
    said = ask("PUT", "maas/", op="x")
    assert (said.status, said.text, said.headers["allow"]) == (405, "", "POST, GET")


def test_an_operation_that_is_not_known_is_refused(ask: Asker) -> None:
    name = ask.create("gpu001", MAC).json["system_id"]
    said = ask.act(name, "nosuchop")
    assert (said.status, said.text) == (400, "Unrecognised signature: method=POST op=nosuchop")


def test_a_machine_that_is_not_there_is_404_in_words(ask: Asker) -> None:
    said = ask("GET", "machines/zzzzzz/")
    assert (said.status, said.text) == (404, "No Machine matches the given query.")
    assert said.headers["content-type"] == "text/plain"


def test_requests_are_logged_with_what_was_answered(ask: Asker, maas: ServedDouble) -> None:
    name = ask.create("gpu001", MAC).json["system_id"]
    ask.act(name, "deploy")
    ask("GET", "events/?op=query")
    assert [(one.method, one.op, one.status, one.machine) for one in maas.double.requests] == [
        ("POST", "create", 200, "gpu001"),
        ("POST", "deploy", 409, "gpu001"),
        ("GET", "events.query", 200, ""),
    ]
