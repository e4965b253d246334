"""A BMC that never comes to an end: it costs little, and what was not read is said and is no success."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from aiohttp import web

from fabricctl.errors import BmcCutError, BmcSkippedError
from provision.bmc.outcome import exit_code_of
from provision.redfish.bmc import Bmc, Members
from provision.redfish.limits import Limits
from tests.provision.redfish.conftest import Asker, Clock
from tests.provision.redfish.tiny import Tiny

PATH = "/redfish/v1/Managers/1/LogServices/Log/Entries"
FIRST = f"{PATH}?$expand=*($levels=1)"
MIB = 2**20


def endless(tiny: Tiny, pad: int = 0, bare: bool = False, before: Callable[[], object] = str) -> None:
    """Pages that go on for ever, with new members each."""

    def page(request: web.Request) -> web.Response:
        before()
        first = int(request.query.get("$skip", "0"))
        link = f"{PATH}?$skip={first + 5}"
        more = {} if bare else {"Pad": "x" * pad}
        members = [
            {"@odata.id": f"{PATH}/{n}", **({} if bare else {"Id": str(n)}), **more}
            for n in range(first, first + 5)
        ]
        for member in members:
            tiny.tree[str(member["@odata.id"])] = {"Id": "1", "Pad": "x" * pad}
        tiny.rules["GET", link] = page
        return web.json_response({"Members": members, "Members@odata.nextLink": link})

    tiny.rules["GET", FIRST] = page
    tiny.rules["GET", PATH] = page


async def read(bmc: Bmc) -> Members:
    return await bmc.members(PATH)


@pytest.mark.parametrize("bare", [False, True], ids=["expanded", "links"])
def test_a_walk_ends_at_its_bytes_and_says_so(tiny: Tiny, run: Asker, bare: bool) -> None:
    endless(tiny, pad=MIB // 10, bare=bare)
    outcome = run(read, limits=Limits(walk_bytes=2 * MIB))
    assert outcome.value.cut == "more than 2 MiB"
    assert 20 <= len(outcome.value) <= 25
    assert isinstance(outcome.error, BmcCutError)
    assert exit_code_of([outcome]) == 3


def test_a_walk_ends_when_it_takes_too_long(tiny: Tiny, run: Asker, clock: Clock) -> None:
    def slow() -> None:
        clock.now += 20.0

    endless(tiny, before=slow)
    outcome = run(read, limits=Limits(walk_s=100.0))
    assert outcome.value.cut == "it takes longer than 100 s"
    assert len(tiny.asked("GET")) < 12
    assert isinstance(outcome.error, BmcCutError)


def test_a_walk_ends_at_its_pages(tiny: Tiny, run: Asker, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("provision.redfish.collection.PAGES", 7)
    endless(tiny)
    outcome = run(read)
    assert (len(outcome.value), outcome.value.cut) == (35, "more than 7 pages")
    assert str(outcome.error).endswith(f"{PATH} was read in part: more than 7 pages")


def test_many_walks_end_at_what_one_bmc_may_send(tiny: Tiny, run: Asker) -> None:
    endless(tiny, pad=MIB // 10)

    async def again(bmc: Bmc) -> int:
        for _ in range(50):
            await bmc.members(PATH)
        return 50

    outcome = run(again, limits=Limits(walk_bytes=2 * MIB, all_bytes=8 * MIB))
    assert (outcome.value, type(outcome.error)) == (None, BmcSkippedError)
    assert "more than 8 MiB" in str(outcome.error)
    assert tiny.sessions == {}  # it was logged out all the same
    assert len(tiny.asked("GET")) < 25


def test_a_walk_that_found_what_it_wanted_is_not_cut(tiny: Tiny, run: Asker) -> None:
    endless(tiny, pad=MIB // 10)
    outcome = run(
        lambda bmc: bmc.members(PATH, until=lambda entry: entry["Id"] == "7"), limits=Limits(walk_bytes=MIB)
    )
    assert (len(outcome.value), outcome.value.cut, outcome.error) == (7, "", None)


def test_a_large_list_that_is_whole_is_not_cut(tiny: Tiny, run: Asker) -> None:
    body = {"Members": [{"@odata.id": f"{PATH}/{n}", "Id": str(n), "Pad": "x" * MIB} for n in range(3)]}
    tiny.rules["GET", FIRST] = lambda request: web.Response(text=json.dumps(body))
    outcome = run(read, limits=Limits(walk_bytes=MIB))
    assert (len(outcome.value), outcome.value.cut, outcome.error) == (3, "", None)


def test_a_next_page_elsewhere_is_no_success(tiny: Tiny, run: Asker) -> None:
    body = {"Members": [], "Members@odata.nextLink": "https://203.0.113.7/redfish/v1/more"}
    tiny.rules["GET", FIRST] = lambda request: web.json_response(body)
    outcome = run(read)
    assert "leads to another host" in outcome.value.cut
    assert isinstance(outcome.error, BmcCutError)
