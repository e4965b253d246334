"""What the client asks MAAS to read something, against a scripted server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from fabricctl.errors import (
    ProvisionerError,
)
from fabricctl.mac import Mac
from provision.install.machine import Machine
from provision.maas.provisioner import MaasProvisioner
from provision.maas.reads import LONGEST_QUERY, batches
from tests.provision.maas.maas_script import MACHINE, Say, as_json, asked, lines, plain

PASSWORD = "calvin-but-better"  # noqa: S105 - of nobody


def test_passwords_of_power_parameters_are_neither_kept_nor_shown() -> None:
    raw = {
        "a": {"power_address": "10.1.0.1", "power_pass": PASSWORD},
        "b": {},
        "c": {"power_address": "10.1.0.3:1"},
    }
    found, script = asked(lambda maas: maas.bmc_addresses(), as_json(raw))
    assert found == {"a": "10.1.0.1", "c": "10.1.0.3"}
    assert lines(script) == ["GET machines/ power_parameters"]

    async def cut(_: web.Request) -> web.StreamResponse:
        return web.Response(text=f'{{"a": {{"power_pass": "{PASSWORD}"', content_type="application/json")

    error, _ = asked(lambda maas: maas.bmc_addresses(), cut)
    assert isinstance(error, ProvisionerError)
    assert PASSWORD not in str(error)


def test_machines_are_found_with_one_request_for_macs_and_one_for_names() -> None:
    found, script = asked(
        lambda maas: maas.find([Mac("52:54:00:00:00:01")], ["gpu001.example.org", "gpu002"]),
        as_json([MACHINE]),
    )
    assert isinstance(found, list)
    assert [machine.id for machine in found] == ["abcdef"]
    assert [got.query for got in script.got] == [
        (("mac_address", "52:54:00:00:00:01"),),
        (("hostname", "gpu001"), ("hostname", "gpu002")),
    ]


@pytest.mark.parametrize(
    "call", [lambda maas: maas.find(), lambda maas: maas.read([]), lambda maas: maas.read([""])]
)
def test_the_list_of_all_machines_is_never_asked_for(
    call: Callable[[MaasProvisioner], Awaitable[list[Machine]]],
) -> None:
    async def work(maas: MaasProvisioner) -> list[Machine]:
        return await call(maas)

    found, script = asked(work, as_json([MACHINE]))
    assert found == []
    assert script.got == []


def test_511_machines_are_read_in_one_request_that_a_proxy_takes() -> None:
    ids = [f"{n:06x}" for n in range(511)]
    _, script = asked(lambda maas: maas.read([*ids, *ids]), as_json([]))
    (got,) = script.got
    assert [value for _, value in got.query] == ids
    macs = [f"52:54:00:00:{n >> 8:02x}:{n & 255:02x}" for n in range(511)]
    assert [len(group) for group in batches("mac_address", macs)] == [200, 200, 111]
    assert all(
        len("&".join(f"mac_address={mac}" for mac in group)) <= LONGEST_QUERY
        for group in batches("mac_address", macs)
    )


def test_errors_name_the_host_once_it_was_read() -> None:
    async def work(maas: MaasProvisioner) -> Any:
        await maas.read(["abcdef"])
        return await maas.release("abcdef")

    error, _ = asked(work, as_json([MACHINE]), plain(409, "Machine cannot be released"))
    assert str(error) == "gpu001: Machine cannot be released"


@pytest.mark.parametrize(
    ("call", "answer", "line", "value"),
    [
        (lambda m: m.version(), as_json({"version": "3.7.3"}), "GET version/", "3.7.3"),
        (lambda m: m.user(), as_json({"username": "admin"}), "GET users/ whoami", "admin"),
        (
            lambda m: m.query_power("abcdef"),
            as_json({"state": "on"}),
            "GET machines/abcdef/ query_power_state",
            "on",
        ),
        (lambda m: m.images(), as_json([]), "GET boot-resources/", []),
        (lambda m: m.racks(), as_json([]), "GET rackcontrollers/", []),
    ],
)
def test_what_else_maas_is_asked(
    call: Callable[[MaasProvisioner], Any], answer: Say, line: str, value: object
) -> None:
    found, script = asked(call, answer)
    assert found == value
    assert lines(script) == [line]


def test_maass_clock_is_read_from_an_answers_date() -> None:
    date, _ = asked(lambda maas: maas.server_date(), plain(200, "{}", Date="Sun, 29 Nov 2026 16:46:23 GMT"))
    assert str(date) == "2026-11-29 16:46:23+00:00"
