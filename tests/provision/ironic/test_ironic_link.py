"""What the driver does when answers are lost, late, cut short, or say that a node is locked."""

from __future__ import annotations

import asyncio
import json

import pytest

from fabricctl.errors import (
    ProvisionerBusyError,
    ProvisionerDeadlineError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerStateError,
    ProvisionerUnreachableError,
)
from provision.bmc.secret import Secret
from provision.ironic.link import IronicLink
from provision.ironic.settings import IronicSettings
from tests.provision.ironic.ironic_between import Between, Reply, between

ROOT = json.dumps({"default_version": {"min_version": "1.1", "version": "1.115"}})
LOCKED = json.dumps(
    {"error_message": json.dumps({"faultstring": "Node x is locked by host judge, please retry after ..."})}
)


class Watch:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0

    async def sleep(self, seconds: float) -> None:
        self.now += seconds

    def clock(self) -> float:
        return self.now


def answering(server: Between, *replies: Reply) -> None:
    """The root first, then these, the last one for ever."""
    left = [(200, ROOT), *replies]
    server.answer = lambda method, path: left.pop(0) if len(left) > 1 else left[0]


def link_to(server: Between, watch: Watch, **more: float) -> IronicLink:
    settings = IronicSettings(server.url, "ops", Secret("not to be told"), **more)  # type: ignore[arg-type]
    return IronicLink(settings, sleep=watch.sleep, clock=watch.clock)


def test_a_locked_node_is_waited_for_and_the_write_is_sent_again() -> None:
    async def run() -> None:
        async with between() as server:
            answering(server, (409, LOCKED), (409, LOCKED), (202, ""))
            watch = Watch()
            link = link_to(server, watch)
            assert await link.write("PUT", "/v1/nodes/x/states/provision", {"target": "manage"}) is None
            assert len(server.asked) == 4
            assert watch.now == 4
            await link.close()

    asyncio.run(run())


def test_a_node_that_stays_locked_is_given_up_when_the_time_is_spent() -> None:
    async def run() -> None:
        async with between() as server:
            answering(server, (409, LOCKED))
            watch = Watch()
            link = link_to(server, watch, locked_s=60)
            with pytest.raises(ProvisionerBusyError, match="is locked by host judge"):
                await link.write("PATCH", "/v1/nodes/x", [])
            assert watch.now == 60
            await link.close()

    asyncio.run(run())


def test_a_wrong_state_is_sent_once() -> None:
    said = {
        "faultstring": 'The requested action "active" can not be performed on node "x" while it is in state "enroll".'
    }

    async def run() -> None:
        async with between() as server:
            answering(server, (400, json.dumps({"error_message": json.dumps(said)})))
            link = link_to(server, Watch())
            with pytest.raises(ProvisionerStateError):
                await link.write("PUT", "/v1/nodes/x/states/provision", {"target": "active"})
            assert len(server.asked) == 2
            await link.close()

    asyncio.run(run())


def test_a_write_whose_answer_is_lost_is_unknown_and_sent_once() -> None:
    async def run() -> None:
        async with between() as server:
            answering(server, (202, ""))
            server.lose = 2
            link = link_to(server, Watch())
            with pytest.raises(
                ProvisionerOutcomeUnknownError, match="it may have been carried out: PUT /v1/nodes/x"
            ):
                await link.write("PUT", "/v1/nodes/x/states/provision", {"target": "manage"})
            assert len(server.asked) == 2
            await link.close()

    asyncio.run(run())


def test_a_read_whose_answer_is_lost_failed_and_changed_nothing() -> None:
    async def run() -> None:
        async with between() as server:
            answering(server, (200, "{}"))
            server.lose = 2
            link = link_to(server, Watch())
            with pytest.raises(ProvisionerUnreachableError):
                await link.get("/v1/nodes")
            await link.close()

    asyncio.run(run())


def test_nobody_who_listens_is_no_connection_and_nothing_was_sent() -> None:
    async def run() -> None:
        async with between() as server:
            url = server.url
        link = IronicLink(IronicSettings(url))
        with pytest.raises(ProvisionerUnreachableError, match="no connection"):
            await link.write("PUT", "/v1/nodes/x/states/provision", {"target": "manage"})
        await link.close()

    asyncio.run(run())


def test_a_read_that_takes_too_long_is_a_deadline_and_a_write_is_unknown() -> None:
    async def hang(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        request = await reader.readuntil(b"\r\n\r\n")
        if request.startswith(b"GET / "):
            writer.write(f"HTTP/1.1 200 OK\r\nContent-Length: {len(ROOT)}\r\n\r\n{ROOT}".encode())
            await reader.read()
        else:
            await reader.read()
        writer.close()

    async def run() -> None:
        server = await asyncio.start_server(hang, "127.0.0.1", 0)
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        link = IronicLink(IronicSettings(url, answer_s=0.3))
        with pytest.raises(ProvisionerDeadlineError, match=r"GET /v1/nodes: no full answer within 0\.3 s"):
            await link.get("/v1/nodes")
        with pytest.raises(ProvisionerOutcomeUnknownError):
            await link.write("POST", "/v1/nodes", {})
        await link.close()
        server.close()

    asyncio.run(run())


def test_an_answer_that_is_no_json_is_garbled_for_a_read_and_unknown_for_a_write() -> None:
    async def run() -> None:
        async with between() as server:
            answering(server, (200, "<html>"))
            link = link_to(server, Watch())
            with pytest.raises(ProvisionerGarbledError, match="expected JSON, found '<html>'"):
                await link.get("/v1/nodes")
            with pytest.raises(ProvisionerOutcomeUnknownError):
                await link.write("POST", "/v1/nodes", {})
            await link.close()

    asyncio.run(run())


def test_a_secret_that_ironic_says_back_is_not_told() -> None:
    async def run() -> None:
        async with between() as server:
            answering(server, (400, json.dumps({"error_message": "ops:not to be told is wrong"})))
            link = link_to(server, Watch())
            with pytest.raises(Exception, match=r"Ironic: ops:\*\*\* is wrong") as told:
                await link.write("POST", "/v1/nodes", {})
            assert "not to be told" not in repr(told.value)
            await link.close()

    asyncio.run(run())


def test_a_long_list_is_read_page_by_page() -> None:
    first = json.dumps({"nodes": [{"uuid": "a"}], "next": "http://ironic.example/v1/nodes?limit=1&marker=a"})
    second = json.dumps({"nodes": [{"uuid": "b"}]})

    async def run() -> None:
        async with between() as server:
            answering(server, (200, first), (200, second))
            link = link_to(server, Watch())
            assert [node["uuid"] for node in await link.list("/v1/nodes", "nodes")] == ["a", "b"]
            await link.close()

    asyncio.run(run())
