"""Our client and python-libmaas on a double of MAAS: what their tests share. Asks for no fixture of a conftest.py."""

from __future__ import annotations

import asyncio
import importlib.util
import os
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeVar

import pytest

from fabricctl.mac import Mac
from provision.bmc.secret import Secret
from provision.install.spec import DeploySpec
from provision.maas.libmaas import open_libmaas
from provision.maas.provisioner import MaasProvisioner, open_maas
from provision.maas.settings import MaasSettings
from tests.sim.maas.process import ServedDouble

T = TypeVar("T")
Work = Callable[[MaasProvisioner], Coroutine[Any, Any, T]]
Open = Callable[[MaasSettings], AbstractAsyncContextManager[MaasProvisioner]]
MACS = tuple(Mac(f"52:54:00:00:00:0{n}") for n in range(1, 6))
PASSWORD = "spring-tide-7"  # noqa: S105 - of nobody


async def _no_wait(_: float) -> None:
    await asyncio.sleep(0)


@asynccontextmanager
async def own(settings: MaasSettings) -> AsyncIterator[MaasProvisioner]:
    async with open_maas(settings, sleep=_no_wait) as maas:
        yield maas


@asynccontextmanager
async def libmaas(settings: MaasSettings) -> AsyncIterator[MaasProvisioner]:
    async with open_libmaas(settings, sleep=_no_wait) as maas:
        yield maas


def need_libmaas() -> None:
    """Skip without the library, fail where nothing may be absent."""
    if importlib.util.find_spec("maas") is None or importlib.util.find_spec("maas.client") is None:
        if os.environ.get("REQUIRE_TOOLS") == "1":
            pytest.fail("python-libmaas is not installed; `make setup` installs it", pytrace=False)
        pytest.skip("python-libmaas is not installed")


def settings_of(maas: ServedDouble, **changes: Any) -> MaasSettings:
    return MaasSettings(**{"url": maas.url, "key": Secret(maas.api_key), "answer_s": 20.0, **changes})


def ask(client: Open, maas: ServedDouble, work: Work[T], **changes: Any) -> T:
    """What the work brings, or raises, with one client."""

    async def run() -> T:
        async with client(settings_of(maas, **changes)) as opened:
            return await work(opened)

    return asyncio.run(asyncio.wait_for(run(), 60))


def add(maas: ServedDouble, count: int = 2) -> list[str]:
    """Machines gpu001, gpu002…, just created. Their ids."""
    return [
        maas.double.add_machine(
            f"gpu00{n}",
            [MACS[n - 1]],
            power_type="redfish",
            power_parameters_power_address=f"10.1.0.{n}",
            power_parameters_power_user="maas",
            power_parameters_power_pass=PASSWORD,
        ).system_id
        for n in range(1, count + 1)
    ]


def ready(maas: ServedDouble, count: int = 1) -> list[str]:
    """Machines that were commissioned."""
    ids = add(maas, count)

    async def work(client: MaasProvisioner) -> None:
        for id in ids:
            await client.manage(id)

    ask(own, maas, work)
    maas.advance(7200)
    assert {one.status for one in maas.double.machines.values()} == {"Ready"}
    return ids


def deployed(maas: ServedDouble) -> str:
    (id,) = ready(maas)
    spec = DeploySpec("jammy", "ga", Secret("#cloud-config\n"))
    ask(own, maas, lambda client: client.deploy(id, spec))
    maas.advance(7200)
    assert maas.double.machines[id].status == "Deployed"
    return id


def since(maas: ServedDouble, before: int) -> list[tuple[str, str, int]]:
    """What was asked since: method, operation, status; without the library's question for a description."""
    return [
        (one.method, one.op, one.status)
        for one in maas.double.requests[before:]
        if not one.path.endswith("describe/")
    ]


CLIENTS: dict[str, Open] = {"own": own, "libmaas": libmaas}


def client_named(name: str) -> Open:
    """One of the two; skips without the library."""
    if name == "libmaas":
        need_libmaas()
    return CLIENTS[name]
