"""MAAS's events: their times, and reading on without losing or repeating one."""

from __future__ import annotations

import asyncio
import locale
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from fabricctl.errors import ProvisionerGarbledError
from provision.install.machine import Machine, Phase, Stage
from provision.maas.events import LOOK_BACK, Cursor, Event, events_of, parse_created, parse_cursor
from provision.maas.provisioner import MaasProvisioner
from provision.maas.values import ScriptResult
from provision.maas.why import why_of
from tests.provision.maas.maas_script import as_json, asked, body_of, scripted

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""As strftime's %b writes them in the C locale; MAAS puts a full stop behind each (maasserver/api/events.py)."""
DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


def test_the_recorded_form_is_a_time_in_utc() -> None:
    assert parse_created("Sun, 29 Nov. 2026 16:46:23") == datetime(2026, 11, 29, 16, 46, 23, tzinfo=UTC)


@given(st.datetimes(datetime(2000, 1, 1), datetime(2099, 12, 31)))
def test_every_time_as_maas_writes_it_is_read(moment: datetime) -> None:
    moment = moment.replace(microsecond=0)
    written = f"{DAYS[moment.weekday()]}, {moment.day:02} {MONTHS[moment.month - 1]}. {moment:%Y %H:%M:%S}"
    assert parse_created(written) == moment.replace(tzinfo=UTC)


def test_the_locale_of_this_machine_changes_nothing() -> None:
    before = locale.setlocale(locale.LC_ALL)
    try:
        for name in ("de_DE.UTF-8", "fr_FR.UTF-8", "C"):
            try:
                locale.setlocale(locale.LC_ALL, name)
            except locale.Error:
                continue
            assert parse_created("Sat, 02 May 2026 01:02:03") is not None
            assert parse_created("Sat, 02 Mai 2026 01:02:03") is None
    finally:
        locale.setlocale(locale.LC_ALL, before)


@pytest.mark.parametrize(
    "text", ["", "yesterday", "Sun, 31 Feb. 2026 10:00:00", "Sun, 29 Nov. 2026 25:00:00"]
)
def test_what_is_no_time_is_none(text: str) -> None:
    assert parse_created(text) is None


@given(st.text(max_size=40))
def test_no_text_is_too_much_for_it(text: str) -> None:
    assert parse_created(text) is None or len(text) > 15


@pytest.mark.captures
def test_all_recorded_events_are_read(captures: Path) -> None:
    raw = body_of(captures / "maas/recorded/phaseC-deploy-release/d080-events-all.json")
    events = events_of(raw)
    assert len(events) == 133
    assert [event.id for event in events] == sorted((event.id for event in events), reverse=True)
    assert all(event.created is not None for event in events)
    assert events[0].words == "Node changed status: From 'Commissioning' to 'Ready'"
    assert sum(event.progress for event in events) == 76
    assert sum(event.bad for event in events) == 2


@pytest.mark.parametrize("raw", [None, [], {}, {"events": None}, {"count": 0}])
def test_an_answer_without_events_is_garbled(raw: object) -> None:
    with pytest.raises(ProvisionerGarbledError):
        events_of(raw)


def event(
    id: int, node: str = "abc", level: str = "INFO", type: str = "Ready", about: str = ""
) -> dict[str, Any]:
    return {
        "id": id, "node": node, "hostname": f"host-{node}", "level": level, "type": type, "description": about,
        "created": "Sun, 29 Nov. 2026 16:46:23", "username": "unknown",
    }  # fmt: skip


class Told:
    """Events as MAAS pages them: with ``after`` the oldest behind it, else the newest; newest first."""

    def __init__(self, *events: dict[str, Any]) -> None:
        self.events = list(events)
        self.queries: list[dict[str, str]] = []

    async def __call__(self, request: web.Request) -> web.StreamResponse:
        query = dict(request.query)
        self.queries.append(query)
        limit = int(query["limit"])
        known = sorted(self.events, key=lambda one: int(one["id"]))
        if "after" in query:
            known = [one for one in known if one["id"] > int(query["after"])][:limit]
        else:
            known = known[-limit:]
        return web.json_response({"count": len(known), "events": known[::-1]})


def test_the_first_look_tells_only_where_to_begin() -> None:
    changes, script = asked(lambda maas: maas.changes(""), Told(event(7), event(9)))
    assert not isinstance(changes, BaseException)
    assert changes.ids == frozenset()
    assert parse_cursor(changes.cursor) == Cursor(9)
    assert len(script.got) == 1


def test_a_look_is_one_light_request_and_tells_what_is_new() -> None:
    told = Told(event(1, "old"), event(2, "aaa"), event(3, "bbb", about="(admin) - hello"))
    changes, script = asked(lambda maas: maas.changes("1.1"), told)
    assert not isinstance(changes, BaseException)
    assert changes.ids == {"aaa", "bbb"}
    assert changes.said == {"aaa": "Ready", "bbb": "Ready: hello"}
    assert changes.complete
    assert len(script.got) == 1
    assert told.queries == [{"op": "query", "level": "DEBUG", "limit": "1000", "after": "0"}]


def test_a_script_that_ran_is_told_but_its_machine_need_not_be_read_again() -> None:
    ran = event(5, "aaa", "DEBUG", "Script result", "maas-lshw changed status from 'Pending' to 'Passed'")
    changes, _ = asked(lambda maas: maas.changes("4"), Told(event(4), ran))
    assert not isinstance(changes, BaseException)
    assert changes.ids == frozenset()
    assert changes.said == {"aaa": "Script result: maas-lshw changed status from 'Pending' to 'Passed'"}


def test_thousands_of_events_are_read_in_pages_and_more_are_left_for_the_next_look() -> None:
    told = Told(*(event(id, f"n{id % 511}") for id in range(1, 5001)))

    async def work(maas: MaasProvisioner) -> list[Any]:
        first = await maas.changes("0")
        return [first, await maas.changes(first.cursor)]

    looks, script = asked(work, told)
    assert not isinstance(looks, BaseException)
    first, second = looks
    assert (len(first.ids), first.complete, second.complete) == (511, False, True)
    assert parse_cursor(second.cursor) == Cursor(5000, (1 << LOOK_BACK) - 1)
    assert len(script.got) == 6  # four, then the last thousand and the 64 that are looked at again


@settings(max_examples=40, deadline=timedelta(seconds=10))
@given(st.lists(st.lists(st.integers(-20, 12), max_size=8), max_size=6), st.randoms(use_true_random=False))
def test_an_event_that_shows_up_late_is_told_once(rounds: list[list[int]], dice: Any) -> None:
    async def run() -> None:
        told = Told(event(100))
        async with scripted(told) as script:
            maas = MaasProvisioner(script.transport())
            cursor = (await maas.changes("")).cursor
            top = 100
            for round in rounds:
                fresh = {top + step for step in round} - {one["id"] for one in told.events}
                told.events += [event(id, f"n{id}") for id in fresh]
                top = max((top, *fresh))
                changes = await maas.changes(cursor)
                assert changes.ids == {f"n{id}" for id in fresh}
                cursor = changes.cursor
            await maas.close()

    asyncio.run(asyncio.wait_for(run(), 30))


@given(st.integers(0, 10**12), st.integers(0, (1 << LOOK_BACK) - 1))
def test_a_cursor_is_read_back_as_it_was_written(last: int, seen: int) -> None:
    assert parse_cursor(str(Cursor(last, seen))) == Cursor(last, seen)


@given(st.text(max_size=30))
def test_a_text_that_is_no_cursor_means_to_begin_anew(text: str) -> None:
    assert parse_cursor(text) is None or text[0].isdigit()


def failed(phase: Phase, said: str = "Failed") -> Machine:
    return Machine("abc", "gpu001", Stage.FAILED, "Failed", said=said, failed=phase)


@pytest.mark.captures
def test_a_commissioning_that_failed_is_explained_by_its_own_errors_only(captures: Path) -> None:
    raw = body_of(captures / "maas/recorded/phaseC-deploy-release/d080-events-all.json")
    events = [
        one for one in events_of(raw) if one.node == "8c87d7" and one.level != "DEBUG" and one.id <= 116
    ]
    why = why_of(failed(Phase.COMMISSION), events, [])
    assert "Unsupported device type 'zpool'" in why
    # the try before it failed, too, and said nothing worse than that
    before = [one for one in events if one.id <= 60]
    assert why_of(failed(Phase.COMMISSION, "Failed commissioning"), before, []) == "Failed commissioning"


def test_a_script_of_the_phase_that_failed_is_named_and_one_of_another_is_not() -> None:
    results = [
        ScriptResult("Commissioning", "50-maas-01-commissioning", "Failed", 1),
        ScriptResult("Installation", "curtin-install", "Failed installing", 3),
        ScriptResult("Installation", "ok", "Passed", 0),
    ]
    assert (
        why_of(failed(Phase.DEPLOY), [], results) == "script curtin-install failed installing (exit status 3)"
    )


def test_a_reason_under_several_kinds_of_event_is_told_once() -> None:
    said = "Installation failed (refer to the installation log for more information)."
    told = [
        ("Failed deployment", said),
        ("Marking node failed", said),
        ("Failed commissioning", "Failed commissioning"),
    ]
    events = events_of(
        {"events": [event(9 - n, level="ERROR", type=t, about=a) for n, (t, a) in enumerate(told)]}
    )
    assert why_of(failed(Phase.DEPLOY), events, []) == f"Failed deployment: {said[:-1]}; Failed commissioning"


def test_the_reason_is_read_with_two_requests() -> None:
    bad = event(3, level="ERROR", type="Marking node failed", about="Node operation 'Deploying' timed out")
    why, script = asked(
        lambda maas: maas.why(failed(Phase.DEPLOY)), Told(event(2, type="Deploying"), bad), as_json([])
    )
    assert why == "Marking node failed: Node operation 'Deploying' timed out"
    assert [got.path.rpartition("api/2.0/")[2] for got in script.got] == ["events/", "nodes/abc/results/"]
    assert dict(script.got[0].query)["id"] == "abc"


def test_an_events_words_do_not_name_the_user() -> None:
    one = Event(1, "a", "gpu001", "DEBUG", None, "User starting deployment", "(admin) - nightly")
    assert one.words == "User starting deployment: nightly"
