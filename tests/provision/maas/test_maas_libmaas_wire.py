"""Where python-libmaas' requests go, how often, and with which scheme: the API key and writes are worth it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from aiohttp import web

from fabricctl.errors import (
    ProvisionerAnswerError,
    ProvisionerError,
    ProvisionerGarbledError,
    ProvisionerOutcomeUnknownError,
    ProvisionerUnreachableError,
)
from provision.bmc.secret import Secret
from provision.install.spec import Power
from provision.maas.libmaas import LibmaasProvisioner, LibmaasTransport, open_libmaas
from provision.maas.retry import Patience
from provision.maas.settings import MaasSettings
from tests.provision.maas.maas_clients import need_libmaas
from tests.provision.maas.maas_script import KEY, MACHINE, Got, Say, Script, as_json, broken, plain, scripted
from tests.provision.maas.maas_tls import self_signed, serving

Work = Callable[[LibmaasProvisioner], Coroutine[Any, Any, Any]]
POWER = Power("redfish", "10.1.0.1", "maas", Secret("spring-tide-7"))


def set_power(maas: LibmaasProvisioner) -> Coroutine[Any, Any, Any]:
    return maas.set_power("abcdef", POWER)


def read(maas: LibmaasProvisioner) -> Coroutine[Any, Any, Any]:
    return maas.read(["abcdef"])


def described(origin: str) -> dict[str, Any]:
    """The description of an API that is at some place."""

    def resource(name: str, path: str, params: list[str], *actions: tuple[str, str, str | None]) -> Any:
        uri = f"/MAAS/api/2.0/{path}"
        listed = [
            {"name": name, "op": op, "method": method, "restful": op is None, "doc": ""}
            for name, method, op in actions
        ]
        auth = {
            "name": name,
            "uri": origin + uri,
            "path": uri,
            "params": params,
            "doc": "",
            "actions": listed,
        }
        return {"name": name, "anon": None, "auth": auth}

    one = resource(
        "MachineHandler",
        "machines/{system_id}/",
        ["system_id"],
        ("update", "PUT", None),
        ("release", "POST", "release"),
    )
    return {"resources": [one, resource("MachinesHandler", "machines/", [], ("read", "GET", None))]}


def describing(origin: Callable[[web.Request], str], say: Say) -> Say:
    """Tells its description to who asks for it, and answers everything else as it is told."""

    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.endswith("/describe/"):
            return web.json_response(described(origin(request)))
        return await say(request)

    return answer


def itself(request: web.Request) -> str:
    return f"{request.scheme}://{request.host}"


def plainly(request: web.Request) -> str:
    """As a MAAS behind a proxy that ends TLS names itself."""
    return f"http://{request.host}"


def carried(
    work: Work, say: Say, origin: Callable[[web.Request], str] = itself, **options: Any
) -> tuple[Any, list[Got]]:
    """What came of it, and what was asked beside the description. :param options: ``context``, ``ca_file``."""
    need_libmaas()

    async def at_once(_: float) -> None:
        await asyncio.sleep(0)

    async def run() -> tuple[Any, Script]:
        async with scripted(describing(origin, say), context=options.get("context")) as script:
            settings = MaasSettings(script.url, Secret(KEY), options.get("ca_file", ""), answer_s=5.0)
            try:
                async with open_libmaas(settings, sleep=at_once) as maas:
                    return await work(maas), script
            except ProvisionerError as exc:
                return exc, script

    outcome, script = asyncio.run(asyncio.wait_for(run(), 30))
    return outcome, [got for got in script.got if not got.path.endswith("/describe/")]


@pytest.mark.parametrize("work", [set_power, lambda maas: maas.release("abcdef")], ids=["PUT", "POST"])
def test_a_write_whose_connection_breaks_is_sent_once_and_its_outcome_unknown(work: Work) -> None:
    error, got = carried(work, broken())
    assert isinstance(error, ProvisionerOutcomeUnknownError)
    assert len(got) == 1


def test_a_read_whose_connection_breaks_is_sent_a_second_time_and_no_third() -> None:
    error, got = carried(read, broken())
    assert isinstance(error, ProvisionerUnreachableError)
    assert len(got) == 2


@pytest.mark.parametrize("status", [301, 302, 307, 308])
@pytest.mark.parametrize("work", [read, set_power], ids=["GET", "PUT"])
def test_no_redirect_is_followed(work: Work, status: int) -> None:
    error, got = carried(work, plain(status, "", Location="/MAAS/api/2.0/elsewhere/"))
    assert isinstance(error, ProvisionerAnswerError)
    assert "/elsewhere/" in str(error)
    assert len(got) == 1


def test_the_description_is_not_fetched_from_where_a_redirect_points() -> None:
    need_libmaas()

    async def run() -> list[str]:
        async with scripted(plain(302, "", Location="/MAAS/other/describe/")) as script:
            with pytest.raises(ProvisionerAnswerError):
                async with open_libmaas(MaasSettings(script.url, Secret(KEY))):
                    pass
            return [got.path for got in script.got]

    assert asyncio.run(asyncio.wait_for(run(), 30)) == ["/MAAS/api/2.0/describe/"]


def test_a_description_that_names_http_does_not_take_the_key_out_of_tls(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    context = serving(certificate, key)
    machine, got = carried(set_power, as_json(MACHINE), plainly, context=context, ca_file=str(certificate))
    assert machine.id == "abcdef"
    assert [one.method for one in got] == ["PUT"]  # the server speaks nothing but TLS


def test_a_request_that_would_leave_with_another_scheme_than_the_sites_is_not_sent() -> None:
    need_libmaas()
    from maas.client.bones import SessionAPI  # type: ignore[import-not-found,unused-ignore]

    async def run() -> tuple[ProvisionerError, Script]:
        async with scripted(as_json(MACHINE)) as script:
            origin = script.url.removesuffix("/MAAS")
            session = SessionAPI(described(origin), ("CK", "TK", "TS"))
            settings = MaasSettings(script.url.replace("http:", "https:"), Secret(KEY))
            transport = LibmaasTransport(session, settings, Patience(script.sleep, lambda: 0.5))
            with pytest.raises(ProvisionerError, match="the API key was not sent") as caught:
                await LibmaasProvisioner(transport).set_power("abcdef", POWER)
            await transport.close()
            return caught.value, script

    error, script = asyncio.run(asyncio.wait_for(run(), 30))
    assert "expected MAAS's API at https://127.0.0.1" in str(error)
    assert script.got == []


@pytest.mark.parametrize("elsewhere", ["http://127.0.0.2:9", "http://127.0.0.1:9", "http://maas.example"])
def test_a_description_of_another_place_is_refused_before_the_key_is_sent(elsewhere: str) -> None:
    error, got = carried(read, as_json([]), lambda _: elsewhere)
    assert isinstance(error, ProvisionerError)
    assert f"names {elsewhere}; the API key was not sent" in str(error)
    assert got == []


@pytest.mark.parametrize("description", [[], {}, {"resources": [{"auth": {}}]}, "x", {"resources": None}])
def test_a_description_that_is_none_is_garbled(description: object) -> None:
    need_libmaas()

    async def run() -> None:
        async with (
            scripted(as_json(description)) as script,
            open_libmaas(MaasSettings(script.url, Secret(KEY))),
        ):
            pass

    with pytest.raises(ProvisionerGarbledError):
        asyncio.run(asyncio.wait_for(run(), 30))


def test_an_operation_without_fields_has_no_multipart_body_which_maas_refuses() -> None:
    _, got = carried(lambda maas: maas.release("abcdef"), as_json(MACHINE))
    assert (got[0].headers.get("Content-Length"), got[0].body) == ("0", b"")
    assert "Content-Type" not in got[0].headers


def test_a_sessions_scheme_counts_and_not_what_its_description_says() -> None:
    from provision.maas.libmaas import _same_host

    settings = MaasSettings("https://maas.lab/MAAS", Secret(KEY))
    plainly = SimpleNamespace(uri="http://maas.lab:443/MAAS/api/2.0/machines/")
    _same_host(settings, SimpleNamespace(scheme="https", handlers=[("Machines", plainly)]))
    with pytest.raises(ProvisionerError, match="the API key was not sent"):
        _same_host(settings, SimpleNamespace(scheme="http", handlers=[("Machines", plainly)]))
