"""BMCs at IPv6 addresses, over both transports."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from provision.bmc.target import Target, Trust, Verify
from provision.redfish import reaper
from provision.redfish.bmc import Bmc
from provision.redfish.trust import fetch_certificate
from tests.provision.redfish.conftest import Asker, target_of
from tests.provision.redfish.tiny import SESSIONS, Tiny, TinyServer

PATH = "/redfish/v1/Systems/1"


def has_ipv6() -> bool:
    try:
        with socket.socket(socket.AF_INET6) as sock:
            sock.bind(("::1", 0))
    except OSError:
        return False
    return True


pytestmark = pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6 loopback")


@pytest.fixture
def tiny(tmp_path: Path) -> Iterator[Tiny]:
    with TinyServer(tmp_path, address="::1") as service:
        service.tree[PATH] = {"Id": "1"}
        yield service


def trusts(tiny: Tiny) -> list[Trust]:
    return [Trust(fingerprint=tiny.fingerprint), Trust(Verify.CA, ca_file=tiny.ca_file), Trust(Verify.OFF)]


def test_a_bmc_at_an_ipv6_address_is_asked_however_it_is_trusted(tiny: Tiny, run: Asker) -> None:
    tiny.rules["GET", "/redfish/v1/Old"] = lambda request: web.Response(
        status=308, headers={"Location": f"https://[0:0::1]:{tiny.port}{PATH}"}
    )

    async def work(bmc: Bmc) -> Any:
        await bmc.patch(PATH, {"AssetTag": "x"})
        return (await bmc.get("/redfish/v1/Old")).resource["Id"]

    for trust in trusts(tiny):
        outcome = run(work, target_of(tiny, trust=trust))
        assert (outcome.error, outcome.value) == (None, "1")
    assert {one.headers["host"] for one in tiny.seen} == {f"[::1]:{tiny.port}"}
    assert tiny.sessions == {}


def test_the_certificate_of_an_ipv6_address_is_fetched(tiny: Tiny) -> None:
    shown = asyncio.run(fetch_certificate(Target("gpu001", "::1", tiny.port)))
    assert shown.fingerprint == tiny.fingerprint


def test_a_session_at_an_ipv6_address_is_ended_by_the_reaper(tiny: Tiny) -> None:
    tiny.sessions[f"{SESSIONS}/7"] = ("root", "token-7")
    for trust in trusts(tiny):
        login = {
            "address": "::1",
            "port": tiny.port,
            "pin": trust.fingerprint,
            "ca": trust.ca_file,
            "floor": trust.tls_floor,
        }
        status, _, body = reaper.request(login, "GET", f"{SESSIONS}/7", "token-7")
        assert (status, body["UserName"]) == (200, "root")
