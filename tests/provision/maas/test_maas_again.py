"""What is sent to MAAS again, and what a broken wire means for a read and for a write."""

from __future__ import annotations

import asyncio

import pytest
from aiohttp import web

from fabricctl.errors import (
    ProvisionerBusyError,
    ProvisionerDeadlineError,
    ProvisionerError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
)
from provision.bmc.secret import Secret
from provision.maas.retry import COLLISIONS
from provision.maas.settings import MaasSettings
from provision.maas.transport import MaasTransport
from provision.maas.wire import Answer
from tests.provision.maas.maas_script import (
    CONFLICT,
    KEY,
    READ,
    WRITE,
    as_json,
    broken,
    late,
    plain,
    sent,
)


def test_a_conflict_is_sent_again_after_the_time_maas_asks_for() -> None:
    answer, script = sent(WRITE, CONFLICT, CONFLICT, as_json({"ok": 1}))
    assert isinstance(answer, Answer)
    assert len(script.got) == 3
    assert script.slept == [5.0, 10.0]  # dice at 0.5: no more and no less than asked, longer each time


def test_conflicts_without_end_end_in_an_error() -> None:
    error, script = sent(WRITE, CONFLICT, answer_s=5.0)
    assert isinstance(error, ProvisionerBusyError)
    assert len(script.got) == COLLISIONS


def test_a_state_violation_is_sent_once() -> None:
    error, script = sent(WRITE, plain(409, "Machine cannot be released in its current state ('New')."))
    assert isinstance(error, ProvisionerStateError)
    assert str(error) == "gpu001: Machine cannot be released in its current state ('New')."
    assert len(script.got) == 1


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_write_that_a_server_failed_at_is_sent_once_and_its_outcome_unknown(status: int) -> None:
    error, script = sent(WRITE, plain(status, "x", Retry_After="1"))
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_a_read_is_sent_a_second_time_when_no_rack_controller_was_there_for_a_moment() -> None:
    answer, script = sent(READ, plain(503, "no connections", Retry_After="10"), as_json([]))
    assert isinstance(answer, Answer)
    assert script.slept == [10.0]


def test_a_read_whose_connection_breaks_is_sent_a_second_time_and_no_third() -> None:
    error, script = sent(READ, broken())
    assert isinstance(error, ProvisionerUnreachableError)
    assert len(script.got) == 2


def test_a_write_whose_connection_breaks_is_sent_once_and_its_outcome_unknown() -> None:
    error, script = sent(WRITE, broken())
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_a_late_answer_is_a_deadline_of_a_read_and_an_unknown_outcome_of_a_write() -> None:
    error, script = sent(READ, late(5), answer_s=0.2)
    assert isinstance(error, ProvisionerDeadlineError)
    assert len(script.got) == 1
    error, script = sent(WRITE, late(5), answer_s=0.2)
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert "within 0.2 s" in str(error)
    assert len(script.got) == 1


def test_nothing_was_sent_where_nobody_listens() -> None:
    async def run() -> ProvisionerError:
        transport = MaasTransport(MaasSettings("http://127.0.0.1:1/MAAS", Secret(KEY)))
        try:
            await transport.send(WRITE)
        except ProvisionerError as exc:
            return exc
        finally:
            await transport.close()
        raise AssertionError

    error = asyncio.run(run())
    assert type(error) is ProvisionerUnreachableError
    assert str(error) == "gpu001: no connection to MAAS: connection refused"


def test_an_answer_that_is_no_json_though_it_says_so_is_garbled() -> None:
    async def garbled(_: web.Request) -> web.StreamResponse:
        return web.Response(text='[{"system_id": "abc', content_type="application/json")

    error, _ = sent(READ, garbled)
    assert isinstance(error, ProvisionerGarbledError)
    assert "19 bytes" in str(error)
    error, script = sent(WRITE, garbled)
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_an_answer_cut_short_is_garbled_for_a_read_and_an_unknown_outcome_for_a_write() -> None:
    async def short(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"Content-Length": "100", "Content-Type": "application/json"})
        await response.prepare(request)
        await response.write(b'{"a"')
        assert request.transport is not None
        request.transport.close()
        return response

    error, _ = sent(READ, short)
    assert isinstance(error, ProvisionerGarbledError)
    error, script = sent(WRITE, short)
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(script.got) == 1


def test_an_answer_larger_than_any_that_makes_sense_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("provision.http.edge.LARGEST_BODY", 1000)
    error, _ = sent(READ, plain(200, "x" * 100_000))
    assert isinstance(error, ProvisionerGarbledError)
